"""Tables of a graph's variables, operations and times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "ALL_ADVICE",
    "FLOAT_OPS_OPTIONS",
    "PRINT_ALL_TIMING_MEMORY",
    "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "Profiler",
    "advise",
    "print_model_analysis",
]

Profiler = tf.profiler.Profiler

ALL_ADVICE: dict[str, dict[str, Any]] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}


def _options(
    *,
    least: Mapping[str, int] | None = None,
    order_by: str = "name",
    types: str = ".*",
    select: tuple[str, ...],
) -> dict[str, Any]:
    bounds = ("min_bytes", "min_micros", "min_params", "min_float_ops")
    return {
        "max_depth": 10000,
        **{bound: (least or {}).get(bound, 0) for bound in bounds},
        "order_by": order_by,
        "account_type_regexes": [types],
        "start_name_regexes": [".*"],
        "trim_name_regexes": [],
        "show_name_regexes": [".*"],
        "hide_name_regexes": [],
        "account_displayed_op_only": True,
        "select": list(select),
        "output": "stdout",
        "dump_to_file": "",
    }


TRAINABLE_VARS_PARAMS_STAT_OPTIONS = _options(
    types="_trainable_variables", select=("params",)
)
FLOAT_OPS_OPTIONS = _options(
    least={"min_float_ops": 1}, order_by="float_ops", select=("float_ops",)
)
PRINT_ALL_TIMING_MEMORY = _options(
    least={"min_bytes": 1, "min_micros": 1}, select=("micros", "bytes")
)


def print_model_analysis(
    graph: Any,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Mapping[str, Any] | None = None,
) -> Any:
    """Prints such a table, or writes it into the file that the options name."""
    given = {} if tfprof_options is None else {"options": tfprof_options}
    return tf.profiler.profile(graph, run_meta, op_log, tfprof_cmd, **given)


def advise(
    graph: Any,
    run_meta: Any = None,
    tfprof_options: Mapping[str, Any] = ALL_ADVICE,
) -> Any:
    """What the profiler would look at first."""
    return tf.profiler.advise(graph, run_meta, tfprof_options)
