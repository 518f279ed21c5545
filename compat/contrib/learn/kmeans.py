"""``learn.KMeansClustering``: k-means with ``fit`` and ``predict``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import factorization
from .model_fns import Estimator, ModelFnOps

__all__ = ["KMeansClustering"]

_KMeans = factorization.KMeansClustering


class KMeansClustering(Estimator):
    """Finds cluster centers."""

    SQUARED_EUCLIDEAN_DISTANCE = _KMeans.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = _KMeans.COSINE_DISTANCE
    RANDOM_INIT = _KMeans.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = _KMeans.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int | None = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
    ) -> None:
        self._model = _KMeans(
            num_clusters,
            model_dir,
            initial_clusters,
            distance_metric,
            random_seed,
            use_mini_batch,
            mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries,
            relative_tolerance,
            config,
        )
        super().__init__(
            self._kmeans_model_fn, model_dir=self._model.model_dir, config=config
        )

    def _kmeans_model_fn(
        self, features: Any, labels: Any, mode: str, config: Any
    ) -> ModelFnOps:
        del labels
        spec = self._model.model_fn(features, None, mode, config)
        return ModelFnOps(
            mode,
            predictions={
                self.ALL_SCORES: spec.predictions[_KMeans.ALL_DISTANCES],
                self.CLUSTER_IDX: spec.predictions[_KMeans.CLUSTER_INDEX],
            },
            loss=spec.loss,
            train_op=spec.train_op,
            eval_metric_ops={self.SCORES: spec.loss},
            training_hooks=spec.training_hooks,
        )

    def predict_cluster_idx(self, input_fn: Any = None) -> Iterator[Any]:
        """The number of the nearest center, for each point."""
        for found in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield found[self.CLUSTER_IDX]

    def score(self, input_fn: Any = None, steps: int | None = None) -> Any:
        """The sum of distances of points to their nearest centers."""
        return self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES]

    def transform(self, input_fn: Any = None, as_iterable: bool = False) -> Any:
        """Distances of each point to all centers."""
        found = self.predict(
            input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable
        )
        return found if as_iterable else found[self.ALL_SCORES]

    def clusters(self) -> Any:
        """The centers."""
        return self.get_variable_value(self.CLUSTERS)
