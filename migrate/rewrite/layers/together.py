"""Model functions of a program whose layers become Keras classes.

Only definitions change: whatever stands behind the forward pass (loss, metrics,
optimizer, specifications) stays as it was written, and so does everything around the
model function. What comes out is still a program of TensorFlow 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ...code.tree import Tree
from ...project.facts import ParsedModule, ProjectFacts
from ...project.guard import check_output
from ...project.positions import Unfaithful
from .group import Understood, reached, understood
from .model_functions import handed_to_learn, is_model_fn
from .one_line import is_crowded, one_in_each, same_functions


@dataclass
class Lifting:
    """A file with its lifted model functions, and why others are not."""

    parsed: ParsedModule
    made: list[str] = field(default_factory=list)
    # (line, reason) of a model function that stays as it is.
    left: list[tuple[int, str]] = field(default_factory=list)
    # Functions that are part of its model functions.
    entered: frozenset[cst.CSTNode] = frozenset()


def lifted_together(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[Lifting]:
    """The files of a program, with those model functions lifted that can be."""
    try:
        result = _of_lines(files, facts)
        return [_understood(one, result) for one in files]
    except Unfaithful:
        raise
    except Exception as problem:
        # By our fault: the functions are kept as they are.
        told = f"{type(problem).__name__}: {problem}"
        return [Lifting(one, left=[(1, told)]) for one in files]


def _of_lines(files: Sequence[ParsedModule], facts: ProjectFacts) -> Understood:
    """The files with their model functions lifted.

    Statements that stand in one line are set apart where that is what it takes.
    """
    result = _lifted(files, facts)
    if result.left and any(map(is_crowded, files)):
        result = _set_apart(files, facts, one_in_each, result)
    return result


def _set_apart(
    files: Sequence[ParsedModule],
    facts: ProjectFacts,
    how: Callable[[ParsedModule, ProjectFacts, Collection[cst.CSTNode]], ParsedModule],
    result: Understood,
) -> Understood:
    """What lifting gives after some lines are taken apart, where it gives more."""
    own = reached(files, facts, _is_model(files))
    apart = [how(one, facts, own) for one in files]
    changed = {
        str(new.path) for old, new in zip(files, apart, strict=True) if new is not old
    }
    if not changed:
        return result
    other = _lifted(apart, facts)
    if len(other.left) >= len(result.left):
        return result
    if any(str(path) in changed for path, _, _ in other.left):
        # Its lines are counted in the files as they were.
        return result
    entered = set(other.entered)
    for old, new in zip(files, apart, strict=True):
        if new is not old:
            entered |= same_functions(other.entered, new, old)
    other.entered = frozenset(entered)
    return other


def _lifted(files: Sequence[ParsedModule], facts: ProjectFacts) -> Understood:
    return understood(files, facts, _is_model(files))


def _is_model(files: Sequence[ParsedModule]) -> Callable[[cst.CSTNode], bool]:
    handed = {*handed_to_learn(_trees(files)).values()} - {None}
    return lambda node: is_model_fn(node) or node in handed


def _check(before: ParsedModule, after: ParsedModule) -> None:
    """Raises where a file would not work after an edit."""
    check_output(
        before.source.text,
        after.source.text,
        scopes=before.resolver.scopes,
        parsed=(after.module, after.resolver.scopes),
        cells=before.source.notebook is not None,
    )


def _understood(parsed: ParsedModule, result: Understood) -> Lifting:
    path = os.path.abspath(parsed.path)
    made = result.made.get(path, [])
    left = [(line, why) for file, line, why in result.left if file == parsed.path]
    if path not in result.modules:
        return Lifting(parsed, made, left, result.entered)
    new = result.modules[path]
    _check(parsed, new)
    return Lifting(new, made, left, result.entered)


def _trees(files: Sequence[ParsedModule]) -> list[Tree]:
    return [Tree(one.module, one.resolver) for one in files]
