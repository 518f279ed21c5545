"""A model function taken apart for a loop that stands in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from ..interp.arguments import Argument
from ..interp.in_mode import MODES, Called, InMode, Loose, Thing, in_mode
from ..interp.values import Const, Dict
from ..plan.code.pure import is_pure
from ..plan.code.source import Source
from ..plan.code.statements import binds, is_docstring, names_in
from ..plan.code.texts import camel, source_text
from ..plan.code.tree import Tree, statements_of
from ..plan.estimator.lasting import check_kept
from ..plan.estimator.warm_start import BY_NAME, INIT
from ..plan.keras.program import OPTIMIZERS
from ..plan.program import TF, LayerClass, ModelFnPlan, PredictPlan
from ..plan.sites import Blocked, ModelRead
from ..project.facts import ParsedModule, ProjectFacts
from .forward import Forward, read_forward
from .metrics import METRICS, metric
from .plain_proof import PlainProof
from .steps import LOSSES, Steps
from .updates import DECAYS, GLOBAL_STEPS, is_updates, read_training

__all__ = ["InPlace"]

_OF_THE_MODEL = '"""The layers of the model; its call is the forward pass."""\n'
_PARAMETERS = ("features", "labels", "mode", "params", "config")
_SPECS = (
    "tf.contrib.tpu.TPUEstimatorSpec",
    "tf.estimator.EstimatorSpec",
    "tf.estimator.tpu.TPUEstimatorSpec",
)
_SPEC = ("mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs")
# What else a specification may have, which a loop in place has no word for.
_MORE = (
    "training_chief_hooks",
    "training_hooks",
    "scaffold",
    "evaluation_hooks",
    "prediction_hooks",
)
# Names of the loop's own functions that lifted code must not mean otherwise, or bind.
_LOCALS = {"batch", "tape", "gradients", "loss", "model"}
_BOUND = {"batch", "tape", "gradients"}
# What a model function may call besides functions of tensors.
_KNOWN = frozenset(
    (*_SPECS, *LOSSES, *METRICS, *OPTIMIZERS, *DECAYS, *GLOBAL_STEPS)
) | {"tf.group", "tf.get_collection", "tf.control_dependencies", "tf.device"}
_KNOWN_FOLDERS = (
    "tf.contrib.layers.",
    "tf.initializers.",
    "tf.keras.",
    "tf.layers.",
    "tf.logging.",
    "tf.name_scope",
    "tf.variable_",
)


class InPlace:
    """Reads the model functions of one file."""

    def __init__(self, parsed: ParsedModule, facts: ProjectFacts) -> None:
        self.parsed = parsed
        self.facts = facts

    def __call__(
        self, tree: Tree, node: cst.BaseExpression, modes: Sequence[str]
    ) -> ModelRead:
        """The model function behind an expression, for some modes, or Blocked."""
        line = tree.line(node)
        defined = tree.resolver.definition(node)
        if not isinstance(defined, cst.FunctionDef):
            raise Blocked("TFM103", line, "the model_fn is defined somewhere else")
        if not isinstance(tree.parent(defined), cst.Module):
            raise Blocked("TFM103", line, "the model_fn is a closure or a method")
        if len(tree.loads_of(defined)) != 1:
            raise Blocked("TFM103", line, "the model_fn is used in several places")
        names = {one.name.value for one in defined.params.params}
        if not {"features", "labels"} <= names <= {*_PARAMETERS}:
            shown = ", ".join(one.name.value for one in defined.params.params)
            raise Blocked("TFM103", line, f"the model_fn takes ({shown})")
        source = Source(tree, defined)
        found = {
            mode: in_mode(self.facts, self.parsed, defined, mode) for mode in MODES
        }
        if any(one.gave_up for one in found.values()):
            raise source.stop(defined, "it calls too much code")
        return _Reader(self, source, found, modes).read()


class _Reader:
    def __init__(
        self,
        place: InPlace,
        source: Source,
        found: dict[str, InMode],
        modes: Sequence[str],
    ) -> None:
        self.place = place
        self.source = source
        self.tree = source.tree
        self.defined = source.defined
        self.found = found
        self.modes = modes

    def read(self) -> ModelRead:
        specs = {mode: self._spec(mode) for mode in self.modes}
        body = self.defined.body
        assert isinstance(body, cst.IndentedBlock)
        statements = statements_of(body)
        docstring = _OF_THE_MODEL
        if statements and is_docstring(statements[0]):
            docstring = _of_the_model(source_text(statements[0]))
            statements = statements[1:]
        wanted = {
            mode: [one.node for one in self._wanted(mode, spec)]
            for mode, spec in specs.items()
        }
        forward = read_forward(
            self.place.facts,
            self.place.parsed,
            self.source,
            statements,
            self.found,
            wanted,
        )
        for mode in self.modes:
            self._check_calls(self.found[mode])
        steps = {
            mode: Steps(self.source, self.found[mode], forward.nodes)
            for mode in self.modes
        }
        return self._parts(specs, steps, forward, docstring)

    # -- what the modes give

    def _check_calls(self, found: InMode) -> None:
        """Blocked where something is done that no part of a loop would do."""
        trains: list[cst.CSTNode] = []
        for node, (symbol, _) in found.notes.symbols.items():
            trains += [node] if symbol.endswith("().minimize") else []
            if len(trains) > 1:
                # What waits for one, or what both count, is not looked at here.
                raise self.source.stop(self.defined, "it minimizes more than once")
            if not symbol.startswith("tf.") or self._has_place(found, node, symbol):
                continue
            where = node if self.tree.holds(node) else self.defined
            if symbol in INIT:
                raise self.source.stop(where, BY_NAME)
            reason = f"`{symbol}` in a loop in place"
            raise self.source.stop(where, reason)

    def _has_place(self, found: InMode, node: cst.CSTNode, symbol: str) -> bool:
        if symbol == "tf.get_collection":
            return is_updates(found.notes.values[node])
        short = symbol.removesuffix("().minimize")
        return (
            short in _KNOWN
            or is_pure(symbol)
            or symbol.startswith(_KNOWN_FOLDERS)
            or symbol.endswith("_initializer")
        )

    def _spec(self, mode: str) -> dict[str, Argument]:
        found = self.found[mode]
        spec = found.result
        if found.unsure is not None:
            raise self.source.stop(found.unsure, "it branches on more than the mode")
        if not isinstance(spec, Called) or spec.symbol not in _SPECS:
            returned = next(
                (o for o in reversed(found.taken) if "return" in self.tree.code(o)),
                self.defined,
            )
            what = "something else than a spec" if spec is not None else "nothing"
            raise self.source.stop(returned, f"for {mode} it returns {what}")
        steps = Steps(self.source, found, set())
        assert spec.node is not None
        if not steps.is_own(spec):
            raise self.source.stop(self.defined, "another function makes the spec")
        given = steps.arguments(spec, (*_SPEC, *_MORE))
        for name in _MORE:
            if name in given:
                raise self.source.stop(spec.node, f"EstimatorSpec(`{name}`=)")
        for name in _needed(mode):
            if name not in given:
                raise self.source.stop(spec.node, f"no {name} for {mode}")
        return given

    def _wanted(self, mode: str, spec: dict[str, Argument]) -> list[Argument]:
        """What a loop computes in a mode."""
        if mode == "PREDICT":
            return [spec["predictions"]]
        found = [spec["loss"]]
        if mode == "EVAL":
            for _, called in self._metrics(spec):
                found += [a for a in called.arguments if not isinstance(a.value, Const)]
        return found

    def _metrics(self, spec: dict[str, Argument]) -> list[tuple[str, Called]]:
        """Names of metrics, and the calls that make them."""
        if "eval_metric_ops" not in spec:
            return []
        given = spec["eval_metric_ops"]
        if not isinstance(given.value, Dict):
            raise self.source.stop(given.node, "eval_metric_ops is not a plain dict")
        steps = Steps(self.source, self.found["EVAL"], set())
        found = []
        for key, value in given.value.items:
            known = isinstance(value, Called) and value.symbol in METRICS
            if not isinstance(value, Called) or not known or not steps.is_own(value):
                shown = value.symbol if isinstance(value, Called) else key
                reason = f"the metric `{shown}` has no exact Keras twin yet"
                raise self.source.stop(given.node, reason)
            found.append((str(key), value))
        return found

    # -- the parts

    def _parts(
        self,
        specs: dict[str, dict[str, Argument]],
        steps: dict[str, Steps],
        forward: Forward,
        docstring: str,
    ) -> ModelRead:
        train, spec = steps["TRAIN"], specs["TRAIN"]
        name = self.defined.name.value
        train_code, loss = self._loss(train, spec["loss"])
        training = read_training(train, spec["train_op"], spec["loss"])
        eval_code: list[str] = []
        eval_loss, metrics = "", []
        if "EVAL" in specs:
            test, spec = steps["EVAL"], specs["EVAL"]
            nodes = [one.node for one in self._wanted("EVAL", spec)]
            eval_code = test.code(test.needs(nodes))
            eval_loss = test.expression(spec["loss"].node)
            metrics = [metric(test, k, called) for k, called in self._metrics(spec)]
        predict = None
        if "PREDICT" in specs:
            predict = self._predictions(steps["PREDICT"], specs["PREDICT"])
        given = "params" in {one.name.value for one in self.defined.params.params}
        plan = ModelFnPlan(
            name=name,
            class_name=camel(name),
            has_params=given,
            params=None,
            model=LayerClass(
                name=camel(name),
                base=f"{TF}.keras.Model",
                docstring=docstring,
                parameters=forward.parameters,
                arguments=("features", "training=False"),
                init=forward.init,
                call=forward.call,
            ),
            outputs=forward.outputs,
            train_loss=tuple(train_code),
            loss=loss,
            eval_loss=tuple(eval_code),
            eval_loss_name=eval_loss,
            metrics=tuple(metrics),
            optimizer_setup=tuple(training.setup),
            optimizer=training.optimizer,
            predict=predict,
        )
        self._check_names(plan, steps, forward)
        self._check_class(plan.model, forward)
        normalised = any("BatchNormalization" in line for line in forward.init)
        normalised = normalised and any(
            "training=" in line.replace("training=False", "") for line in forward.call
        )
        updates = any(map(is_updates, self.found["TRAIN"].notes.values.values()))
        return ModelRead(
            self.defined, plan, normalised and not updates, training.decays
        )

    def _check_class(self, made: LayerClass, forward: Forward) -> None:
        """Blocked where the class, evaluated, does something else than the function."""
        place = self.place
        proof = PlainProof(place.facts, place.parsed, self.source, self.found)
        why = proof.difference(made, forward)
        if why is not None:
            # What is said of a change is of more use than where the values part.
            check_kept(self.tree, self.defined)
            raise self.source.stop(self.defined, why)

    def _loss(self, steps: Steps, loss: Argument) -> tuple[list[str], str]:
        if not isinstance(loss.value, Thing):
            raise self.source.stop(loss.node, "it is not seen how the loss is made")
        return steps.code(steps.needs([loss.node])), steps.expression(loss.node)

    def _predictions(self, steps: Steps, spec: dict[str, Argument]) -> PredictPlan:
        given = spec["predictions"]
        is_dict = isinstance(given.value, Dict)
        if not is_dict and (
            isinstance(given.value, Loose) or not isinstance(given.value, Thing)
        ):
            reason = "whether the predictions are a dict is not seen"
            raise self.source.stop(given.node, reason)
        code = steps.code(steps.needs([given.node]))
        return PredictPlan(tuple(code), steps.expression(given.node), is_dict)

    def _check_names(
        self, plan: ModelFnPlan, steps: dict[str, Steps], forward: Forward
    ) -> None:
        """Blocked where names of the program and of the loop's functions meet."""
        read = set[str]()
        for code in (*plan.train_loss, *plan.eval_loss, plan.loss, *plan.metric_code):
            read |= names_in(code)
        bound = {n for one in steps.values() for s in one.statements for n in binds(s)}
        hidden = (read - bound - forward.made) & _LOCALS | plan.bound() & _BOUND
        if hidden:
            reason = f"it has a name that the loop has too: `{sorted(hidden)[0]}`"
            raise self.source.stop(self.defined, reason)


def _needed(mode: str) -> tuple[str, ...]:
    return {"TRAIN": ("loss", "train_op"), "EVAL": ("loss",)}.get(
        mode, ("predictions",)
    )


def _of_the_model(docstring: str) -> str:
    """The docstring, unless it speaks of what the class is not any more."""
    old = re.search(r"estimator|model_fn|model function", docstring, re.IGNORECASE)
    return _OF_THE_MODEL if old and "\n" not in docstring.strip() else docstring
