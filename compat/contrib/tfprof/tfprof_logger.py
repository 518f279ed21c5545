"""A graph's operations in a file that the profiler reads."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["write_op_log"]


def write_op_log(
    graph: Any,
    log_dir: str,
    op_log: Any = None,
    run_meta: Any = None,
    add_trace: bool = True,
) -> None:
    """Writes ``tfprof_log`` into a folder."""
    tf.profiler.write_op_log(graph, log_dir, op_log, run_meta, add_trace)
