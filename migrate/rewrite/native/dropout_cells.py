"""Wrappers that drop parts of what recurrent cells get and give, while training."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from typing import NamedTuple

from ...names.ast_nodes import parents_of
from ...names.ast_nodes import walk as walk_ast
from ...project.facts import ParsedModule, ProjectFacts
from .code import Refused, dotted, literal, symbol_of
from .text import (
    Text,
    bound_names,
    loads_in,
    names_in,
    on_one_line,
    parameters_of,
    stores_in,
)

_WRAPPERS = ("tf.nn.rnn_cell.DropoutWrapper", "tf.contrib.rnn.DropoutWrapper")
SIGNATURE = (
    "cell", "input_keep_prob", "output_keep_prob", "state_keep_prob",
    "variational_recurrent", "input_size", "dtype", "seed",
    "dropout_state_filter_visitor",
)  # fmt: skip
_TRAINING = re.compile(r"tf\.(?:\w+\.)*ModeKeys\.TRAIN")


class Rule(NamedTuple):
    """When wrappers drop: while `code`, which a function asks."""

    code: str
    function: str


def with_constant_shares(
    parsed: ParsedModule, facts: ProjectFacts
) -> tuple[ParsedModule, bool | None]:
    """The file with the shares that wrappers keep while training, as constants.

    What runs cells is told whether it trains, by an argument ``training``. Beside is
    whether wrappers always drop: None for a file without wrappers. Raises Refused.
    """
    if "DropoutWrapper" not in parsed.source.text:
        return parsed, None
    program = _Program(parsed)
    code = program.without_branches()
    if code != parsed.source.text:
        program = _Program(facts.module_of(parsed.source.with_text(code)))
    always = program.always()
    return facts.module_of(parsed.source.with_text(program.text.done())), always


class _Program:
    def __init__(self, parsed: ParsedModule) -> None:
        self.resolver = parsed.resolver
        self.text = Text(parsed.source.text)
        self.module = ast.Module(self.text.body, [])
        self.above = parents_of(self.module)
        # Conditions that become what holds while training.
        self.told: set[ast.IfExp] = set()
        # Functions that are told when it trains: by which parameter, in which calls.
        self.flagged: dict[ast.FunctionDef, tuple[str, dict[ast.Call, ast.expr]]] = {}
        # What says in a function whether it trains.
        self.known: dict[ast.FunctionDef, str] = {}

    def symbol(self, node: ast.AST) -> str | None:
        return symbol_of(self.resolver, node)

    def function(self, node: ast.AST) -> ast.FunctionDef | None:
        """The function around a node."""
        while node in self.above:
            node = self.above[node]
            if isinstance(node, ast.FunctionDef):
                return node
        return None

    def without_branches(self) -> str:
        """The code where ``if training: cell = DropoutWrapper(cell, ...)`` is a share.

        A wrapper that keeps all does nothing.
        """
        for node in self.above:
            if isinstance(node, ast.If) and not node.orelse:
                said = [self._in_training(one, node.test) for one in node.body]
                if None not in said:
                    indent = "\n" + self.text.indent(node)
                    self.text.put(node, indent.join(map(str, said)))
        return self.text.done()

    def _in_training(self, made: ast.stmt, test: ast.expr) -> str | None:
        """A wrapper that drops where a test holds: with shares that ask it."""
        call = made.value if isinstance(made, ast.Assign) else None
        if not isinstance(made, ast.Assign) or not isinstance(call, ast.Call):
            return None
        inner = dotted(call.args[0]) if call.args else ""
        if self.symbol(call.func) not in _WRAPPERS or inner != self.text.of(
            made.targets[0]
        ):
            return None
        shares = {self.text.of(one) for one in self._kept(call)}
        tests = [test]
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            tests = test.values
        # A share of 1.0 drops nothing by itself.
        tests = [one for one in tests if not self._drops(one, shares)]
        if not tests:
            return self.text.of(made)
        test = tests[0]
        if len(tests) > 1 or not self._asks(test):
            return None
        inside = Text(on_one_line(self.text.of(made)) + "\n")
        (again,) = walk_ast(inside.body[0], ast.Assign)
        assert isinstance(again.value, ast.Call)
        asked = self.text.of(test)
        for value in self._kept(again.value):
            inside.put(value, f"{inside.of(value)} if {asked} else 1.0")
        return inside.done().rstrip()

    def _drops(self, test: ast.expr, shares: Collection[str]) -> bool:
        """``keep_prob < 1``, of a share that is kept"""
        return (
            isinstance(test, ast.Compare)
            and isinstance(test.ops[0], (ast.Lt, ast.NotEq))
            and self.text.of(test.left) in shares
            and literal(self.text.of(test.comparators[0])) == 1
        )

    def always(self) -> bool:
        """Whether all wrappers drop in each mode; takes conditions on training out."""
        rules = {
            self._rule(value, node)
            for node in self.above
            if isinstance(node, ast.Call) and self.symbol(node.func) in _WRAPPERS
            for value in self._kept(node)
        }
        if len(rules) > 1:
            raise Refused("wrappers of cells drop by several rules")
        for one in self.told:
            self.text.put(one, self.text.of(one.body))
        if rules <= {None}:
            return True
        runners = [
            node
            for node in self.above
            if isinstance(node, ast.Call)
            if (self.symbol(node.func) or "").endswith("_rnn")
        ]
        asking = {self.function(node) for node in runners}
        for node in runners:
            self._tell(node)
        self._without_flags(asking)
        return False

    def _tell(self, call: ast.Call) -> None:
        """Adds to a call whether it trains, as the functions around it know."""
        function = self.function(call)
        hidden: set[str] = set()
        top = function
        while function is not None and function not in self.known:
            hidden |= bound_names(function)
            top, function = function, self.function(function)
        if function is None and top is not None:
            self._add_flag(top, hidden)
            hidden, function = set(), top
        flag = self.known[function] if function is not None else ""
        if not flag or hidden & {one.id for one in names_in(ast.parse(flag))}:
            called = self.text.of(call.func)
            raise Refused(f"it is not known whether `{called}` runs cells that drop")
        self.text.add_argument(call, f"training={flag}")

    def _add_flag(self, function: ast.FunctionDef, hidden: Collection[str]) -> None:
        """Gives a function a flag, which its callers tell it."""
        calls = self._calls(function)
        given = function.args
        stars = given.vararg or given.kwarg or given.kwonlyargs
        if not calls or not given.args or stars or "training" in hidden:
            raise Refused(f"`{function.name}` is not told whether it trains")
        self.known[function] = "training"
        _, end = self.text.span([*given.args, *given.defaults][-1])
        code = ", training=False" if given.defaults else ", training"
        self.text.replace(end, end, code)
        for one in calls:
            self._tell(one)

    def _kept(self, node: ast.Call) -> list[ast.expr]:
        """The shares of inputs and outputs that a wrapper keeps."""
        given = dict(zip(SIGNATURE, node.args, strict=False))
        given |= {str(one.arg): one.value for one in node.keywords}
        return [given[name] for name in SIGNATURE[1:3] if name in given]

    def _rule(self, value: ast.expr, user: ast.Call) -> Rule | None:
        """When a share of outputs is dropped: with a flag; None if always."""
        if isinstance(value, ast.IfExp):
            return self._condition(value)
        if not isinstance(value, ast.Name):
            if any(isinstance(one, ast.IfExp) for one in walk_ast(value)):
                raise Refused("`DropoutWrapper` with a share that is computed")
            return None
        function = self.function(value)
        if function is None:
            return None
        other = self._read_by_others(function, value.id)
        if value.id in parameters_of(function):
            if other:
                raise Refused(f"`{value.id}` is read for more than `DropoutWrapper`")
            return self._of_callers(function, value.id)
        stores = [one for one in stores_in(function) if one.id == value.id]
        made = self.above[stores[0]] if len(stores) == 1 else None
        if isinstance(made, ast.Assign):
            if other and isinstance(made.value, ast.IfExp):
                # Others go on to read what the mode decides.
                self.text.put(value, self.text.of(made.value.body))
                return self._condition(made.value, stays=True)
            return self._rule(made.value, user)
        if value.id in bound_names(function):
            raise Refused(f"`DropoutWrapper` with `{value.id}`, which changes")
        return None

    def _asks(self, test: ast.expr) -> bool:
        """Whether a test is of training: the mode, or a flag that is called so."""
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            asked = self.symbol(test.comparators[0]) or ""
            asks = isinstance(test.ops[0], ast.Eq)
            return asks and _TRAINING.fullmatch(asked) is not None
        return isinstance(test, ast.Name) and "train" in test.id

    def _condition(self, node: ast.IfExp, *, stays: bool = False) -> Rule:
        if not self._asks(node.test) or literal(self.text.of(node.orelse)) != 1:
            raise Refused(f"`DropoutWrapper` with `{self.text.of(node)}`")
        flag = self._flag(node.test)
        if not stays:
            self.told.add(node)
        return flag

    def _flag(self, test: ast.expr, compared: str = "") -> Rule:
        """What tells that it trains, in the function that a flag comes from.

        A mode is followed together with what it is compared to.
        """
        function = self.function(test)
        if isinstance(test, ast.Compare) and not compared:
            left = self.text.of(test.left)
            test, compared = test.left, self.text.of(test).removeprefix(left)
        name = test.id if isinstance(test, ast.Name) else ""
        while function is not None and name not in parameters_of(function):
            around = self.function(function)
            if not name or name in bound_names(function) or around is None:
                break
            function = around
        if function is None or name not in parameters_of(function):
            code = self.text.of(test) + compared
            if function is not None:
                self.known.setdefault(function, code)
            return Rule(code, function.name if function else "")
        self.known.setdefault(function, name + compared)
        every = self._calls(function)
        if every is None or any(name not in given for given in every.values()):
            return Rule(name + compared, function.name)
        calls = {used: given[name] for used, given in every.items()}
        flags = {self._flag(value, compared) for value in calls.values()}
        if len(flags) != 1:
            return Rule(name + compared, function.name)
        self.flagged[function] = name, calls
        return flags.pop()

    def _without_flags(self, asking: Collection[ast.FunctionDef | None]) -> None:
        """Takes parameters out that told nothing but when wrappers drop.

        `asking` are functions that go on to read them.
        """
        gone = {n for one in self.told for n in walk_ast(one.test)}
        for function, (name, calls) in reversed(self.flagged.items()):
            if function in asking or any(
                one.id == name and one not in gone for one in loads_in(function)
            ):
                continue
            gone |= {n for value in calls.values() for n in walk_ast(value)}
            arguments = function.args
            kept = [one for one in arguments.args if one.arg != name]
            if kept == arguments.args or arguments.posonlyargs or arguments.defaults:
                raise Refused(f"`{function.name}` makes cells by `{name}`")
            first, last = arguments.args[0], arguments.args[-1]
            start, end = self.text.span(first)[0], self.text.span(last)[1]
            self.text.replace(start, end, ", ".join(map(self.text.of, kept)))
            for call, value in calls.items():
                every: list[ast.AST] = [*call.args, *call.keywords]
                rest = [
                    self.text.of(one)
                    for one in every
                    if one is not value and getattr(one, "value", None) is not value
                ]
                start, end = self.text.span(every[0])[0], self.text.span(every[-1])[1]
                self.text.replace(start, end, ", ".join(rest))

    def _of_callers(self, function: ast.FunctionDef, name: str) -> Rule | None:
        """The rule of a parameter, which all calls of the function give."""
        calls = self._calls(function)
        if calls is None:
            raise Refused(f"`{function.name}` makes cells where it is not called")
        rules = {
            self._rule(given[name], used)
            for used, given in calls.items()
            if name in given
        }
        if len(rules) > 1:
            raise Refused(f"`{function.name}` makes cells that drop by several rules")
        return next(iter(rules), None)

    def _calls(
        self, function: ast.FunctionDef
    ) -> dict[ast.Call, dict[str, ast.expr]] | None:
        """The arguments of each call of a function; None where it is named for more."""
        names = parameters_of(function)
        found: dict[ast.Call, dict[str, ast.expr]] = {}
        said: list[ast.expr] = [*names_in(self.module)]
        if isinstance(self.above.get(function), ast.ClassDef):
            names = names[1:]
            said = [*walk_ast(self.module, ast.Attribute)]
        for one in said:
            if dotted(one).rpartition(".")[2] != function.name:
                continue
            used = self.above[one]
            if not isinstance(used, ast.Call) or used.func is not one:
                return None
            found[used] = dict(zip(names, used.args, strict=False))
            found[used] |= {str(k.arg): k.value for k in used.keywords}
        return found

    def _read_by_others(self, function: ast.FunctionDef, name: str) -> bool:
        """The share is read for more than wrappers, or what makes them."""
        for one in names_in(function):
            if one.id != name or isinstance(one.ctx, ast.Store):
                continue
            used = self.above[one]
            used = self.above[used] if isinstance(used, ast.keyword) else used
            if isinstance(used, ast.BinOp):
                used = self.above[used]
            made = isinstance(used, ast.Call) and (
                self.symbol(used.func) in _WRAPPERS
                or any(
                    isinstance(top, ast.FunctionDef)
                    and top.name == dotted(used.func).rpartition(".")[2]
                    for top in walk_ast(self.module)
                )
            )
            if not made and not isinstance(used, ast.keyword):
                return True
        return False
