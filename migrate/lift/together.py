"""Model functions of a program whose layers become Keras classes.

Only definitions change: whatever stands behind the forward pass (loss, metrics,
optimizer, specifications) stays as it was written, and so does everything around the
model function. What comes out is still a program of TensorFlow 1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..lift.group import Understood, reached, understood
from ..lift.nested import calls_in_lines
from ..lift.one_line import is_crowded, one_in_each, same_functions
from ..plan.code.tree import Tree
from ..plan.estimator.legacy import PLAIN_ESTIMATORS, legacy_places
from ..project.facts import ParsedModule, ProjectFacts
from ..project.guard import check_output
from ..project.positions import Unfaithful
from .keras_layers import MODEL_TO_ESTIMATOR, loaded_model
from .model_functions import handed_to_learn, is_model_fn

__all__ = [
    "Lifting",
    "kept_because",
    "lifted_together",
    "names_canned_of_learn",
]

# What setting calls apart does away with.
_TWO_LINES = "say them in two lines"

# What a text has that makes one of the canned Estimators of tf.contrib.learn.
_OF_LEARN = re.compile(r"\blearn\b[\s\S]*\b(?:DNN|Linear)\w+\(")


@dataclass
class Lifting:
    """A file with its lifted model functions, and why others are not."""

    parsed: ParsedModule
    made: list[str] = field(default_factory=list)
    # (line, reason) of a model function that stays as it is.
    left: list[tuple[int, str]] = field(default_factory=list)
    # Functions that are part of its model functions.
    entered: frozenset[cst.CSTNode] = frozenset()
    # Canned Estimators that it names, which come along with Keras layers.
    canned: frozenset[str] = frozenset()


def lifted_together(
    files: Sequence[ParsedModule], facts: ProjectFacts, *, canned_1: bool = True
) -> list[Lifting]:
    """The files of a program, with those model functions lifted that can be.

    ``canned_1`` says that its canned Estimators are those of TF 1.
    """
    try:
        result = _of_lines(files, facts)
        found = [_understood(one, result) for one in files]
        if canned_1:
            for one in found:
                one.canned = _canned(one.parsed)
        return found
    except Unfaithful:
        raise
    except Exception as problem:
        # By our fault: the functions are kept as they are.
        told = f"{type(problem).__name__}: {problem}"
        return [Lifting(one, left=[(1, told)]) for one in files]


def names_canned_of_learn(files: Sequence[ParsedModule]) -> bool:
    """Whether a program may make canned Estimators of tf.contrib.learn."""
    return any(
        "contrib" in one.source.text and _OF_LEARN.search(one.source.text)
        for one in files
    )


def _canned(parsed: ParsedModule) -> frozenset[str]:
    """The canned Estimators with Keras layers that a file names."""
    from ..bring import contrib

    resolver = parsed.resolver
    symbols = {resolver.resolve(use.node) for use in resolver.scopes.uses}
    return frozenset(one for one in symbols if one and contrib.has_layers(one))


def _of_lines(files: Sequence[ParsedModule], facts: ProjectFacts) -> Understood:
    """The files with their model functions lifted.

    Statements that stand in one line, and calls within calls, are set apart where that
    is what it takes.
    """
    result = _lifted(files, facts)
    if result.left and any(map(is_crowded, files)):
        result = _set_apart(files, facts, one_in_each, result)
    if any(why.endswith(_TWO_LINES) for _, _, why in result.left):
        result = _set_apart(files, facts, calls_in_lines, result)
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


def kept_because(
    files: Sequence[ParsedModule],
    lifting: Sequence[Lifting],
    old_layers: Callable[[ParsedModule], tuple[int, str] | None],
    program: frozenset[str] | None = None,
) -> str | None:
    """Why not every model of a program is made of Keras layers once these are lifted.

    None if every one is. ``old_layers`` says for a file with models of Keras what in it
    is no layer of today; ``program`` are the paths of its files, if not all are.
    """
    if program is not None:
        some = [
            (parsed, one)
            for parsed, one in zip(files, lifting, strict=True)
            if os.path.abspath(parsed.path) in program
        ]
        its_files, lifted = [one for one, _ in some], [one for _, one in some]
        return kept_because(its_files, lifted, old_layers)
    for parsed, one in zip(files, lifting, strict=True):
        for line, reason in one.left:
            return f"{reason} ({_place(parsed, line)})"
    entered = frozenset().union(*(one.entered for one in lifting))
    of_keras = False
    trees = _trees(files)
    handed = handed_to_learn(trees)
    for parsed, tree, own in zip(files, trees, lifting, strict=True):
        for call in legacy_places(tree).programs:
            symbol = tree.symbol(call.func)
            known = symbol in PLAIN_ESTIMATORS or symbol in own.canned
            if symbol == MODEL_TO_ESTIMATOR:
                of_keras = True
                if loaded_model(call):
                    place = _place(parsed, tree.line(call))
                    return f"the layers of a model in a file are not seen ({place})"
            elif not known and handed.get(call) is None:
                place = _place(parsed, tree.line(call))
                return f"`{symbol}` brings a model of its own ({place})"
        for call in tree.resolver.scopes.calls.values():
            symbol = tree.symbol(call.func) or ""
            if not symbol.endswith(("EstimatorSpec", "ModelFnOps")):
                continue
            if not any(
                is_model_fn(one) or one in entered or one in handed.values()
                for one in tree.ancestors(call)
            ):
                place = _place(parsed, tree.line(call))
                return f"a specification is made outside of a model_fn ({place})"
    if of_keras:
        for one in lifting:
            if found := old_layers(one.parsed):
                line, what = found
                return f"{what} ({_place(one.parsed, line)})"
    elif not any(one.made or one.canned for one in lifting):
        return _without_model_fn(files, trees)
    return None


def _without_model_fn(files: Sequence[ParsedModule], trees: Sequence[Tree]) -> str:
    """That there is no model function, and which of the Estimators should have one."""
    why = "no function with the arguments of a model_fn is seen"
    for parsed, tree in zip(files, trees, strict=True):
        for call in legacy_places(tree).programs:
            for place, one in enumerate(call.args):
                name = one.keyword.value if one.keyword is not None else None
                if name == "model_fn" or (name is None and not place and not one.star):
                    shown = tree.code(one.value)
                    where = _place(parsed, tree.line(call))
                    return f"{why} for `{shown}` ({where})"
    return why


def _trees(files: Sequence[ParsedModule]) -> list[Tree]:
    return [Tree(one.module, one.resolver) for one in files]


def _place(parsed: ParsedModule, line: int) -> str:
    """Where a line is, for people: in a notebook, in which cell."""
    cell, line = parsed.source.locate(line)
    inside = f"cell {cell}:" if cell is not None else ""
    return f"{parsed.path.name}:{inside}{line}"
