"""Losses of TensorFlow 1 as expressions of today."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.native.code import Code, Refused
from tfmigrate.rewrite.native.losses import SIGNATURES, loss
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

SPARSE = "tf.losses.sparse_softmax_cross_entropy"
ENTROPY = "tf.nn.sparse_softmax_cross_entropy_with_logits"
# Refused, for the ranks of their arguments are not known.
NEED_RANKS = {
    "contrib_softmax_weights",
    "sigmoid_weighted_mean",
    "sparse_weighted_batch",
    "sparse_weighted_mean",
    "sparse_weighted_sum",
}

PROGRAM = """\
import tensorflow as tf


def shifted(value):
    return tf.nn.softmax(value[:, :3])


def model_fn(features, labels, mode):
    net = tf.layers.dense(features['x'], 8)
    logits = tf.layers.dense(net, 3)
    {made}
    loss = {loss}
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(data)
"""


def given_data(symbol: str, given: dict[str, str]) -> Code:
    return loss(symbol, given, learned=False)


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
        given_data(symbol, given)


def test_classes_of_unknown_shape_are_for_keras() -> None:
    entropy = "tf_keras.losses.sparse_categorical_crossentropy"
    code = given_data(SPARSE, {"labels": "y", "logits": "net(x)"})
    assert code.text == f"tf.reduce_mean({entropy}(y, net(x), from_logits=True))"


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
    code = given_data("tf.losses.mean_squared_error", given)
    assert code.text == f"tf.reduce_mean(tf.math.squared_difference(z, {cast}))"


def test_a_sum_is_told() -> None:
    code = given_data(
        SPARSE, {"labels": "y", "logits": "z", "reduction": "tf.losses.Reduction.SUM"}
    )
    assert code.text.startswith("tf.reduce_sum(")
    assert "replicas" in code.notes[0]


def test_labels_that_are_trained_are_stopped() -> None:
    given = {"onehot_labels": "teacher", "logits": "z"}
    code = loss("tf.losses.softmax_cross_entropy", given, learned=True)
    assert "labels=tf.stop_gradient(teacher)" in code.text


@pytest.mark.parametrize(
    ("made", "labels", "stops"),
    [
        ("", "labels", False),
        ("hot = tf.one_hot(tf.reshape(labels, [-1]), 3)", "hot", False),
        ("hot = tf.cast(features['y'], tf.float32) * 0.9", "hot", False),
        ("soft = tf.nn.softmax(tf.layers.dense(net, 3))", "soft", True),
        ("soft = shifted(logits)", "soft", True),
    ],
)
@pytest.mark.parametrize(
    "called",
    [
        "tf.losses.softmax_cross_entropy({}, logits)",
        "tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels={}, logits=logits))",
    ],
)
def test_gradients_stop_at_labels_that_are_no_data(
    made: str, labels: str, stops: bool, called: str, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(made=made, loss=called.format(labels)), "utf-8")
    report = run_job([path], Job())
    assert [one.outcome for _, one in report.programs] == [ProgramOutcome.NATIVE]
    text = next(one.new for one in report.changed if one.path == path)
    assert text is not None
    assert (b"stop_gradient(" in text) is stops


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
    if name in NEED_RANKS:
        with pytest.raises(Refused):
            given_data(symbol, arguments)
        return
    code = given_data(symbol, arguments)
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
