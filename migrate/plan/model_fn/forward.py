"""The forward pass of a model_fn as a Keras class, and what the rest reads of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst

from ..code.arguments import is_none
from ..code.statements import backward_slice, binds, loads, names_in
from ..code.texts import source_text
from ..code.tree import Statement, Tree, only_small
from .modes import Modes
from .source import Source

__all__ = ["Forward", "ReadForward", "Reads", "read_by_the_rest"]

_READ = {
    "TRAIN": ("loss", "logits", "labels"),
    "EVAL": ("loss", "eval_metric_ops", "logits", "labels"),
    "PREDICT": ("predictions", "export_outputs", "logits"),
}


@dataclass(frozen=True)
class Forward:
    """The class of a forward pass, as source text, and the statements that are left.

    ``parameters`` are what the constructor takes of the model_fn; ``aside`` are
    statements before the end of the forward pass that losses and the like read,
    ``behind`` those after it. The call binds ``made`` and returns ``outputs``.
    """

    init: tuple[str, ...]
    call: tuple[str, ...]
    parameters: tuple[str, ...]
    aside: list[Statement]
    behind: list[Statement]
    made: set[str]
    outputs: tuple[str, ...]
    # Summaries stood among the layers.
    summaries: bool = False


# Of the names that a forward pass makes, those that the statements left read.
Reads = Callable[[Sequence[Statement], set[str]], set[str]]
# Understands the statements of a model_fn up to its last layer, or raises Blocked.
ReadForward = Callable[[Source, Modes, Sequence[Statement], Reads], Forward]


def read_by_the_rest(
    modes: Modes, wanted_modes: Sequence[str], rest: Sequence[Statement], made: set[str]
) -> set[str]:
    """Names of ``made`` that the rest of the model_fn reads in some modes."""
    tree = modes.tree
    found: set[str] = set()
    for mode in wanted_modes:
        statements, call = modes.branch(rest, mode)
        spec = modes.spec(call)
        wanted: set[str] = set()
        for name in _READ[mode]:
            node = spec.get(name)
            if node is not None and not is_none(node):
                wanted |= loads(tree, node) or names_in(source_text(node))
        chosen = backward_slice(tree, statements, wanted)
        names = set(wanted)
        for statement in chosen:
            names |= loads(tree, statement)
        bound = {n for s in chosen for n in binds(s)}
        # A name that is made anew behind the model is read there only.
        found |= {
            n for n in names & made if n not in bound or _read_first(tree, chosen, n)
        }
    return found


def _read_first(tree: Tree, statements: Sequence[Statement], name: str) -> bool:
    """The name is read before the statements give it a new value."""
    for statement in statements:
        if name in loads(tree, statement):
            return True
        if name in binds(statement):
            return isinstance(only_small(statement), cst.AugAssign)
    return True
