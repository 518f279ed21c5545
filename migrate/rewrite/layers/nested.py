"""Calls within calls, each in a line of its own: `f(tf.layers.dense(x, 3))`.

A method that makes layers is lifted where it stands, and the statement that calls it
stays. What else makes layers in that statement has to stand in another one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from ...code.edits import Put, changed
from ...code.tree import walk
from ...model.spelling import snake
from ...project.facts import ParsedModule, ProjectFacts

__all__ = ["calls_in_lines"]

_LAYERS = (
    "tf.contrib.layers.",
    "tf.contrib.slim.",
    "tf.get_variable",
    "tf.keras.layers.",
    "tf.layers.",
)
# What may never be evaluated, or more than once.
_AT_TIMES = (
    cst.Await,
    cst.BooleanOperation,
    cst.Comparison,
    cst.DictComp,
    cst.GeneratorExp,
    cst.IfExp,
    cst.Lambda,
    cst.ListComp,
    cst.NamedExpr,
    cst.SetComp,
    cst.Yield,
)
# Calls of these move nothing that others see.
_HARMLESS = ("functools.", "math.", "numpy.", "tf.")
_READS = ("as_list", "format", "get_shape")
_PLAIN = frozenset(
    (
        *("abs", "bool", "dict", "enumerate", "float", "getattr", "int", "isinstance"),
        *("len", "list", "max", "min", "range", "round", "sorted", "str", "sum"),
        *("tuple", "zip"),
    )
)


def calls_in_lines(
    parsed: ParsedModule, facts: ProjectFacts, functions: Collection[cst.CSTNode]
) -> ParsedModule:
    """The file with functions that call layers and helpers in lines of their own.

    The same file, if nothing stands in the way of that, or nothing is to be done.
    """
    apart: dict[cst.CSTNode, list[cst.SimpleStatementLine]] = {}
    changing = _changing(parsed)
    read = _read_names(functions)
    for function in parsed.nodes:
        if isinstance(function, cst.FunctionDef) and function in functions:
            taken = {one.value for one in walk(function) if isinstance(one, cst.Name)}
            for line in walk(function):
                if isinstance(line, cst.SimpleStatementLine) and line not in apart:
                    lines = _Line(parsed, changing, read, taken).lines(line)
                    if lines:
                        apart[line] = lines
    if not apart:
        return parsed
    return changed(parsed, facts, apart)


class _Line:
    """One statement, taken apart."""

    def __init__(
        self,
        parsed: ParsedModule,
        changing: set[str],
        read: set[str],
        taken: set[str],
    ) -> None:
        self.parsed = parsed
        self.changing = changing
        # Names of what is computed when it is read.
        self.read = read
        self.taken = taken

    def lines(self, line: cst.SimpleStatementLine) -> list[cst.SimpleStatementLine]:
        """The lines that stand for it, or none."""
        if len(line.body) != 1 or not isinstance(
            line.body[0], (cst.Assign, cst.Expr, cst.Return)
        ):
            return []
        value = line.body[0].value
        if value is None or any(isinstance(one, _AT_TIMES) for one in walk(value)):
            return []
        makers = [one for one in self._in_order(value) if not self._is_harmless(one)]
        if len(makers) < 2 or all(map(self._is_layer, makers)):
            return []
        if any(
            isinstance(one, cst.Attribute)
            and one.attr.value in self.changing - self.read
            for one in walk(value)
        ):
            # It may be another one after a call that stood behind it.
            return []
        moved: dict[cst.CSTNode, cst.Name] = {}
        found: list[cst.SimpleStatementLine] = []
        for call in makers[:-1]:
            name = self._fresh(call)
            made = call.visit(Put(moved, call))
            assert isinstance(made, (cst.Attribute, cst.Call))
            target = cst.AssignTarget(cst.Name(name))
            found.append(cst.SimpleStatementLine([cst.Assign([target], made)]))
            moved[call] = cst.Name(name)
        last = line.visit(Put(moved, line))
        assert isinstance(last, cst.SimpleStatementLine)
        found[0] = found[0].with_changes(leading_lines=line.leading_lines)
        return [*found, last.with_changes(leading_lines=[])]

    def _in_order(self, node: cst.CSTNode) -> Iterator[cst.Attribute | cst.Call]:
        """The calls of an expression, as they are made, and what is read like them."""
        for child in node.children:
            yield from self._in_order(child)
        if isinstance(node, cst.Call) or (
            isinstance(node, cst.Attribute) and node.attr.value in self.read
        ):
            yield node

    def _is_layer(self, call: cst.Attribute | cst.Call) -> bool:
        if isinstance(call, cst.Attribute):
            return False
        symbol = self.parsed.resolver.resolve(call.func) or ""
        return symbol.startswith(_LAYERS)

    def _is_harmless(self, call: cst.Attribute | cst.Call) -> bool:
        """It makes no layers and changes nothing."""
        if isinstance(call, cst.Attribute):
            return False
        func = call.func
        if isinstance(func, cst.Name) and not self.parsed.resolver.bindings(func):
            return func.value in _PLAIN
        symbol = self.parsed.resolver.resolve(func)
        symbol = symbol or self.parsed.resolver.qualified(func) or ""
        if symbol.startswith(_HARMLESS):
            return not symbol.startswith(_LAYERS)
        return isinstance(func, cst.Attribute) and func.attr.value in _READS

    def _fresh(self, call: cst.Attribute | cst.Call) -> str:
        """A name for what a call gives."""
        func = call if isinstance(call, cst.Attribute) else call.func
        func = func.attr if isinstance(func, cst.Attribute) else func
        called = snake(func.value).strip("_") if isinstance(func, cst.Name) else ""
        wanted = f"{called or 'net'}_out"
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
        return name


def _changing(parsed: ParsedModule) -> set[str]:
    """Attributes that are set elsewhere than where their object is made."""
    return {
        target.attr.value
        for function in parsed.nodes
        if isinstance(function, cst.FunctionDef) and function.name.value != "__init__"
        for one in walk(function)
        if isinstance(one, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign))
        for target in walk(one.target)
        if isinstance(target, cst.Attribute)
    }


def _read_names(functions: Collection[cst.CSTNode]) -> set[str]:
    """Methods that are called by reading an attribute."""
    return {
        one.name.value
        for one in functions
        if isinstance(one, cst.FunctionDef) and one.decorators and _is_read(one)
    }


def _is_read(function: cst.FunctionDef) -> bool:
    """A decorator may make a property of it."""
    plain = {"classmethod", "staticmethod"}
    given = function.params.params
    return len(given) == 1 and not any(
        isinstance(one.decorator, cst.Name) and one.decorator.value in plain
        for one in function.decorators
    )
