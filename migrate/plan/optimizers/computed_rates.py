"""Learning rates that a program computes from the global step by itself."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..code.modern import modern_call
from ..code.pure import is_plain_call, is_pure
from ..code.statements import assigned, binds, loads
from ..code.tree import Statement, only_small, walk
from ..layers.lifted_names import source_text
from ..model_fn.source import Source
from ..program import TF
from .schedules import GLOBAL_STEPS, is_decay, is_step, schedule

__all__ = ["computed_rate"]

_COMPUTED = "a learning rate computed from the step"


def computed_rate(
    source: Source, statements: Sequence[Statement], rate: cst.BaseExpression
) -> str:
    """Source of the method that gives the rate of a step, or Blocked."""
    return _Computed(source, statements, rate).code()


class _Computed:
    def __init__(
        self, source: Source, statements: Sequence[Statement], rate: cst.BaseExpression
    ) -> None:
        self.source = source
        self.tree = source.tree
        aliases = [s for s in statements if _is_alias(source, s)]
        self.body = [s for s in statements if s not in aliases]
        self.rate = rate
        self.aliases = {name for s in aliases for name in assigned(s)}
        self.bound = {name for s in self.body for name in binds(s)}

    def stop(self, node: cst.CSTNode, why: str) -> Exception:
        return self.source.stop(node, f"{_COMPUTED}, {why}")

    def code(self) -> str:
        self._check_names()
        step = self._step()
        changed = _Rate(self, step, "" if "schedule" in self._used else "schedule")
        lines = []
        for statement in self.body:
            self._check(statement)
            made = statement.visit(changed)
            parts = made.nodes if isinstance(made, cst.FlattenSentinel) else [made]
            for part in parts:
                assert isinstance(part, cst.CSTNode)
                lines += source_text(part).splitlines()
        self._check(self.rate)
        rate = self.rate.visit(changed)
        assert isinstance(rate, cst.BaseExpression)
        # Optimizers of tf.train took a rate of any type.
        lines.append(f"return {TF}.cast({source_text(rate)}, {TF}.float32)")
        body = "".join(f"    {line}\n" if line else "\n" for line in lines)
        return f"def __call__(self, {step}):\n{body}"

    def _step(self) -> str:
        """The parameter has the name that the step had."""
        if len(self.aliases) > 1 or self.aliases & self.bound:
            raise self.stop(self.rate, "which has several names")
        if self.aliases:
            return next(iter(self.aliases))
        for name in ("step", "global_step"):
            if name not in self._used:
                return name
        raise self.stop(self.rate, "which has several names")

    @property
    def _used(self) -> set[str]:
        used = self.bound | loads(self.tree, self.rate)
        for statement in self.body:
            used |= loads(self.tree, statement)
        return used

    def _check_names(self) -> None:
        """Nothing but the step, plain values and what is seen from outside."""
        scope = self.tree.resolver.scopes.opened.get(self.source.defined)
        local = set(scope.bindings) - {"params"} if scope is not None else set()
        made = set(self.aliases)
        for one in [*self.body, self.rate]:
            read = loads(self.tree, one)
            if isinstance(one, cst.BaseCompoundStatement):
                made |= binds(one)
            for name in sorted(read - made):
                if name in local or name in self.bound or name == "self":
                    raise self.stop(one, f"and from `{name}`")
            if not isinstance(one, cst.BaseExpression):
                made |= binds(one)

    def _check(self, root: cst.CSTNode) -> None:
        for node in walk(root):
            if isinstance(
                node,
                (
                    cst.While,
                    cst.For,
                    cst.Try,
                    cst.With,
                    cst.FunctionDef,
                    cst.ClassDef,
                    cst.Raise,
                    cst.Return,
                ),
            ):
                raise self.stop(node, "in a way not understood")
            if not isinstance(node, cst.Call):
                continue
            symbol = self.tree.symbol(node.func)
            if symbol is None:
                known = is_plain_call(self.source, node)
            else:
                known = is_pure(symbol) and "random" not in symbol
                known |= symbol in GLOBAL_STEPS or is_decay(symbol)
            if not known:
                raise self.stop(node, f"with `{self.tree.code(node.func)}`")


class _Rate(cst.CSTTransformer):
    """The statements with today's names, in a function of the step."""

    def __init__(self, computed: _Computed, step: str, local: str) -> None:
        self.source = computed.source
        self.tree = computed.tree
        self.step = step
        # What a decay is called in a line of its own.
        self.local = local

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        small, made = only_small(original_node), only_small(updated_node)
        if not (
            self.local
            and isinstance(small, cst.Assign)
            and isinstance(made, cst.Assign)
            and isinstance(small.value, cst.Call)
            and is_decay(self.tree.symbol(small.value.func))
            and isinstance(made.value, cst.Call)
        ):
            return updated_node
        first = cst.parse_statement(
            f"{self.local} = {cst.Module([]).code_for_node(made.value.func)}"
        )
        assert isinstance(first, cst.SimpleStatementLine)
        first = first.with_changes(leading_lines=updated_node.leading_lines)
        call = made.value.with_changes(func=cst.Name(self.local))
        second = updated_node.with_changes(
            leading_lines=[], body=[made.with_changes(value=call)]
        )
        return cst.FlattenSentinel([first, second])

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        symbol = self.tree.symbol(original_node.func)
        if symbol in GLOBAL_STEPS:
            return cst.Name(self.step)
        if is_decay(symbol):
            code = schedule(self.source, original_node, source_text)
            return cst.parse_expression(f"{code}({self.step})")
        return modern_call(symbol, updated_node) or updated_node


def _is_alias(source: Source, statement: Statement) -> bool:
    small = only_small(statement)
    return isinstance(small, cst.Assign) and is_step(source, small.value)
