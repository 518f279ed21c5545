"""What a seed means in a loop is in the report."""

from __future__ import annotations

import pytest
from tfmigrate.report.findings import Safety, Tier

from .one_module import run

PROGRAM = """\
import tensorflow as tf
import numpy as np


def model_fn(features, labels, mode):
    start = tf.glorot_uniform_initializer(INITIAL)
    y = tf.layers.dense(features, 1, kernel_initializer=start)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.AdamOptimizer(0.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(seed=1).rand(8, 2).astype('float32')
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).shuffle(8, seed=3).batch(4)


config = tf.estimator.RunConfig(CONFIG)
est = tf.estimator.Estimator(model_fn, config=config)
est.train(input_fn, steps=2)
"""


@pytest.mark.parametrize(
    ("initial", "config", "before", "where"),
    [
        ("", "", "", None),
        ("seed=None", "tf_random_seed=None", "", None),
        ("seed=4", "", "", "start ="),
        ("", "tf_random_seed=7", "", "config ="),
        ("", "", "tf.set_random_seed(5)", "tf.set_random_seed"),
    ],
)
def test_a_seed_is_said_to_draw_other_numbers(
    initial: str, config: str, before: str, where: str | None
) -> None:
    code = PROGRAM.replace("INITIAL", initial).replace("CONFIG", config)
    code = code.replace("import numpy as np\n", f"import numpy as np\n\n{before}\n", 1)
    result = run(code)
    assert {f.tier for f in result.findings} == {Tier.NATIVE}
    found = [f for f in result.findings if f.rule == "TFM146"]
    if where is None:
        assert found == []
        return
    (finding,) = found
    assert finding.line == code[: code.index(where)].count("\n") + 1
    assert finding.safety is Safety.CHANGES_NUMBERS
