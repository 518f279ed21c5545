"""What ends training early, with one sentence that says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tfmigrate.runtime.config import RunConfig
from tfmigrate.runtime.estimator import Estimator
from tfmigrate.runtime.vocabulary import EstimatorSpec

v1 = tf.compat.v1


def input_fn() -> tf.data.Dataset:
    x = np.ones((8, 2), np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).repeat().batch(4)


def linear(name: str = "w") -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        weight = v1.get_variable(name, [2, 1], initializer=v1.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(features, weight) - labels))
        optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def test_devices_that_are_not_there_are_named(tmp_path: Path) -> None:
    # TF's default, which tests before this one in the same process may have changed.
    tf.config.set_soft_device_placement(True)
    strategy = tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])
    config = RunConfig(train_distribute=strategy)
    estimator = Estimator(linear(), tmp_path, config)
    with pytest.raises(ValueError, match=r"does not have: .*GPU:0.*GPU:1"):
        estimator.train(input_fn, steps=1)


def test_a_checkpoint_of_another_model_is_not_passed_over(tmp_path: Path) -> None:
    Estimator(linear("w"), tmp_path).train(input_fn, steps=2)
    with pytest.raises(ValueError, match="has no values for other"):
        Estimator(linear("other"), tmp_path).train(input_fn, steps=2)
    assert Estimator(linear("w"), tmp_path).get_variable_value("global_step") == 2


def test_the_directory_is_made_with_those_above_it(tmp_path: Path) -> None:
    config = RunConfig(save_summary_steps=None, log_step_count_steps=None)
    estimator = Estimator(linear(), tmp_path / "runs" / "first", config)
    estimator.train(input_fn, steps=1)
    assert (tmp_path / "runs" / "first" / "model.ckpt-1.index").is_file()


def test_steps_and_max_steps_are_counted_from_the_checkpoint(tmp_path: Path) -> None:
    estimator = Estimator(linear(), tmp_path)
    for steps, expected in (
        ({"steps": 2}, 2),
        ({"max_steps": 5}, 5),
        ({"max_steps": 5}, 5),
        ({"steps": 1}, 6),
    ):
        estimator.train(input_fn, **steps)  # type: ignore[arg-type]
        assert estimator.get_variable_value("global_step") == expected
    with pytest.raises(ValueError, match="both steps and max_steps"):
        estimator.train(input_fn, steps=1, max_steps=1)


def test_data_without_a_batch_is_said(tmp_path: Path) -> None:
    estimator = Estimator(linear(), tmp_path)
    estimator.train(input_fn, steps=1)
    with pytest.raises(ValueError, match="Evaluation made no steps"):
        estimator.evaluate(lambda: input_fn().take(0))


class Reads(v1.train.SessionRunHook):  # type: ignore[misc]
    """What hooks of TensorFlow read of the step, which is the one before."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def begin(self) -> None:
        (self.reading,) = v1.get_collection("global_step_read_op_cache")

    def before_run(self, context: Any) -> Any:
        return v1.train.SessionRunArgs(self.reading)

    def after_run(self, context: Any, values: Any) -> None:
        self.seen.append(int(values.results))


def test_hooks_read_the_step_before_it_is_counted(tmp_path: Path) -> None:
    """The update waits for them; nothing else would keep it from being first."""

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        step = v1.train.get_global_step()
        loss = tf.constant(0.0)
        return EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 1))

    reads = Reads()
    config = RunConfig(save_summary_steps=None, log_step_count_steps=None)
    Estimator(model_fn, tmp_path, config).train(input_fn, hooks=[reads], steps=400)
    assert reads.seen == list(range(400))


class Computes(v1.train.SessionRunHook):  # type: ignore[misc]
    """Something that a hook computes of a weight beside its update."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def begin(self) -> None:
        (weight,) = v1.trainable_variables()
        self.computed = tf.reshape(weight, [2])[0] * 2.0

    def before_run(self, context: Any) -> Any:
        return v1.train.SessionRunArgs({"half": [self.computed]})

    def after_run(self, context: Any, values: Any) -> None:
        self.seen.append(float(values.results["half"][0]))


def adds_up(features: Any, labels: Any, mode: str) -> EstimatorSpec:
    """A weight that grows by one in a step, beside summaries of it."""
    weight = v1.get_variable("weight", initializer=tf.zeros([1, 2]))
    v1.summary.scalar("seen", tf.reduce_max(weight))
    update = tf.group(
        v1.assign_add(weight, tf.ones([1, 2])),
        v1.assign_add(v1.train.get_global_step(), 1),
    )
    return EstimatorSpec(mode, loss=tf.constant(0.0), train_op=update)


def test_hooks_compute_of_weights_before_their_update(tmp_path: Path) -> None:
    """Here, too, only the update's waiting for them says which value they get."""
    computes = Computes()
    config = RunConfig(save_summary_steps=None, log_step_count_steps=None)
    Estimator(adds_up, tmp_path, config).train(input_fn, hooks=[computes], steps=400)
    assert computes.seen == [2.0 * step for step in range(400)]


def test_summaries_look_at_weights_before_their_update(tmp_path: Path) -> None:
    config = RunConfig(save_summary_steps=1, log_step_count_steps=None)
    Estimator(adds_up, tmp_path, config).train(input_fn, steps=200)
    (events,) = tmp_path.glob("events.*")
    seen = [
        value.simple_value
        for event in v1.train.summary_iterator(str(events))
        for value in event.summary.value
        if value.tag == "seen"
    ]
    assert seen == [float(step) for step in range(200)]
