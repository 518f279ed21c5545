"""Tests of tensorflow_estimator that say nothing about public behaviour, and why.

Rows of (release or "both", pattern, reason). Tests that use private names are found
by the runner itself and need no row.
"""

from __future__ import annotations

__all__ = ["FILES", "TESTS"]

FILES: tuple[tuple[str, str, str], ...] = (
    ("both", r"\.tpu\.", "needs TPU hardware or its simulation in Google's build"),
    ("both", r"boosted_trees", "TensorFlow has no kernels for boosted trees any more"),
    ("both", r"\.tools\.", "a script of its own, not part of the API"),
    ("both", r"linear_optimizer\.python\.utils", "private modules"),
    ("both", r"queues\.", "private modules"),
    ("both", r"\.gc_test$", "a private module"),
    ("both", r"canned\.optimizers_test", "private modules"),
    (
        "both",
        r"distribute_strategy_estimator_training_test",
        "simulates a cluster with private modules that are gone",
    ),
    ("both", r"canned\.timeseries", "a copy of tf.contrib.timeseries never exported"),
)

TESTS: tuple[tuple[str, str, str], ...] = ()
