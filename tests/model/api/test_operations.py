"""Functions of tensors, and what stands around a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..evaluating import body, made, reasons

AVERAGES = "from tensorflow.python.training import moving_averages\n"


@pytest.mark.parametrize(
    "code", ["tf.new_thing(features)", "tf.contrib.other.function(features)"]
)
def test_what_is_not_known_may_make_variables(code: str, tmp_path: Path) -> None:
    (why,) = reasons(body(tmp_path, code))
    assert "may make variables" in why


@pytest.mark.parametrize("more", ["", ", zero_debias=True", ", zero_debias=mode"])
def test_an_average_that_corrects_its_start(more: str, tmp_path: Path) -> None:
    code = f"op = moving_averages.assign_moving_average(features, labels, 0.9{more})"
    (why,) = reasons(body(tmp_path, AVERAGES + code))
    assert "to correct its start" in why


def test_layers_in_a_function_that_tensorflow_calls(tmp_path: Path) -> None:
    code = "tf.cond(labels, lambda: tf.get_variable('v', []))"
    (why,) = reasons(body(tmp_path, code))
    assert "that `tf.cond` calls" in why


@pytest.mark.parametrize(
    "code",
    [
        "net = tf.reduce_mean(tf.nn.relu(features))",
        "tf.summary.scalar('x', features)",
        "tf.logging.info('%s', features)",
        "shape = tf.TensorShape([2])",
        "loss = features / tf.distribute.get_strategy().num_replicas_in_sync",
        "train_op = tf.train.AdamOptimizer(0.1).minimize(features)",
        "spec = tf.estimator.EstimatorSpec(mode, loss=features)",
        "tf.assert_less_equal(tf.shape(features)[0], 3)",
        "x = tf.batch_gather(features, labels)",
        "x = tf.dtypes.cast(tf.io.decode_raw(features, tf.uint8), tf.float32)",
        "x = features if tf.executing_eagerly() else tf.manip.roll(features, 1, 0)",
        "op = tf.contrib.slim.learning.create_train_op(features, labels)",
        "loss = tf.contrib.slim.losses.softmax_cross_entropy(features, labels)",
        "opt = getattr(tf.train, params['name'] + 'Optimizer')(0.1)",
        "opt = tf.tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.1))",
        AVERAGES
        + "op = moving_averages.assign_moving_average(features, labels, 0.9, False)",
    ],
)
def test_what_makes_no_weights(code: str, tmp_path: Path) -> None:
    found = body(tmp_path, code)
    assert not made(found)
    assert not reasons(found)
