"""Tasks, and the loops that train and evaluate them."""

from __future__ import annotations

import dataclasses
import math
import tempfile
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tf_keras

logger = tf.get_logger()
logger.propagate = False  # saving gives the root logger a handler as well
NEVER = tf.int64.max
OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"  # in every checkpoint of TensorFlow 2
OLD = "%s is a checkpoint of TensorFlow 1: `tfmigrate checkpoint convert` it first."


@dataclasses.dataclass(frozen=True)
class RunConfig:
    """Where and how often a trainer writes."""

    model_dir: str | None = None
    save_checkpoints_steps: int | None = None
    save_checkpoints_secs: int = 600  # where no steps are given
    keep_checkpoint_max: int = 5
    log_step_count_steps: int = 100


class Task:
    """What is trained: a subclass makes `model`, `optimizer` and `metrics`."""

    model: Any
    optimizer: Any
    metrics: Any = ()

    def forward(self, features: Any, training: bool) -> Any:
        """Returns the outputs of the model for a batch."""
        return self.model(features, training=training)

    def loss(self, features: Any, labels: Any, outputs: Any) -> Any:
        """Returns the loss of a batch, a scalar."""
        raise NotImplementedError

    def update_metrics(self, features: Any, labels: Any, outputs: Any) -> None:
        """Adds a batch to the metrics."""
        for metric in self.metrics:
            metric.update_state(labels, outputs)

    def build(self) -> None:
        """Makes the optimizer's variables, when those of the model are there."""
        self.optimizer.build(self.model.trainable_variables)

    def gradients_of(self, loss: Any, tape: Any) -> Any:
        """Returns the gradients of the trainable variables."""
        return tape.gradient(loss, self.model.trainable_variables)

    def apply_gradients(self, gradients: Any) -> None:
        """Updates the model by the gradients of its trainable variables."""
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

    def train_step(self, features: Any, labels: Any) -> dict[str, Any]:
        """Trains on a batch; returns what there is to see of it."""
        with tf.GradientTape() as tape:
            outputs = self.forward(features, training=True)
            loss = self.loss(features, labels, outputs)
        gradients = self.gradients_of(loss, tape)
        self.apply_gradients(gradients)
        return {"loss": loss}


