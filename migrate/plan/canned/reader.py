"""Recognises canned Estimators: linear, deep, both combined, and baselines."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments, may_be_none
from ..code.statements import names_in
from ..code.tree import Statement, Tree, walk
from ..estimator.calls import read_calls
from ..estimator.config import read_run_config
from ..estimator.places import find_place
from ..estimator.strategies import hoisted, read_strategy
from ..inputs.effects import has_effects
from ..program import (
    TF,
    CallKind,
    Difference,
    EstimatorCall,
    OptimizerPlan,
    TrainingPlan,
)
from ..sites import Blocked, CannedSites, Program
from .columns import check_columns, column_kinds
from .optimizer import canned_optimizer
from .plan import REDUCTIONS, CannedPlan, DeepPlan, HeadPlan, LinearPlan, Task

__all__ = [
    "CANNED_ESTIMATORS",
    "names_compat_v1",
    "no_loop_for",
    "recognise_canned",
]

_DNN = (
    "input_layer_partitioner",
    "config",
    "warm_start_from",
    "loss_reduction",
    "batch_norm",
)
_LINEAR = (
    "optimizer",
    "config",
    "partitioner",
    "warm_start_from",
    "loss_reduction",
    "sparse_combiner",
)
_COMBINED = (
    "model_dir",
    "linear_feature_columns",
    "linear_optimizer",
    "dnn_feature_columns",
    "dnn_optimizer",
    "dnn_hidden_units",
    "dnn_activation_fn",
    "dnn_dropout",
)
_CLASSES = ("n_classes", "weight_column", "label_vocabulary")
_VALUES = ("label_dimension", "weight_column")
_HIDDEN = ("optimizer", "activation_fn", "dropout")

# Parameters in order, as TF 1.12 and 1.15 have them.
_SIGNATURES: dict[str, tuple[str, ...]] = {
    "LinearClassifier": ("feature_columns", "model_dir", *_CLASSES, *_LINEAR),
    "LinearRegressor": ("feature_columns", "model_dir", *_VALUES, *_LINEAR),
    "DNNClassifier": (
        *("hidden_units", "feature_columns", "model_dir"),
        *(*_CLASSES, *_HIDDEN, *_DNN),
    ),
    "DNNRegressor": (
        *("hidden_units", "feature_columns", "model_dir"),
        *(*_VALUES, *_HIDDEN, *_DNN),
    ),
    "DNNLinearCombinedClassifier": (
        *(*_COMBINED, *_CLASSES, *_DNN, "linear_sparse_combiner"),
    ),
    "DNNLinearCombinedRegressor": (
        *(*_COMBINED, *_VALUES, *_DNN, "linear_sparse_combiner"),
    ),
    "BaselineClassifier": (
        *("model_dir", *_CLASSES, "optimizer", "config", "loss_reduction"),
    ),
    "BaselineRegressor": (
        *("model_dir", *_VALUES, "optimizer", "config", "loss_reduction"),
    ),
}
CANNED_ESTIMATORS = {f"tf.estimator.{name}": name for name in _SIGNATURES}

_ADVICE = {
    "BoostedTrees": (
        "trees have no counterpart in TF2: train them anew with TensorFlow Decision "
        "Forests"
    ),
    "KMeans": (
        "clustering has no counterpart in TF2: keep it on tfmigrate.compat, or use "
        "scikit-learn's MiniBatchKMeans"
    ),
}
# Sparse updates of these leave untouched rows alone in TF 1 and not in Keras.
_ROWS_DIFFER = ("tf.train.RMSPropOptimizer", "tf.train.AdadeltaOptimizer")


def no_loop_for(symbol: str | None) -> str:
    """Why a kind of Estimator has no native loop, with advice where there is any."""
    for word, advice in _ADVICE.items():
        if word in (symbol or ""):
            return f"`{symbol}`: {advice}"
    return f"no native loop yet for `{symbol}`"


def recognise_canned(tree: Tree, call: cst.Call) -> Program:
    """The program around one canned Estimator, or raise Blocked."""
    line = tree.line(call)
    name = CANNED_ESTIMATORS[tree.symbol(call.func) or ""]
    try:
        given = match_arguments(call, _SIGNATURES[name])
    except UnknownArguments as problem:
        raise Blocked("TFM118", line, f"{name} with {problem}") from None
    for unsupported in ("warm_start_from", "partitioner", "input_layer_partitioner"):
        if not is_none(given.get(unsupported)):
            raise Blocked("TFM118", line, f"{name}(`{unsupported}`=)")
    if tree.resolver.qualified(call.func) == f"tensorflow.estimator.{name}" and (
        names_compat_v1(tree)
    ):
        raise Blocked("TFM118", line, f"the {name} of TF 2, which averages its loss")
    check_columns(tree)
    place = find_place(tree, call)
    statement, body = place.statement, place.body
    config, distribute, made = read_run_config(tree, given, body)
    strategy, strategy_site = read_strategy(tree, distribute, line)
    uses = read_calls(tree, place, config)
    calls, drop = uses.calls, uses.drop
    first, example = statement, None
    if not place.travels and calls[0][0].kind in CallKind.TRAINING:
        found_in = tree.statement_in(calls[0][1], body)
        if found_in is not None:
            first = found_in
            call = calls[0][1]
            if tree.statement(call) is first or not has_effects(tree, call):
                example = _example_input(tree, [asked for asked, _ in calls], first)
    if example is None:
        # A class makes its variables from whatever data it sees first.
        place.travels, first = True, statement
    reader = _Reader(tree, name, given, line)
    model = reader.read()
    if strategy.symbol is not None and model.deep and model.deep.batch_norm:
        reader.differences.append(
            Difference(
                "TFM118",
                line,
                "with several replicas each evaluates with the moving averages of its "
                "own batches; the Estimator evaluated with their mean",
            )
        )
    reader.note_signatures([asked for asked, _ in calls])
    drop.extend(made)
    plan = TrainingPlan(
        line=line,
        estimator=place.variable,
        model=model,
        strategy=strategy,
        config=config,
        calls=tuple(plan for plan, _ in calls),
        differences=(*uses.differences, *reader.differences),
    )
    sites = CannedSites(
        body=body,
        first_call=first,
        example_input=example or "",
        estimator_statement=statement,
        drop=drop,
        hoist=hoisted(tree, strategy_site, body, first),
        strategy=strategy_site,
        calls=calls,
        hook_classes=uses.hook_classes,
        directories=uses.directories,
        inputs=uses.inputs,
        call=call,
    )
    return Program(plan, sites, place.travels)


def names_compat_v1(tree: Tree) -> bool:
    """The module says ``tf.compat.v1`` for old things: the rest is TF 2."""
    return any(
        isinstance(node, cst.Attribute)
        and node.attr.value == "v1"
        and tree.resolver.qualified(node) == "tensorflow.compat.v1"
        for node in walk(tree.module)
    )


def _example_input(
    tree: Tree, calls: Sequence[EstimatorCall], first: Statement
) -> str | None:
    """A Dataset that can be made before the first call: it tells shapes."""
    bound = {
        node.value
        for holder in walk(first)
        if isinstance(holder, (cst.AssignTarget, cst.For, cst.CompFor))
        for node in walk(holder.target)
        if isinstance(node, cst.Name)
    }
    for call in calls:
        for given in (call.input, call.evaluated_input):
            if given is not None and not names_in(given.dataset.strip()) & bound:
                return given.dataset
    return None


class _Reader:
    """Reads the arguments of one canned Estimator."""

    def __init__(
        self, tree: Tree, name: str, given: dict[str, cst.BaseExpression], line: int
    ) -> None:
        self.tree = tree
        self.name = name
        self.given = given
        self.line = line
        self.differences: list[Difference] = []

    def read(self) -> CannedPlan:
        head = self.head()
        if self.name.startswith("Baseline"):
            return CannedPlan(self.name, head, baseline=self.optimizer("", "Ftrl", 0.3))
        deep: DeepPlan | None = None
        linear: LinearPlan | None = None
        if self.name.startswith("DNNLinear"):
            if self.has("dnn_feature_columns"):
                deep = self.deep("dnn_", 0.001)
            if self.has("linear_feature_columns"):
                # min(0.005, 1 / sqrt(columns)): less than 40,000 columns.
                linear = self.linear("linear_", "linear_sparse_combiner", 0.005)
        elif self.name.startswith("DNN"):
            deep = self.deep("", 0.05)
        else:
            linear = self.linear("", "sparse_combiner", 0.2)
        if deep is None and linear is None:
            raise self.stop("no feature columns are given")
        return CannedPlan(self.name, head, deep, linear)

    def stop(self, reason: str) -> Blocked:
        return Blocked("TFM118", self.line, f"{self.name}: {reason}")

    def note_signatures(self, calls: Sequence[EstimatorCall]) -> None:
        """Exports that took serialized examples had signatures of other methods."""
        asked = [c for c in calls if c.receiver is not None and c.receiver.is_examples]
        if asked:
            message = (
                "the exported signatures for Classify and Regress requests answer "
                "Predict requests, under the same names"
            )
            self.differences.append(
                Difference("TFM144", asked[0].line, message, needs_review=True)
            )

    def has(self, name: str) -> bool:
        node = self.given.get(name)
        return not is_none(node) and not is_none(self.tree.value(node))

    def text(self, name: str, default: str = "") -> str:
        node = self.given.get(name)
        return default if node is None else self.tree.code(node)

    # -- the head ----------------------------------------------------------------

    def head(self) -> HeadPlan:
        weights, reduction = self.weights(), self.reduction()
        if self.name.endswith("Regressor"):
            units = self.text("label_dimension", "1")
            return HeadPlan(Task.REGRESSION, units, None, weights, reduction)
        vocabulary = self.vocabulary()
        classes = self.given.get("n_classes")
        count = 2 if classes is None else self.number(classes)
        if count is None:
            raise self.stop("the number of classes is not seen")
        if count == 2:
            return HeadPlan(Task.BINARY, "1", vocabulary, weights, reduction)
        units = self.text("n_classes")
        return HeadPlan(Task.MULTI_CLASS, units, vocabulary, weights, reduction)

    def number(self, node: cst.BaseExpression) -> int | None:
        """The value of a number, also of ``len`` of a list that is spelled out."""
        value = self.tree.value(node)
        if isinstance(value, cst.Integer):
            return int(value.evaluated_value)
        if (
            isinstance(value, cst.Call)
            and isinstance(value.func, cst.Name)
            and value.func.value == "len"
            and len(value.args) == 1
        ):
            items = self.tree.value(value.args[0].value)
            if isinstance(items, (cst.List, cst.Tuple)) and all(
                isinstance(e, cst.Element) for e in items.elements
            ):
                return len(items.elements)
        return None

    def vocabulary(self) -> str | None:
        return self.text("label_vocabulary") if self.has("label_vocabulary") else None

    def weights(self) -> str | None:
        if not self.has("weight_column"):
            return None
        node = self.given["weight_column"]
        value = self.tree.value(node)
        if isinstance(value, cst.SimpleString):
            return self.tree.code(node)
        if isinstance(value, cst.Call) and len(value.args) == 1:
            # A numeric column of one number is its feature.
            key = value.args[0].value
            if self.tree.symbol(value.func) == "tf.feature_column.numeric_column":
                return self.tree.code(key)
        raise self.stop("the weight column is not seen")

    def reduction(self) -> str:
        if not self.has("loss_reduction"):
            return "sum"
        node = self.given["loss_reduction"]
        symbol = self.tree.symbol(node) or self.tree.symbol(self.tree.value(node)) or ""
        prefix, _, name = symbol.rpartition(".")
        if prefix != "tf.losses.Reduction" or name not in REDUCTIONS:
            raise self.stop(f"the loss reduction `{self.tree.code(node)}`")
        return REDUCTIONS[name]

    # -- the parts -----------------------------------------------------------------

    def optimizer(self, prefix: str, default: str, rate: float) -> OptimizerPlan:
        node = self.given.get(f"{prefix}optimizer")
        return canned_optimizer(self.tree, node, default, str(rate))

    def deep(self, prefix: str, rate: float) -> DeepPlan:
        columns = f"{prefix}feature_columns"
        kinds = column_kinds(self.tree, self.given.get(columns))
        hidden, spelled_out = self.hidden_units(f"{prefix}hidden_units")
        optimizer = self.optimizer(prefix, "Adagrad", rate)
        sparse = kinds is None or "embedding" in kinds
        self.note_rows(optimizer, sparse)
        activation = f"{prefix}activation_fn"
        return DeepPlan(
            columns=self.text(columns),
            hidden_units=hidden,
            spelled_out=spelled_out,
            activation=self.activation(activation),
            dropout=self.dropout(f"{prefix}dropout"),
            batch_norm=self.flag("batch_norm"),
            optimizer=optimizer,
            sparse=sparse,
        )

    def linear(self, prefix: str, combiner: str, rate: float) -> LinearPlan:
        columns = f"{prefix}feature_columns"
        kinds = column_kinds(self.tree, self.given.get(columns))
        kind = "mixed"
        if kinds is not None and kinds <= {"categorical"}:
            kind = "categorical"
        elif kinds is not None and "categorical" not in kinds:
            kind = "numeric"
        optimizer = self.optimizer(prefix, "Ftrl", rate)
        sparse = kinds is None or bool(kinds & {"categorical", "embedding"})
        self.note_rows(optimizer, sparse)
        return LinearPlan(
            columns=self.text(columns),
            kind=kind,
            combiner=self.text(combiner, '"sum"'),
            optimizer=optimizer,
            sparse=sparse,
        )

    def note_rows(self, optimizer: OptimizerPlan, sparse: bool) -> None:
        if sparse and optimizer.symbol in _ROWS_DIFFER:
            shown = optimizer.symbol.rpartition(".")[2]
            self.differences.append(
                Difference(
                    "TFM118",
                    self.line,
                    f"{shown} of Keras also ages the averages of values that a batch "
                    "does not have; tf.train's left them alone",
                )
            )

    def hidden_units(self, name: str) -> tuple[tuple[str, ...], bool]:
        if not self.has(name):
            raise self.stop("no hidden units are given")
        value = self.tree.value(self.given[name])
        # A list with a name stays a list: the name is there to be changed.
        if (
            isinstance(value, (cst.List, cst.Tuple))
            and value is self.given[name]
            and all(isinstance(e, cst.Element) for e in value.elements)
        ):
            return tuple(self.tree.code(e.value) for e in value.elements), True
        return (self.text(name),), False

    def activation(self, name: str) -> str | None:
        node = self.given.get(name)
        if node is None:
            return f"{TF}.nn.relu"
        return None if is_none(self.tree.value(node)) else self.tree.code(node)

    def dropout(self, name: str) -> str | None:
        if not self.has(name):
            return None
        code = self.text(name)
        return f"{code} or 0.0" if may_be_none(self.tree, self.given[name]) else code

    def flag(self, name: str) -> bool:
        node = self.given.get(name)
        if node is None:
            return False
        value = self.tree.value(node)
        if isinstance(value, cst.Name) and value.value in ("True", "False"):
            return value.value == "True"
        raise self.stop(f"`{name}` is not seen")
