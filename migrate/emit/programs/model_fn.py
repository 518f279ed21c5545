"""Writes the native loop of an ``Estimator(model_fn)`` into its module."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from ...options import RewriteOptions
from ...plan.code.tree import Statement, Tree
from ...plan.program import (
    OPTIMIZER,
    MetricUpdate,
    ModelFnPlan,
)
from ...plan.sites import ModelFnSites, Program
from ..calls.checkpoints import manager
from ..calls.mixed_precision import float32_outputs
from ..module.edits import Edits
from ..module.layout import fit, one_line
from ..module.names import Names, rename
from ..module.spacing import space_definitions, with_blank_lines
from ..module.template import parse_statements, unshadowed
from .layer_class import class_statement
from .loop import SAME_WEIGHT, LoopEmitter
from .optimizers import convert_optimizer

__all__ = ["ModelFnEmitter"]

# Variables of the loop around the step functions: these have their own.
_LOOP_ONLY = {"loss", "losses", "step", "steps", "done"}


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
        # A local of the step functions must not hide what they use.
        names.reserve(*(model.bound() - _LOOP_ONLY))
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
            metric.key: names.fresh("test_" + re.sub(r"\W+", "_", metric.key))
            for metric in model.metrics
        }

    def emit(self) -> Edits:
        """All edits that turn the program into a native loop."""
        sites, edits = self.sites, self.edits
        edits.replace[sites.model_fn] = [self._class()]
        for statement in sites.drop:
            edits.replace[statement] = []
        edits.replace[sites.estimator_statement] = []
        first = sites.first_call
        self.strategy_site.place(first)
        edits.before[first] += self._setup()
        lines = sites.estimator_statement.leading_lines
        blank = sum(line.comment is None for line in lines)
        begin = edits.before[first][0]
        body = sites.body.body
        blank = 0 if body[0] is sites.estimator_statement else max(blank, 1)
        edits.before[first][0] = with_blank_lines(begin, blank)
        self.calls()
        return edits

    @cached_property
    def reads_labels(self) -> bool:
        """Whether loss or metrics look at labels: an autoencoder has none."""
        model = self.model
        parts = (
            [*model.train_loss, f"({model.loss})\n"],
            [*model.eval_loss, f"({model.eval_loss_name})\n", *model.metric_code],
        )
        return any(_reads(self.text("".join(code)), "labels") for code in parts)

    @property
    def counted_labels(self) -> str:
        """The labels, or the first of several."""
        model = self.model
        code = [*model.train_loss, model.loss, *model.eval_loss, *model.metric_code]
        if any("labels[" in line for line in code):
            return f"{self.tf}.nest.flatten(labels)[0]"
        return "labels"

    def _methods_read(self, name: str) -> bool:
        model = self.model
        lines = [*model.train_loss, f"({model.loss})\n", *model.eval_loss]
        lines.append(f"({model.eval_loss_name or None})\n")
        if model.predict is not None:
            lines += [*model.predict.lines, f"({model.predict.code})\n"]
        lines += model.metric_code
        return bool(unshadowed([name], self.text("".join(lines))))

    def _variables(self) -> list[Statement]:
        return self.fill("make_variables", flags=self.precision_flags)

    def _test_metrics(self) -> list[Statement]:
        return parse_statements(
            "".join(
                f"{self.metric_names[metric.key]} = {self.text(metric.code)}\n"
                for metric in self.model.metrics
            )
        )

    # -- the model -------------------------------------------------------------

    def text(self, code: str) -> str:
        """Source text of a plan with the program's names."""
        return super().text(code.replace(OPTIMIZER, self.optimizer))

    def _class(self) -> Statement:
        """The Keras model in the place of the model_fn."""
        model = self.model
        layer = replace(model.model, name=self.class_name)
        if self.options.mixed_precision:
            layer = replace(layer, init=float32_outputs(model))
        made = class_statement(layer, self.text)
        column = self.tree.column(self.sites.model_fn) - 1
        return fit(self.tree.module, [made], column)[0]

    def _optimizer(self) -> dict[str, Sequence[Statement]]:
        """Statements that make the optimizer, and what must follow its build."""
        code, state = self._optimizer_code
        return self.optimizer_code(code, state, self.optimizer)

    @cached_property
    def _optimizer_code(self) -> tuple[str, str]:
        model = self.model
        converted = convert_optimizer(model.optimizer, self.optimizer)
        code = "".join(model.optimizer_setup) + f"{OPTIMIZER} = {converted.code}\n"
        return _renamed(code, self.names), converted.state

    @property
    def _parameters(self) -> tuple[str, ...]:
        """What the model's constructor takes."""
        return self.model.model.parameters

    def _model(self) -> str:
        """Source that makes the model."""
        return f"{self.class_name}({', '.join(self._parameters)})"

    def _values(self) -> list[tuple[str, str]]:
        """The model_fn's parameters that something behind the class reads."""
        model = self.model
        found: list[tuple[str, str]] = []
        if model.has_params:
            found.append(("params", model.params or "{}"))
        code = [*model.optimizer_setup, f"f({', '.join(self._parameters)})\n"]
        code += [f"({a})\n" for _, a in model.optimizer.arguments]
        code += [m.code + "\n" for m in model.metrics]
        text = self.text("".join(code))
        values = [
            (name, value)
            for name, value in found
            if self._methods_read(name) or unshadowed([name], text)
        ]
        if self._inputs_read_params and "params" not in dict(values):
            values.append(("params", model.params or "{}"))
        return values

    @property
    def _inputs_read_params(self) -> bool:
        return any(given.needs_params for given in self.plan.inputs)

    def _setup(self) -> list[Statement]:
        """Everything that stands before the first train call."""
        values = self._values()
        begin = "".join(f"{n} = {one_line(v)}\n" for n, v in values if n != v)
        made, first_input = self.made_once(one_line(self.plan.inputs[0].dataset))
        result = parse_statements(begin) + made
        result += self.fill(
            "lifted_setup",
            expressions={
                "X_DATASET": first_input,
                "X_MODEL": self._model(),
            },
            statements={
                **self._optimizer(),
                "X_VARIABLES": self._variables(),
                "X_TEST_METRICS": self._test_metrics(),
            },
            flags={
                "X_EVALUATES": self.evaluates,
            },
        )
        result += manager(self)
        result += self._functions()
        if self.function_form:
            result += self.train_function()
        return space_definitions(self.fitted(result), top_level=not self.inside)

    def _functions(self) -> list[Statement]:
        model = self.model
        forward = parse_statements(
            self.text(self.call_model("True") + "".join(model.train_loss))
        )
        forward += self.scalar_loss(model.loss)
        result = self.fill(
            "train_functions",
            statements={"X_FORWARD": forward},
            flags={
                "X_REGULARIZED": False,
                "X_PER_EXAMPLE_LOSS": False,
                **self.precision_flags,
            },
        )
        if not self.evaluates:
            return result + self._predictions()
        test_loss = self.renamed["test_loss"]
        updates = "".join(self._update(metric) for metric in model.metrics)
        body = parse_statements(
            self.text(
                self.call_model("False")
                + "".join(model.eval_loss)
                + SAME_WEIGHT
                + f"{test_loss}.update_state({one_line(model.eval_loss_name)})\n"
                + updates
            )
        )
        names = [*self.metric_names.values(), test_loss]
        result += self.test_functions(self.listed(names), body)
        return result + self._predictions()

    def _predictions(self) -> list[Statement]:
        plan = self.model.predict
        if plan is None:
            return []
        code = self.call_model("False") + "".join(plan.lines)
        body = parse_statements(self.text(f"{code}return {one_line(plan.code)}\n"))
        return self.predict_functions(body)

    def call_model(self, training: str) -> str:
        """A statement that runs the model on the features."""
        outputs = ", ".join(self.model.outputs)
        return f"{outputs} = {self.renamed['model']}(features, training={training})\n"

    def _update(self, metric: MetricUpdate) -> str:
        arguments = ", ".join(one_line(a) for a in metric.arguments)
        return f"{self.metric_names[metric.key]}.update_state({arguments})\n"


def _reads(code: str, name: str) -> bool:
    """Statements read a name before they give it a value of their own."""
    for statement in ast.parse(code).body:
        names = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
        if any(n.id == name and isinstance(n.ctx, ast.Load) for n in names):
            return True
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if any(isinstance(one, ast.Name) and one.id == name for one in targets):
            return False
    return False


def _renamed(code: str, names: Names) -> str:
    """Setup code whose variables clash with nothing of the program's."""
    bound = dict.fromkeys(
        node.id
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and node.id != OPTIMIZER
    )
    changed = {old: new for old in bound if (new := names.fresh(old)) != old}
    return rename(code, changed) if changed else code
