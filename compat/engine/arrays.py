"""Large numpy arrays of an input function stay out of the graph.

An input function that closes over numpy arrays turns them into graph
constants. Written to ``graph.pbtxt``, to every ``.meta`` file and to the event
file, a data set of 180 MB became 1.8 GB on disk, and above 2 GB the graph
could not be written at all. Here a large array is handed to the graph by
reference: an operation that returns it when it runs.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from . import private_api

__all__ = ["LARGE_ARRAY_BYTES", "kept_out_of_graph"]

LARGE_ARRAY_BYTES = 256 * 1024
"""Arrays from this size on are handed over by reference."""

_lock = threading.Lock()
_users = 0
_original: Callable[..., Any] | None = None
_active = threading.local()


@contextlib.contextmanager
def kept_out_of_graph() -> Iterator[None]:
    """Within it, large arrays of this thread do not become graph constants.

    TensorFlow makes all constants in one function; it is replaced while an
    input function runs and put back afterwards. Other threads are not affected.
    """
    global _users, _original
    with _lock:
        if _users == 0:
            _original = private_api.ops._create_graph_constant
            private_api.ops._create_graph_constant = _create_constant
        _users += 1
    depth = getattr(_active, "depth", 0)
    _active.depth = depth + 1
    try:
        yield
    finally:
        _active.depth = depth
        with _lock:
            _users -= 1
            if _users == 0:
                private_api.ops._create_graph_constant = _original
                _original = None


def _create_constant(value: Any, dtype: Any, shape: Any, name: Any, *rest: Any) -> Any:
    if (
        getattr(_active, "depth", 0)
        and isinstance(value, np.ndarray)
        and value.nbytes >= LARGE_ARRAY_BYTES
        and value.dtype.kind in "biufcSUO"
        and shape is None
    ):
        tensor = _by_reference(value, dtype, name)
        if tensor is not None:
            return tensor
    original = _original or private_api.ops._create_graph_constant
    return original(value, dtype, shape, name, *rest)


def _by_reference(value: np.ndarray, dtype: Any, name: Any) -> Any:
    """A tensor that yields ``value``, or None where its type has no tensor form."""
    try:
        own_type = tf.as_dtype(value.dtype) if value.dtype.kind != "U" else tf.string
        if value.dtype.kind == "O":
            own_type = tf.string
            if not all(isinstance(v, str | bytes) for v in value.flat):
                return None
        wanted = tf.as_dtype(dtype) if dtype is not None else own_type
    except TypeError:
        return None
    if wanted != own_type:
        if own_type == tf.string or wanted == tf.string:
            return None
        value = value.astype(wanted.as_numpy_dtype)
    if value.dtype.kind == "U":
        value = np.char.encode(value, "utf-8")
    graph = tf.get_default_graph()
    while getattr(graph, "outer_graph", None) is not None:
        # A function of the dataset captures the tensor from the program's graph.
        graph = graph.outer_graph
    with graph.as_default(), tf.control_dependencies(None), tf.device("/cpu:0"):
        (tensor,) = tf.py_func(
            lambda: value, [], [wanted], stateful=False, name=name or "input_array"
        )
        tensor.set_shape(value.shape)
    return tensor
