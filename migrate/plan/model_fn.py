"""Reads a ``model_fn``: its layers, its forward pass, its spec for each mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from .arguments import is_none
from .kept_forward import KeptForward
from .model_fn_forward import Forward
from .model_fn_losses import Losses
from .model_fn_metrics import read_metric
from .model_fn_modes import Modes
from .model_fn_optimizer import read_optimizer
from .model_fn_predict import read_predictions
from .model_fn_source import Source
from .program import MODEL, MetricUpdate, ModelFnPlan, OptimizerPlan, PredictPlan
from .sites import Blocked
from .statements import (
    assigned,
    backward_slice,
    is_docstring,
    latest,
    names_in,
)
from .tree import Statement, Tree, statements_of, walk

__all__ = ["ModelFn", "read_model_fn"]

_PARAMETERS = ("features", "labels", "mode", "params")
# Names of the emitted step functions that a lifted loss must not mean otherwise.
_OUR_LOCALS = {"batch", "tape", "losses", "examples", "gradients", "loss", "model"}


@dataclass
class ModelFn:
    """A model_fn taken apart; everything is source text of the new code."""

    definition: cst.FunctionDef
    class_name: str
    has_params: bool
    layers: list[tuple[str, str]] = field(default_factory=list)
    forward: list[str] = field(default_factory=list)
    outputs: tuple[str, ...] = ()
    train_loss: list[str] = field(default_factory=list)
    loss: str = ""
    per_example: bool = False
    eval_loss: list[str] = field(default_factory=list)
    eval_loss_name: str = ""
    docstring: str | None = None
    metrics: list[MetricUpdate] = field(default_factory=list)
    optimizer: OptimizerPlan | None = None
    predict: PredictPlan | None = None
    kept: str | None = None
    # TensorFlow symbols that kept forward code uses, here and in its helpers.
    symbols: frozenset[str] = frozenset()

    @property
    def regularised(self) -> bool:
        """The loss asks for the model's regularization losses."""
        return any(f"{MODEL}.losses" in code for code in self.train_loss)

    def plan(self, params: str | None) -> ModelFnPlan:
        """The same as plain data."""
        assert self.optimizer is not None
        return ModelFnPlan(
            name=self.definition.name.value,
            class_name=self.class_name,
            has_params=self.has_params,
            params=params,
            layers=tuple(self.layers),
            forward=tuple(self.forward),
            outputs=self.outputs,
            train_loss=tuple(self.train_loss),
            loss=self.loss,
            per_example=self.per_example,
            eval_loss=tuple(self.eval_loss),
            eval_loss_name=self.eval_loss_name,
            docstring=self.docstring,
            metrics=tuple(self.metrics),
            optimizer=self.optimizer,
            predict=self.predict,
            kept=self.kept,
        )


def read_model_fn(
    tree: Tree,
    node: cst.BaseExpression,
    *,
    evaluates: bool,
    predicts: bool = False,
    kept: str | None = None,
) -> ModelFn:
    """Take the model_fn behind an expression apart, or raise Blocked.

    ``kept`` is the reason why its forward code is to stay as it is.
    """
    line = tree.line(node)
    defined = tree.resolver.definition(node)
    if not isinstance(defined, cst.FunctionDef):
        raise Blocked("TFM103", line, "the model_fn is defined somewhere else")
    if not isinstance(tree.parent(defined), cst.Module):
        raise Blocked("TFM103", line, "the model_fn is a closure or a method")
    if len(tree.loads(defined.name.value)) != 1:
        raise Blocked("TFM103", line, "the model_fn is used in several places")
    names = tuple(p.name.value for p in defined.params.params)
    if names not in (_PARAMETERS, _PARAMETERS[:3]):
        shown = ", ".join(names)
        raise Blocked("TFM103", line, f"the model_fn takes ({shown})")
    return _Reader(tree, defined, evaluates, predicts, kept).read()


def _camel(name: str) -> str:
    name = name.removesuffix("_fn").strip("_") or "model"
    words = [w[:1].upper() + w[1:] for w in name.split("_") if w]
    return "".join(words)


