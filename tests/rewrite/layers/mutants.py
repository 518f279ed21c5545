"""Lifted programs, broken in every place in one way each.

A mutant differs from the lifted text by one change in a class that came out of lifting,
or in the model function that calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst
from tfmigrate.code.tree import walk

__all__ = ["KINDS", "Mutant", "mutants"]


@dataclass(frozen=True, eq=False)
class Mutant:
    """A broken text, by what stands in it in the place of what."""

    module: cst.Module
    old: cst.CSTNode
    new: cst.CSTNode

    @property
    def text(self) -> str:
        """The broken text."""
        changed = self.module.deep_replace(self.old, self.new)
        assert isinstance(changed, cst.Module)
        return changed.code

    @property
    def told(self) -> str:
        """What is broken."""
        was, now = map(self.module.code_for_node, (self.old, self.new))
        return f"{was.strip()[:90]!r} is {now.strip()[:90]!r}"


# A node of the lifted code, and what may stand in its place.
Change = Iterator[tuple[cst.CSTNode, cst.CSTNode]]


def mutants(module: cst.Module, model_fn: str, kind: str) -> list[Mutant]:
    """Each text that one change of a kind makes."""
    return [
        Mutant(module, old, new)
        for place in _places(module, model_fn)
        for old, new in KINDS[kind](place)
        if module.code_for_node(old) != module.code_for_node(new)
    ]


def _places(module: cst.Module, model_fn: str) -> list[cst.CSTNode]:
    """Lifted classes and the model function."""
    return [
        node
        for node in walk(module)
        if (isinstance(node, cst.FunctionDef) and node.name.value == model_fn)
        or (isinstance(node, cst.ClassDef) and _is_lifted(module, node))
    ]


def _is_lifted(module: cst.Module, node: cst.ClassDef) -> bool:
    return any(".Scoped" in module.code_for_node(one.value) for one in node.bases)


# -- the ways


def _numbers(place: cst.CSTNode) -> Change:
    for node in walk(place):
        if isinstance(node, cst.Integer):
            yield node, cst.Integer(str(int(node.value) + 1))
        elif isinstance(node, cst.Float):
            yield node, cst.Float(str(float(node.value) + 1.5))


def _strings(place: cst.CSTNode) -> Change:
    raised = {
        one
        for n in walk(place)
        if isinstance(n, cst.Raise) or (isinstance(n, cst.If) and _only_raises(n))
        for one in walk(n.test if isinstance(n, cst.If) else n)
    }
    for node in walk(place):
        if not isinstance(node, cst.Expr) and node not in raised:
            for one in node.children:
                if isinstance(one, cst.SimpleString) and "%" not in one.value:
                    quote = one.value[-1]
                    yield one, cst.SimpleString(f"{one.value[:-1]}_other{quote}")


def _keywords(place: cst.CSTNode) -> Change:
    for node in walk(place):
        if isinstance(node, cst.Call):
            for arg in node.args:
                if arg.keyword is not None:
                    rest = [one for one in node.args if one is not arg]
                    yield node, node.with_changes(args=_closed(rest))


def _closed(arguments: Sequence[cst.Arg]) -> list[cst.Arg]:
    return [one.with_changes(comma=cst.MaybeSentinel.DEFAULT) for one in arguments]


def _layers(place: cst.CSTNode) -> Change:
    """Another layer of the class is called."""
    if not isinstance(place, cst.ClassDef):
        return
    calls = [
        node.func
        for node in walk(place)
        if isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and isinstance(node.func.value, cst.Name)
        and node.func.value.value == "self"
    ]
    names = list(dict.fromkeys(one.attr.value for one in calls))
    for one in calls:
        other = names[names.index(one.attr.value) - 1]
        yield one, one.with_changes(attr=cst.Name(other))


def _statements(place: cst.CSTNode) -> Change:
    """A statement is left out."""
    for node in walk(place):
        if not isinstance(node, cst.SimpleStatementLine):
            continue
        (small,) = node.body
        if isinstance(small, (cst.Assign, cst.AugAssign)):
            yield node, cst.SimpleStatementLine([cst.Pass()])


_OTHER = {
    "reduce_mean": "reduce_sum",
    "reduce_sum": "reduce_mean",
    "relu": "tanh",
    "tanh": "relu",
    "softplus": "relu",
    "TRAIN": "EVAL",
    "EVAL": "TRAIN",
    "PREDICT": "EVAL",
    "Dense": "Flatten",
    "mean_squared_error": "absolute_difference",
    "AdamOptimizer": "GradientDescentOptimizer",
    "Zeros": "Ones",
    "l2": "l1",
}


def _words(place: cst.CSTNode) -> Change:
    """Another function, mode or class of the same module."""
    for node in walk(place):
        if isinstance(node, cst.Attribute) and node.attr.value in _OTHER:
            yield node, node.with_changes(attr=cst.Name(_OTHER[node.attr.value]))


def _tests(place: cst.CSTNode) -> Change:
    for node in walk(place):
        if isinstance(node, cst.If) and not _only_raises(node):
            wrong = cst.UnaryOperation(
                cst.Not(),
                node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()]),
            )
            yield (
                node,
                node.with_changes(
                    test=wrong, whitespace_before_test=cst.SimpleWhitespace(" ")
                ),
            )


def _only_raises(node: cst.If) -> bool:
    """What stops at what is not expected is no part of a model."""
    body = node.body.body
    return isinstance(body[0], cst.SimpleStatementLine) and isinstance(
        body[0].body[0], cst.Raise
    )


def _operators(place: cst.CSTNode) -> Change:
    for node in walk(place):
        if isinstance(node, cst.BinaryOperation):
            other = cst.Subtract if isinstance(node.operator, cst.Add) else cst.Add
            yield node, node.with_changes(operator=other())
        elif isinstance(node, cst.AugAssign):
            yield node, node.with_changes(operator=cst.SubtractAssign())


def _tensors(place: cst.CSTNode) -> Change:
    """Another argument of a call's own: the first two change places."""
    for node in walk(place):
        if not isinstance(node, cst.Call) or len(node.args) < 2:
            continue
        first, second, *rest = node.args
        if first.keyword is None and second.keyword is None:
            yield node, node.with_changes(args=_closed([second, first, *rest]))


def _inputs(place: cst.CSTNode) -> Change:
    """The call's first tensor is read in the place of another name."""
    for function in walk(place):
        if not isinstance(function, cst.FunctionDef) or function.name.value != "call":
            continue
        if len(function.params.params) < 2:
            continue
        names = {one.name.value for one in function.params.params[1:]}
        for node in walk(function.body):
            if not isinstance(node, cst.Arg) or not isinstance(node.value, cst.Name):
                continue
            others = sorted(names - {node.value.value})
            if others and node.value.value in names:
                yield node, node.with_changes(value=cst.Name(others[0]))


KINDS: dict[str, Callable[[cst.CSTNode], Change]] = {
    "numbers": _numbers,
    "strings": _strings,
    "keywords": _keywords,
    "layers": _layers,
    "statements": _statements,
    "words": _words,
    "tests": _tests,
    "operators": _operators,
    "tensors": _tensors,
    "inputs": _inputs,
}
