"""Loops and branches that fill a dict of metrics: those that make and update them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from ...code.edits import Put, changed
from ...code.names import fresh
from ...code.statements import binds
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...model.arguments import Argument
from ...model.values import Time, time_of
from ...names.ast_nodes import expression_of, tree_of
from ...names.ast_nodes import walk as walk_ast
from ...project.facts import ParsedModule, ProjectFacts
from .inlined import knows_of_tasks
from .said import Said
from .slices import Computed, Mode

if TYPE_CHECKING:
    from .task import Maker


def with_metrics_in_loops(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with loops for ``{name: tf.metrics.mean(...) for name in names}``."""
    tree = Tree(parsed.module, parsed.resolver)
    places: dict[cst.CSTNode, list[Statement]] = {}
    for made in parsed.each(cst.DictComp):
        function = tree.function(made)
        if isinstance(function, cst.FunctionDef) and _is_metric(tree, made.value):
            places[tree.statement(made)] = _looped(tree, made, function)
    return changed(parsed, facts, places) if places else parsed


def _is_metric(tree: Tree, node: cst.BaseExpression) -> bool:
    if not isinstance(node, cst.Call):
        return False
    helper = tree.resolver.definition(node.func)
    known = isinstance(helper, cst.FunctionDef) and knows_of_tasks(tree, helper)
    return known or (tree.symbol(node.func) or "").startswith("tf.metrics.")


def _looped(
    tree: Tree, made: cst.DictComp, function: cst.FunctionDef
) -> list[Statement]:
    """A loop that fills a dict, and the statement that has this in its place."""
    statement = tree.statement(made)
    taken = {*tree.resolver.scopes.opened[function].bindings}
    held: cst.BaseExpression = cst.Name(fresh("metrics", {*taken}))
    rest: list[Statement] = [statement.visit(Put({made: held}, statement))]  # type: ignore[list-item]
    lines = [f"{tree.module.code_for_node(held)} = {{}}\n"]
    small = only_small(statement)
    call = small.value if isinstance(small, cst.Expr) else None
    func = call.func if isinstance(call, cst.Call) else None
    if isinstance(small, cst.Assign) and small.value is made:
        held, rest = small.targets[0].target, []
        lines = [f"{tree.code(held)} = {{}}\n"]
    elif isinstance(func, cst.Attribute) and func.attr.value == "update":
        held, rest, lines = func.value, [], []
    code = tree.module.code_for_node
    new: dict[cst.CSTNode, cst.BaseExpression] = {}
    for loop in walk(made, cst.CompFor):
        for name in {one.value for one in walk(loop.target, cst.Name)} & taken:
            other = cst.Name(fresh(name, taken))
            new.update({n: other for n in walk(made, cst.Name) if n.value == name})
    made = made.visit(Put(new, made))  # type: ignore[assignment]
    depth = 0
    around: cst.CompFor | None = made.for_in
    while around is not None:
        over = f"for {code(around.target)} in {code(around.iter)}"
        for line in (over, *(f"if {code(one.test)}" for one in around.ifs)):
            lines.append(f"{'    ' * depth}{line}:\n")
            depth += 1
        around = around.inner_for_in
    entry = f"{code(held)}[{code(made.key)}] = {code(made.value)}\n"
    text = "".join([*lines, "    " * depth, entry])
    return [*statements_of(cst.parse_module(text)), *rest]


