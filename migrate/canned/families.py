"""The canned Estimators of TensorFlow 1 that have a form of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..plan.program import TF

__all__ = ["FAMILIES", "PARTITIONERS", "REQUIRED", "Family", "Head", "Part"]

# The default of a parameter that has none.
REQUIRED: Final = ""
# Parameters that divide variables between servers.
PARTITIONERS: Final = ("partitioner", "input_layer_partitioner")


class Head:
    """Where loss, metrics and predictions come from."""

    CLASSES = "classes"
    VALUES = "values"
    # The program makes it.
    GIVEN = "given"


class Part:
    """What the logits are made of."""

    DEEP = "deep"
    LINEAR = "linear"
    COMBINED = "combined"


@dataclass(frozen=True)
class Family:
    """One class: what stands for it, and its parameters with their defaults."""

    function: str
    part: str
    head: str
    does: str
    parameters: dict[str, str]


_SUM = f"{TF}.losses.Reduction.SUM"
_NONE = "None"
_HEADS = {
    Head.CLASSES: {
        "n_classes": "2",
        "weight_column": _NONE,
        "label_vocabulary": _NONE,
    },
    Head.VALUES: {"label_dimension": "1", "weight_column": _NONE},
    Head.GIVEN: {},
}
_REDUCTION = {"loss_reduction": _SUM}
_RELU = f"{TF}.nn.relu"


def _linear(head: str) -> dict[str, str]:
    columns = {"feature_columns": REQUIRED, "model_dir": _NONE}
    if head == Head.GIVEN:
        return {
            "head": REQUIRED,
            **columns,
            "optimizer": '"Ftrl"',
            "config": _NONE,
            "partitioner": _NONE,
            "sparse_combiner": '"sum"',
            "warm_start_from": _NONE,
        }
    return {
        **columns,
        **_HEADS[head],
        "optimizer": '"Ftrl"',
        "config": _NONE,
        "partitioner": _NONE,
        "warm_start_from": _NONE,
        **_REDUCTION,
        "sparse_combiner": '"sum"',
    }


def _deep(head: str) -> dict[str, str]:
    given = head == Head.GIVEN
    return {
        **({"head": REQUIRED} if given else {}),
        "hidden_units": REQUIRED,
        "feature_columns": REQUIRED,
        "model_dir": _NONE,
        **_HEADS[head],
        "optimizer": '"Adagrad"',
        "activation_fn": _RELU,
        "dropout": _NONE,
        "input_layer_partitioner": _NONE,
        "config": _NONE,
        "warm_start_from": _NONE,
        **({} if given else _REDUCTION),
        "batch_norm": "False",
    }


def _combined(head: str) -> dict[str, str]:
    around = {
        "model_dir": _NONE,
        "linear_feature_columns": _NONE,
        "linear_optimizer": '"Ftrl"',
        "dnn_feature_columns": _NONE,
        "dnn_optimizer": '"Adagrad"',
        "dnn_hidden_units": _NONE,
        "dnn_activation_fn": _RELU,
        "dnn_dropout": _NONE,
        **_HEADS[head],
        "input_layer_partitioner": _NONE,
        "config": _NONE,
    }
    if head == Head.GIVEN:
        return {
            "head": REQUIRED,
            **around,
            "linear_sparse_combiner": '"sum"',
            "batch_norm": "False",
            "warm_start_from": _NONE,
        }
    return {
        **around,
        "warm_start_from": _NONE,
        **_REDUCTION,
        "batch_norm": "False",
        "linear_sparse_combiner": '"sum"',
    }


_PARTS = (
    (Part.LINEAR, "Linear", "linear", "a linear model", _linear),
    (Part.DEEP, "DNN", "dnn", "hidden layers", _deep),
    (
        Part.COMBINED,
        "DNNLinearCombined",
        "dnn_linear_combined",
        "hidden layers beside a linear model",
        _combined,
    ),
)
_ENDINGS = (
    (Head.CLASSES, "Classifier", "Classifies"),
    (Head.VALUES, "Regressor", "Estimates numbers"),
    (Head.GIVEN, "Estimator", "Learns what a head says"),
)

# By the canonical names of TensorFlow 1.15.
FAMILIES: dict[str, Family] = {
    f"{package}.{name}{ending}": Family(
        function=f"{function}_{ending.lower()}",
        part=part,
        head=head,
        does=f"{does} with {model} of feature columns",
        parameters=parameters(head),
    )
    for part, name, function, model, parameters in _PARTS
    for head, ending, does in _ENDINGS
    for package in ("tf.estimator", "tf.contrib.estimator")
    if package == "tf.estimator" or head == Head.GIVEN
}
