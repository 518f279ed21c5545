"""Tables of functions that statements, calls and decorators of any file fill."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from ..code.tree import Tree
from ..project.facts import ParsedModule
from .arguments import Argument
from .values import CALLED, Const, Env, Instance, Seq, Value, options_of

if TYPE_CHECKING:
    from .evaluator import Evaluator

_BY_NAME = re.compile(r"\b(import_module|__import__|walk_packages|iter_modules)\b")
_OTHERWISE = r"\b{0}\s*\.\s*(update|setdefault|pop|popitem|clear|__setitem__)\b"


class _Unseen(Exception):
    """It is not seen what a table is filled with."""


@dataclass
class Table:
    """A dict that a module has under a name, or an attribute of such an object."""

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
            if not all(isinstance(one, CALLED) for one in options_of(value)):
                return None
            parts = [one.slice for one in target.slice]
            index = parts[0] if len(parts) == 1 else None
            key: Value | None = None
            if isinstance(index, cst.Index):
                key = self.evaluator.expression(index.value, env)
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
                if isinstance(target, cst.Subscript) and self._names_it(target, module):
                    self._reach(tree, module, target)
        for function, home in self.fillers:  # grows
            self._follow(function, home)

    def _files(self) -> list[ParsedModule]:
        """The files of the program; its own may be one without TensorFlow."""
        others = self.evaluator.files.values()
        return [self.home, *(one for one in others if one is not self.home)]

    def _names_it(self, target: cst.Subscript, module: ParsedModule) -> bool:
        if self.owner is None:
            return is_name_of(
                self.evaluator, target.value, module, self.name, self.home
            )
        held = target.value
        return isinstance(held, cst.Attribute) and held.attr.value == self.attribute

    def _is_it(self, node: cst.BaseExpression, env: Env) -> bool:
        if self.owner is not None:
            return (
                isinstance(node, cst.Attribute)
                and node.attr.value == self.attribute
                and self.evaluator.expression(node.value, env) is self.owner
            )
        local = isinstance(node, cst.Name) and env.find(node.value) is not None
        return not local and is_name_of(
            self.evaluator, node, env.module, self.name, self.home
        )

    def _follow(self, function: cst.FunctionDef, home: ParsedModule) -> None:
        """Goes to the places that name a function which fills the table."""
        name = function.name.value
        of_object = self.owner is not None and function in self.owner.node.body.body
        if name.startswith("__"):
            raise _Unseen
        for module in self._files():
            if name not in module.source.text:
                continue
            tree = Tree(module.module, module.resolver)
            loads = module.resolver.scopes.loads
            for node in (*loads, *module.each(cst.Attribute)):
                if of_object and not self._is_of_owner(tree, node, name, module):
                    continue
                if not of_object and not is_name_of(
                    self.evaluator, node, module, name, home
                ):
                    continue
                above = tree.parent(node)
                called = isinstance(above, cst.Call) and above.func is node
                if not called and not isinstance(above, cst.Decorator):
                    raise _Unseen
                self._reach(tree, module, node)

    def _is_of_owner(
        self,
        tree: Tree,
        node: cst.BaseExpression,
        name: str,
        module: ParsedModule,
    ) -> bool:
        """A method of the object by its name, or by `self` in its own class."""
        assert self.owner is not None
        if not isinstance(node, cst.Attribute) or node.attr.value != name:
            return False
        return self.owner.node in tree.ancestors(node) or is_name_of(
            self.evaluator, node.value, module, self.name, self.home
        )

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


def constant_of(value: Value | None) -> object:
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


def is_name_of(
    evaluator: Evaluator,
    node: cst.BaseExpression,
    module: ParsedModule,
    name: str,
    home: ParsedModule,
) -> bool:
    """A name, in whatever file, of what a module has under ``name``."""
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return False
    if module is home and isinstance(node, cst.Name):
        return node.value == name
    found = evaluator.facts.definition(node, module)
    return (
        found is not None
        and found.name == name
        and os.path.abspath(found.module.path) == os.path.abspath(home.path)
    )
