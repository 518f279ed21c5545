"""What a model_fn does outside of its forward pass, as code of step functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from ..code.modern import modern_call
from ..code.pure import is_plain_call, is_pure, pure_function
from ..code.statements import assigned, backward_slice, binds, loads
from ..code.tree import Statement, only_small, walk
from ..layers.lifted_names import source_text
from ..layers.lifter import Lifter
from ..layers.lifter_state import Kind
from ..program import MODEL, TF
from .graph_values import graph_value
from .source import Source

if TYPE_CHECKING:
    from .modes import Modes

__all__ = ["LOSSES", "TOTAL", "Sections", "regularisation"]

LOSSES = (
    "tf.losses.absolute_difference",
    "tf.losses.compute_weighted_loss",
    "tf.losses.cosine_distance",
    "tf.losses.hinge_loss",
    "tf.losses.huber_loss",
    "tf.losses.log_loss",
    "tf.losses.mean_pairwise_squared_error",
    "tf.losses.mean_squared_error",
    "tf.losses.sigmoid_cross_entropy",
    "tf.losses.softmax_cross_entropy",
    "tf.losses.sparse_softmax_cross_entropy",
)
_REGULARIZATION = (
    "tf.losses.get_regularization_loss",
    "tf.losses.get_regularization_losses",
    "tf.losses.get_total_loss",
)
TOTAL = "tf.losses.get_total_loss"
# Parts of variable names that Keras gives as tf.layers did.
_NAME_PARTS = frozenset(
    ["bias", "kernel", "gamma", "beta", "batch_normalization", "BatchNorm", "bn"]
)


def regularisation(source: Source) -> bool:
    """The model_fn adds the losses of its regularisers."""
    for node in walk(source.tree.module):
        if isinstance(node, (cst.Attribute, cst.Name)):
            symbol = source.tree.symbol(node)
            if symbol in _REGULARIZATION or (
                symbol is not None and symbol.endswith(".REGULARIZATION_LOSSES")
            ):
                return True
    return False


class Sections:
    """Source text of a model_fn's statements where the model is ``__model__``."""

    def __init__(self, source: Source, modes: Modes, lifter: Lifter) -> None:
        self.source = source
        self.tree = source.tree
        self.modes = modes
        self.lifter = lifter

    def code(
        self,
        statement: Statement,
        mode: str,
        statements: Sequence[Statement],
    ) -> str:
        """A copied statement; ``statements`` are all that run in the mode."""
        changed = statement.visit(_Section(self, mode, statements))
        assert isinstance(changed, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        return source_text(changed)

    def expression(
        self, node: cst.BaseExpression, mode: str, statements: Sequence[Statement]
    ) -> str:
        """A copied expression."""
        self.check(node)
        changed = node.visit(_Section(self, mode, statements))
        assert isinstance(changed, cst.BaseExpression)
        return source_text(changed)

    def check(self, root: cst.CSTNode) -> None:
        """Everything below the node must be understood outside of the model."""
        if isinstance(root, (cst.While, cst.Try, cst.ClassDef, cst.With)):
            raise self.source.stop(root, "a statement that is not understood")
        for node in walk(root):
            if isinstance(node, cst.Call):
                self._check_call(node)

    def _check_call(self, node: cst.Call) -> None:
        symbol = self.tree.symbol(node.func)
        if symbol is not None:
            if is_pure(symbol) or symbol in (*LOSSES, TOTAL):
                return
            if graph_value(self.tree, node) is not None:
                return
            raise self.source.stop(node, f"`{symbol}` in the loss or a metric")
        defined = self.tree.resolver.definition(node.func)
        if isinstance(defined, cst.FunctionDef):
            if pure_function(self.source, defined, losses=LOSSES):
                return
        elif is_plain_call(self.source, node):
            return
        shown = self.tree.code(node.func)
        raise self.source.stop(node, f"`{shown}` in the loss or a metric")

    def slice(
        self, statements: Sequence[Statement], wanted: set[str]
    ) -> list[Statement]:
        """The statements that make the wanted names, with all that a total adds up."""
        chosen = backward_slice(self.tree, statements, wanted)
        for call in (c for s in chosen for c in self.tree.calls(s, (TOTAL,))):
            needed = set(wanted)
            for name, made in self._collected(call, statements):
                needed |= loads(self.tree, made) if name is None else {name}
            if not needed <= wanted:
                return self.slice(statements, needed)
        return [s for s in chosen if not self._only_names(s)]

    def _only_names(self, statement: Statement) -> bool:
        """``loss = tf.identity(loss, name="loss")``: a name for sessions, no value."""
        small = only_small(statement)
        value = small.value if isinstance(small, cst.Assign) else None
        return (
            isinstance(value, cst.Call)
            and self.tree.symbol(value.func) == "tf.identity"
            and bool(value.args)
            and isinstance(value.args[0].value, cst.Name)
            and assigned(statement) == [value.args[0].value.value]
        )

    def _collected(
        self, call: cst.CSTNode, statements: Sequence[Statement]
    ) -> list[tuple[str | None, cst.Call]]:
        """The losses before ``get_total_loss()``, with the names that hold them."""
        found: list[tuple[str | None, cst.Call]] = []
        for index, statement in enumerate(statements):
            if call in walk(statement):
                break
            self._check_hidden(call, statement)
            made = list(self.tree.calls(statement, LOSSES))
            if not made:
                continue
            small = only_small(statement)
            alone = small.value if isinstance(small, (cst.Assign, cst.Expr)) else None
            if len(made) != 1 or alone is not made[0]:
                reason = "get_total_loss of losses that are parts of something else"
                raise self.source.stop(call, reason)
            if isinstance(small, cst.Assign):
                found.append((assigned(statement)[0], made[0]))
                continue
            found.append((None, made[0]))
            read = loads(self.tree, made[0])
            for later in statements[index + 1 :]:
                if call in walk(later):
                    break
                if binds(later) & read:
                    reason = "get_total_loss of a loss whose values are assigned anew"
                    raise self.source.stop(call, reason)
        return found

    def _check_hidden(self, call: cst.CSTNode, statement: Statement) -> None:
        for node in walk(statement):
            if not isinstance(node, cst.Call):
                continue
            called = self.tree.resolver.definition(node.func)
            if isinstance(called, cst.FunctionDef) and any(
                self.tree.calls(called, LOSSES)
            ):
                shown = called.name.value
                reason = f"get_total_loss of a loss that `{shown}` makes"
                raise self.source.stop(call, reason)

    def total(
        self, call: cst.CSTNode, mode: str, statements: Sequence[Statement]
    ) -> str:
        """``get_total_loss()`` as the sum of what it collected."""
        collected = self._collected(call, statements)
        names = [name for name, _ in collected if name is not None]
        if not collected or len(set(names)) != len(names):
            raise self.source.stop(call, "get_total_loss of losses that are not seen")
        terms = [
            self.expression(made, mode, statements) if name is None else name
            for name, made in collected
        ]
        if self.lifter.shared.regularised:
            terms.append(f"{TF}.reduce_sum({MODEL}.losses)")
        return " + ".join(terms)


class _Section(cst.CSTTransformer):
    def __init__(
        self, sections: Sections, mode: str, statements: Sequence[Statement]
    ) -> None:
        self.sections = sections
        self.tree = sections.tree
        self.lifter = sections.lifter
        self.mode = mode
        self.statements = statements

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        symbol = self.tree.symbol(original_node.func)
        if symbol in LOSSES:
            moved = cst.parse_expression(f"{TF}.compat.v1.{symbol[3:]}")
            return updated_node.with_changes(func=moved)
        code = graph_value(self.tree, original_node)
        if symbol == TOTAL:
            code = self.sections.total(original_node, self.mode, self.statements)
        if symbol == "tf.trainable_variables":
            self._check_names(original_node)
        if code is None:
            return modern_call(symbol, updated_node) or updated_node
        return cst.parse_expression(code)

    def _check_names(self, call: cst.Call) -> None:
        """Filters on variables' names must mean the same for Keras' names."""
        for outer in self.tree.ancestors(call):
            if isinstance(outer, cst.BaseCompoundStatement):
                return
            if not isinstance(outer, (cst.ListComp, cst.GeneratorExp)):
                continue
            for condition in outer.for_in.ifs:
                for node in walk(condition.test):
                    if isinstance(node, cst.SimpleString) and (
                        node.evaluated_value not in _NAME_PARTS
                    ):
                        raise self.sections.source.stop(
                            call, f"variables chosen by the name {node.value}"
                        )

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        if original_node not in self.tree.resolver.scopes.loads:
            return updated_node
        name = original_node.value
        kind = self.lifter.kinds.get(name)
        if kind is Kind.OBJECT:
            attribute = self.lifter.objects[name].replace("self.", f"{MODEL}.", 1)
            return cst.parse_expression(attribute)
        if kind in (Kind.TRAINING, Kind.MODE):
            value = self.tree.value(original_node)
            verdict = None
            if value is not None:
                verdict = self.sections.modes.test(value, self.mode)
            if verdict is None:
                reason = "the loss depends on the mode"
                raise self.sections.source.stop(original_node, reason)
            return cst.Name(str(verdict))
        return updated_node

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        verdict = self.sections.modes.test(original_node, self.mode)
        return updated_node if verdict is None else cst.Name(str(verdict))

    def visit_Comparison(self, node: cst.Comparison) -> bool:
        return self.sections.modes.test(node, self.mode) is None

    def visit_IfExp(self, node: cst.IfExp) -> bool:
        return self.sections.modes.test(node.test, self.mode) is None

    def leave_IfExp(
        self, original_node: cst.IfExp, updated_node: cst.IfExp
    ) -> cst.BaseExpression:
        verdict = self.sections.modes.test(original_node.test, self.mode)
        if verdict is None:
            return updated_node
        # Of a choice by the mode, only one side can come.
        chosen = original_node.body if verdict else original_node.orelse
        changed = chosen.visit(_Section(self.sections, self.mode, self.statements))
        assert isinstance(changed, cst.BaseExpression)
        return changed
