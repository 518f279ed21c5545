"""Assembled modules, and the small model that recordings of TF 1.15.5 are of."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras
from tfmigrate.training import training_module

ORACLE = Path(__file__).parents[3] / "fixtures" / "oracle"


@cache
def training(*words: str) -> Any:
    """Imports the training.py that a program with these words gets."""
    path = Path(tempfile.mkdtemp()) / "training.py"
    path.write_text(training_module(words))
    spec = importlib.util.spec_from_file_location("training", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recorded(folder: str, name: str) -> Any:
    """What TF 1.15.5 did in a scenario of fixtures/oracle."""
    text = (ORACLE / folder / "tf1.15" / f"{name}.json").read_text()
    return json.loads(text)["observed"]


def linear(module: Any, **methods: Any) -> Any:
    """The task of `make_model_fn` of fixtures/oracle/lifecycle/scenarios.py."""

    class Linear(module.Task):
        def __init__(self, rate=0.05, momentum=0.5):
            kernel = tf.constant_initializer([[0.5], [-0.25]])
            self.model = tf_keras.Sequential(
                [tf_keras.layers.Dense(1, kernel_initializer=kernel)]
            )
            self.optimizer = tf_keras.optimizers.SGD(rate, momentum)
            self.metrics = [tf_keras.metrics.Mean("mean_output")]

        def forward(self, features, training):
            return self.model(features["x"], training=training)

        def loss(self, features, labels, outputs):
            return tf.reduce_mean(tf.square(outputs - labels))

        def update_metrics(self, features, labels, outputs):
            self.metrics[0].update_state(outputs)

        def predictions(self, features, outputs):
            return {"output": outputs, "twice": outputs * 2.0}

    return type("Linear", (Linear,), methods)


def rows(count: int = 4, repeat: int | None = None, batch: int = 2) -> Any:
    """An input function with the data of the recordings."""

    def input_fn() -> tf.data.Dataset:
        x = np.arange(count * 2, dtype=np.float32).reshape(count, 2) / 10.0
        y = x.sum(axis=1, keepdims=True) + 1.0
        data = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
        return data.repeat(repeat).batch(batch)

    return input_fn


def mirrored() -> tf.distribute.Strategy:
    """Two replicas, on two CPUs."""
    return tf.distribute.MirroredStrategy(
        ["/cpu:0", "/cpu:1"],
        cross_device_ops=tf.distribute.HierarchicalCopyAllReduce(),
    )


class Journal:
    """Notes what happened, in order; makes callbacks and exporters that do so."""

    def __init__(self) -> None:
        self.entries: list[list[Any]] = []

    def callback(self, module: Any, name: str) -> Any:
        """A callback that notes its calls as recorded hooks did."""
        entries = self.entries

        class Noting(module.Callback):
            def begin(self):
                entries.extend([[name, "begin"], [name, "after_create_session"]])

            def before_step(self, step):
                entries.append([name, "before_run"])

            def after_step(self, step, values):
                entries.append([name, "after_run"])

            def end(self):
                entries.append([name, "end"])

        return Noting()

    def exporter(self) -> Any:
        """An exporter of a program's own."""
        return Observer(self.entries)


class Observer:
    """Notes with what it is called."""

    name = "observer"

    def __init__(self, entries: list[list[Any]]) -> None:
        self.entries = entries

    def export(self, trainer, export_path, checkpoint_path, eval_result, final):
        checkpoint = Path(checkpoint_path).name
        place = str(Path(export_path).relative_to(trainer.model_dir))
        self.entries.append(["export", checkpoint, sorted(eval_result), place, final])
        return f"exported-{checkpoint}"


def by_turns(
    module: Any, trainer: Any, max_steps: int | None, count: int = 4, **given: Any
) -> Any:
    """train_and_evaluate on the rows of the recordings, at each checkpoint."""
    data = rows(count, given.pop("repeat", None))
    # Only a module with callbacks takes them.
    hooks = [given.pop("hooks")] if "hooks" in given else []
    train_spec = module.TrainSpec(data, max_steps, *hooks)
    settings = {"steps": None, "throttle_secs": 0, **given}
    eval_spec = module.EvalSpec(rows(repeat=1), **settings)
    return module.train_and_evaluate(trainer, train_spec, eval_spec)


def same_weights(one: Any, other: Any) -> None:
    """Asserts that two trainers ended with the very same weights."""
    models = one.task.model, other.task.model
    for ours, theirs in zip(*(model.get_weights() for model in models), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def same_linear_weights(trainer: Any, recording: Any) -> None:
    """Asserts that the small model ended with the weights that were recorded."""
    names = ("linear/kernel", "linear/bias")
    for name, value in zip(names, trainer.task.model.get_weights(), strict=True):
        np.testing.assert_allclose(np.ravel(value), recording[name], 1e-4)


def same_values(answers: Any, recording: Any, tolerance: float = 1e-5) -> None:
    """Asserts that tensors by name are as they were recorded, flat."""
    for name, value in recording.items():
        np.testing.assert_allclose(np.ravel(answers[name]), value, tolerance)


def same_result(result: Any, recording: Any) -> None:
    """Asserts that train_and_evaluate returned what was recorded."""
    figures, exports = result
    assert exports == recording[1]
    if recording[0] is None:
        assert figures is None
        return
    assert sorted(figures) == sorted(recording[0])
    for name, (_, value) in recording[0].items():
        assert np.isclose(figures[name], value, rtol=1e-4), (name, figures, value)


def checkpoints(folder: str) -> list[str]:
    """The names of the checkpoints that a folder keeps."""
    state = tf.train.get_checkpoint_state(folder)
    return [Path(path).name for path in state.all_model_checkpoint_paths]