class _Reader:
    def __init__(
        self,
        tree: Tree,
        defined: cst.FunctionDef,
        evaluates: bool,
        predicts: bool,
        kept: str | None,
    ) -> None:
        self.tree = tree
        self.defined = defined
        self.evaluates = evaluates
        self.predicts = predicts
        self.source = Source(tree, defined)
        self.modes = Modes(self.source)
        self.losses = Losses(self.source)
        has_params = len(defined.params.params) == 4
        self.found = ModelFn(defined, _camel(defined.name.value), has_params, kept=kept)

    def read(self) -> ModelFn:
        body = self.defined.body
        assert isinstance(body, cst.IndentedBlock)
        statements = statements_of(body)
        if statements and is_docstring(statements[0]):
            self.found.docstring = self.source.code(statements[0])
            statements = statements[1:]
        kind = Forward if self.found.kept is None else KeptForward
        lifted = kind(self.source, self.modes)
        forward, rest = lifted.split(statements)
        for statement in forward:
            lifted.lift(statement)
        self.found.forward, self.found.layers = lifted.code, lifted.layers
        self.found.symbols = lifted.symbols
        if self.predicts and any("mode" in names_in(code) for code in lifted.code):
            # Kept code would have to know evaluation from prediction.
            raise self.source.stop(self.defined, "the forward pass depends on the mode")
        bound = set(lifted.bound(forward))
        if bound & {"labels", "mode", "params"}:
            raise self.source.stop(self.defined, "an argument is assigned anew")
        self._train(*self.modes.branch(rest, "TRAIN"))
        needed = self._needed(self.found.train_loss, self.found.loss)
        if self.evaluates:
            self._evaluate(*self.modes.branch(rest, "EVAL"))
            needed |= self._needed(self.found.eval_loss, self.found.eval_loss_name)
            for metric in self.found.metrics:
                for argument in metric.arguments:
                    needed |= names_in(argument)
        if self.predicts:
            branch = self.modes.branch(rest, "PREDICT")
            self.found.predict = read_predictions(self.source, self.modes, *branch)
            needed |= self._needed(self.found.predict.lines, self.found.predict.code)
        bound |= {n for s in rest for t in walk(s) for n in assigned(t)}
        if self.found.per_example:
            bound.add("losses")
        hidden = (needed - bound) & _OUR_LOCALS
        if hidden:
            shown = sorted(hidden)[0]
            raise self.source.stop(self.defined, f"it reads a global named `{shown}`")
        outputs = [n for n in dict.fromkeys(lifted.bound(forward)) if n in needed]
        if not outputs or "features" in outputs:
            reason = "the loss does not follow from the layers"
            raise self.source.stop(self.defined, reason)
        self.found.outputs = tuple(outputs)
        return self.found

    @staticmethod
    def _needed(statements: Sequence[str], expression: str) -> set[str]:
        found = names_in(expression)
        for statement in statements:
            found |= names_in(statement)
        return found

    def _train(self, statements: list[Statement], call: cst.Call) -> None:
        spec = self.modes.spec(call)
        if "loss" not in spec or "train_op" not in spec:
            raise self.source.stop(call, "no loss or train_op for training")
        train_op = latest(self.tree, statements, spec["train_op"])
        self.found.optimizer = read_optimizer(self.source, train_op)
        lines, name, per_example = self.losses.read(
            statements, spec["loss"], split=True
        )
        self.found.train_loss = lines
        self.found.loss = name
        self.found.per_example = per_example

    def _evaluate(self, statements: list[Statement], call: cst.Call) -> None:
        spec = self.modes.spec(call)
        if "loss" not in spec:
            raise self.source.stop(call, "no loss for evaluation")
        _, name, _ = self.losses.read(statements, spec["loss"], split=False)
        self.found.eval_loss_name = name
        metrics = latest(self.tree, statements, spec.get("eval_metric_ops"))
        needed: set[str] = {name}
        if not is_none(metrics):
            if not isinstance(metrics, cst.Dict):
                raise self.source.stop(call, "eval_metric_ops is not a plain dict")
            for element in metrics.elements:
                if not isinstance(element, cst.DictElement):
                    reason = "eval_metric_ops is not a plain dict"
                    raise self.source.stop(element, reason)
                metric = read_metric(self.source, element)
                self.found.metrics.append(metric)
                for argument in metric.arguments:
                    needed |= names_in(argument)
        wanted = backward_slice(self.tree, statements, needed)
        for statement in wanted:
            self.losses.check(statement)
        self.found.eval_loss = [self.losses.code(s) for s in wanted]
