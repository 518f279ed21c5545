"""``KMeansClustering``: Lloyd's algorithm on full or mini batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from ...engine import private_api
from ..estimator import Estimator
from ..heads.keys import DEFAULT_SERVING_KEY
from ..spec import EstimatorSpec
from . import columns as fc

__all__ = ["KMeansClustering"]


class _InitializeClustersHook(tf.train.SessionRunHook):
    """Chooses the initial clusters from the data, batch by batch."""

    def __init__(self, init_op: Any, is_initialized: Any, is_chief: bool) -> None:
        self._init_op = init_op
        self._is_initialized = is_initialized
        self._is_chief = is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs the chief's choice until it is complete; others wait for it."""
        del coord
        while not session.run(self._is_initialized):
            if not self._is_chief:
                time.sleep(1)
                continue
            session.run(self._init_op)


class _RelativeChangeHook(tf.train.SessionRunHook):
    """Stops when the loss hardly changes any more."""

    def __init__(self, loss: Any, tolerance: float) -> None:
        self._loss = loss
        self._tolerance = tolerance
        self._previous: float | None = None

    def before_run(self, run_context: Any) -> Any:
        """Fetches the loss."""
        del run_context
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Compares it with that of the step before."""
        loss = float(run_values.results)
        if self._previous:
            change = abs(loss - self._previous) / (1 + abs(self._previous))
            if change < self._tolerance:
                run_context.request_stop()
        self._previous = loss


def _points(features: Any, feature_columns: Sequence[Any] | None) -> Any:
    """[batch, dimensions] from a tensor, a dict of tensors or feature columns."""
    if not isinstance(features, dict):
        return features
    if feature_columns:
        if fc.are_all_new(feature_columns):
            return fc.dense_input(features, feature_columns)[0]
        return tf.feature_column.input_layer(features, feature_columns)
    return tf.concat([features[key] for key in sorted(features)], axis=1)


class KMeansClustering(Estimator):
    """Finds cluster centers; ``tf.estimator.experimental.KMeans``."""

    SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
    COSINE_DISTANCE = "cosine"
    RANDOM_INIT = "random"
    KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = "clusters"

    def __init__(
        self,
        num_clusters: int,
        model_dir: Any = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
        feature_columns: Sequence[Any] | None = None,
    ) -> None:
        if isinstance(initial_clusters, str) and initial_clusters not in (
            self.RANDOM_INIT,
            self.KMEANS_PLUS_PLUS_INIT,
        ):
            raise ValueError(
                f"Unsupported initialization algorithm '{initial_clusters}'"
            )
        if distance_metric not in (
            self.SQUARED_EUCLIDEAN_DISTANCE,
            self.COSINE_DISTANCE,
        ):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        self._distance_metric = distance_metric

        def model_fn(features: Any, mode: str, config: Any) -> EstimatorSpec:
            graph = private_api.clustering_ops.KMeans(
                inputs=_points(features, feature_columns),
                num_clusters=num_clusters,
                initial_clusters=initial_clusters,
                distance_metric=distance_metric,
                use_mini_batch=use_mini_batch,
                mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
                random_seed=seed,
                kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            ).training_graph()
            return _spec(graph, mode, config.is_chief, relative_tolerance)

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

    def _one_key(self, input_fn: Callable[..., Any], key: str) -> Iterator[Any]:
        for prediction in self.predict(input_fn, predict_keys=[key]):
            yield prediction[key]

    def predict_cluster_index(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """The index of the nearest cluster of every point."""
        yield from self._one_key(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn: Callable[..., Any]) -> Any:
        """Sum of the squared distances to the nearest centers, for one batch."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """Distances of every point to all centers."""
        for distances in self._one_key(input_fn, self.ALL_DISTANCES):
            if self._distance_metric == self.SQUARED_EUCLIDEAN_DISTANCE:
                yield np.sqrt(distances)
            else:
                yield distances

    def cluster_centers(self) -> Any:
        """The centers, from the latest checkpoint."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


def _spec(
    graph: Any, mode: str, is_chief: bool, relative_tolerance: float | None
) -> EstimatorSpec:
    distances, indices, losses, is_initialized, init_op, step = graph
    loss = tf.reduce_sum(losses)
    tf.summary.scalar("loss/raw", loss)
    count = tf.assign_add(tf.train.get_global_step(), 1)
    with tf.control_dependencies([step, count]):
        train_op = tf.identity(loss)
    hooks: list[Any] = [_InitializeClustersHook(init_op, is_initialized, is_chief)]
    if relative_tolerance is not None:
        hooks.append(_RelativeChangeHook(loss, relative_tolerance))
    export = private_api.export_output.PredictOutput
    return EstimatorSpec(
        mode=mode,
        predictions={
            KMeansClustering.ALL_DISTANCES: distances[0],
            KMeansClustering.CLUSTER_INDEX: indices[0],
        },
        loss=loss,
        train_op=train_op,
        eval_metric_ops={KMeansClustering.SCORE: tf.metrics.mean(loss)},
        training_hooks=hooks,
        export_outputs={
            KMeansClustering.ALL_DISTANCES: export(distances[0]),
            KMeansClustering.CLUSTER_INDEX: export(indices[0]),
            DEFAULT_SERVING_KEY: export(indices[0]),
        },
    )
