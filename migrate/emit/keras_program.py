"""Writes the native loop of a compiled Keras model into its module."""

from __future__ import annotations

from ..options import RewriteOptions
from ..plan.program import TF, KerasModelPlan
from ..plan.sites import KerasSites, Program
from ..plan.tree import Tree
from .edits import Edits, Statement
from .loop_program import LoopEmitter
from .mixed_precision import in_float32, output_layer
from .names import Names
from .spacing import space_definitions, with_blank_lines
from .template import unshadowed

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
    "scaled_loss",
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
        self.head = output_layer(tree, sites) if options.mixed_precision else None

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
        if self.head is not None:
            edits.expressions[self.head] = in_float32(self.head)
        functions = self.fitted(self._functions())
        edits.replace[sites.estimator_statement] = space_definitions(
            functions, top_level=not self.inside
        )
        self.calls()
        return edits

    def _prepare(self) -> list[Statement]:
        model = self.model
        metrics = ", ".join(metric.code for metric in model.metrics)
        return self.fill(
            "prepare",
            expressions={"X_LOSS": model.per_example_loss, "X_METRICS": f"[{metrics}]"},
            statements=self.optimizer_statements(model.optimizer),
            flags={
                "X_LOSS_OBJECT": self.held,
                "X_EVALUATES": self.evaluates,
            },
        )

    def _predictions(self, training: str) -> str:
        """A call of the model; its outputs are float32 in mixed precision too."""
        call = f"{self.model.variable}(features, training={training})"
        if self.options.mixed_precision and self.head is None:
            return f"{TF}.cast({call}, {TF}.float32)"
        return call

    def _functions(self) -> list[Statement]:
        model = self.model
        per_example = (
            self.renamed["loss_object"] if self.held else model.per_example_loss
        )
        result = self.manager()
        before = list(self.sites.estimator_statement.leading_lines)
        if before and before[0].comment is None:
            result[0] = with_blank_lines(result[0], 0)
        forward = self.fill(
            "keras_loss",
            expressions={
                "X_PER_EXAMPLE": per_example,
                "X_PREDICTIONS": self._predictions("True"),
            },
        )
        result += self.fill(
            "train_functions",
            statements={"X_FORWARD": forward},
            flags={
                "X_REGULARIZED": model.regularized,
                "X_PER_EXAMPLE_LOSS": True,
                **self.precision_flags,
            },
        )
        if self.evaluates:
            loss, metrics = self.renamed["test_loss"], self.renamed["test_metrics"]
            flags = {
                "X_REGULARIZED": model.regularized,
                "X_HAS_METRICS": bool(model.metrics),
                **self.test_flags,
            }
            body = self.fill(
                "keras_test",
                expressions={
                    "X_PER_EXAMPLE": per_example,
                    "X_PREDICTIONS": self._predictions("False"),
                },
                flags=flags,
            )
            every = f"[*{metrics}, {loss}]" if model.metrics else f"[{loss}]"
            result += self.fill(
                "test_functions",
                expressions={"X_ALL_METRICS": every},
                statements={"X_TEST_BODY": body},
                flags=flags,
            )
        if self.plan.predicts:
            result += self.predict_functions(self.fill("keras_predictions"))
        if self.function_form:
            result += self.train_function()
        return result
