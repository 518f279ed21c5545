"""Statements that make layers as they go, taken apart into ``__init__`` and ``call``.

What is known before the graph, and makes layers, goes to the constructor; the author's
statements stay in the call, with a layer's name where it was made.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from ...code.arguments import UnknownArguments, is_none, match_arguments
from ...code.blocked import Blocked
from ...code.edits import Put
from ...code.names import fresh
from ...code.source import Source
from ...code.statements import is_docstring
from ...code.texts import source_text
from ...code.tree import Statement, only_small, statements_of, walk
from ...model.api.hub import MODULE as HUB_MODULE
from ...model.api.hub import NAMES as HUB_NAMES
from ...model.contrib_functions import WITHOUT_WEIGHTS, contrib_name
from ...model.layer_functions import CLASSES, EMPTY, LAYERS, LayerFunction
from ...model.spelling import snake
from ...model.values import Function, Time
from ...names.scopes import BindingKind
from .changes import Comprehension, Dropped, Mover
from .draws import draws
from .flow import bound_by, bound_by_head, written_by
from .lines import Line, around, every, need, rendered
from .spelling import (
    FLAGS,
    RESERVED,
    TF,
    argument_of,
    names_of,
    pairs_of,
    parameter,
    spaced,
    with_owner,
)
from .taken import Stays, Taken

if TYPE_CHECKING:
    from .classes import Classes
    from .files import File

# Methods of lifted classes that make variables as a function of TensorFlow 1 does.
METHODS = {
    "variable": "get_variable",
    "new variable": "new_variable",
    "linear_model": "make_linear_model",
}
# Arguments of columns that their layer of Keras does not have.
_FILLED = ("cols_to_vars", "cols_to_output_tensors", "weight_collections")


@dataclass
class _Loop:
    """A loop of the constructor: its head, what that binds and reads."""

    head: str
    targets: set[str]
    reads: set[str]
    # Names that the rounds of the call bind.
    names: set[str]
    # The constructor around it.
    outer: list[Line] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    # Lists whose elements go along with the rounds, and their names.
    zipped: list[tuple[str, str]] = field(default_factory=list)
    # Lists of which each next element is taken.
    taken: list[tuple[str, str]] = field(default_factory=list)
    # Names of next elements that are taken before a branch.
    ahead: set[str] = field(default_factory=set)


def _grouped(target: cst.BaseExpression) -> str:
    """A target of several names as one of several targets."""
    shown = source_text(target)
    several = isinstance(target, cst.Tuple) and shown[0] != "("
    return f"({shown})" if several else shown


class Body:
    """Takes the statements of a function, or some of them, apart."""

    def __init__(
        self,
        classes: Classes,
        file: File,
        defined: cst.FunctionDef,
        statements: Sequence[Statement],
        outside: set[str],
        changing: frozenset[str] = frozenset(),
    ) -> None:
        self.classes = classes
        self.file = file
        self.tree = file.tree
        self.notes = classes.notes
        self.defined = defined
        self.statements = statements
        # Names that have a value before the statements.
        self.outside = outside
        # Names whose values only the call follows.
        self.changing = changing
        self.source = Source(self.tree, defined)
        self.scope = self.tree.resolver.scopes.opened[defined]
        self.bound = {n for s in statements for n in self.binds(s)}
        # Attributes of objects that the statements set, by whatever they call.
        self.written = self._written()
        self.late = self._late_names()
        self.lines: list[Line] = []
        self.loops: list[_Loop] = []
        # A branch that the constructor does not follow, or follows.
        self.by_mode = False
        self.by_setup = False
        # What is taken before such a branch of each round, which may not come to it.
        self.ahead: list[Statement] | None = None
        # Names of a comprehension.
        self.near: set[str] = set()
        # Branches around that only the call decides.
        self.by_size = 0
        # Loops around whose rounds only the call knows.
        self.by_call = 0
        self.taken_names: set[str] = set(RESERVED) | {
            "self",
            "training",
            *METHODS.values(),
        }
        self.static: dict[str, list[Statement]] = {}
        self.optional: list[Statement] = []

    def fresh(self, wanted: str) -> str:
        """An attribute that is not there yet."""
        wanted = re.sub("__+", "_", wanted).strip("_") or "layer"
        if keyword.iskeyword(wanted):
            wanted += "_"
        elif wanted in RESERVED:
            wanted = f"own_{wanted}"
        return fresh(wanted, self.taken_names)

    # -- names, and when they are known

    def binds(self, node: cst.CSTNode) -> set[str]:
        """Names that a statement binds."""
        return bound_by(node, self.notes)

    def _written(self) -> set[str]:
        found: set[str] = set()
        for statement in self.statements:
            found |= written_by(statement, self.notes)
            for one in self.notes.reached(statement):
                made = isinstance(one, cst.FunctionDef) and one.name.value == "__init__"
                found |= set() if made else written_by(one, self.notes)
        return found

    def reads_written(self, node: cst.CSTNode) -> str | None:
        """An attribute in code of the constructor that the call sets later."""
        for one in walk(node, cst.Attribute):
            if one.attr.value in self.written:
                return self.tree.code(one)
        return None

    def local(self, node: cst.Name) -> bool:
        """The name is one of the function's own, or the object that it belongs to.

        A class has another `self`: it is handed on, also from a function around.
        """
        found = self.tree.resolver.bindings(node)
        around = node.value == "self" and all(
            one.kind is BindingKind.PARAMETER for one in found
        )
        return any(one.scope is self.scope or around for one in found)

    def reads(self, node: cst.CSTNode) -> set[str]:
        """Names of the function that a piece of it reads."""
        loads = self.tree.resolver.scopes.loads
        return {
            one.value
            for one in walk(node, cst.Name)
            if one in loads and self.local(one)
        }

    def _late_names(self) -> set[str]:
        """Names that are bound in the graph, if only at times."""
        late: set[str] = set(self.changing)
        small = [
            node
            for statement in self.statements
            for node in walk(statement)
            if isinstance(
                node, (cst.SimpleStatementLine, cst.For, cst.With, cst.FunctionDef)
            )
        ]
        while True:
            found = set(late)
            for node in small:
                names = (
                    self.binds(node)
                    if not isinstance(node, cst.With)
                    else bound_by_head(node)
                )
                if isinstance(node, cst.For):
                    for over, target in pairs_of(node.iter, node.target):
                        if self.notes.time(over) is Time.GRAPH:
                            found |= names_of(target)
                elif isinstance(node, cst.With):
                    found |= names
                elif isinstance(node, cst.FunctionDef):
                    found.add(node.name.value)
                elif names and (self._is_graph(node) or self.reads(node) & late):
                    found |= names
            if found == late:
                return late
            late = found

    def _is_graph(self, statement: cst.CSTNode) -> bool:
        for node in walk(statement):
            value: cst.BaseExpression | None = None
            if isinstance(node, (cst.Assign, cst.AugAssign, cst.AnnAssign, cst.Expr)):
                value = node.value
            if value is None:
                continue
            if self.notes.makes(node) or self.reads_written(value):
                return True
            if draws(self.tree, value) or self._tells_flag(value):
                return True
            for one in walk(value):
                if (
                    isinstance(one, cst.BaseExpression)
                    and one in self.notes.values
                    and self.notes.time(one) is Time.GRAPH
                ):
                    return True
        return False

    def _tells_flag(self, value: cst.BaseExpression) -> bool:
        """A value chosen by the flag of training, or a dictionary with it."""
        if isinstance(value, cst.IfExp):
            return bool(self.reads(value.test) & {*FLAGS, "mode"})
        named = isinstance(value, cst.Call) and self.tree.code(value.func) == "dict"
        flags = self.reads(value) & {*FLAGS, "mode"}
        return bool(flags) and (named or isinstance(value, cst.Dict))

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        """What to raise where the statements cannot be taken apart."""
        return self.source.stop(node, reason)

    def reads_first(self, name: str) -> bool:
        """The value from before the statements may be read by them."""
        for statement in self.statements:
            if name in self.reads(statement):
                return True
            if name in self.binds(statement) and only_small(statement) is not None:
                return False
        return True

    def ordered(self, names: set[str]) -> list[str]:
        order = list(self.scope.bindings)
        return sorted(names, key=lambda n: order.index(n) if n in order else len(order))

    def outer_time(self, name: str) -> Time:
        """When a name that comes from outside is known."""
        loads = self.tree.resolver.scopes.loads
        found = Time.SETUP
        for statement in self.statements:
            for node in walk(statement, cst.Name):
                if (
                    node.value == name
                    and node in loads
                    and node in self.notes.values
                    and self.local(node)
                ):
                    found = max(found, self.notes.time(node))
        return found

    def reads_local(self, node: cst.Name) -> bool:
        loads = self.tree.resolver.scopes.loads
        return node in loads and self.local(node)

    # -- the whole

    def take(self) -> Taken:
        """The code of the class."""
        call = self._without_optional(self.block(self.statements))
        stored: dict[str, str] = {}
        graph: list[str] = []
        for name in self.ordered(self._reads_of(call)):
            if name in self.static:
                if len(self.static[name]) > 1 or name in self.outside:
                    return self._without(name)
                stored[name] = ""
            elif name in self.bound:
                if name in self.outside and self.reads_first(name):
                    graph.append(name)
            elif self.outer_time(name) is Time.SETUP and not self._is_flag(name, call):
                stored[name] = ""
            else:
                graph.append(name)
        for name in stored:
            stored[name] = self.fresh(parameter(name))
        init, reads = self._init(stored)
        setup = [n for n in self.ordered(reads) if n in self.outside]
        flag = self._flag_in(graph)
        said = {name: f"self.{attribute}" for name, attribute in stored.items()}
        said |= {flag: "training"} if flag else {}
        call = [self._said(statement, said) for statement in call]
        return Taken(init, call, setup, graph, flag)

    def _said(self, statement: Statement, said: dict[str, str]) -> Statement:
        """A statement with other code in the places of names."""
        places = {
            one: cst.parse_expression(said[one.value])
            for one in walk(statement, cst.Name)
            if one.value in said and self.reads_local(one)
        }
        return statement.visit(Put(places, statement))  # type: ignore[return-value]

    def _flag_in(self, graph: Sequence[str]) -> str:
        """The name that is `training` in the call, where nothing else is."""
        if self.defined.name.value == "__call__" or {"training", "mode"} & {*graph}:
            return ""
        free = "training" not in self.scope.bindings
        flags = (one for one in graph if one in FLAGS and one not in self.bound)
        return next(flags, "") if free else ""

    def _is_flag(self, name: str, call: Sequence[Statement]) -> bool:
        """Layers are told by a name, when they are called, whether they train."""
        reads = [one for part in call for one in walk(part) if self._reads(one, name)]
        given = [
            one.value
            for part in call
            for one in walk(part)
            if isinstance(one, (cst.Arg, cst.DictElement))
            and self._reads(one.value, name)
        ]
        made = any(name in line.reads for line in every(self.lines))
        return name in FLAGS and len(reads) == len(given) and not made

    def _reads(self, node: cst.CSTNode, name: str) -> bool:
        return (
            isinstance(node, cst.Name) and node.value == name and self.reads_local(node)
        )

    def _without(self, name: str) -> Taken:
        """The code with a name that changes between layers: the call alone has it."""
        if name in self.changing:
            reason = f"`{name}` changes between layers"
            raise self.stop(self.static[name][-1], reason)
        return self.again(self.changing | {name}).take()

    def again(self, changing: frozenset[str]) -> Body:
        """The same statements, with other names that change between layers."""
        return Body(
            self.classes,
            self.file,
            self.defined,
            self.statements,
            self.outside,
            changing,
        )

    def _reads_of(self, call: Sequence[Statement]) -> set[str]:
        """Names that the call reads and does not bind before."""
        found: set[str] = set()
        for statement in call:
            for node in walk(statement, cst.Name):
                if self.reads_local(node):
                    found.add(node.value)
        return found

    # -- the constructor

    def _init(self, stored: dict[str, str]) -> tuple[list[str], set[str]]:
        """The constructor's statements, and the names that they read."""
        needed = need(self.lines, set(stored))
        code: list[str] = []
        for name, attribute in stored.items():
            if name not in self.static:
                code.append(f"self.{attribute} = {parameter(name)}\n")
        code += rendered(self.lines)
        for name, attribute in stored.items():
            if name in self.static:
                code.append(f"self.{attribute} = {parameter(name)}\n")
        return code, needed

    def text(self, node: cst.BaseExpression) -> str:
        """The source of an expression for the constructor."""
        late = self.reads(node) & self.late
        if late:
            raise self.stop(node, f"a layer depends on `{min(late)}`")
        if self.notes.makes(node):
            raise self.stop(node, "a layer depends on a variable")
        if self.by_size and any(isinstance(n, cst.Subscript) for n in walk(node)):
            # It may be there in that branch only.
            shown = self.tree.code(node)
            raise self.stop(node, f"`{shown}` of a layer in a branch on a tensor")
        written = self.reads_written(node)
        if written is not None:
            raise self.stop(node, f"a layer depends on `{written}`, which changes")
        if draws(self.tree, node):
            raise self.stop(node, "a layer draws from a state that others draw from")
        code = source_text(node)
        return with_owner(node, code)

    def make(
        self,
        wanted: str,
        constructor: str,
        node: cst.CSTNode,
        reads: set[str],
        *,
        weights: bool = True,
    ) -> str:
        """Adds a layer to the constructor; gives what stands for it in the call.

        One without weights is the same in each round of a loop.
        """
        alike = not weights and not any(reads & one.names for one in self.loops)
        if not self.loops or alike:
            attribute = self.fresh(wanted)
            lines = self.loops[0].outer if self.loops else self.lines
            lines.append(
                Line(f"self.{attribute} = {constructor}\n", set(), reads, True)
            )
            return f"self.{attribute}"
        attribute = self.fresh(f"{wanted.removesuffix('_layer')}_layers")
        self.loops[0].lists.append(attribute)
        self.lines.append(
            Line(f"self.{attribute}.append({constructor})\n", set(), reads, True)
        )
        inner = self.loops[-1]
        if len(self.loops) == 1 and not self.by_setup:
            element = self._element(wanted)
            inner.zipped.append((attribute, element))
            return element
        if self.by_mode and self.ahead is None:
            raise self.stop(node, "layers of one mode in nested loops")
        element = self._element(attribute)
        self.loops[0].taken.append((attribute, element))
        if not self.by_mode or self.ahead is None:
            return f"next({element})"
        name = self._element(wanted)
        self.loops[0].ahead.add(name)
        self.ahead.append(cst.parse_statement(f"{name} = next({element})\n"))
        return name

    def _element(self, wanted: str) -> str:
        name = wanted
        taken = {e for loop in self.loops for _, e in (*loop.zipped, *loop.taken)}
        taken |= {one for loop in self.loops for one in loop.ahead}
        hidden = taken | self.near
        while name in self.scope.bindings or name in hidden or keyword.iskeyword(name):
            name += "_"
        return name

    # -- statements

    def block(self, statements: Sequence[Statement]) -> list[Statement]:
        """What the call keeps of some statements."""
        found: list[Statement] = []
        for statement in statements:
            found += self.statement(statement)
        return found

    def statement(self, node: Statement) -> list[Statement]:
        """What the call keeps of a statement."""
        if is_docstring(node):
            return []
        if self.notes.regularized and any(
            one in self.notes.collecting for one in walk(node)
        ):
            raise self.stop(node, "regularisation losses are read between layers")
        if not self.notes.makes(node):
            return self._plain(node)
        if isinstance(node, cst.If):
            ahead: list[Statement] = []
            outer_ahead, first = self.ahead, not self.by_mode
            self.ahead = ahead if first else outer_ahead
            branch = self._if(node)
            self.ahead = outer_ahead
            return [*ahead, branch]
        if isinstance(node, cst.For):
            return self._for(node)
        if isinstance(node, cst.With):
            items = [one.with_changes(item=self.moved(one.item)) for one in node.items]
            return [node.with_changes(items=items, body=self._suite(node.body))]
        if isinstance(node, cst.SimpleStatementLine):
            return [self._moved_statement(node)]
        raise self.stop(node, "layers in a statement that cannot be lifted")

    def _plain(self, node: Statement) -> list[Statement]:
        """A statement without layers."""
        names = self.binds(node)
        if isinstance(only_small(node), (cst.Import, cst.ImportFrom)):
            # The constructor's code may want it as well as the call's.
            self.lines.append(Line(source_text(node), names))
            return [node]
        static = (
            bool(names)
            and not names & self.late
            and not self.reads(node) & self.late
            and not isinstance(node, (cst.FunctionDef, cst.ClassDef))
            and self.reads_written(node) is None
            and not any(isinstance(n, (cst.Return, cst.Break)) for n in walk(node))
            and not self.by_call
        )
        if not static:
            return [self._moved_statement(node)]
        code = with_owner(node, source_text(node))
        if self.loops or self.by_setup or self.by_mode:
            self.lines.append(Line(code, names, self.reads(node)))
            moved = self._moved_statement(node)
            self.optional.append(moved)
            return [moved]
        for name in names:
            known = self.static.setdefault(name, [])
            known.append(node)
        self.lines.append(Line(code, names, self.reads(node)))
        return []

    def _if(self, node: cst.If) -> cst.If:
        time = self.notes.time(node.test)
        reads = self.reads(node.test)
        late = self.is_late(node.test)
        mirrored = time is Time.SETUP and not late
        self.by_size += late
        outer_ahead = self.ahead
        # ``training and rate``: the constructor knows half of it.
        parts = [] if mirrored else self._settled(node.test)
        if mirrored or parts:
            self.ahead = None  # the constructor makes what is within by this test
        outer, by_mode, by_setup = self.lines, self.by_mode, self.by_setup
        self.by_mode = by_mode or not mirrored
        self.by_setup = by_setup or mirrored
        first: list[Line] = []
        self.lines = first
        body = self._suite(node.body)
        second: list[Line] = []
        self.lines = second
        orelse: cst.If | cst.Else | None = None
        if isinstance(node.orelse, cst.If):
            orelse = self._if(node.orelse)
        elif node.orelse is not None:
            orelse = node.orelse.with_changes(body=self._suite(node.orelse.body))
        self.lines, self.by_mode, self.by_setup = outer, by_mode, by_setup
        self.by_size -= late
        self.ahead = outer_ahead
        if mirrored:
            test = self.text(node.test)
            line = Line(f"if {test}:\n", set(), reads, False, first, second)
            outer.append(line)
        elif parts and first:
            test = " and ".join(map(self.text, parts))
            read = {name for one in parts for name in self.reads(one)}
            outer.append(Line(f"if {test}:\n", set(), read, False, first, []))
            outer += second
        else:
            outer += first + second
        return node.with_changes(test=self.moved(node.test), body=body, orelse=orelse)

    def _settled(self, test: cst.BaseExpression) -> list[cst.BaseExpression]:
        """The parts of ``a and b`` that the constructor knows."""
        if isinstance(test, cst.BooleanOperation) and isinstance(
            test.operator, cst.And
        ):
            return [*self._settled(test.left), *self._settled(test.right)]
        known = self.notes.time(test) is Time.SETUP and not self.is_late(test)
        return [test] if known else []

    def is_late(self, test: cst.BaseExpression) -> bool:
        """Only the call knows what a branch asks for.

        It is known when the graph is made, and no tensor, but it may be a size.
        """
        late = self.notes.time(test) is Time.GRAPH
        return late or bool(self.reads(test) & self.late)

    def _for(self, node: cst.For) -> list[Statement]:
        if node.orelse is not None:
            raise self.stop(node, "layers in a loop with `else`")
        loop = None if self.by_call else self._rounds(node, self.binds(node))
        if loop is None:
            self.by_call += 1
            body = self._suite(node.body)
            self.by_call -= 1
            return [node.with_changes(iter=self.moved(node.iter), body=body)]
        by_setup, outer_ahead = self.by_setup, self.ahead
        self.by_setup, self.ahead = by_setup and bool(self.loops), None
        with self._going_round(loop):
            body = self._suite(node.body)
        self.by_setup, self.ahead = by_setup, outer_ahead
        moved, target = self._zipped(node.iter, node.target, loop)
        before = [
            cst.parse_statement(f"{element} = iter(self.{attribute})\n")
            for attribute, element in loop.taken
        ]
        statement = node.with_changes(iter=moved, target=target, body=body)
        return [*before, statement]

    @contextmanager
    def _going_round(self, loop: _Loop) -> Iterator[None]:
        """What is made within is made by the rounds of a loop of the constructor."""
        loop.outer, self.lines = self.lines, []
        self.loops.append(loop)
        yield
        self.loops.pop()
        inner, self.lines = self.lines, loop.outer
        for attribute in loop.lists:
            self.lines.append(Line(f"self.{attribute} = []\n", set(), set(), True))
        self.lines.append(around(loop.head, loop.targets, loop.reads, inner))

    def _zipped(
        self,
        over: cst.BaseExpression,
        target: cst.BaseAssignTargetExpression,
        loop: _Loop,
    ) -> tuple[cst.BaseExpression, cst.BaseAssignTargetExpression]:
        """What the rounds go over, with lists whose elements go along."""
        pairs = pairs_of(over, target)
        if not loop.zipped:
            return self.moved(over), target
        elements = [_grouped(one) for _, one in pairs]
        elements += [element for _, element in loop.zipped]
        lists = ", ".join(f"self.{attribute}" for attribute, _ in loop.zipped)
        made = cst.parse_module(
            f"for {', '.join(elements)} in zip({lists}):\n    pass\n"
        )
        (head,) = made.body
        assert isinstance(head, cst.For)
        assert isinstance(head.iter, cst.Call)
        args = [*(cst.Arg(self.moved(one)) for one, _ in pairs), *head.iter.args]
        return spaced(head.iter.with_changes(args=args)), head.target

    def _rounds(self, node: cst.For | cst.CompFor, names: set[str]) -> _Loop | None:
        """A loop as the constructor goes through it, if it can.

        Of things that are gone through at once, it has those that are known early.
        """
        known: list[tuple[cst.BaseExpression, cst.BaseExpression]]
        known = [(node.iter, node.target)]
        if not self._is_counted(node.iter):
            pairs = pairs_of(node.iter, node.target)
            known = [(one, name) for one, name in pairs if self._is_counted(one)]
        if not known:
            return None
        texts = [self.text(over) for over, _ in known]
        over = texts[0] if len(texts) == 1 else f"zip({', '.join(texts)})"
        shown = (
            [source_text(known[0][1])]
            if len(known) == 1
            else [_grouped(name) for _, name in known]
        )
        targets = ", ".join(shown)
        return _Loop(
            f"for {targets} in {over}:\n",
            {name for _, target in known for name in names_of(target)},
            {name for over, _ in known for name in self.reads(over)},
            names,
        )

    def _is_counted(self, iterated: cst.BaseExpression) -> bool:
        """How often a loop goes round is known before the graph."""
        early = self.notes.time(iterated) is Time.SETUP
        return early and not self.reads(iterated) & self.late

    def comprehension(self, node: Comprehension) -> cst.BaseExpression:
        """Layers made by a comprehension, each taken along with its element."""
        loop_of = node.for_in
        if (
            # What is made when it is asked for may come in another order.
            (self.loops and not isinstance(node, (cst.ListComp, cst.DictComp)))
            or self.by_mode
            or self.by_setup
            or loop_of.inner_for_in is not None
            or loop_of.ifs
            or self.notes.makes(loop_of)
            or (isinstance(node, cst.DictComp) and self.notes.makes(node.key))
            or self.by_call
            or (loop := self._rounds(loop_of, names_of(loop_of.target))) is None
        ):
            if self.notes.makes(loop_of):
                why = "layers in a comprehension that is not plain"
                raise self.stop(node, why)
            self.by_call += 1
            changed = self._elements(node)
            self.by_call -= 1
            return changed
        self.near = names_of(node)
        with self._going_round(loop):
            changed = self._elements(node)
        self.near = set()
        moved, target = self._zipped(loop_of.iter, loop_of.target, loop)
        return changed.with_changes(
            for_in=loop_of.with_changes(target=target, iter=moved)
        )

    def _elements(self, node: Comprehension) -> Comprehension:
        """A comprehension whose elements call layers instead of making them."""
        if isinstance(node, cst.DictComp):
            key, value = self.moved(node.key), self.moved(node.value)
            return node.with_changes(key=key, value=value)
        return node.with_changes(elt=self.moved(node.elt))

    def _suite(self, body: cst.BaseSuite) -> cst.BaseSuite:
        if not isinstance(body, cst.IndentedBlock):
            raise self.stop(body, "several statements on one line")
        new = self.block(statements_of(body))
        if not new:
            new = [cst.SimpleStatementLine([cst.Pass()])]
        return body.with_changes(body=new)

    def _moved_statement(self, node: Statement) -> Statement:
        return Mover(self).moved(node)  # type: ignore[return-value]

    def moved(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """An expression of the call, with what it calls instead of making it."""
        return Mover(self).moved(node)  # type: ignore[return-value]

    def _without_optional(self, call: list[Statement]) -> list[Statement]:
        """The call without plain values that nothing else in it reads."""
        gone = {id(one) for one in self.optional}
        while True:
            kept = [Dropped(gone).visited(one) for one in call]
            read = self._reads_of(kept)
            needed = {id(one) for one in self.optional if self.binds(one) & read}
            if not needed & gone:
                return kept
            gone -= needed

    # -- calls that make layers

    def layer(self, node: cst.Call) -> cst.BaseExpression:
        """What the call says instead of making a layer."""
        made = self.notes.made[node]
        method = METHODS.get(made.kind)
        if made.kind == "DenseFeatures" and (self.by_call or _as_in_tensorflow_1(node)):
            method = "make_input_layer"
        known = method is not None or contrib_name(made.symbol) in WITHOUT_WEIGHTS
        if made.kind == "called" or (self.by_call and not known):
            if made.kind == "object":
                raise self.stop(node, "an object with variables in a loop over tensors")
            shown = self.tree.code(node.func)
            raise self.stop(node, f"`{shown}` makes variables where it is called")
        if made.kind == "function":
            return self._function_layer(node)
        if method is not None:
            args = [one.with_changes(value=self.moved(one.value)) for one in node.args]
            return node.with_changes(
                func=cst.parse_expression(f"self.{method}"), args=args
            )
        if made.kind == "object":
            return self._object(node)
        try:
            return self._layer_of_keras(node)
        except Blocked:
            # It depends on what only the call knows, or says what Keras cannot be told.
            if made.kind == "DenseFeatures":
                raise
            return self._function_layer(node)

    def _layer_of_keras(self, node: cst.Call) -> cst.BaseExpression:
        """A layer of Keras for a function of tf.layers, called in its place."""
        symbol = self.notes.made[node].symbol
        known = LAYERS[symbol]
        reads: set[str] = set()

        def text(part: cst.BaseExpression) -> str:
            reads.update(self.reads(part))
            return self.text(part)

        plain = node.with_changes(args=[one for one in node.args if not one.star])
        options = [f"**{text(one.value)}" for one in node.args if one.star]
        given = self._matched(plain, (known.inputs, *known.parameters))
        inputs = given.pop(known.inputs, None)
        if inputs is None:
            raise self.stop(node, "a layer without input")
        told = {name: given.pop(name, cst.Name("False")) for name in known.at_call}
        named = name_in(given.get("name"))
        constructor = self._constructor(known, given, plain, text, inputs=1)
        if options:
            joined = "" if constructor.endswith("(") else ", "
            constructor = f"{constructor[:-1]}{joined}{', '.join(options)})"
        wanted = named or self._result(node) or symbol.rpartition(".")[2]
        weights = EMPTY.search(symbol) is None
        args = [cst.Arg(self.moved(inputs))]  # layers are made as they are called
        stands = self.make(wanted, constructor, node, reads, weights=weights)
        func = cst.parse_expression(stands)
        args += [
            argument_of(self.moved(one), cst.Name(name)) for name, one in told.items()
        ]
        return cst.Call(func, args)

    def _matched(
        self, call: cst.Call, parameters: tuple[str, ...]
    ) -> dict[str, cst.BaseExpression]:
        """The arguments of a call by the names of parameters."""
        try:
            return match_arguments(call, parameters)
        except UnknownArguments as problem:
            raise self.stop(call, f"layer with {problem}") from None

    def _constructor(
        self,
        layer: LayerFunction,
        given: dict[str, cst.BaseExpression],
        call: cst.Call,
        text: Callable[[cst.BaseExpression], str],
        inputs: int = 0,
    ) -> str:
        """Source of ``Dense(...)`` with arguments in Keras' terms.

        ``text`` gives an argument's source; the first ``inputs`` of the call are no
        part of it. Names tell which layers are shared.
        """
        reused = given.pop("reuse", None)
        asks = not is_none(reused) and self.tree.code(reused) != "False"  # type: ignore[arg-type]
        if asks and is_none(given.get("name")):
            raise self.stop(call, "a layer without a name that is reused")
        if not is_none(given.get("adjustment")):
            raise self.stop(call, "batch normalization with an adjustment")
        for name in ("renorm", "virtual_batch_size"):
            value = given.pop(name, None)
            if not is_none(value) and text(value) != "False":  # type: ignore[arg-type]
                raise self.stop(call, f"batch normalization with `{name}`")
        for name in ("fused", "renorm_clipping", "renorm_momentum", "adjustment"):
            given.pop(name, None)
        if layer.keras == "Dropout":
            given = {"rate": cst.Float("0.5")} | given
        positional = sum(argument.keyword is None for argument in call.args) - inputs
        parts = []
        for index, (name, value) in enumerate(given.items()):
            if name.endswith(("_regularizer", "_initializer")):
                if is_none(value):
                    continue
                made = self.tree.value(value)
                if made is not None and draws(self.tree, made):
                    raise self.stop(value, "an initialiser draws from a state")
            code = text(value)
            if name in ("activation", "trainable") and code in ("None", "True"):
                continue
            plain = index < min(positional, layer.plain)
            parts.append(code if plain else f"{name}={code}")
        return f"{TF}.keras.layers.{layer.keras}({', '.join(parts)})"

    def _result(self, node: cst.Call) -> str | None:
        """The name of what a layer gives, where it has no other meaning."""
        statement = self.tree.parent(node)
        if self.loops or not isinstance(statement, cst.Assign):
            return None
        if len(statement.targets) > 1:
            return None
        target = statement.targets[0].target
        if not isinstance(target, cst.Name) or len(target.value) == 1:
            return None
        usable = target.value not in self.taken_names
        return (
            target.value
            if usable and len(self.scope.bindings[target.value]) == 1
            else None
        )

    def _object(self, node: cst.Call) -> cst.BaseExpression:
        """A layer that is made here and called elsewhere."""
        reads: set[str] = set()

        def text(part: cst.BaseExpression) -> str:
            reads.update(self.reads(part))
            return self.text(part)

        symbol = self.notes.made[node].symbol
        if symbol.startswith("tf.keras."):
            parts = [
                f"{one.keyword.value}={text(one.value)}"
                if one.keyword
                else text(one.value)
                for one in node.args
            ]
            constructor = f"{source_text(node.func)}({', '.join(parts)})"
        elif symbol == HUB_MODULE:
            given = self._matched(node, HUB_NAMES)
            parts = [text(given["spec"])]
            if "name" in given:
                parts.append(f"name={text(given['name'])}")
            loader = source_text(node.func).removesuffix("Module")
            constructor = f"{loader}KerasLayer({', '.join(parts)})"
        else:
            names = tuple(
                n for n in CLASSES[symbol].parameters_of_class if n != "reuse"
            )
            given = self._matched(node, names)
            constructor = self._constructor(CLASSES[symbol], given, node, text)
        wanted = snake(source_text(node.func).rpartition(".")[2])
        statement = self.tree.parent(node)
        if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
            target = statement.targets[0].target
            wanted = target.value if isinstance(target, cst.Name) else wanted
        weights = EMPTY.search(symbol) is None
        stands = self.make(wanted, constructor, node, reads, weights=weights)
        return cst.parse_expression(stands)

    def _function_layer(self, node: cst.Call) -> cst.BaseExpression:
        """A layer that calls the function as it is, with its own variables.

        What is known before the graph goes to the constructor, all else to the call.
        """
        function = self.text(node.func)
        if not isinstance(node.func, (cst.Name, cst.Attribute)):
            raise self.stop(node, f"`{function}` makes variables where it is called")
        reads = self.reads(node.func)
        plain = [one for one in node.args if one.keyword is None and one.star != "**"]
        early = [self._early_text(one) for one in plain]
        # Places behind the last one that only the call knows; the first is the input.
        first = max(
            (n for n, one in enumerate(early) if one is None or not n), default=-1
        )
        given = [one for one in early[first + 1 :] if one is not None]
        late = plain[: first + 1]
        weights = contrib_name(self.notes.made[node].symbol) not in WITHOUT_WEIGHTS
        wanted = snake(source_text(node.func).rpartition(".")[2])
        wanted = wanted if weights else self._result(node) or wanted
        for one in node.args:
            if one in plain:
                continue
            # What tells whether it trains is told by the call.
            told = (*FLAGS, "normalizer_params")
            flag = one.keyword is not None and one.keyword.value in told
            code = None if flag else self._early_text(one)
            if code is None:
                late.append(one)
                continue
            given.append(code)
            if one.keyword is not None and one.keyword.value in ("name", "scope"):
                wanted = name_in(one.value) or wanted
        for one in node.args:
            if one not in late:
                reads = reads | self.reads(one.value)
        constructor = f"{TF}.estimator.FunctionLayer({', '.join([function, *given])})"
        args = [one.with_changes(value=self.moved(one.value)) for one in late]
        stands = self.make(wanted, constructor, node, reads, weights=weights)
        return spaced(cst.Call(cst.parse_expression(stands), args))

    def _early_text(self, argument: cst.Arg) -> str | None:
        """An argument for the constructor, or None where it cannot stand there."""
        if self.notes.time(argument.value) is Time.GRAPH:
            return None
        try:
            code = self.text(argument.value)
        except Blocked:
            return None
        if argument.keyword is not None:
            return f"{argument.keyword.value}={code}"
        return f"{argument.star}{code}"

    def helped(self, node: cst.Call, function: Function) -> cst.BaseExpression:
        """What the call says instead of calling a function that makes layers."""
        if self.by_call:
            raise Stays(function.node)
        helper = self.classes.helper(node, function, self.file)
        parameters = [one.name.value for one in function.node.params.params]
        given: dict[str, cst.Arg] = {}
        for place, one in enumerate(node.args):
            if one.star:
                # Which of them are known early is not written there.
                raise Stays(function.node)
            name = one.keyword.value if one.keyword is not None else parameters[place]
            given[name] = one
        reads: set[str] = set()
        parts: list[str] = []
        for name in helper.setup:
            if name not in given:
                continue
            value = given[name].value
            if self.notes.time(value) is Time.GRAPH:
                shown = self.tree.code(value)
                raise self.stop(value, f"a layer depends on `{shown}`")
            reads |= self.reads(value)
            parts.append(f"{name}={self.text(value)}")
        constructor = (
            f"{self.classes.class_of(node, helper, self.file)}({', '.join(parts)})"
        )
        args: list[cst.Arg] = []
        skipped = False
        for name in helper.graph:
            if name not in given:
                skipped = True
                continue
            one = given[name]
            value = self.moved(one.value)
            named = cst.Name("training" if name == helper.flag else name)
            said = name == helper.flag and source_text(one.value) in ("False", "True")
            keyword = named if said or skipped or one.keyword is not None else None
            skipped = skipped or keyword is not None
            args.append(argument_of(value, keyword))
        stands = self.make(_wanted(function, given), constructor, node, reads)
        call = cst.parse_expression(f"{stands}()")
        assert isinstance(call, cst.Call)
        return spaced(call.with_changes(args=args))


def _wanted(function: Function, given: Mapping[str, cst.Arg]) -> str:
    """`tower`, or `genre_tower` where the function is given a name for its scope."""
    defined = function.node
    plain = snake(defined.name.value if isinstance(defined, cst.FunctionDef) else "")
    for name in ("scope", "name"):
        told = name_in(given[name].value) if name in given else None
        if told is not None:
            alike = {*plain.split("_")} & {*re.findall("[a-z]+", told)}
            return told if alike else f"{told}_{plain}"
    return plain


def _as_in_tensorflow_1(node: cst.Call) -> bool:
    """Columns that Keras' layer does not take."""
    return any(
        one.keyword is not None and one.keyword.value in _FILLED for one in node.args
    )


def name_in(node: cst.BaseExpression | None) -> str | None:
    """The name that a layer is given, as an attribute may be called."""
    if isinstance(node, cst.BinaryOperation):
        node = node.left  # 'mlp%d' % i
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value  # 'mlp{}'.format(i)
    text = ""
    if isinstance(node, cst.FormattedString):
        parts = node.parts
        text = "".join(p.value for p in parts if isinstance(p, cst.FormattedStringText))
    elif isinstance(node, cst.SimpleString):
        text = str(node.evaluated_value)
    text = re.sub(r"%[-+ #0-9.]*\w|\{[^{}]*\}", "", text)
    text = re.sub(r"\W+", "_", text).strip("_").lower()
    return text if text.isidentifier() else None
