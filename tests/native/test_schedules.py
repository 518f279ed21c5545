"""Learning rates that change with the step."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tfmigrate.rewrite.native.code import Refused
from tfmigrate.rewrite.native.schedules import SIGNATURES, schedule


@pytest.mark.parametrize(
    ("symbol", "given", "reason"),
    [
        ("tf.train.linear_cosine_decay", {}, "no schedule in Keras"),
        ("tf.train.noisy_linear_cosine_decay", {}, "no schedule in Keras"),
        (
            "tf.train.exponential_decay",
            {"learning_rate": "1", "decay_steps": "2"},
            "decay_rate",
        ),
        ("tf.train.piecewise_constant", {"boundaries": "[1]"}, "values"),
    ],
)
def test_refusals(symbol: str, given: dict[str, str], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        schedule(symbol, given)


@pytest.mark.parametrize(
    ("symbol", "given", "text"),
    [
        (
            "tf.train.exponential_decay",
            {"decay_rate": "0.9", "learning_rate": "FLAGS.rate", "decay_steps": "n", "staircase": "False", "name": "'rate'"},
            "tf_keras.optimizers.schedules.ExponentialDecay(FLAGS.rate, n, 0.9)",
        ),
        (
            "tf.train.natural_exp_decay",
            {"learning_rate": "0.1", "decay_steps": "7", "decay_rate": "a + b"},
            "tf_keras.optimizers.schedules.ExponentialDecay(0.1, 7, tf.exp(-(a + b)))",
        ),
        (
            "tf.train.polynomial_decay",
            {"learning_rate": "0.1", "decay_steps": "7", "end_learning_rate": "0.0", "power": "1"},
            "tf_keras.optimizers.schedules.PolynomialDecay(0.1, 7, end_learning_rate=0.0)",
        ),
        (
            "tf.keras.optimizers.schedules.PiecewiseConstantDecay",
            {"boundaries": "[5]", "values": "[1., .5]"},
            "tf_keras.optimizers.schedules.PiecewiseConstantDecay([5], [1., .5])",
        ),
    ],
)  # fmt: skip
def test_texts(symbol: str, given: dict[str, str], text: str) -> None:
    assert schedule(symbol, given).text == text


def test_the_same_rates(
    case_of_schedules: Any, cases: ModuleType, recorded: Any, array: Any, names: Any
) -> None:
    name, (symbol, arguments) = case_of_schedules
    assert arguments.keys() <= {*SIGNATURES[symbol]}
    made = eval(schedule(symbol, arguments).text, names)
    steps = names["tf"].range(cases.SCHEDULE_STEPS, dtype="int64")
    rates = np.array([made(step) for step in steps])
    np.testing.assert_allclose(
        rates, array(recorded("schedules")[name]), rtol=3e-7, atol=3e-8
    )
