"""The optimizer of a model_fn and its rate, as they are made before training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..code.arguments import UnknownArguments, match_arguments
from ..code.pure import is_plain_call, is_pure
from ..code.statements import assigned, backward_slice, latest, loads
from ..code.texts import source_text
from ..code.tree import Statement, only_small, walk
from ..keras.program import OPTIMIZERS
from ..model_fn.source import Source
from ..program import OPTIMIZER, OptimizerPlan
from .schedules import GLOBAL_STEPS, is_decay, is_step, schedule

__all__ = ["OptimizerSetup", "TrainOp"]

_CLIPPED = (
    "tf.contrib.estimator.clip_gradients_by_norm",
    "tf.contrib.tpu.CrossShardOptimizer",
    "tf.tpu.CrossShardOptimizer",
)


@dataclass
class TrainOp:
    """How a model_fn trains.

    ``setup`` makes ``__optimizer__``; ``__optimizer_0__`` and so on stand for
    the constructors in ``optimizers``. ``apply`` are the statements after
    ``gradients = tape.gradient(...)``.
    """

    setup: list[str] = field(default_factory=list)
    optimizers: list[OptimizerPlan] = field(default_factory=list)
    apply: list[str] = field(default_factory=list)
    # The update operations of batch normalization run with it.
    updates: bool = False


class OptimizerSetup:
    """Fills ``setup`` and ``optimizers`` of a train_op."""

    def __init__(
        self, source: Source, statements: Sequence[Statement], found: TrainOp
    ) -> None:
        self.source = source
        self.tree = source.tree
        self.statements = list(statements)
        self.found = found

    def stop(self, node: cst.CSTNode, reason: str) -> Exception:
        return self.source.stop(node, reason)

    def read(self, node: cst.BaseExpression) -> str | None:
        """Fills ``setup``; the norm to clip to, where a wrapper clips."""
        value = latest(self.tree, self.statements, node)
        symbol = self.tree.symbol(value.func) if isinstance(value, cst.Call) else None
        if isinstance(value, cst.Call) and symbol in _CLIPPED and value.args:
            inner = value.args[0].value
            if (
                isinstance(node, cst.Name)
                and isinstance(inner, cst.Name)
                and (inner.value == node.value)
            ):
                # optimizer = clip_gradients_by_norm(optimizer, 5.0)
                own = [s for s in self.statements if value in walk(s)]
                self.statements = [s for s in self.statements if s not in own]
            clip = self.read(inner)
            if symbol == _CLIPPED[0]:
                if clip is not None or len(value.args) != 2:
                    raise self.stop(value, "gradients that are clipped twice")
                return source_text(value.args[1].value)
            return clip
        if not isinstance(node, cst.Name):
            assert value is not None
            code = self.rate(value)
            self.found.setup.append(f"{OPTIMIZER} = {code}\n")
            return None
        chosen = backward_slice(self.tree, self.statements, {node.value})
        if not chosen:
            raise self.stop(node, f"it is not seen how `{node.value}` is made")
        self._rates(chosen)
        for statement in chosen:
            if isinstance(only_small(statement), cst.Assign) and self._only_step(
                statement
            ):
                continue
            self._setup_statement(statement, node.value)
        if not self.found.optimizers:
            shown = symbol or self.tree.code(node)
            reason = f"the optimizer `{shown}` is not converted yet"
            raise self.stop(node, reason)
        return None

    def _only_step(self, statement: Statement) -> bool:
        small = only_small(statement)
        return isinstance(small, cst.Assign) and is_step(self.source, small.value)

    def _setup_statement(self, statement: Statement, name: str) -> None:
        for node in walk(statement):
            if isinstance(node, (cst.While, cst.Try, cst.With, cst.FunctionDef)):
                raise self.stop(node, "the optimizer is made in a way not understood")
        changed = statement.visit(_Setup(self, name))
        assert isinstance(changed, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        self.found.setup.append(source_text(changed))

    def _setup_text(self, node: cst.BaseExpression) -> str:
        changed = node.visit(_Setup(self, ""))
        assert isinstance(changed, cst.BaseExpression)
        return source_text(changed)

    def rate(self, node: cst.BaseExpression) -> str:
        """Source of a rate or an optimizer that no variable holds."""
        wanted = loads(self.tree, node)
        chosen = backward_slice(self.tree, self.statements, wanted)
        self._rates([*chosen, node])
        for statement in chosen:
            if not self._only_step(statement):
                self._setup_statement(statement, "")
        return self._setup_text(node)

    def _rates(self, nodes: Sequence[cst.CSTNode]) -> None:
        """Rates may depend on the step through a decay, and through nothing else."""
        for root in nodes:
            if isinstance(root, cst.SimpleStatementLine) and self._only_step(root):
                continue
            for node in walk(root):
                if isinstance(node, cst.Name) and is_step(self.source, node):
                    parent: cst.CSTNode | None = self.tree.parent(node)
                    call = self.tree.parent(parent) if parent is not None else None
                    if isinstance(call, cst.Call) and is_decay(
                        self.tree.symbol(call.func)
                    ):
                        continue
                    raise self.stop(node, "a learning rate computed from the step")
                if isinstance(node, cst.Call) and is_decay(self.tree.symbol(node.func)):
                    self._check_decay(node)

    def _check_decay(self, call: cst.Call) -> None:
        """A schedule is an object: it can be given, not computed with."""
        parent = self.tree.parent(call)
        if isinstance(parent, (cst.Assign, cst.IfExp)):
            names = assigned(self.tree.statement(call))
            for statement in self.statements:
                small = only_small(statement)
                for node in walk(statement):
                    if (
                        isinstance(node, cst.Name)
                        and node.value in names
                        and node in self.tree.resolver.scopes.loads
                        and not self._is_given(node)
                        and not isinstance(small, cst.Expr)
                    ):
                        raise self._decay_elsewhere(node)
            return
        if not self._is_given(call):
            raise self._decay_elsewhere(call)

    def _decay_elsewhere(self, node: cst.CSTNode) -> Exception:
        argument = self.tree.parent(node)
        call = self.tree.parent(argument) if argument is not None else None
        reason = "a decayed learning rate is changed"
        if isinstance(argument, cst.Arg) and isinstance(call, cst.Call):
            shown = self.tree.code(call.func)
            reason = f"a decayed learning rate is given to `{shown}`"
        return self.stop(node, reason)

    def _is_given(self, node: cst.CSTNode) -> bool:
        """The node is an argument of an optimizer's constructor or of a summary."""
        argument = self.tree.parent(node)
        call = self.tree.parent(argument) if argument is not None else None
        if not isinstance(call, cst.Call):
            return isinstance(argument, (cst.DictElement, cst.IfExp))
        symbol = self.tree.symbol(call.func) or ""
        return symbol in OPTIMIZERS or symbol.startswith(("tf.summary.", "tf.identity"))


