"""What a value is computed of, as a graph of terms.

Terms that are equal are one object, whichever program they came from: two evaluations
agree where they give the same terms.
"""

from __future__ import annotations

from weakref import WeakValueDictionary


class Term:
    """Something that is computed: of what kind, and of which others."""

    __slots__ = ("__weakref__", "kind", "parts")

    def __init__(self, kind: str, parts: tuple[Term, ...]) -> None:
        self.kind = kind
        self.parts = parts


_known: WeakValueDictionary[tuple[str, tuple[Term, ...]], Term] = WeakValueDictionary()


def term(kind: str, *parts: Term) -> Term:
    """The one term of its kind and parts."""
    key = (kind, parts)
    found = _known.get(key)
    if found is None:
        found = Term(kind, parts)
        _known[key] = found
    return found


def constant(value: object) -> Term:
    """A value that the source tells; a whole number is what it is as a fraction."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return term(f"={value!r}")
