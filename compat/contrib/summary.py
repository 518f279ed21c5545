"""``tf.contrib.summary``: summaries as operations that write by themselves."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
import tensorflow.compat.v2 as tf2

from ..engine import private_api

__all__ = [
    "SummaryWriter",
    "all_summary_ops",
    "always_record_summaries",
    "audio",
    "create_file_writer",
    "create_summary_file_writer",
    "eval_dir",
    "flush",
    "generic",
    "graph",
    "histogram",
    "image",
    "import_event",
    "initialize",
    "never_record_summaries",
    "record_summaries_every_n_global_steps",
    "scalar",
    "should_record_summaries",
    "summary_writer_initializer_op",
]

_ops = private_api.summary_ops_v2

SummaryWriter = tf2.summary.SummaryWriter
all_summary_ops = tf.summary.all_v2_summary_ops
audio = _ops.audio
create_file_writer = _ops.create_file_writer
create_summary_file_writer = _ops.create_file_writer
flush = _ops.flush
generic = _ops.generic
graph = _ops.graph_v1
histogram = _ops.histogram
image = _ops.image
import_event = _ops.import_event
initialize = _ops.initialize
scalar = _ops.scalar
should_record_summaries = _ops.should_record_summaries
summary_writer_initializer_op = _ops.summary_writer_initializer_op


def always_record_summaries() -> Any:
    """A context in which every summary is written."""
    return tf2.summary.record_if(True)


def never_record_summaries() -> Any:
    """A context in which no summary is written."""
    return tf2.summary.record_if(False)


def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Any:
    """A context in which every n-th step writes summaries."""
    step = tf.train.get_or_create_global_step() if global_step is None else global_step
    return tf2.summary.record_if(lambda: tf.equal(step % n, 0))


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """Where an evaluation of that name writes its events."""
    from os import path

    return path.join(model_dir, "eval" if not name else "eval_" + name)