class _Setup(cst.CSTTransformer):
    """The optimizer and its rate, as they are made before training."""

    def __init__(self, reader: OptimizerSetup, name: str) -> None:
        self.reader = reader
        self.tree = reader.tree
        self.name = name

    def visit_Call(self, node: cst.Call) -> bool:
        return not is_decay(self.tree.symbol(node.func))

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        reader, found = self.reader, self.reader.found
        symbol = self.tree.symbol(original_node.func)
        if symbol in OPTIMIZERS:
            try:
                given = match_arguments(updated_node, OPTIMIZERS[symbol])
            except UnknownArguments as problem:
                reason = f"optimizer with {problem}"
                raise reader.stop(original_node, reason) from None
            plan = OptimizerPlan(
                symbol, tuple((n, source_text(a)) for n, a in given.items())
            )
            found.optimizers.append(plan)
            return cst.Name(f"__optimizer_{len(found.optimizers) - 1}__")
        if is_decay(symbol):
            code = schedule(reader.source, original_node, source_text)
            return cst.parse_expression(code)
        if symbol is not None and symbol not in GLOBAL_STEPS and not is_pure(symbol):
            shown = f"the optimizer `{symbol}` is not converted yet"
            raise reader.stop(original_node, shown)
        if symbol is None and not is_plain_call(reader.source, original_node):
            shown = self.tree.code(original_node.func)
            raise reader.stop(original_node, f"`{shown}` makes the optimizer")
        return updated_node

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        if self.name and original_node.value == self.name:
            return cst.Name(OPTIMIZER)
        return updated_node
