"""Metrics: `tf.metrics` and the streaming ones of `tf.contrib.metrics`.

Each becomes a Keras metric with the same figure, and what every batch gives it. Keras'
own class is taken where it has the same figure for whatever it is given; otherwise it
is a mean of what is computed for each element.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .code import (
    Arguments,
    Code,
    Refused,
    call,
    dotted,
    grouped,
    is_absent,
    literal,
    matched,
    parsed,
)

Types = Mapping[str, "str | None"]

_LABELS = ("labels", "predictions", "weights")
_COLLECTIONS = ("metrics_collections", "updates_collections")
_LAST = (*_COLLECTIONS, "name")
_AT = ("labels", "predictions", "thresholds", "weights", *_LAST)
_COUNTS = ("true_positives", "true_negatives", "false_positives", "false_negatives")

_OF_TF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("accuracy", "mean_absolute_error", "mean_squared_error", "precision", "recall",
         "root_mean_squared_error", *_COUNTS),
        (*_LABELS, *_LAST),
    ),
    "auc": (
        *_LABELS, "num_thresholds", *_COLLECTIONS, "curve", "name", "summation_method",
        "thresholds",
    ),
    "mean": ("values", "weights", *_LAST),
    "mean_cosine_distance": ("labels", "predictions", "dim", "weights", *_LAST),
    "mean_iou": ("labels", "predictions", "num_classes", "weights", *_LAST),
    "mean_relative_error": ("labels", "predictions", "normalizer", "weights", *_LAST),
    "mean_tensor": ("values", "weights", *_LAST),
    "percentage_below": ("values", "threshold", "weights", *_LAST),
    "recall_at_k": ("labels", "predictions", "k", "class_id", "weights", *_LAST),
}  # fmt: skip
_OF_TF_ALONE = {
    **{f"{name}_at_thresholds": _AT for name in ("precision", "recall", *_COUNTS)},
    "mean_per_class_accuracy": _OF_TF["mean_iou"],
    "precision_at_k": _OF_TF["recall_at_k"],
}


def _streaming(first: str, second: str, *rest: str) -> tuple[str, ...]:
    """The parameters in tf.contrib.metrics: predictions before labels, and fewer."""
    both = (second, first) if first == "labels" else (first, second)
    gone = ("class_id", "summation_method", "thresholds")
    return (*both, *(name for name in rest if name not in gone))


# A matrix that metrics of one's own are computed of.
MATRIX = "tf.python.ops.metrics_impl._streaming_confusion_matrix"
# Parameters by position.
SIGNATURES: dict[str, tuple[str, ...]] = {
    **{f"tf.metrics.{name}": given for name, given in (_OF_TF | _OF_TF_ALONE).items()},
    **{
        f"tf.contrib.metrics.streaming_{name}": _streaming(*given)
        for name, given in _OF_TF.items()
        if name != "percentage_below"
    },
    "tf.contrib.metrics.streaming_percentage_less": _OF_TF["percentage_below"],
    "tf.contrib.metrics.f1_score": (*_LABELS, "num_thresholds", *_LAST),
    MATRIX: ("labels", "predictions", "num_classes", "weights"),
}

_KERAS = "tf_keras.metrics."
# Classes whose first parameter is their name.
_NAMED_FIRST = (
    "Accuracy", "CategoricalAccuracy", "Mean", "MeanSquaredError", "MeanTensor",
    "RootMeanSquaredError", "SparseCategoricalAccuracy",
)  # fmt: skip
_CASTS = ("tf.cast", "tf.to_double", "tf.to_float", "tf.to_int32", "tf.to_int64")
_TOP_K = ("predictions", "targets", "k", "name")
_ARGMAX = ("input", "axis", "name", "dimension", "output_type")
# Functions of tf whose values are true or false.
_COMPARING = (
    "equal", "greater", "greater_equal", "less", "less_equal", "logical_and",
    "logical_not", "logical_or", "not_equal",
)  # fmt: skip


@dataclass(frozen=True)
class Metric:
    """A metric of Keras, and what each batch adds to it."""

    constructor: Code
    # Positional arguments of update_state.
    update: tuple[str, ...]
    sample_weight: str | None = None
    # The logits that it is given in the place of the classes that they tell.
    logits: str | None = None

    def updated(self, name: str) -> str:
        """The line that adds a batch to the metric of a name."""
        inside = list(self.update)
        if self.sample_weight is not None:
            inside.append(f"sample_weight={self.sample_weight}")
        return f"{name}.update_state({', '.join(inside)})\n"


def metric(
    symbol: str, key: str, arguments: Arguments, *, types: Types | None = None
) -> Metric:
    """The metric of a key of eval_metric_ops; the key is source text, too."""
    if symbol not in SIGNATURES:
        raise Refused(f"`{symbol}` has no metric with the same figure in Keras")
    given = {
        name: text
        for name, text in arguments.items()
        if not is_absent(text) and name not in _LAST
    }
    call_of = _Call(symbol, key, given, types or {})
    short = symbol.rpartition(".")[2].removeprefix("streaming_")
    if short.removesuffix("_at_thresholds") in ("precision", "recall", *_COUNTS):
        return call_of.compared(short)
    made: Metric = getattr(call_of, short)()
    return made


@dataclass(frozen=True)
class _Call:
    """A call of one of the functions, each of which has a method of its name."""

    symbol: str
    key: str
    given: Arguments
    types: Types

    def of(self, name: str) -> str:
        """The text of an argument that has to be there."""
        if name not in self.given:
            raise Refused(f"`{self.symbol}` without `{name}`")
        return self.given[name]

    def made(self, name: str, *update: str, **options: str | None) -> Metric:
        """A metric of Keras."""
        if name in _NAMED_FIRST:
            constructor = call(_KERAS + name, self.key)
        else:
            constructor = call(_KERAS + name, **options, name=self.key)
        return Metric(Code(constructor), update, self.given.get("weights"))

    def own(self, name: str, *update: str, **options: str | None) -> Metric:
        """A metric that comes with training.py."""
        constructor = Code(call(name, **options, name=self.key), frozenset({name}))
        return Metric(constructor, update, self.given.get("weights"))

    def mean_of(self, values: str) -> Metric:
        """The mean of what is computed for each element."""
        return self.made("Mean", values)

    def pair(self) -> tuple[str, str]:
        """Labels and predictions of the same shape, as [B] and [B, 1] become one."""
        labels, predictions = self.of("labels"), self.of("predictions")
        return labels, call("tf.reshape", predictions, f"tf.shape({labels})")

    def kind(self, name: str) -> str | None:
        """The type of an argument, where it is told or its text says it."""
        said = kind_of(self.of(name))
        return said if said == "whole" else self.types.get(name) or said

    def accuracy(self) -> Metric:
        labels, predictions = self.of("labels"), self.of("predictions")
        of_labels, logits = _argmax(labels), _argmax(predictions)
        if logits:
            if of_labels is None:
                made = self.made("SparseCategoricalAccuracy", labels, logits[0])
            elif of_labels[1] == logits[1]:
                both = [of_labels[0], logits[0]]
                both.sort(key=lambda one: "label" not in one)
                made = self.made("CategoricalAccuracy", *both)
            else:
                return self.made("Accuracy", labels, predictions)
            return replace(made, logits=logits[0])
        # Predictions take the type of labels; Keras compares both as floats.
        kinds = self.kind("labels"), self.kind("predictions") or ""
        whole = kinds[1].startswith(("int", "uint", "whole")) and kinds[0] != "bool"
        plain = kinds[1] == "bool" or kinds == ("float32", "float32")
        if whole or plain or decisions(predictions):
            return self.made("Accuracy", labels, predictions)
        labels, predictions = self.pair()
        cast = call("tf.cast", predictions, f"{grouped(labels)}.dtype")
        return self.mean_of(call("tf.equal", cast, labels))

    def mean(self) -> Metric:
        values = self.of("values")
        top = _in_top_k(values)
        if top is None:
            return self.mean_of(values)
        option = None if literal(top["k"]) == 5 else top["k"]
        return self.top_k(top["targets"], top["predictions"], option)

    def top_k(self, labels: str, logits: str, k: str | None) -> Metric:
        made = self.made("SparseTopKCategoricalAccuracy", labels, logits, k=k)
        return replace(made, logits=logits)

    def recall_at_k(self) -> Metric:
        return self.top_k(self._label(), self.of("predictions"), self.of("k"))

    def precision_at_k(self) -> Metric:
        """With one label, one of the k first is right, or none."""
        label, predictions, k = self._label(), self.of("predictions"), self.of("k")
        found = call("tf.math.in_top_k", label, predictions, k)
        return self.mean_of(f"{call('tf.cast', found, 'tf.float32')} / {grouped(k)}")

    def _label(self) -> str:
        """The one label of each example."""
        labels = self.of("labels")
        if "class_id" in self.given:
            raise Refused(f"`{self.symbol}` of one class")
        alone = labels if "streaming" in self.symbol else _one_label(labels)
        if alone is None:
            raise Refused(f"`{self.symbol}` whose examples may have several labels")
        return alone

    def mean_tensor(self) -> Metric:
        return self.made("MeanTensor", self.of("values"))

    def percentage_below(self) -> Metric:
        return self.mean_of(f"{grouped(self.of('values'))} < {self.of('threshold')}")

    percentage_less = percentage_below

    def mean_absolute_error(self) -> Metric:
        labels, predictions = self.pair()
        return self.mean_of(f"tf.abs({grouped(predictions)} - {grouped(labels)})")

    def mean_squared_error(self) -> Metric:
        labels, predictions = self.pair()
        return self.mean_of(call("tf.math.squared_difference", predictions, labels))

    def root_mean_squared_error(self) -> Metric:
        return self.made(
            "RootMeanSquaredError", self.of("labels"), self.of("predictions")
        )

    def mean_relative_error(self) -> Metric:
        labels, predictions = self.pair()
        error = f"tf.abs({grouped(labels)} - {grouped(predictions)})"
        return self.mean_of(call("tf.math.divide_no_nan", error, self.of("normalizer")))

    def mean_cosine_distance(self) -> Metric:
        product = f"{grouped(self.of('predictions'))} * {grouped(self.of('labels'))}"
        total = call("tf.reduce_sum", product, axis=self.of("dim"), keepdims="True")
        return self.mean_of(f"1 - {total}")

    def mean_iou(self) -> Metric:
        pair = self.of("labels"), self.of("predictions")
        return self.made("MeanIoU", *pair, num_classes=self.of("num_classes"))

    def mean_per_class_accuracy(self) -> Metric:
        pair = self.of("labels"), self.of("predictions")
        return self.own(
            "MeanPerClassAccuracy", *pair, num_classes=self.of("num_classes")
        )

    def _streaming_confusion_matrix(self) -> Metric:
        pair = self.of("labels"), self.of("predictions")
        return self.own("ConfusionMatrix", *pair, num_classes=self.of("num_classes"))

    def auc(self) -> Metric:
        pair = self.of("labels"), self.of("predictions")
        thresholds = self.given.get("num_thresholds", "200")
        options = {
            "num_thresholds": None if literal(thresholds) == 200 else thresholds,
            "thresholds": self.given.get("thresholds"),
        }
        curve = literal(self.given.get("curve", "'ROC'"))
        method = literal(self.given.get("summation_method", "'trapezoidal'"))
        if curve == "PR" and method == "trapezoidal":
            return self.own("TrapezoidalAUC", *pair, **options)
        if curve == "PR" and method == "careful_interpolation":
            return self.made("AUC", *pair, **options, curve='"PR"')
        if curve != "ROC" or method not in ("trapezoidal", "minoring", "majoring"):
            raise Refused(f"`{self.symbol}` whose curve or summation is not known")
        summed = None if method == "trapezoidal" else f'"{method}"'
        return self.made("AUC", *pair, **options, summation_method=summed)

    def f1_score(self) -> Metric:
        pair = self.of("labels"), self.of("predictions")
        return self.own(
            "BestF1", *pair, num_thresholds=self.given.get("num_thresholds")
        )

    def compared(self, short: str) -> Metric:
        """Counts of pairs that agree or do not, and shares of such counts."""
        name = "".join(
            word.capitalize()
            for word in short.removesuffix("_at_thresholds").split("_")
        )
        labels, predictions = self.of("labels"), self.of("predictions")
        if short.endswith("_at_thresholds"):
            thresholds = self.of("thresholds")
            several = literal(thresholds)
            if isinstance(several, list | tuple) and len(several) == 1:
                why = "at one threshold: Keras gives a number for its array; name two"
                raise Refused(f"`{self.symbol}` {why}")
            return self.made(name, labels, predictions, thresholds=thresholds)
        # Whatever is not zero is positive; Keras asks for more than one half.
        if self.kind("predictions") != "bool":
            predictions = decisions(predictions) or call(
                "tf.cast", predictions, "tf.bool"
            )
        return self.made(name, labels, predictions)


def kind_of(text: str) -> str | None:
    """The type of an expression whose text says it; "whole" for rounded floats."""
    node = parsed(text)
    if isinstance(node, ast.Compare):
        return "bool"
    if not isinstance(node, ast.Call):
        return None
    name = dotted(node.func).removeprefix("tf.").removeprefix("math.")
    if name == "cast":
        kinds = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "dtype")]
        return dotted(kinds[0]).removeprefix("tf.") or None if kinds else None
    known = {
        "argmax": "int64",
        "round": "whole",
        "to_float": "float32",
        "to_int32": "int32",
        "to_int64": "int64",
    }
    return "bool" if name in _COMPARING else known.get(name)


def decisions(text: str) -> str | None:
    """What is true or false in ``tf.cast(scores > 0.5, tf.int64)``."""
    node = parsed(text)
    if not isinstance(node, ast.Call) or dotted(node.func) not in _CASTS:
        return None
    inner = ast.unparse(node.args[0]) if node.args else "0"
    return inner if kind_of(inner) == "bool" else None


def _argmax(text: str) -> tuple[str, int] | None:
    """What an argmax over axis 1 or the last one is of, and the axis."""
    node = parsed(text)
    while isinstance(node, ast.Call) and dotted(node.func) in (
        "tf.cast", "tf.to_int32", "tf.to_int64",
    ):  # fmt: skip
        kind = kind_of(ast.unparse(node))
        if not node.args or kind not in ("int32", "int64"):
            return None
        node = node.args[0]
    names = ("tf.argmax", "tf.arg_max", "tf.math.argmax")
    if not isinstance(node, ast.Call) or dotted(node.func) not in names:
        return None
    given = matched(node, _ARGMAX)
    axis = literal(given.get("axis", given.get("dimension")))
    if axis not in (1, -1) or "input" not in given:
        return None
    return given["input"], axis


def _one_label(code: str) -> str | None:
    """``labels`` of ``tf.cast(tf.expand_dims(labels, 1), tf.int64)``"""
    node = parsed(code)
    if isinstance(node, ast.Subscript):  # labels[:, None]
        place = ast.unparse(node.slice).strip("()")
        none = place in (":, None", ":, tf.newaxis", "..., None", "..., tf.newaxis")
        return ast.unparse(node.value) if none else None
    while isinstance(node, ast.Call) and node.args:
        function = dotted(node.func)
        said = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "axis")]
        if function == "tf.expand_dims":
            only = len(said) == 1 and literal(ast.unparse(said[0])) in (1, -1)
            return ast.unparse(node.args[0]) if only else None
        if function not in ("tf.cast", "tf.to_int64", "tf.to_int32"):
            break
        node = node.args[0]
        if isinstance(node, ast.Subscript):
            return _one_label(ast.unparse(node))
    return None


def _in_top_k(text: str) -> dict[str, str] | None:
    """The arguments of in_top_k, whose mean is a metric of its own."""
    node = parsed(text)
    if isinstance(node, ast.Call) and node.args:
        floats = kind_of(text) == "float32"
        if dotted(node.func) in ("tf.cast", "tf.to_float") and floats:
            node = node.args[0]
    if not isinstance(node, ast.Call):
        return None
    if dotted(node.func) not in ("tf.nn.in_top_k", "tf.math.in_top_k"):
        return None
    given = matched(node, _TOP_K)
    return given if given.keys() >= {"predictions", "targets", "k"} else None