class Trainer:
    """Trains a task, keeps its checkpoints and evaluates them."""

    def __init__(
        self,
        make_task: Any,
        model_dir: str | None = None,
        config: RunConfig | None = None,
        params: Any = None,
    ) -> None:
        self.config = config or RunConfig()
        self.model_dir = model_dir or self.config.model_dir or tempfile.mkdtemp()
        self.params = params
        given = () if params is None else (params,)
        self.task = make_task(*given) if callable(make_task) else make_task
        self.mean_loss = tf_keras.metrics.Mean("loss")
        kept = {"model": self.task.model, "optimizer": self.task.optimizer}
        self.checkpoint = tf.train.Checkpoint(**kept)

    @property
    def global_step(self) -> int:
        """The number of steps that the model has been trained for."""
        return int(self.task.optimizer.iterations.numpy())

    def latest_checkpoint(self) -> Any:
        """Returns the path of the newest checkpoint, or None."""
        return tf.train.latest_checkpoint(self.model_dir)

    def train(
        self,
        input_fn: Callable[..., Any],
        *,
        steps: int | None = None,
        max_steps: int | None = None,
    ) -> Trainer:
        """Trains from the latest checkpoint on, until data or steps are over."""
        dataset = self._dataset(input_fn, "train")
        self._prepare(split(dataset.element_spec)[0])
        step = saved = self.global_step
        last = int(max_steps or NEVER) if steps is None else step + int(steps)
        if step >= last:
            return self
        iterator = self._iterator(dataset, whole=True)
        log_steps = self.config.log_step_count_steps or NEVER
        save_steps = self.config.save_checkpoints_steps or NEVER
        save_secs = NEVER if save_steps < NEVER else self.config.save_checkpoints_secs
        save_at = time.time() + save_secs
        self._start(step)
        while step < last:
            # As many steps in one call as nobody wants to look at.
            until = min(last, step - step % log_steps + log_steps, saved + save_steps)
            limits = tf.constant(until, tf.int64), tf.constant(save_at, tf.float64)
            loss = self._train(iterator, *limits)
            step = self.global_step
            if step < until and time.time() < save_at:
                break  # the end of the data
            self._log(step, float(loss))
            if step >= saved + save_steps or time.time() >= save_at:
                self._save(step)
                saved, save_at = step, time.time() + save_secs
        if step > saved:
            self._save(step)
        return self

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        *,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Returns the metrics of a checkpoint, its mean loss and its step."""
        dataset = self._dataset(input_fn, "eval")
        self._prepare(split(dataset.element_spec)[0], checkpoint_path)
        for metric in (*self.task.metrics, self.mean_loss):
            metric.reset_state()
        self._test(self._iterator(dataset.take(int(steps or -1))))
        metrics = (*self.task.metrics, self.mean_loss)
        results = {metric.name: metric.result().numpy() for metric in metrics}
        results["global_step"] = self.global_step
        self._report(results, name)
        return results

    def restore(self, path: str) -> None:
        """Sets all variables as a checkpoint has them, but for the learning rate."""
        rate = self.task.optimizer.learning_rate.numpy()
        self.checkpoint.restore(path).assert_existing_objects_matched()
        self.task.optimizer.learning_rate.assign(rate)

    def _dataset(self, input_fn: Callable[..., Any], mode: str) -> Any:
        return input_fn()

    def _prepare(self, features: Any, path: str | None = None) -> None:
        """Makes all variables, and restores the latest or another checkpoint."""
        if not self.task.model.built:
            tf.function(self.task.forward).get_concrete_function(features, False)
        self.task.build()
        path = path or self.latest_checkpoint()
        if path:
            if not tf.train.load_checkpoint(path).has_tensor(OBJECTS):
                raise ValueError(OLD % path)
            self.restore(path)

    def _iterator(self, dataset: Any, whole: bool = False) -> Any:
        return iter(dataset)

    def _start(self, step: int) -> None:
        """Makes what keeps checkpoints, and saves the first where there is none."""
        given = self.checkpoint, self.model_dir, self.config.keep_checkpoint_max or None
        self.manager = tf.train.CheckpointManager(*given, checkpoint_name="model.ckpt")
        if not self.latest_checkpoint():
            self.manager.save(step)

    def _log(self, step: int, loss: float) -> None:
        if math.isnan(loss):
            raise FloatingPointError(f"The loss is not a number after step {step}.")
        if step % (self.config.log_step_count_steps or NEVER) == 0:
            logger.info("loss = %.6g, step = %d", loss, step)

    def _save(self, step: int) -> None:
        self.manager.save(step)

    def _report(self, results: dict[str, Any], name: str | None) -> None:
        figures = ", ".join(f"{key} = {value}" for key, value in results.items())
        logger.info("Evaluated%s: %s", f" {name}" if name else "", figures)

    def _run(self, function: Callable[..., Any], batch: Any) -> Any:
        return function(*split(batch))

    def _train_step(self, batch: Any) -> Any:
        return self._run(self.task.train_step, batch)

    @tf.function
    def _train(self, iterator: Any, last: Any, until: Any) -> Any:
        """Trains to a step, a time or the end of the data; returns the last loss."""
        loss = 0.0
        for batch in iterator:
            loss = self._train_step(batch)["loss"]
            if self.task.optimizer.iterations >= last or tf.timestamp() >= until:
                break
        return loss

    @tf.function
    def _test(self, iterator: Any) -> None:
        for batch in iterator:
            self._run(self._test_step, batch)

    def _test_step(self, features: Any, labels: Any) -> None:
        outputs = self.task.forward(features, training=False)
        self.mean_loss.update_state(self.task.loss(features, labels, outputs))
        self.task.update_metrics(features, labels, outputs)


def split(batch: Any) -> tuple[Any, Any]:
    """Returns features and labels of a batch, which may have no labels."""
    return (*batch, None)[:2] if isinstance(batch, tuple) else (batch, None)
