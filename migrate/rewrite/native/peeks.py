"""Sessions that only look at what an input function gives, as loops over its data."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ...code.tree import Statement, walk
from ...names.scopes import Binding
from .page import Page, Region

_SESSIONS = ("tf.Session", "tf.InteractiveSession", "tf.train.MonitoredSession")
_INITIALIZERS = (
    "tf.global_variables_initializer",
    "tf.local_variables_initializer",
    "tf.tables_initializer",
)
_END = "tf.errors.OutOfRangeError"


@dataclass
class Peek:
    """A session in a ``with``, and the tensors that it runs."""

    page: Page
    block: cst.With
    name: str
    # Statements that run something which an eager program has no need to run.
    gone: list[Statement] = field(default_factory=list)
    # Calls of run, and the names of tensors in what they run.
    runs: list[tuple[cst.Call, list[cst.Name]]] = field(default_factory=list)

    def made(self) -> cst.Assign | None:
        """The one statement that makes all tensors which are looked at."""
        found: set[cst.Assign] = set()
        for _, names in self.runs:
            for name in names:
                bound = _binding(self.page, name)
                if bound is None:
                    return None
                holder = self.page.statement(bound.node)
                if not isinstance(holder, cst.SimpleStatementLine):
                    return None
                one = holder.body[0]
                if not isinstance(one, cst.Assign) or len(one.targets) != 1:
                    return None
                found.add(one)
        return found.pop() if len(found) == 1 else None

    def readers(self, made: cst.Assign) -> list[cst.CSTNode]:
        """Statements outside of the session that read the tensors."""
        page, inside = self.page, {*walk(self.block)}
        found: dict[cst.CSTNode, None] = {}
        for target in walk(made.targets[0].target):
            for read in (
                page.loads(target.value) if isinstance(target, cst.Name) else ()
            ):
                last = _binding(page, read)
                bound = [last] if last is not None else page.resolver.bindings(read)
                if read in inside or not any(
                    page.statement(one.node) is page.statement(made) for one in bound
                ):
                    continue
                statement = page.statement(read)
                if isinstance(statement, cst.SimpleStatementLine):
                    found[statement.body[0]] = None
                else:
                    found[statement] = None
        return [*found]

    def rewrite_one(self, made: cst.Assign, data: cst.BaseExpression) -> None:
        """Takes the first batch, where the one run of the session stood."""
        page = self.page
        ((call, _),) = self.runs
        start = page.span(page.statement(call))[0]
        page.put_span(
            *(start, start, f"{page.source(made.targets[0].target)} = next("),
            *(data, f".as_numpy_iterator()){page.newline}{page.indent(call)}"),
        )
        page.put(call, call.args[0].value)
        for statement in (*self.gone, page.statement(made)):
            page.drop_statement(statement)
        self._dedent()

    def rewrite(self, made: cst.Assign, data: cst.BaseExpression) -> None:
        """Takes batches of the data, as arrays, where the session ran tensors."""
        page = self.page
        target = made.targets[0].target
        single = isinstance(target, cst.Name)
        name = target.value if isinstance(target, cst.Name) else page.free("batches")
        page.bound_names.add(name)
        page.put(made, f"{name} = ", data, ".as_numpy_iterator()")
        for call, _ in self.runs:
            fetched = call.args[0].value
            if single and isinstance(fetched, cst.Name):
                page.put(call, f"next({name})")
                continue
            statement = page.statement(call)
            start = page.span(statement)[0]
            head = f"{page.source(target)} = next({name})"
            page.put_span(start, start, f"{head}{page.newline}{page.indent(statement)}")
            if isinstance(fetched, cst.List):
                first, last = page.span(fetched)
                inner = page.text[first + 1 : last - 1]
                page.put(call, f"({inner})" if self._is_argument(call) else inner)
            else:
                page.put(call, fetched)
        for statement in self.gone:
            page.drop_statement(statement)
        for node in walk(self.block.body):
            handled = node.type if isinstance(node, cst.ExceptHandler) else None
            if handled is not None and page.symbol(handled) == _END:
                assert isinstance(handled, (cst.Name, cst.Attribute))
                page.rename(handled, "StopIteration")
        self._dedent()

    def _is_argument(self, call: cst.Call) -> bool:
        return not isinstance(self.page.parent(call), (cst.Assign, cst.Expr))

    def _dedent(self) -> None:
        """The statements of the block, without the session around them."""
        page, block = self.page, self.block
        for item in block.items:
            names = list(walk(item.item, cst.Name))
            page.replaced.update(names)
        lines = page.context.lines
        first = lines.starts[page.line(block.body.body[0]) - 1]
        start = lines.starts[page.line(block) - 1]
        end = page.span(block.body.body[-1])[1]
        shift = len(page.indent(block)) - len(page.indent(block.body.body[0]))
        page.put_span(start, end, Region(first, end, shift))
        page.rewritten.update(one for one in walk(block, cst.Call))


def _binding(page: Page, name: cst.Name) -> Binding | None:
    """What gave a name its value; of several in a row, the last before it."""
    found = page.resolver.bindings(name)
    if len(found) < 2:
        return found[0] if found else None
    module = page.parsed.module
    in_a_row = all(page.parent(page.statement(one.node)) is module for one in found)
    if not in_a_row or page.function(name) is not None:
        return None
    before = [one for one in found if page.line(one.node) < page.line(name)]
    return before[-1] if before else None


def peeks(page: Page) -> list[Peek]:
    """The sessions of a file that run nothing but tensors with names."""
    found = []
    for node in page.parsed.each(cst.With):
        if isinstance(node.body, cst.IndentedBlock):
            peek = _peek(page, node)
            if peek is not None:
                found.append(peek)
    return found


def _peek(page: Page, block: cst.With) -> Peek | None:
    name = None
    for item in block.items:
        call = item.item
        if not isinstance(call, cst.Call):
            return None
        if page.symbol(call.func) in _SESSIONS:
            bound = item.asname.name if item.asname is not None else None
            name = bound.value if isinstance(bound, cst.Name) else None
        elif not _is_graph(page, call):
            return None
    rows = page.text[slice(*page.span(block))].splitlines()
    if name is None or any(row.count('"""') % 2 for row in rows):
        return None
    peek = Peek(page, block, name)
    for node in walk(block.body, cst.Name):
        if node.value != name:
            continue
        attribute = page.parent(node)
        run = page.parent(attribute) if attribute is not None else None
        if (
            not isinstance(attribute, cst.Attribute)
            or attribute.attr.value != "run"
            or not isinstance(run, cst.Call)
            or len(run.args) != 1
            or run.args[0].keyword is not None
        ):
            return None
        fetched = run.args[0].value
        if _is_initializer(page, fetched):
            peek.gone.append(page.statement(run))
            continue
        names = [one for one in walk(fetched, cst.Name) if one in page.scopes.loads]
        if not names or any(isinstance(one, cst.Call) for one in walk(fetched)):
            return None
        peek.runs.append((run, names))
    return peek if peek.runs else None


def _is_graph(page: Page, call: cst.Call) -> bool:
    """``tf.Graph().as_default()``."""
    func = call.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "as_default":
        return False
    inner = func.value
    return isinstance(inner, cst.Call) and page.symbol(inner.func) == "tf.Graph"


def _is_initializer(page: Page, node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.List, cst.Tuple)):
        return all(_is_initializer(page, one.value) for one in node.elements)
    if isinstance(node, cst.Attribute):
        return node.attr.value == "initializer"
    return isinstance(node, cst.Call) and page.symbol(node.func) in _INITIALIZERS
