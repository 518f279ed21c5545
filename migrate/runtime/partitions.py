"""Variables that are made in parts, and saved as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from .vocabulary import v1


def parts_together(named: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """What a saver takes: parts of a partitioned variable as slices of the whole."""
    saved: dict[str, Any] = {}
    for name, variable in named:
        part = getattr(variable, "_save_slice_info", None)
        if part is None:
            saved[name] = variable
        else:
            saved.setdefault(part.full_name, []).append(variable)
    return saved


def restore_part(variable: Any, variables: Any) -> bool:
    """Gives a part its values of the checkpoint; whether it is one that has some."""
    part = getattr(variable, "_save_slice_info", None)
    if part is None or part.full_name not in variables.saved:
        return False
    whole = variables.reader.get_tensor(part.full_name)
    slices = zip(part.var_offset, part.var_shape, strict=True)
    variable.assign(whole[tuple(slice(at, at + n) for at, n in slices)])
    return True


def one_part() -> Any:
    """A partitioner that makes each variable in one part.

    Canned Estimators of TensorFlow 1 did so, and slots of an optimizer have names of
    it. Replicas have their variables whole.
    """
    return None if tf.distribute.has_strategy() else v1.fixed_size_partitioner(1)


def only_part(variable: Any) -> Any:
    """The part of a variable that was made in one part."""
    parts = list(variable) if hasattr(variable, "as_tensor") else []
    return parts[0] if len(parts) == 1 else variable
