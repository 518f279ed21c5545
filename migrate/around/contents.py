"""The modules of ours that a project can be given, and the text of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache

from ..bring import Bundle, CannotBundle, bundle, installed_sources
from ..bring.folding import decided_sources
from ..project.files import is_ours
from .asked import Words, asked_for

__all__ = [
    "LOOP_DOC",
    "MARK",
    "CannotBundle",
    "contents",
    "held",
    "loop_names",
    "words_of_loop",
]

_ROOT = "tfmigrate.runtime"
LOOP_DOC = """Trains, evaluates and serves what a model function describes.

A model function is traced once into a graph for each mode, as in TensorFlow 1; all
around it is an eager program: loops, checkpoints, event files."""
# Says of text inside a file that it is ours.
MARK = "The loop module of `tfmigrate rewrite`; it is part of this program now."
# The parts in the order a reader wants them, where nothing else decides.
LOOP_ORDER: tuple[str, ...] = ("vocabulary", "config", "inputs")
_PUBLIC = re.compile(r"[A-Za-z]\w*")


@lru_cache(maxsize=1)
def loop_names() -> frozenset[str]:
    """Every name that the loop module can have."""
    found = installed_sources(_ROOT).homes()
    return frozenset(name for name in found if _PUBLIC.fullmatch(name))


def contents(
    kind: str,
    names: Collection[str],
    *,
    words: Words,
    used: Collection[str] = (),
    bound: Mapping[str, str | None] | None = None,
    loop_module: str = "training_loop",
) -> Bundle:
    """A module with some names and what they need.

    ``kind`` is "loop" or "contrib", ``words`` are those of the project,
    ``used`` others by which methods may be asked for, ``bound`` the names that are
    taken where the text is put into a file of the user's.
    """
    used = {*words.said, *used}
    if kind == "loop":
        return _loop(names, words, used, bound)
    from ..bring import contrib

    made = contrib.bring(sorted(names), used=used, bound=bound, loop_module=loop_module)
    # Files say the last part of a name, which has to mean one thing to all of them.
    said: dict[str, str] = {}
    for symbol, name in made.names.items():
        if said.setdefault(_last(symbol), name) != name:
            raise CannotBundle(f"`{_last(symbol)}` means several things in it")
    return replace(made, names=said)


def _loop(
    names: Collection[str],
    words: Words,
    used: Collection[str],
    bound: Mapping[str, str | None] | None,
) -> Bundle:
    """The loop module without the code for what nobody asks for."""
    asked = asked_for(words)
    while True:
        decided = {f"asked.{matter}": wanted for matter, wanted in asked.items()}
        made = bundle(
            decided_sources(_ROOT, frozenset(decided.items())),
            sorted(names),
            doc=LOOP_DOC,
            used=None if words.whole else used,
            order=LOOP_ORDER,
            bound=bound,
        )
        # A definition that is taken may be one that needs more of the rest.
        before, asked = asked, asked_for(words, made.parts)
        if asked == before:
            return made


def taken_from_loop(text: str, module: str) -> set[str]:
    """The names that a text imports from a loop module, given by its last name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").rpartition(".")[2] == module
        ):
            found |= {alias.name for alias in node.names}
    return found


def words_of_loop(names: Collection[str]) -> set[str]:
    """What copies of tf.contrib take of a loop module."""
    return taken_from_loop(_copies(frozenset(names)).text, "training_loop")


def clash(names: Collection[str]) -> str | None:
    """A name that two things copied from tf.contrib would both have."""
    for symbol, name in sorted(_copies(frozenset(names)).names.items()):
        if name != _last(symbol):
            return symbol
    return None


@lru_cache(maxsize=16)
def _copies(names: frozenset[str]) -> Bundle:
    """All that some names need, whatever a project uses of it."""
    from ..bring import contrib

    return contrib.bring(sorted(names))


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]


def held(kind: str, text: str) -> set[str]:
    """The names that a module made earlier has for its project."""
    if not is_ours(text):
        return set()
    if kind == "contrib":
        from ..bring import contrib

        return set(contrib.held(text) or ())
    found = {
        node.name
        for node in ast.parse(text).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }
    return found & loop_names()
