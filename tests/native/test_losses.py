"""Losses of TensorFlow 1 as expressions of today."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tfmigrate.rewrite.native.code import Refused
from tfmigrate.rewrite.native.losses import SIGNATURES, loss

SPARSE = "tf.losses.sparse_softmax_cross_entropy"
ENTROPY = "tf.nn.sparse_softmax_cross_entropy_with_logits"
# Their ranks are not known.
REFUSED = {
    "contrib_softmax_weights",
    "sigmoid_weighted_mean",
    "sparse_weighted_batch",
    "sparse_weighted_mean",
    "sparse_weighted_sum",
}


@pytest.mark.parametrize(
    ("symbol", "given", "reason"),
    [
        ("tf.losses.mean_pairwise_squared_error", {}, "not known"),
        (SPARSE, {"labels": "labels"}, "without labels or logits"),
        (SPARSE, {"labels": "y", "logits": "z", "reduction": "how"}, "reduction is `how`"),
        (SPARSE, {"labels": "y", "logits": "z", "weights": "w", "reduction": "'weighted_mean'"}, "unknown rank"),
        ("tf.losses.log_loss", {"labels": "y", "predictions": "net(x)"}, "give its labels"),
        ("tf.losses.cosine_distance", {"labels": "y", "predictions": "z"}, "without an axis"),
        ("tf.losses.mean_squared_error", {"labels": "y"}, "without `predictions`"),
        ("tf.contrib.losses.mean_squared_error", {"labels": "y", "predictions": "z", "weights": "w"}, "have weights"),
        ("tf.nn.sigmoid_cross_entropy_with_logits", {"logits": "z"}, "without labels"),
    ],
)  # fmt: skip
def test_refusals(symbol: str, given: dict[str, str], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        loss(symbol, given)


def test_classes_may_have_a_dimension_of_their_own() -> None:
    entropy = "tf_keras.losses.sparse_categorical_crossentropy"
    code = loss(SPARSE, {"labels": "y", "logits": "net(x)"})
    assert code.text == f"tf.reduce_mean({entropy}(y, net(x), from_logits=True))"
    code = loss(SPARSE.replace("tf.", "tf.contrib."), {"labels": "y", "logits": "z"})
    assert (
        code.text == f"tf.reduce_mean({ENTROPY}(labels=tf.reshape(y, [-1]), logits=z))"
    )


@pytest.mark.parametrize(
    ("labels", "cast"),
    [
        ("y", "tf.cast(y, tf.float32)"),
        ("tf.cast(y, tf.float32)", "tf.cast(y, tf.float32)"),
        ("tf.cast(y, dtype='float32')", "tf.cast(y, dtype='float32')"),
        ("tf.one_hot(y, 3)", "tf.one_hot(y, 3)"),
        (
            "tf.one_hot(y, 3, dtype=kind)",
            "tf.cast(tf.one_hot(y, 3, dtype=kind), tf.float32)",
        ),
    ],
)
def test_labels_become_floats_once(labels: str, cast: str) -> None:
    given = {"labels": labels, "predictions": "z"}
    code = loss("tf.losses.mean_squared_error", given)
    assert code.text == f"tf.reduce_mean(tf.math.squared_difference(z, {cast}))"


def test_a_sum_is_told() -> None:
    code = loss(
        SPARSE, {"labels": "y", "logits": "z", "reduction": "tf.losses.Reduction.SUM"}
    )
    assert code.text.startswith("tf.reduce_sum(")
    assert "replicas" in code.notes[0]


def test_slim_has_those_of_contrib() -> None:
    given = {"logits": "z", "onehot_labels": "y"}
    name = "losses.softmax_cross_entropy"
    assert loss(f"tf.contrib.slim.{name}", given) == loss(f"tf.contrib.{name}", given)


def test_the_same_losses_and_gradients(
    case_of_losses: Any,
    cases: ModuleType,
    recorded: Any,
    array: Any,
    names: Any,
) -> None:
    name, (symbol, arguments) = case_of_losses
    assert arguments.keys() <= {*SIGNATURES[symbol]}
    tf = names["tf"]
    tensors = {key: tf.constant(value) for key, value in cases.batch().items()}
    names = {**names, **tensors}
    if name in REFUSED:
        with pytest.raises(Refused):
            loss(symbol, arguments)
        return
    code = loss(symbol, arguments)
    wanted = recorded("losses")[name]
    by = tensors[wanted["by"]]
    with tf.GradientTape() as tape:
        tape.watch(by)
        value = eval(code.text, names)
    gradient = tape.gradient(value, by)
    assert value.shape == array(wanted["loss"]).shape
    np.testing.assert_allclose(value, array(wanted["loss"]), rtol=5e-7)
    np.testing.assert_allclose(
        gradient, array(wanted["gradient"]), rtol=1e-5, atol=1e-7
    )
