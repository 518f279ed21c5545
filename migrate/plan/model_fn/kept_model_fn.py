"""Recognises ``Estimator(model_fn)`` programs that can keep their whole model_fn.

The loop calls it where the Estimator did: while it builds a graph of TensorFlow 1,
one for each mode. So it is not read; only what would need a session, or has no
home any more, stands in the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.statements import names_in, own_statements
from ..code.tree import Body, Statement, Tree, walk
from ..estimator.calls import read_calls
from ..estimator.config import read_run_config
from ..estimator.places import find_place
from ..estimator.strategies import hoisted, read_strategy
from ..estimator.warm_start import INIT, READS
from ..program import Difference, TrainingPlan
from ..sites import Blocked, KeptSites, Program
from .empty_scaffold import SCAFFOLD, is_empty_scaffold
from .kept_checks import KERAS_VALUES, RNN_CELLS, elsewhere, has_home, reachable
from .kept_plan import KeptModelFnPlan
from .lasting import check_lasting, check_regularizers, moves
from .step_order import unordered_step

__all__ = ["CONTRIB_HELPERS", "SPEC", "recognise_kept_model_fn"]

_PARAMETERS = ("model_fn", "model_dir", "config", "params", "warm_start_from")
_TAKES = ("features", "labels", "mode", "params", "config")
SPEC = "tf.estimator.EstimatorSpec"
_FIELDS = (
    "mode",
    "predictions",
    "loss",
    "train_op",
    "eval_metric_ops",
    "export_outputs",
    "training_chief_hooks",
    "training_hooks",
    "scaffold",
    "evaluation_hooks",
    "prediction_hooks",
)
_HOOKS = ("training_chief_hooks", "training_hooks", "evaluation_hooks")
# Hooks that change nothing: a loop that does not run them trains the same.
_SHOWING = (
    "tf.train.LoggingTensorHook",
    "tf.train.SummarySaverHook",
    "tf.train.StepCounterHook",
    "tf.estimator.LoggingTensorHook",
    "tf.estimator.SummarySaverHook",
    "tf.estimator.StepCounterHook",
)
_OUTPUTS = "tf.estimator.export."
# Functions of contrib that the emitted module brings along.
CONTRIB_HELPERS = {"tf.contrib.layers.layer_norm": "layer_norm"}
_MOVED = (
    "tf.layers",
    "tf.nn.rnn_cell",
    "tf.contrib.layers.l1_regularizer",
    "tf.contrib.layers.l2_regularizer",
    *(f"tf.contrib.rnn.{name}" for name in RNN_CELLS),
)
_NEEDS_SESSION = {
    "tf.placeholder": "is fed by a session",
    "tf.placeholder_with_default": "is fed by a session",
    "tf.Session": "opens a session",
    "tf.InteractiveSession": "opens a session",
    "tf.get_default_session": "asks for the session",
    "tf.global_variables_initializer": "is run by a session",
    "tf.initialize_all_variables": "is run by a session",
    "tf.tables_initializer": "is run by a session",
    "tf.report_uninitialized_variables": "is run by a session",
    "tf.Graph": "makes a graph of its own",
}
_BELOW = {
    "tf.data.": "reads data",
    "tf.lookup.": "makes a table in each graph",
    "tf.contrib.lookup.": "makes a table in each graph",
    "tf.feature_column.": "makes tables in each graph",
    "tf.keras.": "makes a Keras object in each graph",
    "tf.estimator.": "belongs to the Estimator",
}
# Of tf.train, what a graph may use without a session's help.
_TRAIN_ENDS = ("Optimizer", "_decay", "_constant", "_restarts")
_TRAIN = (
    "tf.train.assert_global_step",
    "tf.train.create_global_step",
    "tf.train.get_global_step",
    "tf.train.get_or_create_global_step",
    "tf.train.global_step",
    "tf.train.init_from_checkpoint",
    *READS,
)
# Methods and functions that change variables outside of an optimizer.
_ASSIGNS = ("assign", "scatter_")
_TRAIN_NOT = ("tf.train.SyncReplicasOptimizer",)


@dataclass
class _Found:
    """What the readers find in the model_fn."""

    fields: set[str] = field(default_factory=set)
    # Names of the Estimator's API in kept code, and what stands for them.
    specs: list[cst.BaseExpression] = field(default_factory=list)
    outputs: list[cst.Call] = field(default_factory=list)
    helpers: list[tuple[cst.BaseExpression, str]] = field(default_factory=list)
    mentions: set[cst.CSTNode] = field(default_factory=set)
    summaries: bool = False
    hooks: bool = False
    metrics: bool = False
    is_dict: bool = True
    # Variables start from a checkpoint.
    loads: bool = False
    # The first line that assigns to a variable.
    assigns: int | None = None


def recognise_kept_model_fn(tree: Tree, call: cst.Call, why: str) -> Program:
    """The program around one ``Estimator(model_fn)`` call, or raise Blocked.

    ``why`` tells why the model_fn cannot become a model.
    """
    line = tree.line(call)
    try:
        given = match_arguments(call, _PARAMETERS)
    except UnknownArguments as problem:
        raise Blocked("TFM103", line, f"Estimator with {problem}") from None
    if "model_fn" not in given:
        raise Blocked("TFM103", line, "an Estimator without a model_fn")
    if not is_none(given.get("warm_start_from")):
        raise Blocked("TFM103", line, "`warm_start_from` with a model_fn that is kept")
    place = find_place(tree, call)
    statement, body = place.statement, place.body
    config, distribute, made = read_run_config(tree, given, body)
    strategy, strategy_site = read_strategy(tree, distribute, line)
    uses = read_calls(tree, place, config)
    calls, drop = uses.calls, uses.drop
    if any(plan.receiver is not None or plan.exporters for plan, _ in calls):
        raise Blocked("TFM103", line, "an export of a model_fn that is kept")
    if any(hook.watched for plan, _ in calls for hook in plan.hooks):
        raise Blocked("TFM116", line, "a hook fetches tensors of a model_fn")
    first = statement
    if not place.travels:
        made_before = _first_statement(tree, calls[0][1], body)
        if made_before is None or moves(tree, place, made_before):
            place.travels, made_before = True, None
        first = made_before or statement
    reader = _Reader(tree)
    definition = reader.read(given["model_fn"])
    found = reader.found
    check_lasting(tree, place, given.get("params"), definition)
    check_regularizers(tree, definition, whole=True)
    takes = reader.takes
    params = given.get("params")
    model = KeptModelFnPlan(
        model_fn=tree.code(given["model_fn"]),
        takes=takes,
        params="{}" if is_none(params) else tree.code(params),  # type: ignore[arg-type]
        fields=tuple(n for n in _FIELDS if n in found.fields),
        reason=why,
        has_metrics=found.metrics,
        is_dict=found.is_dict,
        assigns=found.assigns,
        loads=found.loads,
        contrib=tuple(dict.fromkeys(name for _, name in found.helpers)),
    )
    for name in ("features", "labels"):
        if name in names_in(model.params):
            raise Blocked("TFM103", line, f"params of `{name}`")
    differences = [*uses.differences, *_differences(tree, definition, found)]
    drop.extend(made)
    plan = TrainingPlan(
        line=line,
        estimator=place.variable,
        model=model,
        strategy=strategy,
        config=config,
        calls=tuple(plan for plan, _ in calls),
        differences=tuple(differences),
    )
    top = tree.statement_in(definition, tree.module) or definition
    sites = KeptSites(
        body=body,
        first_call=first,
        top=top,
        estimator_statement=statement,
        drop=drop,
        hoist=hoisted(tree, strategy_site, body, first),
        strategy=strategy_site,
        calls=calls,
        hook_classes=uses.hook_classes,
        directories=uses.directories,
        inputs=uses.inputs,
        call=call,
        specs=found.specs,
        outputs=found.outputs,
        helpers=found.helpers,
        mentions=found.mentions,
    )
    return Program(plan, sites, place.travels)


def _differences(
    tree: Tree, definition: cst.FunctionDef, found: _Found
) -> Iterator[Difference]:
    line = tree.line(definition)
    if found.summaries:
        message = "the summaries of the model_fn are not written any more"
        yield Difference("TFM141", line, message, needs_review=True)
    if found.hooks:
        message = "what the hooks of the model_fn's spec showed is not shown any more"
        yield Difference("TFM141", line, message, needs_review=True)


def _first_statement(tree: Tree, call: cst.Call, body: Body) -> Statement | None:
    """The statement of the first call, where the loop's functions can stand."""
    first = tree.statement_in(call, body)
    return first if first is tree.statement(call) else None


