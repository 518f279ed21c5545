"""A dict of metrics that a model_fn fills step by step: in loops, by ``update``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import libcst as cst

from ..code.pure import is_plain_call
from ..code.statements import backward_slice, binds, loads, names_in
from ..code.tree import Statement, only_small, statements_of, walk
from ..layers.lifted_names import source_text
from ..program import METRICS, MetricBlock, MetricUpdate
from .source import Source

__all__ = ["is_filled", "metric_blocks"]

# A metric from the source of its key, its call, and the statements before it.
Made = Callable[[str, cst.BaseExpression, Sequence[Statement]], MetricUpdate]
Copied = Callable[[Statement], str]

_DICTS = ("dict", "OrderedDict", "collections.OrderedDict")


def is_filled(
    source: Source, statements: Sequence[Statement], node: cst.BaseExpression | None
) -> bool:
    """The dict is made in several statements, or by a comprehension."""
    if isinstance(node, cst.DictComp):
        return True
    if not isinstance(node, cst.Name):
        return False
    making = _since_made(statements, node.value)
    making = [s for s in making if node.value in binds(s)]
    small = only_small(making[0]) if making else None
    comprehended = isinstance(small, cst.Assign) and isinstance(
        small.value, cst.DictComp
    )
    return comprehended or len(making) > 1


def _since_made(statements: Sequence[Statement], name: str) -> list[Statement]:
    """The statements from the last one on that gives the name a new value."""
    last = 0
    for index, statement in enumerate(statements):
        small = only_small(statement)
        if isinstance(small, cst.Assign) and any(
            isinstance(t.target, cst.Name) and t.target.value == name
            for t in small.targets
        ):
            last = index
    return list(statements[last:])


def metric_blocks(
    source: Source,
    statements: Sequence[Statement],
    node: cst.BaseExpression,
    made: Made,
    copied: Copied,
) -> list[MetricBlock]:
    """What makes the metrics and what updates them, in the program's order."""
    reader = _Reader(source, made, copied)
    if not isinstance(node, cst.Name):
        return reader.entries(node, statements)
    reader.name = node.value
    making = _since_made(statements, node.value)
    return reader.read(making, statements[: -len(making)])


