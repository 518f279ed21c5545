"""Training on the replicas of a strategy."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tf_keras

from . import core
from .core import split


@dataclasses.dataclass(frozen=True)
class RunConfig(core.RunConfig):
    """Settings that say on what it trains."""

    strategy: tf.distribute.Strategy | None = None


class Task(core.Task):
    """A task of which each replica takes its share."""

    def train_step(self, features: Any, labels: Any) -> dict[str, Any]:
        """Trains on the batch of one replica; returns what there is to see of it."""
        with tf.GradientTape() as tape:
            outputs = self.forward(features, training=True)
            loss = self.loss(features, labels, outputs)
            # Replicas add their gradients up: to those of the mean loss.
            share = loss / tf.distribute.get_strategy().num_replicas_in_sync
        gradients = self.gradients_of(share, tape)
        self.apply_gradients(gradients)
        return {"loss": loss}


class Trainer(core.Trainer):
    """A trainer whose replicas take each step together."""

    config: RunConfig

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
        self.strategy = self.config.strategy or tf.distribute.get_strategy()
        given = () if params is None else (params,)
        with self.strategy.scope():
            self.task = make_task(*given) if callable(make_task) else make_task
            self.mean_loss = tf_keras.metrics.Mean("loss")
        kept = {"model": self.task.model, "optimizer": self.task.optimizer}
        self.checkpoint = tf.train.Checkpoint(**kept)

    def _prepare(self, features: Any, path: str | None = None) -> None:
        """Makes all variables, and restores the latest or another checkpoint."""
        with self.strategy.scope():
            super()._prepare(features, path)

    def _iterator(self, dataset: Any, whole: bool = False) -> Any:
        """Gives a batch to each replica; with `whole`, leaves an incomplete set out."""
        replicas = self.strategy.num_replicas_in_sync
        if whole and replicas > 1:
            sets = dataset.window(replicas, drop_remainder=True)
            dataset = sets.flat_map(lambda *batches: tf.data.Dataset.zip(batches))
        return iter(self.strategy.distribute_datasets_from_function(lambda _: dataset))

    def _run(self, function: Callable[..., Any], batch: Any) -> Any:
        return self.strategy.run(function, args=split(batch))

    def _train_step(self, batch: Any) -> Any:
        """Trains on one batch of each replica; returns the mean of their losses."""
        values = self._run(self.task.train_step, batch)
        loss = self.strategy.reduce("MEAN", values["loss"], axis=None)
        return {**values, "loss": loss}

    def _test_step(self, features: Any, labels: Any) -> None:
        first = tf.nest.flatten(features)[0]
        # A replica gets an empty batch when there are none left for it.
        if self.strategy.num_replicas_in_sync == 1 or tf.shape(first)[0] > 0:
            super()._test_step(features, labels)
