"""Writes the native loop of a compiled Keras model into its module."""

from __future__ import annotations

from ...options import RewriteOptions
from ...plan.code.tree import Tree
from ...plan.program import TF, KerasModelPlan
from ...plan.sites import KerasSites, Program
from ..calls.checkpoints import manager
from ..calls.mixed_precision import in_float32, output_layer
from ..module.edits import Edits, Statement
from ..module.names import Names
from ..module.spacing import space_definitions, with_blank_lines
from ..module.template import unshadowed
from .loop import LoopEmitter
from .optimizers import is_of_tf1

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
        self.renamed["loss_object"] = self.names.fresh("loss_object")
        self.head = output_layer(tree, sites) if options.mixed_precision else None

    def emit(self) -> Edits:
        """All edits that turn the program into a native loop."""
        sites, edits = self.sites, self.edits
        edits.scope = f"{self.strategy}.scope()"
        edits.scoped.update(sites.model_statements)
        self.strategy_site.place(sites.model_statements[0])
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

    def _made_expressions(self) -> dict[str, str]:
        metrics = ", ".join(metric.code for metric in self.model.metrics)
        return {"X_LOSS": self.model.per_example_loss, "X_METRICS": f"[{metrics}]"}

    def _prepare(self) -> list[Statement]:
        made = self.optimizer_statements(self.model.optimizer, self.optimizer)
        # Those of TF 1.15 make their variables at the first step.
        builds = not is_of_tf1(self.model.optimizer)
        return self.fill(
            "prepare",
            expressions=self._made_expressions(),
            statements=made,
            flags={
                "X_BUILDS": builds,
                "X_LOSS_OBJECT": self.held,
                "X_EVALUATES": self.evaluates,
            },
        )

    def _predictions(self, training: str) -> str:
        """A call of the model; its outputs are float32 in mixed precision too."""
        call = f"{self.renamed['model']}(features, training={training})"
        if self.options.mixed_precision and self.head is None:
            return f"{TF}.cast({call}, {TF}.float32)"
        return call

    @property
    def _output_names(self) -> str:
        """Source of the names of the model's output layers."""
        model = self.renamed["model"]
        if self.options.keras == "keras3":
            # A Sequential model of Keras 3 has no such list.
            return f'getattr({model}, "output_names", [{model}.layers[-1].name])'
        return f"{model}.output_names"

    def _functions(self) -> list[Statement]:
        result = manager(self)
        before = list(self.sites.estimator_statement.leading_lines)
        if before and before[0].comment is None:
            result[0] = with_blank_lines(result[0], 0)
        return result + self._methods()

    def _methods(self) -> list[Statement]:
        model = self.model
        per_example = (
            self.renamed["loss_object"] if self.held else model.per_example_loss
        )
        result: list[Statement] = []
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
            result += self.test_functions(
                every,
                body,
                X_REGULARIZED=model.regularized,
                X_HAS_METRICS=flags["X_HAS_METRICS"],
            )
        if self.plan.predicts:
            result += self.predict_functions(
                self.fill(
                    "keras_predictions",
                    expressions={"X_OUTPUT_NAMES": self._output_names},
                )
            )
        if self.function_form:
            result += self.train_function()
        return result
