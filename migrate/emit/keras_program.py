"""Writes the native loop of a compiled Keras model into its module."""

from __future__ import annotations

from ..options import RewriteOptions
from ..plan.program import KerasModelPlan
from ..plan.sites import KerasSites, Program
from ..plan.tree import Tree
from .edits import Edits, Statement
from .loop_program import LoopEmitter, unshadowed
from .names import Names
from .optimizers import convert_optimizer
from .spacing import space_definitions, with_blank_lines
from .template import parse_statements

__all__ = ["KerasEmitter"]

_STEP_LOCALS = (
    "batch",
    "examples",
    "features",
    "gradients",
    "labels",
    "loss",
    "losses",
    "metric",
    "predictions",
    "tape",
)


class KerasEmitter(LoopEmitter):
    """Emits a ``model_to_estimator`` program."""

    def __init__(
        self,
        tree: Tree,
        program: Program,
        names: Names,
        tf: str,
        options: RewriteOptions,
    ) -> None:
        model, sites = program.plan.model, program.sites
        assert isinstance(model, KerasModelPlan)
        assert isinstance(sites, KerasSites)
        super().__init__(
            tree,
            program,
            names,
            tf,
            model=model.variable,
            optimizer=model.optimizer.variable,
            options=options,
        )
        self.model = model
        self.sites = sites
        # A loss function of the program's must not be hidden by a local of ours.
        self.held = model.loss_is_object or bool(
            unshadowed(_STEP_LOCALS, self.text(model.per_example_loss))
        )
        self.renamed["loss_object"] = names.fresh("loss_object")

    def emit(self) -> Edits:
        """All edits that turn the program into a native loop."""
        sites, edits = self.sites, self.edits
        edits.scope = f"{self.strategy}.scope()"
        edits.scoped.update(sites.model_statements)
        self.place_strategy(sites.model_statements[0])
        prepare = self.fitted(self._prepare(), self.step_width)
        if sites.compile_statement is not None:
            edits.replace[sites.compile_statement] = prepare
            edits.scoped.add(sites.compile_statement)
        else:
            edits.after[sites.ready_last] = prepare
        for statement in sites.drop:
            edits.replace[statement] = []
        functions = self.fitted(self._functions())
        edits.replace[sites.estimator_statement] = space_definitions(
            functions, top_level=not self.inside
        )
        self.calls()
        return edits

    def _prepare(self) -> list[Statement]:
        model = self.model
        converted = convert_optimizer(model.optimizer, self.optimizer)
        metrics = ", ".join(metric.code for metric in model.metrics)
        return self.fill(
            "prepare",
            expressions={"X_LOSS": model.per_example_loss, "X_METRICS": f"[{metrics}]"},
            statements={
                "X_OPTIMIZER": parse_statements(
                    self.text(f"{self.optimizer} = {converted.code}\n")
                ),
                "X_OPTIMIZER_STATE": parse_statements(self.text(converted.state)),
            },
            flags={
                "X_LOSS_OBJECT": self.held,
                "X_EVALUATES": self.evaluates,
            },
        )

    def _functions(self) -> list[Statement]:
        model = self.model
        per_example = (
            self.renamed["loss_object"] if self.held else model.per_example_loss
        )
        result = self.manager()
        before = list(self.sites.estimator_statement.leading_lines)
        if before and before[0].comment is None:
            result[0] = with_blank_lines(result[0], 0)
        forward = self.fill("keras_loss", expressions={"X_PER_EXAMPLE": per_example})
        result += self.fill(
            "train_functions",
            statements={"X_FORWARD": forward, "X_APPLY": self.fill("plain_apply")},
            flags={"X_REGULARIZED": model.regularized, "X_PER_EXAMPLE_LOSS": True},
        )
        if self.evaluates:
            loss, metrics = self.renamed["test_loss"], self.renamed["test_metrics"]
            flags = {
                "X_REGULARIZED": model.regularized,
                "X_HAS_METRICS": bool(model.metrics),
                "X_REPLICATED": self.replicated,
            }
            body = self.fill(
                "keras_test", expressions={"X_PER_EXAMPLE": per_example}, flags=flags
            )
            every = f"[*{metrics}, {loss}]" if model.metrics else f"[{loss}]"
            result += self.fill(
                "test_functions",
                expressions={"X_ALL_METRICS": every},
                statements={"X_TEST_BODY": body},
                flags=flags,
            )
        if self.function_form:
            result += self.train_function()
        return result
