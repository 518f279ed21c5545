"""``tf.contrib.factorization``: k-means as an Estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine import private_api
from ..estimator.canned.kmeans import KMeansClustering as _KMeans

__all__ = [
    "COSINE_DISTANCE",
    "KMEANS_PLUS_PLUS_INIT",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
    "KMeans",
    "KMeansClustering",
]

COSINE_DISTANCE = _KMeans.COSINE_DISTANCE
KMEANS_PLUS_PLUS_INIT = _KMeans.KMEANS_PLUS_PLUS_INIT
RANDOM_INIT = _KMeans.RANDOM_INIT
SQUARED_EUCLIDEAN_DISTANCE = _KMeans.SQUARED_EUCLIDEAN_DISTANCE
KMeans = private_api.clustering_ops.KMeans


class KMeansClustering(_KMeans):
    """``tf.estimator.experimental.KMeans``, with a seed by default."""

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: str | Callable[..., Any] | Any = _KMeans.RANDOM_INIT,
        distance_metric: str = _KMeans.SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int | None = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
        feature_columns: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(
            num_clusters,
            model_dir=model_dir,
            initial_clusters=initial_clusters,
            distance_metric=distance_metric,
            seed=random_seed,
            use_mini_batch=use_mini_batch,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            relative_tolerance=relative_tolerance,
            config=config,
            feature_columns=feature_columns,
        )
