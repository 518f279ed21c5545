"""Workers in step and parameter servers, as the strategy says."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import parameter_servers
from .cluster import RunConfig
from .workers import Worker


class ClusterTrainer(parameter_servers.ClusterTrainer):
    """A trainer that trains with other tasks, and does all else alone."""

    def _join(self, config: RunConfig) -> tuple[Any, Any]:
        """Returns what trains in this task, and its settings."""
        if isinstance(config.strategy, tf.distribute.MultiWorkerMirroredStrategy):
            return Worker, config
        return super()._join(config)