class _Reader:
    def __init__(self, source: Source, made: Made, copied: Copied) -> None:
        self.source = source
        self.tree = source.tree
        self.made = made
        self.copied = copied
        self.name = ""
        # Names of the loops around, which stand for plain values.
        self.loops: set[str] = set()

    def read(
        self, statements: Sequence[Statement], before: Sequence[Statement] = ()
    ) -> list[MetricBlock]:
        """The blocks of statements, some of which fill the dict."""
        found: list[MetricBlock] = []
        for index, statement in enumerate(statements):
            if self.name not in binds(statement):
                self._only_read(statement)
                continue
            seen = [*before, *statements[:index]]
            if isinstance(statement, cst.For):
                found.append(self._loop(statement, seen))
                continue
            small = only_small(statement)
            if isinstance(small, cst.Assign) and len(small.targets) == 1:
                target = small.targets[0].target
                if isinstance(target, cst.Name):
                    if found or self.loops:
                        raise self.source.stop(statement, "metrics are made twice")
                    found += self.entries(small.value, seen)
                    continue
                if (
                    isinstance(target, cst.Subscript)
                    and isinstance(target.value, cst.Name)
                    and len(target.slice) == 1
                    and isinstance(target.slice[0].slice, cst.Index)
                ):
                    key = target.slice[0].slice.value
                    found.append(self._entry(key, small.value, seen))
                    continue
            call = small.value if isinstance(small, cst.Expr) else None
            if (
                isinstance(call, cst.Call)
                and isinstance(call.func, cst.Attribute)
                and isinstance(call.func.value, cst.Name)
                and call.func.attr.value == "update"
            ):
                found += self._update(call, seen)
                continue
            raise self.source.stop(statement, "how eval_metric_ops is filled")
        return found

    def entries(
        self, node: cst.BaseExpression, seen: Sequence[Statement]
    ) -> list[MetricBlock]:
        """The entries of a dict that is written out, or of a comprehension."""
        if isinstance(node, cst.Call) and self.tree.code(node.func) in _DICTS:
            return self._update(node, seen)
        if isinstance(node, cst.DictComp):
            return [self._comprehension(node, seen)]
        if not isinstance(node, cst.Dict):
            raise self.source.stop(node, "eval_metric_ops is not a plain dict")
        found = []
        for element in node.elements:
            if not isinstance(element, cst.DictElement):
                raise self.source.stop(element, "eval_metric_ops is not a plain dict")
            found.append(self._entry(element.key, element.value, seen))
        return found

    def _update(self, call: cst.Call, seen: Sequence[Statement]) -> list[MetricBlock]:
        found: list[MetricBlock] = []
        for argument in call.args:
            if argument.star:
                raise self.source.stop(call, "eval_metric_ops is not a plain dict")
            if argument.keyword is None:
                found += self.entries(argument.value, seen)
            else:
                key = cst.SimpleString(f'"{argument.keyword.value}"')
                found.append(self._entry(key, argument.value, seen))
        return found

    def _entry(
        self,
        key: cst.BaseExpression,
        node: cst.BaseExpression,
        seen: Sequence[Statement],
    ) -> MetricBlock:
        self._outside(key)
        code = source_text(key)
        metric = self.made(code, node, seen)
        if metric.made:
            raise self.source.stop(node, "a metric of its own class in a filled dict")
        inside = ", ".join(metric.arguments)
        return MetricBlock(
            f"{METRICS}[{code}] = {metric.code}\n",
            f"{METRICS}[{code}].update_state({inside})\n",
        )

    def _loop(self, statement: cst.For, seen: Sequence[Statement]) -> MetricBlock:
        if statement.orelse is not None or not isinstance(
            statement.body, cst.IndentedBlock
        ):
            raise self.source.stop(statement, "how eval_metric_ops is filled")
        self._outside(statement.iter)
        names = {n.value for n in walk(statement.target) if isinstance(n, cst.Name)}
        outer, self.loops = self.loops, self.loops | names
        inside = statements_of(statement.body)
        blocks = self.read(inside, seen)
        reads = set().union(*(names_in(block.update) for block in blocks))
        own = [s for s in inside if self.name not in binds(s)]
        lines = [self.copied(s) for s in backward_slice(self.tree, own, reads)]
        made = {name for s in own for name in binds(s)}
        for block in blocks:
            if names_in(block.setup) & made:
                shown = sorted(names_in(block.setup) & made)[0]
                raise self.source.stop(statement, f"a metric depends on `{shown}`")
        self.loops = outer
        target, over = self.tree.code(statement.target), source_text(statement.iter)
        header = f"for {target} in {over}:\n"
        return MetricBlock(
            header + _indented(block.setup for block in blocks),
            header + _indented([*lines, *(block.update for block in blocks)]),
        )

    def _comprehension(
        self, node: cst.DictComp, seen: Sequence[Statement]
    ) -> MetricBlock:
        clause = node.for_in
        if clause.ifs or clause.inner_for_in is not None or clause.asynchronous:
            raise self.source.stop(node, "eval_metric_ops is not a plain dict")
        self._outside(clause.iter)
        names = {n.value for n in walk(clause.target) if isinstance(n, cst.Name)}
        outer, self.loops = self.loops, self.loops | names
        block = self._entry(node.key, node.value, seen)
        self.loops = outer
        target, over = self.tree.code(clause.target), source_text(clause.iter)
        header = f"for {target} in {over}:\n"
        return MetricBlock(
            header + _indented([block.setup]), header + _indented([block.update])
        )

    # -- what can be known when the metrics are made -----------------------------

    def _outside(self, node: cst.BaseExpression) -> None:
        """A key, or what a loop goes over, must not come from the model."""
        scope = self.tree.resolver.scopes.opened.get(self.source.defined)
        local = set(scope.bindings) - {"params"} if scope is not None else set()
        for child in walk(node):
            if isinstance(child, cst.Call) and not is_plain_call(self.source, child):
                shown = self.tree.code(child)
                raise self.source.stop(
                    child, f"`{shown}` tells which metrics there are"
                )
            if (
                isinstance(child, cst.Name)
                and child.value in local - self.loops
                and child in self.tree.resolver.scopes.loads
            ):
                reason = f"`{child.value}` tells which metrics there are"
                raise self.source.stop(child, reason)

    def _only_read(self, statement: Statement) -> None:
        """Summaries of the metrics leave the dict as it is."""
        if self.name not in loads(self.tree, statement):
            return
        small = only_small(statement)
        if isinstance(small, cst.Return):
            return
        for node in walk(statement):
            if not isinstance(node, cst.Call):
                continue
            symbol = self.tree.symbol(node.func) or ""
            plain = self.tree.code(node.func).removeprefix(f"{self.name}.")
            if not symbol.startswith("tf.summary.") and plain not in ("items", "keys"):
                raise self.source.stop(statement, "eval_metric_ops is used elsewhere")


def _indented(blocks: Iterable[str]) -> str:
    return "".join(f"    {line}\n" for line in "".join(blocks).splitlines())
