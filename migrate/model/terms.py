"""What a value is computed of, as a graph of terms.

Terms that are equal are one object, whichever program they came from: two evaluations
agree where they give the same terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakValueDictionary

# How deep a term is told to people.
_DEPTH = 2
_LONGEST = 160


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


def difference(first: Term, second: Term) -> tuple[Term, Term]:
    """The innermost calls in which two terms that differ do."""
    found = first, second
    while first.kind == second.kind and len(first.parts) == len(second.parts):
        if not _is_argument(first):
            found = first, second
        unlike = [
            (one, other)
            for one, other in zip(first.parts, second.parts, strict=True)
            if one is not other
        ]
        if len(unlike) != 1:
            break
        ((first, second),) = unlike
    return found if _is_argument(first) or _is_argument(second) else (first, second)


def _is_argument(one: Term) -> bool:
    return one.kind.startswith("=") or one.kind.endswith("=")


def shown(one: Term) -> str:
    """A term for people: no deeper than they want to read."""
    text = "".join(_told(one, _DEPTH))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _told(one: Term, depth: int) -> Iterator[str]:
    yield one.kind.removeprefix("=").removeprefix("tf.")
    if not one.parts:
        return
    if one.kind.endswith("="):
        yield from _told(one.parts[0], depth)
        return
    yield "("
    for number, part in enumerate(one.parts if depth else ()):
        yield ", " if number else ""
        yield from _told(part, depth - 1)
    yield ")" if depth else "...)"
