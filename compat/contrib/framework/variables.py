"""Variables by scope, by name and by collection, as ``tf.contrib.framework`` did."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from .scopes import add_arg_scope

__all__ = [
    "VariableDeviceChooser",
    "add_model_variable",
    "assert_global_step",
    "assert_or_get_global_step",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "create_global_step",
    "filter_variables",
    "get_global_step",
    "get_local_variables",
    "get_model_variables",
    "get_or_create_global_step",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "init_from_checkpoint",
    "local_variable",
    "model_variable",
    "variable",
    "zero_initializer",
]

create_global_step = tf.train.create_global_step
get_global_step = tf.train.get_global_step
get_or_create_global_step = tf.train.get_or_create_global_step
init_from_checkpoint = tf.train.init_from_checkpoint


def assert_global_step(global_step_tensor: Any) -> None:
    """Raise when the tensor cannot be a global step."""
    tf.train.assert_global_step(global_step_tensor)


def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """The given global step after a check, or the graph's own."""
    if global_step_tensor is None:
        return tf.train.get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: Any = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """``tf.get_variable`` with a device, obeying `arg_scope`."""
    names = list(collections if collections is not None else ["variables"])
    getter = tf.get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=tf.get_variable_scope().reuse)
    with tf.device(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype or tf.float32,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(names)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = tf.float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: Any = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """A variable that is also in the MODEL_VARIABLES collection."""
    names = list(collections or [])
    names += [tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES]
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=names,
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: Any = None,
) -> Any:
    """A variable that is not saved (LOCAL_VARIABLES)."""
    return tf.Variable(
        initial_value,
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


def global_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: Any = None,
) -> Any:
    """A saved variable that is not trained (GLOBAL_VARIABLES)."""
    return tf.Variable(
        initial_value,
        trainable=False,
        collections=[tf.GraphKeys.GLOBAL_VARIABLES],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero") -> Any:
    """An op that sets ``ref`` to zero even before it was initialised."""
    del use_locking
    return tf.assign(ref, tf.zeros_like(ref), validate_shape=False, name=name)


def add_model_variable(var: Any) -> None:
    """Add to the MODEL_VARIABLES collection, once."""
    known = tf.get_collection_ref(tf.GraphKeys.MODEL_VARIABLES)
    if not any(var is other for other in known):
        tf.add_to_collection(tf.GraphKeys.MODEL_VARIABLES, var)


def get_variables(
    scope: Any = None,
    suffix: str | None = None,
    collection: str = tf.GraphKeys.GLOBAL_VARIABLES,
) -> list[Any]:
    """Variables of a collection, by scope prefix and name suffix."""
    prefix = scope.name if isinstance(scope, tf.VariableScope) else scope
    if suffix is not None:
        if ":" not in suffix:
            suffix += ":"
        prefix = (prefix or "") + ".*" + suffix
    return list(tf.get_collection(collection, prefix))


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Variables made by layer functions."""
    return get_variables(scope, suffix, tf.GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Variables that are not saved."""
    return get_variables(scope, suffix, tf.GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Variables that optimizers train."""
    return get_variables(scope, suffix, tf.GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """Global variables whose name ends so."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """Global variables whose last name part is exactly that."""
    return get_variables(
        scope=scope, suffix="/" + given_name + ":|^" + given_name + ":"
    )


def get_unique_variable(var_op_name: str) -> Any:
    """The one variable of that name, or an error."""
    found = get_variables(scope=var_op_name)
    if not found:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    if len(found) > 1:
        found = [var for var in found if var.op.name == var_op_name]
        if len(found) != 1:
            raise ValueError(
                f"Variable {var_op_name} does not uniquely identify a variable"
            )
    return found[0]


def get_variable_full_name(var: Any) -> str:
    """The name under which a checkpoint holds the variable."""
    info = getattr(var, "_save_slice_info", None)
    return str(info.full_name if info is not None else var.op.name)


def get_variables_to_restore(
    include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
) -> list[Any]:
    """Global variables, by scopes to take and scopes to leave."""
    if include is None:
        taken = get_variables()
    else:
        if isinstance(include, str):
            raise TypeError("include must be a list of scopes")
        taken = [var for scope in include for var in get_variables(scope)]
    left: list[Any] = []
    if exclude is not None:
        if isinstance(exclude, str):
            raise TypeError("exclude must be a list of scopes")
        left = [var for scope in exclude for var in get_variables(scope)]
    return [var for var in taken if not any(var is other for other in left)]


def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Iterable[str] | None = None,
    exclude_patterns: Iterable[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """Variables whose op name matches one include and no exclude pattern."""
    match: Callable[..., Any] = re.search if reg_search else re.match
    kept = list(var_list)
    if include_patterns is not None:
        patterns = list(include_patterns)
        kept = [v for v in kept if any(match(p, v.op.name) for p in patterns)]
    if exclude_patterns is not None:
        patterns = list(exclude_patterns)
        kept = [v for v in kept if not any(match(p, v.op.name) for p in patterns)]
    return kept


def assign_from_values(
    names_to_values: Mapping[str, Any],
) -> tuple[Any, dict[Any, Any]]:
    """An op and a feed that set variables, found by name, to given arrays."""
    feed: dict[Any, Any] = {}
    assigns = []
    for name, value in names_to_values.items():
        var = get_unique_variable(name)
        holder = tf.placeholder(var.dtype.base_dtype, shape=np.shape(value))
        assigns.append(tf.assign(var, holder))
        feed[holder] = np.asarray(value)
    return tf.group(*assigns), feed


def assign_from_values_fn(names_to_values: Mapping[str, Any]) -> Callable[[Any], None]:
    """A function of a session that sets variables to given arrays."""
    op, feed = assign_from_values(names_to_values)
    return lambda session: session.run(op, feed)


def _grouped(var_list: Any) -> dict[str, list[Any]]:
    if isinstance(var_list, Mapping):
        return {
            name: list(found) if isinstance(found, list | tuple) else [found]
            for name, found in var_list.items()
        }
    groups: dict[str, list[Any]] = {}
    for var in var_list:
        groups.setdefault(get_variable_full_name(var), []).append(var)
    return groups


def _piece(array: Any, var: Any) -> Any:
    info = getattr(var, "_save_slice_info", None)
    if info is None:
        return array
    ends = [o + s for o, s in zip(info.var_offset, info.var_shape, strict=True)]
    return array[tuple(slice(o, e) for o, e in zip(info.var_offset, ends, strict=True))]


def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """An op and a feed that set variables from a checkpoint."""
    reader = tf.train.NewCheckpointReader(model_path)
    feed: dict[Any, Any] = {}
    assigns = []
    for name, variables in _grouped(var_list).items():
        if not reader.has_tensor(name):
            if ignore_missing_vars:
                continue
            raise ValueError(
                f"Checkpoint is missing variable [{name}], but it was requested"
            )
        array = reader.get_tensor(name)
        for var in variables:
            value = _piece(array, var)
            if not var.get_shape().is_compatible_with(value.shape):
                if tuple(var.get_shape().as_list()) == () or value.size == (
                    var.get_shape().num_elements()
                ):
                    value = value.reshape(var.get_shape().as_list())
                else:
                    raise ValueError(
                        f"Variable [{name}]'s shape {var.get_shape()} does not match "
                        f"{value.shape} in the checkpoint"
                    )
            holder = tf.placeholder(var.dtype.base_dtype, shape=value.shape)
            assigns.append(tf.assign(var, holder))
            feed[holder] = value
    return tf.group(*assigns), feed


def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Any,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """A function of a session that restores variables from a checkpoint."""
    groups = _grouped(var_list)
    if not groups:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = tf.train.NewCheckpointReader(model_path)
        for name in [name for name in groups if not reader.has_tensor(name)]:
            tf.logging.warning("Variable %s missing in checkpoint %s", name, model_path)
            del groups[name]
        if not groups:
            tf.logging.warning("No Variables to restore")
            return None
    saver = tf.train.Saver(
        {name: found if len(found) > 1 else found[0] for name, found in groups.items()},
        reshape=reshape_variables,
    )
    return lambda session: saver.restore(session, model_path)


class VariableDeviceChooser:
    """A device function that spreads variables over parameter servers."""

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: Any = None,
    ) -> None:
        self._num_tasks = num_tasks
        self._job_name = job_name
        self._device_type = device_type
        self._device_index = device_index
        self._replica = replica
        self._next_task_id = 0

    def __call__(self, op: Any) -> str:
        spec = tf.DeviceSpec(
            replica=self._replica,
            device_type=self._device_type,
            device_index=self._device_index,
        )
        if self._num_tasks > 0:
            spec = spec.replace(job=self._job_name, task=self._next_task_id)
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        return str(spec.to_string())
