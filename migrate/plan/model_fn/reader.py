"""Reads a ``model_fn``: its layers, its forward pass, its spec for each mode."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..code.arguments import is_none
from ..code.statements import (
    binds,
    is_docstring,
    names_in,
)
from ..code.texts import camel, source_text
from ..code.tree import Statement, Tree, statements_of
from ..estimator.export_outputs import read_export_outputs
from ..estimator.warm_start import check_effects
from ..hooks.own import Hooks
from ..hooks.specs import read_spec_hooks
from ..optimizers.model_fn import TrainOp, read_train_op
from ..program import (
    TF,
    LayerClass,
    MetricUpdate,
    ModelFnPlan,
    PredictPlan,
)
from ..sites import Blocked
from .forward import Forward, ReadForward, read_by_the_rest
from .losses import LossCode, read_loss
from .metrics import read_metrics
from .modes import Modes
from .predict import read_predictions
from .sections import Sections
from .source import Source

__all__ = ["ModelFn", "read_model_fn"]

_OF_THE_MODEL = '"""The layers of the model; its call is the forward pass."""\n'
_PARAMETERS = ("features", "labels", "mode", "params", "config")
# Names of the emitted step functions that a lifted loss must not mean otherwise.
_OUR_LOCALS = {"batch", "tape", "losses", "examples", "gradients", "loss", "model"}


@dataclass
class ModelFn:
    """A model_fn taken apart; everything is source text of the new code."""

    definition: cst.FunctionDef
    has_params: bool
    docstring: str = _OF_THE_MODEL
    model: LayerClass | None = None
    outputs: tuple[str, ...] = ()
    train: LossCode | None = None
    evaluation: LossCode | None = None
    eval_loss: list[str] = field(default_factory=list)
    metrics: list[MetricUpdate] = field(default_factory=list)
    train_op: TrainOp = field(default_factory=TrainOp)
    predict: PredictPlan | None = None
    exports: tuple[tuple[str, PredictPlan], ...] = ()
    normalised: bool = False
    # Summaries stood among the layers.
    summaries: bool = False
    # The hooks of the spec for training.
    hooks: Hooks = field(default_factory=Hooks)

    def plan(self, params: str | None) -> ModelFnPlan:
        """The same as plain data."""
        assert self.train is not None
        assert self.model is not None
        evaluation = self.evaluation or LossCode((), "", False)
        predict = () if self.predict is None else self.predict.lines
        exported = [line for _, one in self.exports for line in one.lines]
        code = [*self.train.statements, *self.eval_loss, *predict, *exported]
        bound = {
            node.id
            for text in [*code, *self.train_op.apply]
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        return ModelFnPlan(
            name=self.definition.name.value,
            class_name=camel(self.definition.name.value),
            model=self.model,
            has_params=self.has_params,
            params=params,
            outputs=self.outputs,
            train_loss=self.train.statements,
            loss=self.train.expression,
            per_example=self.train.per_example,
            apply=tuple(self.train_op.apply),
            eval_loss=tuple(self.eval_loss),
            eval_loss_name=evaluation.expression,
            metrics=tuple(self.metrics),
            optimizer_setup=tuple(self.train_op.setup),
            optimizers=tuple(self.train_op.optimizers),
            predict=self.predict,
            exports=self.exports,
            local_names=tuple(sorted(bound | set(self.outputs))),
        )


def _of_the_model(docstring: str) -> str:
    """The docstring, unless it speaks of what the class is not any more."""
    old = re.search(r"estimator|model_fn|model function", docstring, re.IGNORECASE)
    return _OF_THE_MODEL if old and "\n" not in docstring.strip() else docstring


def read_model_fn(
    tree: Tree,
    node: cst.BaseExpression,
    read_forward: ReadForward,
    *,
    evaluates: bool,
    predicts: bool = False,
    exports: bool = False,
) -> ModelFn:
    """Take the model_fn behind an expression apart, or raise Blocked."""
    line = tree.line(node)
    defined = tree.resolver.definition(node)
    if not isinstance(defined, cst.FunctionDef):
        raise Blocked("TFM103", line, "the model_fn is defined somewhere else")
    if not isinstance(tree.parent(defined), cst.Module):
        raise Blocked("TFM103", line, "the model_fn is a closure or a method")
    if len(tree.loads_of(defined)) != 1:
        raise Blocked("TFM103", line, "the model_fn is used in several places")
    names = [p.name.value for p in defined.params.params]
    if not set(names) <= set(_PARAMETERS) or not {"features", "labels"} <= set(names):
        shown = ", ".join(names)
        raise Blocked("TFM103", line, f"the model_fn takes ({shown})")
    reader = _Reader(tree, defined, evaluates, predicts, exports)
    return reader.read(read_forward)


class _Reader:
    def __init__(
        self,
        tree: Tree,
        defined: cst.FunctionDef,
        evaluates: bool,
        predicts: bool,
        exports: bool,
    ) -> None:
        self.tree = tree
        self.defined = defined
        self.evaluates = evaluates
        self.predicts = predicts
        self.exports = exports
        self.source = source = Source(tree, defined)
        self.modes = Modes(source)
        names = [p.name.value for p in defined.params.params]
        wanted = ["TRAIN"]
        if evaluates:
            wanted.append("EVAL")
        if predicts or exports:
            wanted.append("PREDICT")
        self.wanted = wanted
        check_effects(source)
        self.found = ModelFn(defined, "params" in names)

    def read(self, read_forward: ReadForward) -> ModelFn:
        body = self.defined.body
        assert isinstance(body, cst.IndentedBlock)
        statements = statements_of(body)
        if statements and is_docstring(statements[0]):
            self.found.docstring = _of_the_model(source_text(statements[0]))
            statements = statements[1:]

        def reads(rest: Sequence[Statement], made: set[str]) -> set[str]:
            return read_by_the_rest(self.modes, self.wanted, rest, made)

        forward = read_forward(self.source, self.modes, statements, reads)
        self.found.outputs = forward.outputs
        self.found.summaries = forward.summaries
        self.sections = Sections(self.source, self.modes)
        self._sections(forward)
        self.found.model = LayerClass(
            name=camel(self.defined.name.value),
            base=f"{TF}.keras.Model",
            docstring=self.found.docstring,
            parameters=forward.parameters,
            arguments=("features", "training=False"),
            init=forward.init,
            call=forward.call,
        )
        self.found.normalised = any(
            "BatchNormalization" in line for line in forward.init
        ) and any(
            "training=" in line.replace("training=False", "") for line in forward.call
        )
        return self.found

    def _branch(
        self, aside: list[Statement], behind: list[Statement], mode: str
    ) -> tuple[list[Statement], cst.Call]:
        before, spec = self.modes.branch([*aside, *behind], mode)
        return before, spec

    # -- modes ----------------------------------------

    def _sections(self, forward: Forward) -> None:
        aside, behind = forward.aside, forward.behind
        statements, call = self._branch(aside, behind, "TRAIN")
        self._train(statements, call)
        if self.evaluates:
            self._evaluate(*self._branch(aside, behind, "EVAL"))
        if self.predicts:
            branch = self._branch(aside, behind, "PREDICT")
            self.found.predict = read_predictions(self.sections, *branch)
        if self.exports:
            branch = self._branch(aside, behind, "PREDICT")
            self.found.exports = read_export_outputs(self.sections, *branch)
        assert self.found.train is not None
        needed = self._names(self.found.train.statements, self.found.train.expression)
        needed |= self._names(self.found.eval_loss, "") | self._metric_names()
        bound = forward.made | {n for s in [*aside, *behind] for n in binds(s)}
        if self.found.train.per_example:
            bound.add("losses")
        hidden = (needed - bound) & _OUR_LOCALS
        if hidden:
            shown = sorted(hidden)[0]
            raise self.source.stop(self.defined, f"it reads a global named `{shown}`")

    @staticmethod
    def _names(statements: Sequence[str], expression: str) -> set[str]:
        found = names_in(expression)
        for statement in statements:
            found |= names_in(statement)
        return found

    def _metric_names(self) -> set[str]:
        """Names that the updates of the metrics read."""
        needed: set[str] = set()
        for metric in self.found.metrics:
            for argument in metric.arguments:
                needed |= names_in(argument.removeprefix("sample_weight="))
        return needed

    def _train(self, statements: list[Statement], call: cst.Call) -> None:
        spec = self.modes.spec(call)
        if is_none(spec.get("loss")) or is_none(spec.get("train_op")):
            raise self.source.stop(call, "no loss or train_op for training")
        loss = spec["loss"]
        self.found.train = read_loss(
            self.sections, statements, loss, "TRAIN", split=True
        )
        assert isinstance(loss, cst.Name)
        for name in ("training_hooks", "training_chief_hooks"):
            hooks = read_spec_hooks(
                self.source, statements, spec.get(name), loss.value, self.found.hooks
            )
            self.found.hooks = hooks
        self.found.train_op = read_train_op(
            self.source, statements, spec["train_op"], loss.value
        )

    def _evaluate(self, statements: list[Statement], call: cst.Call) -> None:
        spec = self.modes.spec(call)
        if is_none(spec.get("loss")):
            raise self.source.stop(call, "no loss for evaluation")
        found = read_loss(self.sections, statements, spec["loss"], "EVAL", split=False)
        self.found.evaluation = found

        def text(node: cst.BaseExpression) -> str:
            return self.sections.expression(node, "EVAL")

        node = spec.get("eval_metric_ops")
        self.found.metrics = read_metrics(self.source, statements, node, text)
        needed = {found.expression} | self._metric_names()
        wanted = self.sections.slice(statements, needed)
        for statement in wanted:
            self.sections.check(statement)
        self.found.eval_loss = [self.sections.code(s, "EVAL") for s in wanted]
