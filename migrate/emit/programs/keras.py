"""Writes the native loop of a compiled Keras model into its module."""

from __future__ import annotations

from ...options import RewriteOptions
from ...plan.code.tree import Tree
from ...plan.program import TF, KerasModelPlan, PredictPlan
from ...plan.sites import Blocked, KerasSites, Program
from ..calls.checkpoints import manager
from ..calls.exports import export_functions
from ..calls.mixed_precision import in_float32, output_layer
from ..calls.trainer import Trainer
from ..module.edits import Edits, Statement
from ..module.names import Names
from ..module.spacing import space_definitions, with_blank_lines
from ..module.template import parse_statements, unshadowed
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
        self.renamed["loss_object"] = self.own("loss_object")
        self.head = output_layer(tree, sites) if options.mixed_precision else None

    def emit(self) -> Edits:
        """All edits that turn the program into a native loop."""
        sites, edits = self.sites, self.edits
        edits.scope = f"{self.site_strategy}.scope()"
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
        if self.trainer is not None:
            self._place_class(self.trainer)
        else:
            functions = self.fitted(self._functions())
            edits.replace[sites.estimator_statement] = space_definitions(
                functions, top_level=not self.inside
            )
        self.calls()
        return edits

    def _place_class(self, trainer: Trainer) -> None:
        """The class above the code that makes the model, and a call of it."""
        model, sites, edits = self.model, self.sites, self.edits
        for code in (model.per_example_loss, *(m.code for m in model.metrics)):
            if not trainer.visible(self.text(code)):
                line = self.plan.line
                raise Blocked("TFM113", line, "the loss or a metric is a local name")
        trainer.member("model", model.variable)
        trainer.member("optimizer", self.site_optimizer)
        trainer.member("strategy", self.site_strategy)
        methods = self._methods()
        head = self.fill(
            "trainer_init_keras",
            file="trainer",
            expressions=self._made_expressions(),
            flags={
                "X_SCOPED": self.held or self.evaluates,
                "X_LOSS_OBJECT": self.held,
                "X_EVALUATES": self.evaluates,
            },
            statements={"X_MEMBERS": []},
        )
        head += manager(self)
        # Members are known when everything else is written.
        head = [*parse_statements("".join(trainer.members)), *head]
        place = self.tree.statement_in(sites.call, self.tree.module)
        top = self.tree.statement_in(sites.model_statements[0], self.tree.module)
        assert place is not None
        assert top is not None
        definition = with_blank_lines(trainer.class_definition(head, methods), 2)
        edits.before[top] = [definition, *edits.before.get(top, [])]
        edits.spaced.add(top)
        edits.expressions[sites.call] = self.fitted_expression(
            sites.call, trainer.call()
        )

    def _made_expressions(self) -> dict[str, str]:
        metrics = ", ".join(metric.code for metric in self.model.metrics)
        return {"X_LOSS": self.model.per_example_loss, "X_METRICS": f"[{metrics}]"}

    def _prepare(self) -> list[Statement]:
        made = self.optimizer_statements(self.model.optimizer, self.site_optimizer)
        # Those of TF 1.15 make their variables at the first step.
        builds = not is_of_tf1(self.model.optimizer)
        if self.trainer is not None:
            names = {"optimizer": self.site_optimizer, "model": self.model.variable}
            flags = {"X_BUILDS": builds}
            return self.fill(
                "trainer_site_keras",
                file="trainer",
                statements=made,
                names=names,
                flags=flags,
            )
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

    def _answer(self) -> PredictPlan:
        """What an export of the model gives: outputs by their layers' names."""
        model = self.renamed["model"]
        outputs = f"outputs = {TF}.nest.flatten({model}(features, training=False))\n"
        return PredictPlan(
            (outputs,), f"dict(zip({self._output_names}, outputs))", True
        )

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
        top = self.tree.statement_in(self.sites.model_statements[0], self.tree.module)
        result += export_functions(self, self._answer(), top)
        if self.function_form:
            result += self.train_function()
        return result