class Rounds:
    """A loop or branch of a model function that adds to a dict of metrics."""

    def __init__(self, maker: Maker, mode: Mode, block: Statement, held: str) -> None:
        self.maker = maker
        self.mode = mode
        self.block = block
        self.held = held
        self.entries: dict[Statement, list[tuple[str, Argument]]] = {}
        for line in walk(block, cst.SimpleStatementLine):
            names = [n for n in walk(line, cst.Name) if n.value == held]
            times = sum(one in maker.tree.resolver.scopes.loads for one in names)
            added = mode.added(line) if times == 1 else None
            if added is not None:
                self.entries[line] = added
            elif times:
                raise maker.stop(line, "eval_metric_ops is not a plain dict")
        for one in walk(block, cst.If):
            value = mode.found.notes.values.get(one.test)
            if value is None or time_of(value) is Time.GRAPH or mode.decided(one.test):
                raise maker.stop(one, "a metric depends on a tensor, or on the mode")

    def items(self) -> list[tuple[str, Argument]]:
        """The metrics, with the texts of keys that each round makes anew."""
        return [one for entries in self.entries.values() for one in entries]

    def said(self, said: Said, lines: dict[cst.CSTNode, str]) -> tuple[str, set[str]]:
        """The block with these lines for its entries, and the names that it reads."""
        said.lines = {**lines}
        read = self._block(self.block, said.lines, set())
        text = said.statement(self.block)
        said.lines = {}
        return text, read

    def _block(
        self, block: Statement | cst.If, lines: dict[cst.CSTNode, str], wanted: set[str]
    ) -> set[str]:
        """What is read at the beginning of a block, if ``wanted`` is behind it."""
        if isinstance(block, cst.For) and block.orelse is None:
            own = {one.value for one in walk(block.target, cst.Name)}
            inside = self._body(block.body, lines, set()) - own
            if (wanted | inside) & binds(block):
                raise self.maker.stop(block, "a round reads what another one leaves")
            return wanted | inside | self.mode.read(block.iter)
        if isinstance(block, cst.If):
            other = block.orelse
            found = self._body(block.body, lines, wanted) | wanted
            if isinstance(other, cst.Else):
                found |= self._body(other.body, lines, wanted)
            elif other is not None:
                found |= self._block(other, lines, wanted)
            return found | self.mode.read(block.test)
        raise self.maker.stop(block, "eval_metric_ops is not a plain dict")

    def _body(
        self, body: cst.BaseSuite, lines: dict[cst.CSTNode, str], wanted: set[str]
    ) -> set[str]:
        if not isinstance(body, cst.IndentedBlock):
            raise self.maker.stop(self.block, "eval_metric_ops is not a plain dict")
        for one in reversed(statements_of(body)):
            inner = [*walk(one)]
            if one in lines:
                wanted = wanted | _read(lines[one]) - {self.held}
            elif not self.entries.keys().isdisjoint(inner):
                wanted = self._block(one, lines, wanted)
            elif binds(one) & wanted or any(
                isinstance(n, cst.Break | cst.Continue) for n in inner
            ):
                if isinstance(only_small(one), cst.Assign):
                    wanted = wanted - binds(one)
                wanted = wanted | self.mode.read(one)
            else:
                self._check_dropped(one)
                lines[one] = ""
        return wanted

    def _check_dropped(self, one: Statement) -> None:
        """Refuses to leave out what does more than to give names to values."""
        for mode in self.maker.modes.values():
            if self.block in mode.taken and not self.maker.is_free_to_go(mode, one):
                shown = self.maker.tree.code(one).splitlines()[0]
                raise self.maker.stop(one, f"`{shown}` has no place in a Task")


def _read(text: str) -> set[str]:
    """The names that lines read which do not come of themselves."""
    names = [*walk_ast(tree_of(text), ast.Name)]
    own = {one.id for one in names if isinstance(one.ctx, ast.Store)}
    own |= {one.arg for one in walk_ast(tree_of(text), ast.arg)}
    return {one.id for one in names} - own


def clash(keys: list[str], blocks: list[Rounds]) -> Statement | None:
    """A block that may set a key that something else sets."""
    plain = [one for one in keys if not isinstance(one, Computed)]
    for block in blocks:
        own = {key for key, _ in block.items() if not isinstance(key, Computed)}
        if own & {*plain}:
            return block.block
        plain += own
    for block in blocks:
        for key, _ in block.items():
            shape = _shape(expression_of(key)) if isinstance(key, Computed) else ""
            if re.search(r"\w", shape.replace(".*", "")) and any(
                re.fullmatch(shape, one) for one in plain
            ):
                return block.block
    return None


def _shape(node: ast.AST) -> str:
    """A pattern of the strings that an expression makes."""
    match node:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _shape(left) + _shape(right)
        case ast.BinOp(left=left, op=ast.Mod()):
            shape = re.sub(r"%\d*[di]", r"-?\\d+", _shape(left))
            return re.sub(r"%[\d\\.]*[a-z]", ".*", shape)
        case ast.Call(func=ast.Attribute(value=left, attr="format")):
            return re.sub(r"\\\{.*?\\\}", ".*", _shape(left))
        case ast.JoinedStr(values=values):
            return "".join(map(_shape, values))
    return ".*"
