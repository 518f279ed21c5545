"""How long the operations of a step took, as sessions of TensorFlow 1 told it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import tensorflow as tf

from .vocabulary import logger, v1

Result = TypeVar("Result")

# Functions that an operation is called in; a session had none of them.
CALLS = re.compile(r"^((Stateful)?PartitionedCall(_\d+)?/)+")
PICOSECONDS = 1_000_000  # of a microsecond
DEVICE = "/job:localhost/replica:0/task:0"


def is_traced(options: Any) -> bool:
    """Whether options of a run ask how long its operations take."""
    return bool(options is not None and options.trace_level)


def any_is_traced(requests: Iterable[Any]) -> bool:
    """Whether one of the hooks asks for it."""
    return any(one is not None and is_traced(one.options) for one in requests)


def with_stats(graph: Any, run: Callable[[], Result]) -> tuple[Result, Any]:
    """What a run gives, and metadata with the times of the operations of a graph.

    They are taken by the profiler. Where it looks at something else already, there are
    none. Of a GPU they are the times in which its work was given to it.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            tf.profiler.experimental.start(folder)
        except tf.errors.AlreadyExistsError:
            logger.warning("The profiler is in use: this step is not looked at.")
            return run(), v1.RunMetadata()
        try:
            result = run()
        finally:
            tf.profiler.experimental.stop()
        return result, stats_of(Path(folder), graph)


def stats_of(folder: Path, graph: Any) -> Any:
    """What the profiler has written, for operations of a graph."""
    # There is no public name for what it writes.
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    metadata = v1.RunMetadata()
    devices: dict[str, Any] = {}
    known = {operation.name: operation for operation in graph.get_operations()}
    for path in sorted(folder.rglob("*.xplane.pb")):
        for plane in xplane_pb2.XSpace.FromString(path.read_bytes()).planes:
            for number, line in enumerate(plane.lines):
                for event in line.events:
                    label = plane.event_metadata[event.metadata_id].name
                    name, _, kind = label.partition(":")
                    name = CALLS.sub("", name)
                    # A result of a function takes the name of what computes it.
                    operation = known.get(name) or known.get(name.removesuffix("_0"))
                    if operation is None or not kind:
                        continue
                    device = device_name(operation)
                    if device not in devices:
                        devices[device] = metadata.step_stats.dev_stats.add()
                        devices[device].device = device
                    began = line.timestamp_ns // 1000 + event.offset_ps // PICOSECONDS
                    taken = event.duration_ps // PICOSECONDS
                    inputs = ", ".join(one.op.name for one in operation.inputs)
                    devices[device].node_stats.add(
                        node_name=operation.name,
                        all_start_micros=began,
                        op_end_rel_micros=taken,
                        all_end_rel_micros=taken,
                        all_start_nanos=line.timestamp_ns + event.offset_ps // 1000,
                        op_end_rel_nanos=event.duration_ps // 1000,
                        all_end_rel_nanos=event.duration_ps // 1000,
                        thread_id=number,
                        timeline_label=f"{operation.name} = {kind}({inputs})",
                    )
    return metadata


def device_name(operation: Any) -> str:
    """Where an operation is, as sessions spelled it."""
    said = tf.DeviceSpec.from_string(operation.device or "/device:CPU:0")
    return f"{DEVICE}/device:{said.device_type or 'CPU'}:{said.device_index or 0}"
