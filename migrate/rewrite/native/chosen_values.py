"""Numbers that helpers are given while training, and others else: a flag says which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import libcst as cst

from ...code.arguments import UnknownArguments, match_arguments
from ...code.edits import changed
from ...code.tree import Tree, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.spelling import argument_of
from .local_functions import makes_layers

_TRAIN = "ModeKeys.TRAIN"
_FLAG = "is_training"
_MOST = 8
_Places = dict[cst.CSTNode, object]


def with_values_chosen_inside(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files, with ``f(x, keep, is_training=training)`` for calls of helpers like
    ``f(x, keep if training else 1.0)``, which choose where they read it.
    """
    found = [*files]
    rounds = _MOST if any(" if " in one.source.text for one in files) else 0
    for _ in range(rounds):
        places = next(
            filter(None, map(_Helper(found, facts).edits, _functions(found))), None
        )
        if places is None:
            break
        found = [
            changed(one, facts, edits) if edits else one
            for one, edits in zip(found, places, strict=True)
        ]
    return found


def _functions(files: Sequence[ParsedModule]) -> list[tuple[int, cst.FunctionDef]]:
    """The functions of modules, with the numbers of their files."""
    return [
        (number, node)
        for number, one in enumerate(files)
        for node in one.module.body
        if isinstance(node, cst.FunctionDef)
    ]


class _Helper:
    """Reads functions of the files, and what they are given."""

    def __init__(self, files: Sequence[ParsedModule], facts: ProjectFacts) -> None:
        self.files = files
        self.trees = [Tree(one.module, one.resolver) for one in files]
        self.wrapping = self._wrapping()
        # The calls of each function, with the numbers of their files.
        self.calls: dict[tuple[Path, str], list[tuple[int, cst.Call]]] = {}
        for place, one in enumerate(files):
            for node in one.each(cst.Call):
                told = facts.definition(node.func, one)
                if told is not None:
                    key = told.module.path, told.name
                    self.calls.setdefault(key, []).append((place, node))

    def _wrapping(self) -> set[str]:
        """Functions that wrap cells which drop, or call one that does."""
        texts = {
            node.name.value: self.trees[number].excerpt(node)
            for number, node in _functions(self.files)
        }
        found: set[str] = set()
        words = ["DropoutWrapper"]
        while words:
            word = re.compile(rf"\b({'|'.join(words)})\(")
            words = [one for one in texts.keys() - found if word.search(texts[one])]
            found |= {*words}
        return found

    def edits(self, told: tuple[int, cst.FunctionDef]) -> list[_Places] | None:
        """The edits of all files for the first such parameter of a function."""
        number, function = told
        names = [one.name.value for one in function.params.params]
        wraps = function.name.value in self.wrapping
        key = self.files[number].path, function.name.value
        calls = self.calls.get(key, ()) if _FLAG not in names else ()
        if not wraps and not makes_layers(self.trees[number], function):
            calls = ()
        for name in names if calls else ():
            chosen = [self._chosen(place, call, names, name) for place, call in calls]
            if not wraps and any(c and not isinstance(c[0], cst.IfExp) for c in chosen):
                continue  # it may be told when it is called
            others = {source for one in chosen if one for source in [one[3]]}
            if None in chosen or len(others) != 1:
                continue
            places: list[_Places] = [{} for _ in self.files]
            for (place, call), one in zip(calls, chosen, strict=True):
                assert one is not None
                given, value, test, _ = one
                flag = argument_of(test, cst.Name(_FLAG))
                places[place][given] = value
                places[place][call] = lambda now, flag=flag: now.with_changes(
                    args=[*now.args, flag]
                )
            params = [*function.params.params]
            at = sum(one.default is None for one in params)
            params[at:at] = [cst.Param(cst.Name(_FLAG))]
            most = max(sum(a.keyword is None for a in call.args) for _, call in calls)
            if most > at:
                continue
            here = places[number]
            here[function.params] = function.params.with_changes(params=params)
            other = cst.parse_expression(others.pop())
            tree = self.trees[number]
            for read in walk(function.body, cst.Name):
                if read.value == name and read in tree.resolver.scopes.loads:
                    here[read] = cst.IfExp(cst.Name(_FLAG), cst.Name(name), other)
            return places
        return None

    def _chosen(
        self, place: int, call: cst.Call, names: Sequence[str], name: str
    ) -> tuple[cst.CSTNode, cst.BaseExpression, cst.BaseExpression, str] | None:
        """An argument, its value while training, the test, and the other value."""
        tree = self.trees[place]
        try:
            given = match_arguments(call, names).get(name)
        except UnknownArguments:
            return None
        value = tree.value(given)
        if given is None or not isinstance(value, cst.IfExp):
            return None
        number = isinstance(value.orelse, (cst.Float, cst.Integer))
        if not number or not self._trains(tree, value.test):
            return None
        return given, value.body, value.test, tree.code(value.orelse)

    def _trains(self, tree: Tree, test: cst.BaseExpression) -> bool:
        """``mode == ModeKeys.TRAIN``, or a name for that."""
        if isinstance(test, cst.Name) and "train" in test.value:
            return True
        asked = tree.value(test)
        return (
            isinstance(asked, cst.Comparison)
            and len(asked.comparisons) == 1
            and isinstance(asked.comparisons[0].operator, cst.Equal)
            and (tree.symbol(asked.comparisons[0].comparator) or "").endswith(_TRAIN)
        )