class _Reader:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.found = _Found()
        self.takes: tuple[str, ...] = ()

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        return Blocked("TFM103", self.tree.line(node), f"model_fn: {reason}")

    def read(self, node: cst.BaseExpression) -> cst.FunctionDef:
        """The function that defines the model_fn, after a look at all it uses."""
        tree = self.tree
        outer, inner = self._definitions(node)
        self._parameters(inner)
        nodes = list(dict.fromkeys(reachable(tree, [outer])))
        done: set[cst.CSTNode] = set()
        for one in nodes:
            if isinstance(one, cst.Arg) and (
                one.keyword is not None
                and one.keyword.value == "partitioner"
                and not is_none(one.value)
            ):
                raise self.stop(one, "variables are split into parts")
            if isinstance(one, cst.Call):
                self._call(one)
            if isinstance(one, (cst.Attribute, cst.Name)) and one not in done:
                symbol = tree.symbol(one)
                if symbol is None or symbol == "tf":
                    continue
                done.update(walk(one))
                self._symbol(one, symbol)
        if not {"loss", "train_op"} <= self.found.fields:
            raise self.stop(inner, "it is not seen where its specs are made")
        unordered = unordered_step(tree, inner, nodes)
        if unordered is not None:
            raise self.stop(*unordered)
        return outer

    def _definitions(
        self, node: cst.BaseExpression
    ) -> tuple[cst.FunctionDef, cst.FunctionDef]:
        """The model_fn, under what makes it where a function does."""
        tree = self.tree
        value = tree.value(node)
        called = value.func if isinstance(value, cst.Call) else None
        defined = tree.resolver.definition(called or node)
        if not isinstance(defined, cst.FunctionDef):
            raise self.stop(node, "it is defined somewhere else")
        if called is None:
            return defined, defined
        for statement in own_statements(defined):
            if not isinstance(statement, cst.SimpleStatementLine):
                continue
            for small in statement.body:
                given = small.value if isinstance(small, cst.Return) else None
                inner = tree.resolver.definition(given)
                if isinstance(inner, cst.FunctionDef):
                    return defined, inner
        raise self.stop(node, "it is not seen which function is returned")

    def _parameters(self, inner: cst.FunctionDef) -> None:
        parameters = inner.params
        names = [p.name.value for p in (*parameters.params, *parameters.kwonly_params)]
        defaults = {p.name.value for p in parameters.params if p.default is not None}
        known = [name for name in names if name in _TAKES]
        other = [n for n in names if n not in _TAKES and n not in defaults]
        if other or not {"features", "mode"} <= set(known):
            shown = ", ".join(names)
            raise self.stop(inner, f"it takes ({shown})")
        loads = {n.value for n in walk(inner.body) if isinstance(n, cst.Name)}
        if "config" in known and "config" in loads:
            raise self.stop(inner, "it reads its `config`")
        self.takes = tuple(known)

    def _call(self, call: cst.Call) -> None:
        tree, found = self.tree, self.found
        foreign = elsewhere(tree, call)
        if foreign is not None:
            raise self.stop(call, f"`{foreign}` is defined in another module")
        symbol = tree.symbol(call.func)
        name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
        # Counting steps is the one assignment that replicas do together.
        if name.startswith(_ASSIGNS) and "step" not in tree.code(call):
            found.assigns = found.assigns or tree.line(call)
        if symbol != SPEC:
            return
        try:
            given = match_arguments(call, _FIELDS)
        except UnknownArguments as problem:
            raise self.stop(call, f"a spec with {problem}") from None
        if not is_none(given.get("prediction_hooks")):
            raise self.stop(call, "a spec with `prediction_hooks`")
        scaffold = given.get("scaffold")
        if scaffold is not None and not is_empty_scaffold(tree, scaffold):
            raise self.stop(call, "a spec with `scaffold`")
        for name in _HOOKS:
            if not is_none(given.get(name)):
                self._shown(given[name])
        metrics = given.get("eval_metric_ops")
        found.metrics = found.metrics or not is_none(metrics)
        predictions = given.get("predictions")
        if predictions is not None and not isinstance(
            tree.value(predictions), (cst.Dict, cst.DictComp)
        ):
            found.is_dict = found.is_dict and self._is_dict(predictions)
        found.fields.update(given)

    def _is_dict(self, node: cst.BaseExpression) -> bool:
        """Whether predictions are a dict; Blocked where it cannot be told."""
        value = self.tree.value(node)
        if isinstance(value, cst.Call):
            name = self.tree.code(value.func)
            if name in ("dict", "collections.OrderedDict", "OrderedDict"):
                return True
            if self.tree.symbol(value.func) is not None:
                return False
        if isinstance(value, (cst.Dict, cst.DictComp)):
            return True
        if is_none(value):
            return self.found.is_dict
        return not isinstance(value, (cst.BinaryOperation, cst.Subscript))

    def _shown(self, node: cst.BaseExpression) -> None:
        """Hooks of a spec that only show something are left out."""
        value = self.tree.value(node)
        elements = value.elements if isinstance(value, (cst.List, cst.Tuple)) else None
        if elements is None:
            raise self.stop(node, "hooks of the spec that are not seen")
        for element in elements:
            made = self.tree.value(element.value)
            symbol = self.tree.symbol(made.func) if isinstance(made, cst.Call) else None
            if symbol not in _SHOWING:
                shown = symbol or self.tree.code(element.value)
                raise self.stop(element.value, f"the spec has the hook `{shown}`")
            self.found.hooks = True

    def _symbol(self, node: cst.BaseExpression, symbol: str) -> None:
        """Note a name of TensorFlow, or raise Blocked where it cannot stay."""
        found = self.found
        if symbol == SPEC:
            found.specs.append(node)
            found.mentions.add(node)
            return
        if symbol in CONTRIB_HELPERS:
            found.helpers.append((node, CONTRIB_HELPERS[symbol]))
            return
        if symbol.startswith(_OUTPUTS):
            call = self.tree.parent(node)
            if not isinstance(call, cst.Call) or len(call.args) != 1:
                raise self.stop(node, f"`{symbol}`")
            found.outputs.append(call)
            found.mentions.add(node)
            return
        found.summaries = found.summaries or symbol.startswith("tf.summary.")
        found.loads = found.loads or symbol in INIT
        parent = self.tree.parent(node)
        if symbol == SCAFFOLD and isinstance(parent, cst.Call):
            if not parent.args:
                return
            raise self.stop(node, "a `Scaffold` with settings")
        reason = _reason(symbol)
        if reason is not None:
            raise self.stop(node, f"`{symbol}` {reason}")
        if symbol in _SHOWING:
            found.mentions.add(node)


def _reason(symbol: str) -> str | None:
    """Why a symbol cannot stay in a graph that no session runs."""
    if symbol.startswith((*_MOVED, "tf.estimator.ModeKeys")) or symbol in _SHOWING:
        return None
    if symbol in _NEEDS_SESSION:
        return _NEEDS_SESSION[symbol]
    if not symbol.startswith(KERAS_VALUES):
        for prefix, reason in _BELOW.items():
            if symbol.startswith(prefix):
                return reason
    if symbol.startswith("tf.train."):
        usable = symbol.endswith(_TRAIN_ENDS) or symbol in _TRAIN
        if not usable or symbol in _TRAIN_NOT:
            return "belongs to a session"
    return None if has_home(symbol) else "has no home in TensorFlow 2"
