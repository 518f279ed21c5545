"""Optimizers of TensorFlow 1 as those of today."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tfmigrate.rewrite.native.code import Refused
from tfmigrate.rewrite.native.optimizers import SIGNATURES, optimizer

DECAYED = "tf_keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.5)"


def text_of(
    symbol: str, *, rows: bool = False, schedule: bool = False, **given: str
) -> str:
    return optimizer(symbol, given, schedule=schedule, rows=rows).text


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("symbol", "given", "reason"),
    [
        (
            "tf.train.AdagradDAOptimizer",
            {"learning_rate": "1"},
            "no optimizer with the same",
        ),
        (
            "tf.contrib.opt.LARSOptimizer",
            {"learning_rate": "1"},
            "no optimizer with the same",
        ),
        ("tf.keras.optimizers.Nadam", {}, "no optimizer with the same"),
        ("tf.train.MomentumOptimizer", {"learning_rate": "1"}, "without a momentum"),
        ("tf.train.GradientDescentOptimizer", {}, "without a learning rate"),
        (
            "tf.contrib.opt.AdamWOptimizer",
            {"learning_rate": "1"},
            "without a weight decay",
        ),
        (
            "tf.estimator.get_optimizer_instance",
            {"optimizer": "'Momentum'", "learning_rate": "1"},
            "with the optimizer 'Momentum'",
        ),
        ("tf.keras.optimizers.Adam", {"clipnorm": "1.", "clipvalue": "1."}, "both"),
        (
            "tf.keras.optimizers.Adagrad",
            {"initial_accumulator_value": "0.0"},
            "epsilon counts",
        ),
    ],
)
def test_what_has_no_twin_is_refused(
    symbol: str, given: dict[str, str], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        optimizer(symbol, given, schedule=False, rows=False)


@pytest.mark.parametrize(
    ("symbol", "given"),
    [
        ("tf.contrib.opt.AdaMaxOptimizer", {}),
        ("tf.keras.optimizers.Adamax", {}),
        ("tf.keras.optimizers.RMSprop", {"momentum": "m"}),
        ("tf.keras.optimizers.SGD", {"momentum": "0.9", "decay": "0.1"}),
    ],
)
def test_some_are_refused_on_embeddings_alone(
    symbol: str, given: dict[str, str]
) -> None:
    assert optimizer(symbol, given, schedule=False, rows=False).text
    with pytest.raises(Refused, match="embeddings"):
        optimizer(symbol, given, schedule=False, rows=True)


def test_a_decay_of_weights_is_not_scaled_by_a_schedule() -> None:
    made = text_of("tf.contrib.opt.AdamWOptimizer", weight_decay="0.1", schedule=True)
    assert made == "DecayedAdam(weight_decay=0.1, epsilon=1e-8)"


# --------------------------------------------------------------------- texts


@pytest.mark.parametrize(
    ("symbol", "given", "text"),
    [
        (
            "tf.train.AdamOptimizer",
            {"learning_rate": "params['rate']", "beta1": "0.9", "name": "'adam'"},
            "tf_keras.optimizers.Adam(params['rate'], epsilon=1e-8)",
        ),
        (
            "tf.train.AdamOptimizer",
            {"epsilon": "FLAGS.epsilon", "beta2": "0.99", "use_locking": "True"},
            "tf_keras.optimizers.Adam(epsilon=FLAGS.epsilon, beta_2=0.99)",
        ),
        (
            "tf.train.MomentumOptimizer",
            {"learning_rate": "rate", "momentum": "0.9", "use_nesterov": "flag"},
            "tf_keras.optimizers.SGD(rate, momentum=0.9, nesterov=flag)",
        ),
        (
            "tf.contrib.opt.AdamWOptimizer",
            {"weight_decay": "1e-4 * 2", "learning_rate": "rate"},
            "tf_keras.optimizers.AdamW(rate, epsilon=1e-8, weight_decay=(1e-4 * 2) / rate)",
        ),
        (
            "tf.contrib.layers.optimize_loss",
            {"learning_rate": "0.1", "optimizer": '"Adagrad"'},
            "tf_keras.optimizers.Adagrad(0.1, epsilon=0.0)",
        ),
        (
            "tf.keras.optimizers.SGD",
            {"decay": "1e-6", "lr": "0.01", "nesterov": "True", "momentum": "0.9"},
            "tf_keras.optimizers.SGD(tf_keras.optimizers.schedules.InverseTimeDecay("
            "0.01, 1, 1e-6), nesterov=True, momentum=0.9)",
        ),
    ],
)
def test_defaults_are_not_written(
    symbol: str, given: dict[str, str], text: str
) -> None:
    assert text_of(symbol, **given) == text


def test_momentum_with_a_schedule_or_rows_comes_with_training() -> None:
    given = {"learning_rate": "rate", "momentum": "0.9"}
    for schedule, rows in ((True, False), (False, True)):
        code = optimizer(
            "tf.train.MomentumOptimizer", given, schedule=schedule, rows=rows
        )
        assert code.text == "Momentum(rate, momentum=0.9)"
        assert code.training == {"Momentum"}


def test_clipping_by_keras_is_told() -> None:
    given = {"clipnorm": "1.0", "learning_rate": "0.1"}
    code = optimizer("tf.keras.optimizers.Adam", given, schedule=False, rows=False)
    assert code.text == "tf_keras.optimizers.Adam(0.1, clipnorm=1.0)"
    assert "replicas" in code.notes[0]


def test_cases_use_every_optimizer(cases: ModuleType) -> None:
    used = {symbol for symbol, _ in cases.OPTIMIZERS.values()}
    named = {"tf.contrib.layers.optimize_loss", "tf.estimator.get_optimizer_instance"}
    assert used - named == set(SIGNATURES) - named
    for symbol, arguments in cases.OPTIMIZERS.values():
        assert arguments.keys() <= {
            *SIGNATURES.get(symbol, ()),
            "learning_rate",
            "optimizer",
        }


# ------------------------------------------------------------------- numbers


@pytest.mark.parametrize("kind", ["dense", "rows"])
def test_the_same_steps(
    case_of_optimizers: Any,
    kind: str,
    cases: ModuleType,
    recorded: Any,
    array: Any,
    names: Any,
) -> None:
    name, (symbol, arguments) = case_of_optimizers
    tf = names["tf"]
    schedule = arguments.get("learning_rate") == cases.DECAY
    given = {**arguments, "learning_rate": DECAYED} if schedule else arguments
    first, dense, rows = cases.gradients()
    try:
        code = optimizer(symbol, given, schedule=schedule, rows=kind == "rows")
    except Refused:
        assert kind == "rows"
        pytest.skip("refused, as other tests want it")
    made = eval(code.text, names)
    variable = tf.Variable(first)
    made.build([variable])
    seen = []
    for step in range(cases.STEPS):
        gradient = tf.constant(dense[step])
        if kind == "rows":
            values = tf.gather(gradient, rows[step])
            gradient = tf.IndexedSlices(values, rows[step], tf.constant(first.shape))
        made.apply_gradients([(gradient, variable)])
        seen.append(variable.numpy())
    wanted = [array(values) for values in recorded("optimizers")[f"{name}/{kind}"]]
    way = np.abs(wanted[1] - first).max()
    # Keras computes 1 - beta in float64, TensorFlow 1 did in float32.
    loose = ("adam", "adadelta", "amsgrad")
    tolerance = 3e-5 if any(word in name for word in loose) else 1e-6
    assert np.abs(seen[0] - wanted[0]).max() <= tolerance * way
    assert np.abs(seen[-1] - wanted[1]).max() <= tolerance * way


def test_two_replicas_step_as_one(names: Any, cases: ModuleType) -> None:
    tf = names["tf"]
    devices = tf.config.list_logical_devices("CPU")
    if len(devices) < 2:
        pytest.skip("TensorFlow was started with one device")
    first, dense, rows = cases.gradients()
    strategy = tf.distribute.MirroredStrategy(
        [device.name for device in devices[:2]],
        cross_device_ops=tf.distribute.ReductionToOneDevice(),
    )
    for text in ("Momentum(0.1, 0.9)", "RMSProp(0.1, momentum=0.5)", "Ftrl(0.1)"):

        def trained(text: str = text) -> tuple[Any, Any]:
            variable, made = tf.Variable(first), eval(text, names)
            made.build([variable])
            return variable, made

        alone, optimizer_alone = trained()
        with strategy.scope():
            mirrored, optimizer_of_both = trained()

        def step(made: Any, variable: Any, values: Any, indices: Any) -> None:
            gradient = tf.IndexedSlices(tf.gather(values, indices), indices, [6, 2])
            made.apply_gradients([(gradient, variable)])

        for values, indices in zip(dense[:4], rows, strict=False):
            step(optimizer_alone, alone, 2 * values, indices)
            strategy.run(step, (optimizer_of_both, mirrored, values, indices))
        np.testing.assert_allclose(
            mirrored.numpy(), alone.numpy(), rtol=1e-5, atol=1e-6
        )
