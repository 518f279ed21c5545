"""``tf.contrib.cluster_resolver``: today's resolvers under their old names."""

from __future__ import annotations

import tensorflow.compat.v1 as tf

__all__ = [
    "ClusterResolver",
    "GCEClusterResolver",
    "GceClusterResolver",
    "KubernetesClusterResolver",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
    "TPUClusterResolver",
    "UnionClusterResolver",
]

_now = tf.distribute.cluster_resolver

ClusterResolver = _now.ClusterResolver
GCEClusterResolver = _now.GCEClusterResolver
GceClusterResolver = _now.GCEClusterResolver
KubernetesClusterResolver = _now.KubernetesClusterResolver
SimpleClusterResolver = _now.SimpleClusterResolver
SlurmClusterResolver = _now.SlurmClusterResolver
TFConfigClusterResolver = _now.TFConfigClusterResolver
TPUClusterResolver = _now.TPUClusterResolver
UnionClusterResolver = _now.UnionResolver
