"""Readings of variables that follow an update, where TensorFlow 1 saw the update."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf


def read_late(graph: Any, handles: Iterable[Any]) -> None:
    """Lets operations that follow the update of a variable read it after the update.

    A variable of TensorFlow 1 was not copied when it was read: an operation that ran
    after an update worked with the new value, though it took the variable from a
    reading made before. A second optimizer that is built under the control dependency
    of a first one relies on it; here its operations get readings of their own.
    """
    for handle in handles:
        uses = handle.consumers()
        readings = [op for op in uses if op.type == "ReadVariableOp"]
        updates = [op for op in uses if op not in readings and op.type not in LOOKS]
        later = followers(updates)
        if not later:
            continue
        # One that itself follows an update has the value of that moment.
        early = [reading.outputs[0] for reading in readings if reading not in later]
        for tensor in same_values(early):
            for op in tensor.consumers():
                if op in later:
                    read_anew(graph, op, tensor, handle)


def count_after_reads(handle: Any) -> None:
    """Lets a step that is counted by hand be counted after all have read it.

    `global_step.assign(global_step + 1)` beside a rate that reads the step is in no
    order: the rate would get the old step in one update and the new one in the next.
    """
    uses = handle.consumers()
    free = [op for op in uses if is_free_reading(op)]
    built_on_it = followers(free)
    for assignment in uses:
        # One that does not build on the step before is no counting.
        if assignment.type == "AssignVariableOp" and assignment in built_on_it:
            later = followers([assignment])
            others = [op for op in free if op not in later]
            # Adding what an operation waits for has no public name.
            assignment._add_control_inputs(others)


def update_after_readings(fetches: Iterable[Any], handles: Iterable[Any]) -> None:
    """Lets what is fetched beside updates of variables read them before these.

    A hook that computes something of a weight gets it as the step found it. Nothing
    but the order in which threads take up operations would say so otherwise.
    """
    fetched = list(fetches)
    read = origins(one.op for one in fetched if isinstance(one, tf.Tensor))
    run = origins(one.op if isinstance(one, tf.Tensor) else one for one in fetched)
    for handle in handles:
        uses = handle.consumers()
        readings = [op for op in uses if is_free_reading(op) and op in read]
        for op in uses:
            if op in run and op.type not in ("ReadVariableOp", *LOOKS):
                known = op.control_inputs
                # A free reading comes after nothing, so that no circle is made.
                op._add_control_inputs([one for one in readings if one not in known])


def is_free_reading(op: Any) -> bool:
    """Whether an operation reads a variable, and waits for nothing before it."""
    return op.type == "ReadVariableOp" and not op.control_inputs


# What uses the handle of a variable without an update of it.
LOOKS = ("ResourceGather", "VarIsInitializedOp", "VariableShape", "DestroyResourceOp")


def followers(updates: Iterable[Any]) -> set[Any]:
    """The operations that run after one of these."""
    found: set[Any] = set()
    todo = list(updates)
    while todo:
        op = todo.pop()
        after = [*op._control_outputs]
        for output in op.outputs:
            after += output.consumers()
        new = [one for one in after if one not in found]
        found.update(new)
        todo += new
    return found


def origins(ends: Iterable[Any]) -> set[Any]:
    """These operations, and all that they wait for."""
    found = set(ends)
    todo = list(found)
    while todo:
        op = todo.pop()
        before = {*(given.op for given in op.inputs), *op.control_inputs} - found
        found |= before
        todo += before
    return found


def same_values(tensors: Iterable[Any]) -> list[Any]:
    """Tensors, and those that are nothing but other names for them."""
    found = list(tensors)
    for tensor in found:
        found += [
            op.outputs[0]
            for op in tensor.consumers()
            if op.type == "Identity" and not op.control_inputs
        ]
    return found


def read_anew(graph: Any, op: Any, tensor: Any, handle: Any) -> None:
    """Gives an operation a reading of its own, made when all else it needs is there.

    Changing the input of an operation has no public name.
    """
    others = [given.op for given in op.inputs if given is not tensor]
    with graph.as_default(), tf.control_dependencies([*others, *op.control_inputs]):
        anew = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tensor.dtype)
    anew.set_shape(tensor.shape)
    for index, given in enumerate(op.inputs):
        if given is tensor:
            op._update_input(index, anew)
