"""The strategy of a TPU."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def tpu_strategy(name: str = "") -> Any:
    """Returns the strategy of a TPU, which it connects to and resets."""
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(name)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)
