"""A global step that a model function counts by hand, beside a rate that reads it.

Fine-tuning programs of the BERT family say

    train_op = tf.group(train_op, global_step.assign(global_step + 1))

and compute the learning rate from the same step, in no order. TensorFlow 1.15 mixed old
and new values by the order in which its executor happened to start operations, always
alike for a program; the executor of today does not even repeat itself. Here all that
the update reads is read before the step is counted, as where the optimizer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from . import private_api

__all__ = ["count_after_reads"]

_READS = ("Identity", "ReadVariableOp")
_ASSIGNMENTS = ("Assign", "AssignVariableOp")


def count_after_reads(train_op: Any) -> None:
    """Lets a step that is counted by hand be counted after what reads it has it."""
    global_step = tf.train.get_global_step()
    if global_step is None or train_op is None:
        return
    needed = _all_from([getattr(train_op, "op", train_op)], _before)
    for own in tf.distribute.get_strategy().experimental_local_results(global_step):
        _order(own.op.outputs[0].consumers(), needed)


def _order(uses: Iterable[Any], needed: set[Any]) -> None:
    """Orders the uses of one replica's step."""
    reads = [op for op in uses if op.type in _READS and not op.control_inputs]
    after_reads = _all_from(reads, _after)
    for assignment in uses:
        if assignment.type not in _ASSIGNMENTS or assignment not in needed:
            continue
        # One that does not build on the step before is no counting.
        if assignment not in after_reads:
            continue
        following = _all_from([assignment], _after)
        private_api.run_after(
            assignment,
            [
                user
                for read in reads
                for user in (read, *read.outputs[0].consumers())
                if user in needed and user not in following
            ],
        )


def _before(op: Any) -> Iterable[Any]:
    return [*(tensor.op for tensor in op.inputs), *op.control_inputs]


def _after(op: Any) -> Iterable[Any]:
    users = [user for output in op.outputs for user in output.consumers()]
    return [*users, *private_api.control_outputs(op)]


def _all_from(start: Iterable[Any], step: Callable[[Any], Iterable[Any]]) -> set[Any]:
    """What can be reached, what is started from included."""
    todo = list(start)
    found = set(todo)
    while todo:
        new = [one for one in step(todo.pop()) if one not in found]
        found.update(new)
        todo += new
    return found
