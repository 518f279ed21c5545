"""Reads a ``model_fn``: its layers, its forward pass, its spec for each mode."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from .arguments import is_none
from .lifted_helpers import finish
from .lifted_names import Lifted, camel, source_text
from .lifter import Kind, Lifter, Shared
from .model_fn_losses import LossCode, read_loss
from .model_fn_metrics import read_metrics
from .model_fn_modes import Modes
from .model_fn_optimizer import TrainOp, read_train_op
from .model_fn_sections import Sections, regularisation
from .model_fn_source import Source
from .program import LayerClass, MetricUpdate, ModelFnPlan
from .pure import is_pure
from .sites import Blocked
from .statements import (
    backward_slice,
    binds,
    is_docstring,
    latest,
    loads,
    names_in,
)
from .tree import Statement, Tree, only_small, statements_of, walk

__all__ = ["ModelFn", "read_model_fn"]

_PARAMETERS = ("features", "labels", "mode", "params", "config")
# Names of the emitted step functions that a lifted loss must not mean otherwise.
_OUR_LOCALS = {"batch", "tape", "losses", "examples", "gradients", "loss", "model"}


@dataclass
class ModelFn:
    """A model_fn taken apart; everything is source text of the new code."""

    definition: cst.FunctionDef
    has_params: bool
    shared: Shared
    model: Lifted | None = None
    outputs: tuple[str, ...] = ()
    train: LossCode | None = None
    evaluation: LossCode | None = None
    eval_loss: list[str] = field(default_factory=list)
    metrics: list[MetricUpdate] = field(default_factory=list)
    train_op: TrainOp = field(default_factory=TrainOp)
    predict: list[str] = field(default_factory=list)
    predictions: str = ""
    signatures: list[tuple[str, str, str]] = field(default_factory=list)
    normalised: bool = False

    @property
    def helpers(self) -> list[Lifted]:
        """The functions that became layers."""
        return list(self.shared.helpers.values())

    def plan(self, params: str | None) -> ModelFnPlan:
        """The same as plain data."""
        assert self.model is not None
        assert self.train is not None
        evaluation = self.evaluation or LossCode((), "", False)
        code = [*self.train.statements, *self.eval_loss, *self.predict]
        bound = {
            node.id
            for text in [*code, *self.train_op.apply]
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        return ModelFnPlan(
            name=self.definition.name.value,
            model=layer_class(self.model),
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
            predict=tuple(self.predict),
            predictions=self.predictions,
            signatures=tuple(self.signatures),
            local_names=tuple(sorted(bound | set(self.outputs))),
        )


def layer_class(lifted: Lifted) -> LayerClass:
    """A lifted class as plain data."""
    return LayerClass(
        name=lifted.name,
        base=lifted.base,
        docstring=lifted.docstring,
        parameters=lifted.parameters,
        arguments=lifted.arguments,
        init=lifted.init,
        call=lifted.call,
        training=lifted.training,
    )


def read_model_fn(
    tree: Tree,
    node: cst.BaseExpression,
    *,
    evaluates: bool,
    predicts: bool = False,
) -> ModelFn:
    """Take the model_fn behind an expression apart, or raise Blocked."""
    line = tree.line(node)
    defined = tree.resolver.definition(node)
    if not isinstance(defined, cst.FunctionDef):
        raise Blocked("TFM103", line, "the model_fn is defined somewhere else")
    if not isinstance(tree.parent(defined), (cst.Module, cst.IndentedBlock)):
        raise Blocked("TFM103", line, "the model_fn is a closure or a method")
    if len(tree.loads(defined.name.value)) != 1:
        raise Blocked("TFM103", line, "the model_fn is used in several places")
    names = [p.name.value for p in defined.params.params]
    if not set(names) <= set(_PARAMETERS) or not {"features", "labels"} <= set(names):
        shown = ", ".join(names)
        raise Blocked("TFM103", line, f"the model_fn takes ({shown})")
    return _Reader(tree, defined, evaluates, predicts).read()


class _Reader:
    def __init__(
        self, tree: Tree, defined: cst.FunctionDef, evaluates: bool, predicts: bool
    ) -> None:
        self.tree = tree
        self.defined = defined
        self.evaluates = evaluates
        self.predicts = predicts
        self.source = source = Source(tree, defined)
        self.modes = Modes(source)
        names = [p.name.value for p in defined.params.params]
        shared = Shared(regularisation(source))
        self.found = ModelFn(defined, "params" in names, shared)
        kinds = {
            "features": Kind.TENSOR,
            "labels": Kind.TENSOR,
            "mode": Kind.MODE,
            "params": Kind.CONFIG,
        }
        self.lifter = Lifter(
            source, self.modes, shared, {n: kinds.get(n, Kind.MODE) for n in names}
        )
        self.sections = Sections(source, self.modes, self.lifter)

    def read(self) -> ModelFn:
        body = self.defined.body
        assert isinstance(body, cst.IndentedBlock)
        statements = statements_of(body)
        docstring = None
        if statements and is_docstring(statements[0]):
            docstring = source_text(statements[0])
            statements = statements[1:]
        before, behind = self._split(statements)
        call, aside, made = self._forward(before)
        self._cut(call, aside, made, behind)
        self._check_helpers()
        code = [source_text(s) for s in call]
        outputs = ", ".join(self.found.outputs)
        self.found.model = finish(
            self.lifter,
            name=camel(self.defined.name.value),
            base="Model",
            docstring=docstring,
            parameters=self._parameters(),
            arguments=("features",),
            call=(*code, f"return {outputs}\n"),
        )
        lifted = [self.found.model, *self.found.helpers]
        self.found.normalised = any(
            "BatchNormalization" in line for one in lifted for line in one.init
        )
        return self.found

    def _parameters(self) -> tuple[str, ...]:
        """Parameters of the model's constructor: those that its layers need."""
        lifter = self.lifter
        reads = lifter.init_reads | lifter.call_reads
        for statement in lifter.config:
            if binds(statement) & reads:
                reads |= loads(self.tree, statement)
        return ("params",) if self.found.has_params and "params" in reads else ()

    # -- the forward pass ----------------------------------------

    def _split(
        self, statements: Sequence[Statement]
    ) -> tuple[list[Statement], list[Statement]]:
        """The statements up to the last layer, and those behind it."""
        last = self._last_layer(statements)
        if last is None:
            raise self.source.stop(self.defined, "no layers of tf.layers are seen")
        if any(isinstance(n, cst.Return) for n in walk(statements[last])):
            statements = self.modes.flat(statements)
            last = self._last_layer(statements)
            assert last is not None
        if any(isinstance(n, cst.Return) for n in walk(statements[last])):
            raise self.source.stop(statements[last], "layers in a branch that returns")
        before = list(statements[: last + 1])
        if any("labels" in loads(self.tree, s) for s in before):
            before = self.modes.flat(before)
        for statement in before:
            if any(isinstance(n, cst.Return) for n in walk(statement)):
                raise self.source.stop(statement, "it returns before the last layer")
        return before, list(statements[last + 1 :])

    def _last_layer(self, statements: Sequence[Statement]) -> int | None:
        made = [i for i, s in enumerate(statements) if self.lifter.has_layer(s)]
        return max(made, default=None)

    def _forward(
        self, statements: Sequence[Statement]
    ) -> tuple[list[Statement], list[Statement], set[str]]:
        """The call's statements, those of losses and the like, the names made."""
        tree, lifter = self.tree, self.lifter
        tainted = {"labels"}
        for statement in statements:
            if loads(tree, statement) & tainted:
                if lifter.has_layer(statement):
                    raise self.source.stop(statement, "layers work on the labels")
                tainted |= binds(statement)
        wanted: set[str] = set()
        needed: set[int] = set()
        for index in reversed(range(len(statements))):
            statement = statements[index]
            names = binds(statement)
            if lifter.has_layer(statement) or names & wanted:
                needed.add(index)
                if isinstance(only_small(statement), (cst.Assign, cst.AnnAssign)):
                    wanted -= names
                wanted |= loads(tree, statement)
        call: list[Statement] = []
        aside: list[Statement] = []
        made: set[str] = set()
        for index, statement in enumerate(statements):
            if index in needed:
                if loads(tree, statement) & tainted:
                    raise self.source.stop(statement, "layers work on the labels")
                config = len(lifter.config)
                new = lifter.lift([statement])
                call += new
                made |= {n for s in new for n in binds(s)}
                if len(lifter.config) > config:
                    aside.append(statement)
                continue
            small = only_small(statement)
            if isinstance(small, cst.Assign) and (
                lifter.mode_kind(small.value) is not None
                or lifter.is_config(small.value)
            ):
                lifter.lift([statement])
            elif isinstance(small, cst.Expr):
                lifter.lift([statement])
                continue
            for name in binds(statement):
                lifter.kinds.setdefault(name, Kind.TENSOR)
            aside.append(statement)
            later = {n for s in statements[index + 1 :] for n in binds(s)}
            changed = loads(tree, statement) & later & made
            if changed:
                # The loss would see another value than the one of this place.
                self._keep_order(statement, sorted(changed)[0])
        return call, aside, made

    def _keep_order(self, statement: Statement, name: str) -> None:
        raise self.source.stop(statement, f"`{name}` changes before the loss is made")

    def _cut(
        self,
        call: list[Statement],
        aside: list[Statement],
        made: set[str],
        behind: list[Statement],
    ) -> None:
        """Ends the forward pass where the fewest values come out of it."""
        extra = 0
        for statement in self.modes.flat(behind):
            if not self._extends(statement, made):
                break
            extra += 1
        flat = self.modes.flat(behind) if extra else behind
        best: tuple[int, int] | None = None
        for count in range(extra + 1):
            names = made | {n for s in flat[:count] for n in binds(s)}
            outputs = self._outputs(aside, flat[count:], names)
            if outputs and (best is None or len(outputs) <= best[0]):
                best = (len(outputs), count)
        if best is None:
            reason = "the loss does not follow from the layers"
            raise self.source.stop(self.defined, reason)
        for statement in flat[: best[1]]:
            call += self.lifter.lift([statement])
            made |= binds(statement)
        outputs = self._outputs(aside, flat[best[1] :], made)
        order = [n for s in call for n in _ordered(s)]
        # Where a name is last given its value decides its place.
        self.found.outputs = tuple(
            n for n in dict.fromkeys(reversed(order)) if n in outputs
        )[::-1]
        if "features" in self.found.outputs:
            raise self.source.stop(self.defined, "the features are changed")
        self._sections(aside, flat[best[1] :], made)

    def _extends(self, statement: Statement, made: set[str]) -> bool:
        """A plain step behind the last layer that may belong to the model."""
        small = only_small(statement)
        if not isinstance(small, cst.Assign):
            return False
        if "labels" in loads(self.tree, statement) or "mode" in loads(
            self.tree, statement
        ):
            return False
        if isinstance(small.value, (cst.Dict, cst.Call)) and not self._pure(
            small.value
        ):
            return False
        return self._pure(small.value)

    def _pure(self, node: cst.BaseExpression) -> bool:
        return all(
            is_pure(self.tree.symbol(n.func) or "")
            for n in walk(node)
            if isinstance(n, cst.Call)
        )

    def _outputs(
        self, aside: list[Statement], behind: list[Statement], made: set[str]
    ) -> set[str]:
        """Names of the forward pass that the rest of the model_fn reads."""
        reads: set[str] = set()
        for mode in self._wanted_modes():
            statements, call = self._branch(aside, behind, mode)
            spec = self.modes.spec(call)
            wanted: set[str] = set()
            for name in _READ[mode]:
                if not is_none(spec.get(name)):
                    wanted |= self._reads(statements, spec[name])
            chosen = backward_slice(self.tree, statements, wanted)
            names = set(wanted)
            for statement in chosen:
                names |= loads(self.tree, statement)
            bound = {n for s in chosen for n in binds(s)}
            # A name that is made anew behind the model is read there only.
            reads |= {
                n
                for n in names & made
                if n not in bound or _read_first(self.tree, chosen, n)
            }
        return {n for n in reads if self.lifter.kinds.get(n) in (None, Kind.TENSOR)}

    def _reads(self, statements: list[Statement], node: cst.BaseExpression) -> set[str]:
        return loads(self.tree, node) or names_in(source_text(node))

    def _wanted_modes(self) -> list[str]:
        modes = ["TRAIN"]
        if self.evaluates:
            modes.append("EVAL")
        if self.predicts:
            modes.append("PREDICT")
        return modes

    def _branch(
        self, aside: list[Statement], behind: list[Statement], mode: str
    ) -> tuple[list[Statement], cst.Call]:
        before, spec = self.modes.branch([*aside, *behind], mode)
        return before, spec

    def _check_helpers(self) -> None:
        """A function that becomes a layer must not be used in another way."""
        lifted = self.found.shared.lifted_calls
        for definition in self.found.shared.helpers:
            name = definition.name.value
            uses = self.tree.loads(name)
            calls = [
                c
                for c in lifted
                if self.tree.resolver.definition(c.func) is (definition)
            ]
            if len(uses) != len(calls):
                reason = f"`{name}` makes layers and is used elsewhere too"
                raise self.source.stop(definition, reason)

    # -- modes ----------------------------------------

    def _sections(
        self, aside: list[Statement], behind: list[Statement], made: set[str]
    ) -> None:
        statements, call = self._branch(aside, behind, "TRAIN")
        self._train(statements, call)
        if self.evaluates:
            self._evaluate(*self._branch(aside, behind, "EVAL"))
        if self.predicts:
            self._predict(*self._branch(aside, behind, "PREDICT"))
        assert self.found.train is not None
        needed = self._names(self.found.train.statements, self.found.train.expression)
        needed |= self._names(self.found.eval_loss, "")
        for metric in self.found.metrics:
            for argument in metric.arguments:
                needed |= names_in(argument.removeprefix("sample_weight="))
        bound = made | {n for s in [*aside, *behind] for n in binds(s)}
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

    def _train(self, statements: list[Statement], call: cst.Call) -> None:
        spec = self.modes.spec(call)
        if is_none(spec.get("loss")) or is_none(spec.get("train_op")):
            raise self.source.stop(call, "no loss or train_op for training")
        loss = spec["loss"]
        self.found.train = read_loss(
            self.sections, statements, loss, "TRAIN", split=True
        )
        assert isinstance(loss, cst.Name)
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
            return self.sections.expression(node, "EVAL", statements)

        self.found.metrics = read_metrics(
            self.source, statements, spec.get("eval_metric_ops"), text
        )
        needed = {found.expression}
        for metric in self.found.metrics:
            for argument in metric.arguments:
                needed |= names_in(argument.removeprefix("sample_weight="))
        wanted = backward_slice(self.tree, statements, needed)
        for statement in wanted:
            self.sections.check(statement)
        self.found.eval_loss = [
            self.sections.code(s, "EVAL", statements) for s in wanted
        ]

    def _predict(self, statements: list[Statement], call: cst.Call) -> None:
        spec = self.modes.spec(call)
        node = spec.get("predictions")
        if is_none(node):
            raise self.source.stop(call, "no predictions")
        assert node is not None
        value = latest(self.tree, statements, node)
        assert value is not None
        wanted = backward_slice(self.tree, statements, loads(self.tree, node))
        # The predictions are the expression itself, where it is made at once.
        if wanted and isinstance(node, cst.Name) and value is not node:
            wanted = backward_slice(self.tree, statements, loads(self.tree, value))
            node = value
        for statement in wanted:
            self.sections.check(statement)
        self.found.predict = [
            self.sections.code(s, "PREDICT", statements) for s in wanted
        ]
        self.found.predictions = self.sections.expression(node, "PREDICT", statements)


_READ = {
    "TRAIN": ("loss",),
    "EVAL": ("loss", "eval_metric_ops"),
    "PREDICT": ("predictions", "export_outputs"),
}


def _ordered(statement: Statement) -> list[str]:
    from .statements import assigned

    return [name for inner in walk(statement) for name in assigned(inner)]


def _read_first(tree: Tree, statements: Sequence[Statement], name: str) -> bool:
    """The name is read before the statements give it a new value."""
    for statement in statements:
        if name in loads(tree, statement):
            return True
        if name in binds(statement):
            return isinstance(only_small(statement), cst.AugAssign)
    return True
