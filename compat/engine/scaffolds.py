"""One Scaffold for a program whose model function ran once per replica."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from .replication import call_for_each_replica, local_results

__all__ = ["combine", "with_default_local_init"]


def with_default_local_init(scaffold: Any) -> Any:
    """Adds table and local-variable initialisation to a user's own init op.

    Evaluation keeps metric totals in local variables; a scaffold that brings
    only its own local_init_op would leave them uninitialised.
    """
    if scaffold is None or scaffold.local_init_op is None:
        return scaffold
    return tf.train.Scaffold(
        local_init_op=tf.group(
            scaffold.local_init_op, tf.train.Scaffold.default_local_init_op()
        ),
        copy_from_scaffold=scaffold,
    )


def combine(grouped: Any, strategy: Any) -> Any:
    """Merges the scaffolds that the replicas returned."""
    scaffolds = local_results(strategy, grouped)

    def grouped_ops(name: str) -> Any:
        found = [getattr(s, name) for s in scaffolds if getattr(s, name) is not None]
        return strategy.group(found) if found else None

    def first(name: str) -> Any:
        return next(
            (getattr(s, name) for s in scaffolds if getattr(s, name) is not None), None
        )

    def concatenated(value: Any) -> Any:
        parts = tf.nest.flatten(local_results(strategy, value))
        parts = [p for p in parts if p is not None]
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else tf.concat(parts, 0)

    ready_op = call_for_each_replica(strategy, lambda s: s.ready_op, (grouped,))
    ready_for_local_init_op = call_for_each_replica(
        strategy, _ready_for_local_init, (grouped,)
    )
    return tf.train.Scaffold(
        init_op=grouped_ops("init_op"),
        ready_op=concatenated(ready_op),
        ready_for_local_init_op=concatenated(ready_for_local_init_op),
        local_init_op=grouped_ops("local_init_op"),
        summary_op=first("summary_op"),
        saver=first("saver"),
        init_feed_dict=first("init_feed_dict"),
        init_fn=first("_user_init_fn"),
    )


def _ready_for_local_init(scaffold: Any) -> Any:
    if scaffold.ready_for_local_init_op is not None:
        return scaffold.ready_for_local_init_op
    return tf.train.Scaffold.get_or_default(
        "ready_for_local_init_op",
        tf.GraphKeys.READY_FOR_LOCAL_INIT_OP,
        lambda: tf.report_uninitialized_variables(tf.global_variables()),
    )
