"""Tensor helpers and decorators of ``tf.contrib.framework``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "BoundedTensorSpec",
    "CriticalSection",
    "TensorSpec",
    "argsort",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_scalar_int",
    "convert_to_tensor_or_sparse_tensor",
    "deprecated",
    "deprecated_arg_values",
    "deprecated_args",
    "get_graph_from_inputs",
    "get_name_scope",
    "get_placeholders",
    "is_tensor",
    "list_variables",
    "load_checkpoint",
    "load_variable",
    "prepend_name_scope",
    "py_func",
    "reduce_sum_n",
    "remove_squeezable_dimensions",
    "smart_case",
    "smart_cond",
    "smart_constant_value",
    "sort",
    "strip_name_scope",
    "with_same_shape",
    "with_shape",
]

CriticalSection = tf.CriticalSection
TensorSpec = tf.TensorSpec
argsort = tf.argsort
assert_same_float_dtype = tf.debugging.assert_same_float_dtype
assert_scalar = tf.debugging.assert_scalar
convert_to_tensor_or_sparse_tensor = tf.convert_to_tensor_or_sparse_tensor
is_tensor = tf.is_tensor
list_variables = tf.train.list_variables
load_checkpoint = tf.train.load_checkpoint
load_variable = tf.train.load_variable
sort = tf.sort


class BoundedTensorSpec(TensorSpec):  # type: ignore[misc,valid-type]
    """A tensor spec that also states the least and greatest value."""

    def __init__(
        self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: Any = None
    ) -> None:
        super().__init__(shape, dtype, name)
        self.minimum = minimum
        self.maximum = maximum


def assert_scalar_int(tensor: Any, name: str | None = None) -> Any:
    """Check for an integer scalar and return it as a tensor."""
    with tf.name_scope(name, "assert_scalar_int", [tensor]):
        tensor = tf.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}: {tensor.dtype}."
            )
        return tf.debugging.assert_scalar(tensor)


def get_graph_from_inputs(op_input_list: Any, graph: Any = None) -> Any:
    """The graph that all inputs belong to."""
    graphs = [item.graph for item in op_input_list if hasattr(item, "graph")]
    if graph is not None:
        graphs.insert(0, graph)
    if any(other is not graphs[0] for other in graphs[1:]):
        raise ValueError("The inputs are from different graphs.")
    return graphs[0] if graphs else tf.get_default_graph()


def get_name_scope() -> str:
    """The name scope in force."""
    return str(tf.get_default_graph().get_name_scope())


def get_placeholders(graph: Any) -> list[Any]:
    """The outputs of all placeholder operations."""
    return [
        output
        for op in graph.get_operations()
        if op.type == "Placeholder"
        for output in op.outputs
    ]


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """``name`` below ``import_scope``."""
    return f"{import_scope}/{name}" if import_scope else name


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """``name`` without the leading ``export_scope``."""
    if export_scope and name.startswith(export_scope + "/"):
        return name[len(export_scope) + 1 :]
    return name


def smart_constant_value(pred: Any) -> bool | None:
    """The value of a predicate that is known while the graph is built."""
    if isinstance(pred, bool):
        return pred
    if isinstance(pred, int) and pred in (0, 1):
        return bool(pred)
    if tf.is_tensor(pred):
        value = tf.get_static_value(pred)
        return None if value is None else bool(value)
    raise TypeError("`pred` must be a Tensor, or a Python bool, or 1 or 0.")


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    name: str | None = None,
) -> Any:
    """One branch when the predicate is known, else ``tf.cond``."""
    value = smart_constant_value(pred)
    if value is None:
        return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if value else false_fn()


def smart_case(
    pred_fn_pairs: Any,
    default: Any = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """``tf.case`` that takes a branch at once when its predicate is known."""
    pairs = (
        list(pred_fn_pairs.items())
        if isinstance(pred_fn_pairs, dict)
        else list(pred_fn_pairs)
    )
    open_pairs = []
    for pred, fn in pairs:
        value = smart_constant_value(pred)
        if value is None:
            open_pairs.append((pred, fn))
        elif value and not open_pairs:
            return fn()
        elif value:
            default = fn
            break
    if not open_pairs:
        if default is None:
            raise ValueError("no condition holds and there is no default")
        return default()
    return tf.case(open_pairs, default=default, exclusive=exclusive, name=name)


def reduce_sum_n(tensors: Any, name: str | None = None) -> Any:
    """The sum over all elements of all tensors."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with tf.name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [tf.reduce_sum(tensor) for tensor in tensors]
        return tf.add_n(sums, name=scope) if len(sums) > 1 else sums[0]


