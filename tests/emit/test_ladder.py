"""What programs without a native loop get: never worse than it was."""

from __future__ import annotations

import pytest
from tfmigrate.report.findings import Outcome, Tier

from .one_module import run

NOT_LEGACY = {
    "no tensorflow": "import numpy as np\n\nestimator = np.Estimator()\n",
    "another estimator": "from sklearn import estimator\n\nx = estimator.Estimator(1)\n",
    "on compat by name": (
        "import tfmigrate.compat.v1 as tf\n\ne = tf.estimator.Estimator(model_fn)\n"
    ),
    "only a mode": ("import tensorflow as tf\n\nTRAIN = tf.estimator.ModeKeys.TRAIN\n"),
}


@pytest.mark.parametrize("code", NOT_LEGACY.values(), ids=NOT_LEGACY.keys())
def test_nothing_happens(code: str) -> None:
    result = run(code)
    assert result.module.code == code
    assert result.findings == ()


CANNED = """\
import tensorflow as tf
from tensorflow.contrib import slim

# the classifier
classifier = tf.estimator.LinearClassifier(columns)
classifier.train(input_fn)
"""


def test_a_program_without_native_loop_keeps_its_estimator() -> None:
    result = run(CANNED)
    assert result.module.code == CANNED
    (finding,) = result.findings
    assert finding.tier is Tier.COMPAT
    assert finding.outcome is Outcome.LEFT
    assert "comes along as a class on the loop module" in (finding.reason or "")


KERAS = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile(tf.train.AdamOptimizer(0.1), "mse")
estimator = tf.keras.estimator.model_to_estimator(model)


def data():
    return tf.data.Dataset.from_tensors((x, y)).repeat(9)


estimator.train(data, steps=3)
"""


def test_a_small_keras_program_becomes_native() -> None:
    result = run(KERAS)
    compile(result.module.code, "program.py", "exec")
    assert [f.tier for f in result.findings] == [Tier.NATIVE]
    assert "epsilon=1e-8" in result.module.code
    assert "evaluate" not in result.module.code  # what it did not do, it does not do


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("return tf", "it = tf", "returns nothing"),
        ("(x, y)).repeat(9)", "x).make_one_shot_iterator()", "iterator"),
        (
            ", steps=3",
            ", hooks=[tf.train.FinalOpsHook(1)]",
            "FinalOpsHook",
        ),
        ("(model)", "(model, **more)", "`**`"),
        ('"mse")', '"mse", loss_weights=[2])', "loss_weights"),
        ("tf.train.AdamOptimizer(0.1)", "mine", "optimizer"),
        ("estimator.train", "other = estimator.train", "result of train"),
        ("estimator.train(data", "estimator.train(give(data)", "somewhere else"),
    ],
)
def test_what_is_not_understood_is_not_guessed(old: str, new: str, reason: str) -> None:
    result = run(KERAS.replace(old, new))
    assert [f.tier for f in result.findings] == [Tier.COMPAT]
    assert reason in (result.findings[0].reason or "")


RECURRENT = KERAS.replace("Dense(1, ", "LSTM(1, ")


@pytest.mark.parametrize(
    ("old", "new", "spelled"),
    [
        ("", "", 'input_shape=(3,), recurrent_activation="hard_sigmoid")'),
        ("LSTM", "GRU", 'recurrent_activation="hard_sigmoid", reset_after=False)'),
        ("LSTM(1, ", "LSTM(1, 'tanh', 'sigmoid', ", "'sigmoid', input_shape=(3,))"),
        # Written for TF 2, whose defaults are today's.
        ("tf.train.", "tf.compat.v1.train.", "LSTM(1, input_shape=(3,))"),
    ],
)
def test_recurrent_layers_keep_the_defaults_of_tf1(
    old: str, new: str, spelled: str
) -> None:
    result = run(RECURRENT.replace(old, new) if old else RECURRENT)
    assert result.findings[0].tier is Tier.NATIVE
    assert spelled in result.module.code


def test_recurrent_layers_with_star_arguments_are_not_guessed() -> None:
    result = run(RECURRENT.replace("LSTM(1, ", "LSTM(1, **more, "))
    assert "star arguments" in (result.findings[0].reason or "")


@pytest.mark.parametrize(
    "options",
    [{"strategy": "parameter_server"}, {"strategy": "tpu"}],
)
def test_a_choice_without_a_loop_is_refused_not_ignored(
    options: dict[str, object],
) -> None:
    result = run(KERAS, **options)
    assert result.module.code == KERAS
    assert result.findings[0].outcome is Outcome.LEFT


def test_loop_and_strategy_follow_the_options() -> None:
    assert (
        "loss, done = run_step(train_iterator)" in run(KERAS, loop="step").module.code
    )
    assert "steps = min(last_step - step)" not in run(KERAS, loop="graph").module.code
    chosen = run(KERAS, strategy="mirrored")
    assert "tf.distribute.MirroredStrategy()" in chosen.module.code
    assert "TFM133" in {f.rule for f in chosen.findings}
