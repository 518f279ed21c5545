"""The modes of a model_fn: which statements run in one, and the spec it returns."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.statements import latest
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..sites import Blocked
from .source import Source

__all__ = ["MODES", "Modes"]

_SPECS = ("tf.estimator.EstimatorSpec", "tf.contrib.tpu.TPUEstimatorSpec")
_SPEC_PARAMETERS = (
    "mode",
    "predictions",
    "loss",
    "train_op",
    "eval_metric_ops",
    "export_outputs",
    "training_chief_hooks",
    "training_hooks",
    "scaffold",
    "evaluation_hooks",
    "prediction_hooks",
)
_SCOPES = (
    "tf.name_scope",
    "tf.variable_scope",
    "tf.device",
    "tf.control_dependencies",
)
MODES = ("TRAIN", "EVAL", "PREDICT")


class Modes:
    """Follows a model_fn's branches on its mode."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = source.tree

    def branch(
        self, statements: Sequence[Statement], mode: str
    ) -> tuple[list[Statement], cst.Call]:
        """The statements that run in a mode, up to the spec it returns."""
        taken: list[Statement] = []
        for statement in statements:
            if isinstance(statement, cst.If):
                verdict = self.test(statement.test, mode)
                if verdict is None:
                    if any(isinstance(n, cst.Return) for n in walk(statement)):
                        reason = "it branches on more than the mode"
                        raise self.source.stop(statement, reason)
                    taken.append(statement)
                    continue
                branch: cst.CSTNode | None
                if verdict:
                    branch = statement.body
                elif isinstance(statement.orelse, cst.Else):
                    branch = statement.orelse.body
                elif isinstance(statement.orelse, cst.If):
                    try:
                        more, spec = self.branch([statement.orelse], mode)
                        return [*taken, *more], spec
                    except _NoReturn as none:
                        taken += none.taken
                        continue
                else:
                    continue
                assert isinstance(branch, cst.IndentedBlock)
                try:
                    more, spec = self.branch(statements_of(branch), mode)
                    return [*taken, *more], spec
                except _NoReturn as none:
                    taken += none.taken
                continue
            if isinstance(statement, cst.With) and self.is_scope(statement):
                assert isinstance(statement.body, cst.IndentedBlock)
                try:
                    more, spec = self.branch(statements_of(statement.body), mode)
                    return [*taken, *more], spec
                except _NoReturn as none:
                    taken += none.taken
                continue
            small = only_small(statement)
            if isinstance(small, cst.Return):
                value = latest(self.tree, taken, small.value)
                if (
                    not isinstance(value, cst.Call)
                    or self.tree.symbol(value.func) not in _SPECS
                ):
                    raise self.source.stop(
                        statement, "it returns something else than a spec"
                    )
                return taken, value
            taken.append(statement)
        raise _NoReturn(
            taken, self.source.stop(self.source.defined, f"no spec for {mode}").blocker
        )

    def is_scope(self, statement: cst.With) -> bool:
        """A ``with`` that only names things or orders operations of a graph."""
        return isinstance(statement.body, cst.IndentedBlock) and all(
            isinstance(item.item, cst.Call)
            and self.tree.symbol(item.item.func) in _SCOPES
            for item in statement.items
        )

    def flat(self, statements: Sequence[Statement]) -> list[Statement]:
        """The statements, with those inside of scopes in the scopes' place."""
        result: list[Statement] = []
        for statement in statements:
            if isinstance(statement, cst.With) and self.is_scope(statement):
                assert isinstance(statement.body, cst.IndentedBlock)
                result += self.flat(statements_of(statement.body))
            else:
                result.append(statement)
        return result

    def test(self, test: cst.BaseExpression, mode: str) -> bool | None:
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            inner = self.test(test.expression, mode)
            return None if inner is None else not inner
        if isinstance(test, cst.BooleanOperation):
            sides = {self.test(test.left, mode), self.test(test.right, mode)}
            decides = isinstance(test.operator, cst.Or)
            if decides in sides:
                return decides
            return None if None in sides else not decides
        if isinstance(test, cst.Name):
            value = self.tree.value(test)
            return None if value is test or value is None else self.test(value, mode)
        if _is_labels_none(test):
            # Labels are missing in prediction only.
            assert isinstance(test, cst.Comparison)
            given = isinstance(test.comparisons[0].operator, cst.IsNot)
            return given is (mode != "PREDICT")
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            return None
        if not (isinstance(test.left, cst.Name) and test.left.value == "mode"):
            return None
        target = test.comparisons[0]
        named = mode_name(self.tree, target.comparator)
        if named is None:
            return None
        if isinstance(target.operator, (cst.Equal, cst.Is)):
            return named == mode
        if isinstance(target.operator, (cst.NotEqual, cst.IsNot)):
            return named != mode
        return None

    def spec(self, call: cst.Call) -> dict[str, cst.BaseExpression]:
        try:
            given = match_arguments(call, _SPEC_PARAMETERS)
        except UnknownArguments as problem:
            raise self.source.stop(call, f"spec with {problem}") from None
        for name in ("scaffold", "evaluation_hooks", "prediction_hooks"):
            if not is_none(given.get(name)):
                raise self.source.stop(call, f"EstimatorSpec(`{name}`=)")
        return given


def _is_labels_none(test: cst.BaseExpression) -> bool:
    """``labels is None`` or ``labels is not None``."""
    return (
        isinstance(test, cst.Comparison)
        and isinstance(test.left, cst.Name)
        and test.left.value == "labels"
        and len(test.comparisons) == 1
        and isinstance(test.comparisons[0].operator, (cst.Is, cst.IsNot))
        and is_none(test.comparisons[0].comparator)
    )


class _NoReturn(Blocked):
    """No spec was returned; what was seen goes on after the branch."""

    def __init__(self, taken: list[Statement], blocker: object) -> None:
        super().__init__("TFM103", getattr(blocker, "line", 1), "model_fn: no spec")
        self.taken = taken


def mode_name(tree: Tree, node: cst.BaseExpression) -> str | None:
    symbol = tree.symbol(node)
    if symbol is not None and ".ModeKeys." in symbol:
        name = symbol.rpartition(".")[2]
        return {"INFER": "PREDICT"}.get(name, name)
    if isinstance(node, cst.SimpleString):
        value = ast.literal_eval(node.value)
        return {"train": "TRAIN", "eval": "EVAL", "infer": "PREDICT"}.get(value)
    return None