def remove_squeezable_dimensions(
    predictions: Any, labels: Any, name: str | None = None
) -> tuple[Any, Any]:
    """Drop a last dimension of 1 from whichever tensor has one rank too many."""
    with tf.name_scope(name, "remove_squeezable_dimensions", [predictions, labels]):
        predictions = tf.convert_to_tensor(predictions)
        labels = tf.convert_to_tensor(labels)
        difference = len(predictions.shape) - len(labels.shape)
        if difference == 1:
            predictions = tf.squeeze(predictions, [-1])
        elif difference == -1:
            labels = tf.squeeze(labels, [-1])
        return predictions, labels


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """``tensor``, checked for a shape (statically where it is known)."""
    if isinstance(expected_shape, tf.Tensor):
        check = tf.assert_equal(tf.shape(tensor), expected_shape)
        with tf.control_dependencies([check]):
            return tf.identity(tensor)
    tensor = tf.convert_to_tensor(tensor)
    if not tensor.get_shape().is_compatible_with(expected_shape):
        raise ValueError(
            f"Invalid shape for tensor {tensor.name}, expected {expected_shape}, "
            f"got {tensor.get_shape()}."
        )
    return tf.ensure_shape(tensor, expected_shape)


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """``tensor``, checked to have the shape of the other."""
    shape = expected_tensor.get_shape()
    if shape.is_fully_defined():
        return with_shape(shape, tensor)
    return with_shape(tf.shape(expected_tensor), tensor)


def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Any = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """``tf.py_func`` for nested arguments and results."""
    kwargs = kwargs or {}
    flat = tf.nest.flatten((args, kwargs))

    def call(*values: Any) -> Any:
        packed_args, packed_kwargs = tf.nest.pack_sequence_as((args, kwargs), values)
        return tf.nest.flatten(func(*packed_args, **packed_kwargs))

    results = tf.py_func(
        call, flat, tf.nest.flatten(output_types), stateful=stateful, name=name
    )
    if output_shapes is not None:
        single = not isinstance(output_types, list | tuple)
        shapes = [output_shapes] if single else output_shapes
        for tensor, shape in zip(results, shapes, strict=True):
            tensor.set_shape(shape)
    return tf.nest.pack_sequence_as(output_types, results)


def deprecated(date: Any, instructions: str, warn_once: bool = True) -> Any:
    """A decorator that warns about a deprecated function."""

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        told = False

        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            nonlocal told
            if not (told and warn_once):
                told = True
                when = f"after {date}" if date else "in a future version"
                tf.logging.warning(
                    "%s is deprecated and will be removed %s. %s",
                    func.__qualname__,
                    when,
                    instructions,
                )
            return func(*args, **kwargs)

        return wrapped

    return decorate


def deprecated_args(date: Any, instructions: str, *names: Any, **kwargs: Any) -> Any:
    """A decorator for functions with deprecated arguments; it leaves them as is."""
    del date, instructions, names, kwargs
    return lambda func: func


def deprecated_arg_values(
    date: Any, instructions: str, warn_once: bool = True, **values: Any
) -> Any:
    """A decorator for functions with deprecated argument values."""
    del date, instructions, warn_once, values
    return lambda func: func
