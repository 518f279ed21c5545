"""A compiled Keras model on the loop module: T1 where its layers are today's."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.options import RewriteOptions
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.selection import Selection
from tfmigrate.report.model import FileResult
from tfmigrate.rewriting.pipeline import Job, process_source

PROGRAM = """\
import tensorflow as tf

hidden = tf.keras.layers.Dense(4, activation='relu', input_shape=(3,))
model = tf.keras.Sequential([hidden, tf.keras.layers.Dense(2)])
model.compile(tf.train.AdamOptimizer(), 'mse')
estimator = tf.keras.estimator.model_to_estimator(model)
estimator.train(lambda: tf.data.Dataset.from_tensors(([[1., 2., 3.]], [[1., 2.]])))
"""
TRAIN = "estimator.train("
SECOND = """\
def model_fn(features, labels, mode):
    {layer}
    loss = tf.losses.mean_squared_error(labels, net)
    op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)


other = tf.estimator.Estimator(model_fn)
estimator.train("""


def rewritten(text: str) -> str:
    return process(text).new.decode()  # type: ignore[union-attr]


def process(text: str) -> FileResult:
    job = Job(RewriteOptions(style="module"), Selection(select=(), ignore=()))
    return process_source(Path("program.py"), text.encode(), job, ProjectFacts())


def tier_and_message(text: str) -> tuple[str, str]:
    result = process(text)
    (tier,) = {one.tier.value for one in result.findings if one.tier is not None}
    return tier, " ".join(one.message for one in result.findings if one.tier)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        # A table of its data is none of the model.
        (
            TRAIN,
            "table = tf.contrib.lookup.index_table_from_tensor(['a', 'b'])\n" + TRAIN,
        ),
        (TRAIN, SECOND.format(layer="net = tf.layers.dense(features, 2)")),
        ("activation='relu'", "kernel_initializer=tf.keras.initializers.he_normal(1)"),
        ("tf.keras.layers.Dense(2)", "tf.keras.layers.BatchNormalization()"),
    ],
)
def test_the_model_of_a_program_is_its_own(old: str, new: str) -> None:
    text = PROGRAM.replace(old, new) if old else PROGRAM
    tier, message = tier_and_message(text)
    assert tier == "T1", message
    assert "kept" not in message


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        # All layers that share it would begin alike today.
        (
            "hidden = ",
            "start = tf.keras.initializers.he_normal()\nhidden = ",
            "`tf.keras.initializers.he_normal` stays as it was in TensorFlow 1 "
            "(program.py:3)",
        ),
        (
            "activation='relu'",
            "kernel_initializer=tf.keras.initializers.he_normal",
            "`tf.keras.initializers.he_normal` stays as it was in TensorFlow 1 "
            "(program.py:3)",
        ),
        (
            "activation='relu'",
            "kernel_initializer=tf.keras.initializers.RandomNormal(0., 1., 2, 'half')",
            "`tf.keras.initializers.RandomNormal` stays as it was in TensorFlow 1 "
            "(program.py:3)",
        ),
        (
            "tf.keras.layers.Dense(2)",
            "tf.keras.layers.LSTM(*[2])",
            "`tf.keras.layers.LSTM` stays as it was in TensorFlow 1 (program.py:4)",
        ),
        (
            "hidden = ",
            "kind = tf.keras.layers.LSTM\nhidden = ",
            "`tf.keras.layers.LSTM` stays as it was in TensorFlow 1 (program.py:3)",
        ),
        (
            "tf.keras.layers.Dense(2)",
            "tf.keras.layers.CuDNNLSTM(2)",
            "`tf.keras.layers.CuDNNLSTM` stays as it was in TensorFlow 1 "
            "(program.py:4)",
        ),
        (
            "tf.keras.layers.Dense(2)",
            "tf.keras.layers.BatchNormalization(fused=False)",
            "`tf.keras.layers.BatchNormalization` stays as it was in TensorFlow 1 "
            "(program.py:4)",
        ),
        (
            "tf.keras.layers.Dense(2)",
            "tf.layers.Dense(2)",
            "`tf.layers.Dense` makes layers of TensorFlow 1 (program.py:4)",
        ),
        (
            "activation='relu'",
            "kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1)",
            "`tf.contrib.layers.l2_regularizer` is copied from TensorFlow 1 "
            "(program.py:3)",
        ),
        (
            "model_to_estimator(model)",
            "model_to_estimator(keras_model_path='model.h5')",
            "the layers of a model in a file are not seen (program.py:6)",
        ),
        (
            TRAIN,
            SECOND.format(layer="net = (lambda x: tf.layers.dense(x, 2))(features)"),
            "layers in a lambda",
        ),
    ],
)
def test_what_is_left_of_tensorflow_1_is_named(old: str, new: str, why: str) -> None:
    tier, message = tier_and_message(PROGRAM.replace(old, new))
    assert tier == "T2", message
    assert why in message


@pytest.mark.parametrize(
    ("layer", "wanted"),
    [
        ("LSTM(2)", 'LSTM(2, recurrent_activation="hard_sigmoid")'),
        ("LSTM(2, 'tanh', 'sigmoid')", "LSTM(2, 'tanh', 'sigmoid')"),
        (
            "LSTM(\n    2,\n    dropout=0.5,\n)",
            'LSTM(\n    2,\n    dropout=0.5, recurrent_activation="hard_sigmoid", '
            "implementation=1,\n)",
        ),
        (
            "GRU(2, recurrent_activation='sigmoid')",
            "GRU(2, recurrent_activation='sigmoid', reset_after=False)",
        ),
        (
            "RNN([tf.keras.layers.GRUCell(units=2)])",
            'RNN([tf_keras.layers.GRUCell(units=2, recurrent_activation="hard_sigmoid"'
            ", reset_after=False)])",
        ),
    ],
)
def test_recurrent_layers_say_their_defaults_of_tensorflow_1(
    layer: str, wanted: str
) -> None:
    text = PROGRAM.replace("layers.Dense(2)", f"layers.{layer}")
    tier, message = tier_and_message(text)
    assert tier == "T1", message
    assert f"tf_keras.layers.{wanted}" in rewritten(text)
