"""Writes the native loop of an ``Estimator(model_fn)`` into its module."""

from __future__ import annotations

import re

from ..options import RewriteOptions
from ..plan.program import MetricUpdate, ModelFnPlan
from ..plan.sites import ModelFnSites, Program
from ..plan.tree import Statement, Tree
from .edits import Edits
from .kept_forward import kept_class, needs_params
from .layout import one_line
from .loop_program import LoopEmitter
from .mixed_precision import POLICY, float32_outputs
from .model_class import finished_class
from .names import Names
from .spacing import space_definitions, with_blank_lines
from .strategies import strategy_code
from .template import parse_statements, unshadowed
from .trainer import Trainer

__all__ = ["ModelFnEmitter"]

_SAME_WEIGHT = "# As in Estimator.evaluate, every batch weighs the same in the loss.\n"


class ModelFnEmitter(LoopEmitter):
    """Emits a program whose model_fn was lifted into a Keras model."""

    def __init__(
        self,
        tree: Tree,
        program: Program,
        names: Names,
        tf: str,
        options: RewriteOptions,
    ) -> None:
        model, sites = program.plan.model, program.sites
        assert isinstance(model, ModelFnPlan)
        assert isinstance(sites, ModelFnSites)
        super().__init__(
            tree,
            program,
            names,
            tf,
            model=names.fresh("model"),
            optimizer=None,
            options=options,
        )
        self.model = model
        self.sites = sites
        self.class_name = names.fresh(model.class_name)
        self.metric_names = {
            metric.key: self.own("test_" + re.sub(r"\W+", "_", metric.key))
            for metric in model.metrics
        }

    def emit(self) -> Edits:
        """All edits that turn the program into a native loop."""
        sites, edits = self.sites, self.edits
        edits.replace[sites.model_fn] = [self._class()]
        for statement in sites.drop:
            edits.replace[statement] = []
        if self.trainer is not None:
            self._place_class(self.trainer)
            self.calls()
            return edits
        edits.replace[sites.estimator_statement] = []
        first = sites.first_call
        self.place_strategy(first)
        edits.before[first] += self._setup()
        lines = sites.estimator_statement.leading_lines
        blank = sum(line.comment is None for line in lines)
        begin = edits.before[first][0]
        edits.before[first][0] = with_blank_lines(begin, max(blank, 1))
        self.calls()
        return edits

    def _place_class(self, trainer: Trainer) -> None:
        """The class below the model's, and a call of it."""
        model, sites, edits = self.model, self.sites, self.edits
        params = model.params or "{}"
        if model.has_params and self._methods_need_params():
            trainer.member("params", params)
        elif model.has_params:
            trainer.argument("params", params)
        strategy = self.text(strategy_code(self.plan.strategy, self.options.strategy))
        begin = ""
        if self.plan.strategy.variable is not None:
            assert sites.strategy_call is not None
            edits.expressions[sites.strategy_call] = self.fitted_expression(
                sites.strategy_call, strategy
            )
            trainer.member("strategy", self.plan.strategy.variable)
        elif trainer.visible(strategy):
            begin += f"self.strategy = {strategy}\n"
        else:
            trainer.member("strategy", strategy)
        if self.options.mixed_precision:
            begin += self.text(f"{POLICY}\n")
        if self.plan.config.seed is not None:
            seed = self.plan.config.seed
            if not trainer.visible(seed):
                seed = trainer.argument("seed", seed)
            begin += f"{self.tf}.random.set_seed({seed})\n"
        methods = self._build() + self._functions() + self.train_function()
        made = self.optimizer_statements(model.optimizer, self.optimizer)
        head = self.fill(
            "trainer_init_lifted",
            names={"LiftedModel": self.class_name},
            statements={
                "X_MEMBERS": [],
                "X_OPTIMIZER": made["X_OPTIMIZER"],
                "X_TEST_METRICS": self._test_metrics(),
            },
            flags={
                "X_EVALUATES": self.evaluates,
                "X_HAS_PARAMS": self.model_takes_params,
            },
        )
        head += self.manager(restores=False)
        head = [*parse_statements("".join([*trainer.members, begin])), *head]
        definition = with_blank_lines(trainer.class_definition(head, methods), 2)
        edits.replace[sites.model_fn].append(definition)
        edits.expressions[sites.call] = self.fitted_expression(
            sites.call, trainer.call()
        )

    @property
    def model_takes_params(self) -> bool:
        """The model class is made with ``params``."""
        kept = self.model.kept is None or needs_params(self.model)
        return self.model.has_params and kept

    def _methods_need_params(self) -> bool:
        model = self.model
        lines = [*model.train_loss, *model.eval_loss]
        lines += model.predict.lines if model.predict is not None else ()
        return bool(unshadowed(["params"], self.text("".join(lines))))

    def _build(self) -> list[Statement]:
        made = self.optimizer_statements(self.model.optimizer, self.optimizer)
        return self.fill(
            "trainer_build",
            statements={
                "X_VARIABLES": self._variables(),
                "X_OPTIMIZER_STATE": made["X_OPTIMIZER_STATE"],
            },
        )

    def _variables(self) -> list[Statement]:
        kept = self.model.kept is not None
        flags = {"X_KEPT": kept, **self.precision_flags}
        return self.fill("make_variables", flags=flags)

    def build_call(self) -> list[Statement]:
        """What a method of the class does first."""
        return parse_statements("self.build(input_fn)\n") if self.trainer else []

    def _test_metrics(self) -> list[Statement]:
        return parse_statements(
            "".join(
                f"{self.metric_names[metric.key]} = {self.text(metric.code)}\n"
                for metric in self.model.metrics
            )
        )

    # -- the model -------------------------------------------------------------

    def _class(self) -> Statement:
        """The Keras model in the place of the model_fn."""
        model = self.model
        if model.kept is not None:
            return kept_class(self, model)
        outputs = ", ".join(model.outputs)
        layers = model.layers
        if self.options.mixed_precision:
            layers = float32_outputs(model)
        lines = "".join(
            f"self.{attribute} = {self.text(one_line(code))}\n"
            for attribute, code in layers
        )
        (made,) = self.fill(
            "model_class",
            names={"LiftedModel": self.class_name},
            expressions={"X_OUTPUTS": outputs},
            statements={
                "X_LAYERS": parse_statements(lines),
                "X_FORWARD": parse_statements(self.text("".join(model.forward))),
            },
            flags={
                "X_HAS_PARAMS": model.has_params,
                "X_CALL_NEEDS_PARAMS": bool(
                    unshadowed(["params"], self.text("".join(model.forward)))
                ),
            },
        )
        return finished_class(self.tree.module, made, model.docstring)

    def _setup(self) -> list[Statement]:
        """Everything that stands before the first train call."""
        model = self.model
        params = ""
        needed = model.has_params or any(i.needs_params for i in self.plan.inputs)
        if needed and model.params != "params":
            params = f"params = {one_line(model.params or '{}')}\n"
        first_input = self.plan.inputs[0].dataset
        result = parse_statements(params)
        result += self.fill(
            "lifted_setup",
            names={"LiftedModel": self.class_name},
            expressions={
                "X_DATASET": one_line(first_input),
                "X_MODEL_ARGUMENTS": "params",
            },
            statements={
                **self.optimizer_statements(model.optimizer, self.optimizer),
                "X_VARIABLES": self._variables(),
                "X_TEST_METRICS": self._test_metrics(),
            },
            flags={
                "X_EVALUATES": self.evaluates,
                "X_HAS_PARAMS": self.model_takes_params,
            },
        )
        result += self.manager()
        result += self._functions()
        if self.function_form:
            result += self.train_function()
        return space_definitions(self.fitted(result), top_level=not self.inside)

    def _functions(self) -> list[Statement]:
        model = self.model
        forward = parse_statements(
            self.text(self._call_model("True") + "".join(model.train_loss))
        )
        if not model.per_example:
            forward += self.fill(
                "scalar_loss", expressions={"X_SCALAR_LOSS": model.loss}
            )
        result = self.fill(
            "train_functions",
            statements={"X_FORWARD": forward},
            flags={
                "X_REGULARIZED": False,
                "X_PER_EXAMPLE_LOSS": model.per_example,
                **self.precision_flags,
            },
        )
        if not self.evaluates:
            return result + self._predictions()
        test_loss = self.renamed["test_loss"]
        updates = "".join(self._update(metric) for metric in model.metrics)
        body = parse_statements(
            self.text(
                self._call_model("False")
                + "".join(model.eval_loss)
                + _SAME_WEIGHT
                + f"{test_loss}.update_state({model.eval_loss_name})\n"
                + updates
            )
        )
        every = ", ".join([*self.metric_names.values(), test_loss])
        result += self.test_functions(f"[{every}]", body)
        return result + self._predictions()

    def _predictions(self) -> list[Statement]:
        plan = self.model.predict
        if plan is None:
            return []
        code = self._call_model("False") + "".join(plan.lines)
        body = parse_statements(self.text(f"{code}return {one_line(plan.code)}\n"))
        return self.predict_functions(body)

    def _call_model(self, training: str) -> str:
        outputs = ", ".join(self.model.outputs)
        return f"{outputs} = {self.renamed['model']}(features, training={training})\n"

    def _update(self, metric: MetricUpdate) -> str:
        arguments = ", ".join(one_line(a) for a in metric.arguments)
        return f"{self.metric_names[metric.key]}.update_state({arguments})\n"
