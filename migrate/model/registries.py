"""Tables of functions that statements, calls and decorators of any file fill."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from ..code.tree import Tree
from ..project.facts import ParsedModule
from .arguments import Argument
from .values import Const, Env, Instance, Seq, Value

if TYPE_CHECKING:
    from .evaluator import Evaluator

_BY_NAME = re.compile(r"\b(import_module|__import__|walk_packages|iter_modules)\b")
_OTHERWISE = r"\b{0}\s*\.\s*(update|setdefault|pop|popitem|clear|__setitem__)\b"


class _Unseen(Exception):
    """It is not seen what a table is filled with."""


@dataclass
class Table:
    """A dict that a module, or an object or a class in it, has under a name."""

    evaluator: Evaluator
    home: ParsedModule
    name: str
    owner: Instance | None = None
    attribute: str = ""
    # Functions that fill it, by themselves or by others, and their files.
    fillers: list[tuple[cst.FunctionDef, ParsedModule]] = field(default_factory=list)

    def entries(self) -> list[tuple[object, Value]] | None:
        """What is put into it, by keys (None: any); None if that is not seen."""
        try:
            self._fill()
        except _Unseen:
            return None
        found: list[tuple[object, Value]] = []
        for target, value, env in self.evaluator.filled:
            if not self._is_it(target.value, env):
                continue
            keys = tuple(
                self.evaluator.expression(one.slice.value, env)
                for one in target.slice
                if isinstance(one.slice, cst.Index)
            )
            key = keys[0] if len(keys) == 1 else Seq(keys)
            found.append((constant_of(key), value))
        return found

    def _fill(self) -> None:
        """Goes through whatever fills it, outside of functions."""
        shown = self.attribute or self.name
        if any(_BY_NAME.search(one.source.text) for one in self._files()):
            raise _Unseen  # files that nobody sees may fill it
        for module in self._files() if self.owner is None else [self.owner.module]:
            if shown not in module.source.text:
                continue
            if re.search(_OTHERWISE.format(shown), module.source.text):
                raise _Unseen
            tree = Tree(module.module, module.resolver)
            for node in module.each(cst.AssignTarget):
                target = node.target
                if not isinstance(target, cst.Subscript):
                    continue
                held = target.value
                if (
                    self._is_attribute(held)
                    if self.owner is not None
                    else self._is_named(held, module)
                ):
                    self._reach(tree, module, target)
        for function, home in self.fillers:  # grows
            self._follow(function, home)

    def _files(self) -> list[ParsedModule]:
        """The files of the program; its own may be one without TensorFlow."""
        others = self.evaluator.files.values()
        return [self.home, *(one for one in others if one is not self.home)]

    def _is_named(self, node: cst.BaseExpression, module: ParsedModule) -> bool:
        """It is the table, or the object that has it, by the name in its module."""
        facts = self.evaluator.facts
        return facts.is_name_of(node, module, self.name, self.home)

    def _is_attribute(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Attribute) and node.attr.value == self.attribute

    def _is_it(self, node: cst.BaseExpression, env: Env) -> bool:
        """What an entry was put into is the table."""
        if isinstance(node, cst.Attribute) and self.owner is not None:
            held = self.evaluator.expression(node.value, env)
            same = isinstance(held, Instance) and held.node is self.owner.node
            same = same if not self.owner.made else held is self.owner
            return self._is_attribute(node) and same
        local = isinstance(node, cst.Name) and env.find(node.value) is not None
        return self.owner is None and not local and self._is_named(node, env.module)

    def _follow(self, function: cst.FunctionDef, home: ParsedModule) -> None:
        """Goes to the places that name a function which fills the table."""
        name = function.name.value
        if name.startswith("__"):
            raise _Unseen
        facts, owner = self.evaluator.facts, self.owner
        for module in self._files():
            if name not in module.source.text:
                continue
            tree = Tree(module.module, module.resolver)
            loads = module.resolver.scopes.loads
            for node in (*loads, *module.each(cst.Attribute)):
                if owner is None or function not in owner.node.body.body:
                    means = facts.is_name_of(node, module, name, home)
                elif isinstance(node, cst.Attribute) and node.attr.value == name:
                    # A method, of the object or of `self` in its own class.
                    means = owner.node in tree.ancestors(node)
                    means = means or self._is_named(node.value, module)
                    if not means and not owner.made:
                        raise _Unseen  # an object of the class may have it, too
                else:
                    means = False
                above = tree.parent(node)
                called = isinstance(above, cst.Call) and above.func is node
                if means and not called and not isinstance(above, cst.Decorator):
                    raise _Unseen
                if means:
                    self._reach(tree, module, node)

    def _reach(self, tree: Tree, module: ParsedModule, node: cst.CSTNode) -> None:
        """Goes through the statement of a module that a node is in, if it is one.

        A function around it is one that fills the table.
        """
        around = [node, *tree.ancestors(node)]
        for below, above in pairwise(around):
            if isinstance(below, cst.Decorator):
                around = [above]
                break
            if isinstance(above, cst.FunctionDef):
                outer = [one for one in around if isinstance(one, cst.FunctionDef)]
                if all(one is not outer[-1] for one, _ in self.fillers):
                    self.fillers.append((outer[-1], module))
                return
        else:
            around = around[-2:-1]
        evaluator, env, found = self.evaluator, Env(module, {}), around[0]
        if tree.parent(found) is not tree.module:
            raise _Unseen
        if isinstance(found, cst.FunctionDef):
            evaluator.defined(found, module, None)
        elif isinstance(found, cst.ClassDef):
            value: Value = Instance(found, module)
            for one in reversed(found.decorators):
                around_it = evaluator.expression(one.decorator, env)
                call, given = cst.Call(one.decorator), [Argument(value, found.name)]
                value = evaluator.call(around_it, call, given, env)
        elif isinstance(found, (cst.SimpleStatementLine, cst.For)):
            evaluator.statement(found, env)
        else:
            raise _Unseen


def constant_of(value: Value) -> object:
    """A constant, or a tuple of some; None for whatever is not known."""
    if isinstance(value, Seq):
        return tuple(map(constant_of, value.items))
    return value.value if isinstance(value, Const) else None


def may_be(asked: object, key: object) -> bool:
    """A key that is asked for, as far as it is known, may be one of a table."""
    if isinstance(asked, tuple) and isinstance(key, tuple):
        same = len(asked) == len(key)
        return same and all(map(may_be, asked, key))
    return asked is None or key is None or asked == key
