"""A global step that a model function counts by hand, beside a rate that reads it.

Fine-tuning programs of the BERT family say

    train_op = tf.group(train_op, global_step.assign(global_step + 1))

and compute the learning rate from the same step, in no order. TensorFlow 1.15 mixed old
and new values by the order in which its executor happened to start operations, always
alike for a program; the executor of today does not even repeat itself. Here all that
the update reads is read before the step is counted, as where the optimizer counts.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    for own in tf.distribute.get_strategy().experimental_local_results(global_step):
        _order(own.op.outputs[0].consumers(), getattr(train_op, "op", train_op))


def _order(uses: Iterable[Any], train_op: Any) -> None:
    """Orders the uses of one replica's step."""
    reads = [op for op in uses if op.type in _READS and not op.control_inputs]
    after_reads = followers(reads)
    # One that does not build on the step before is no counting.
    counting = [op for op in uses if op.type in _ASSIGNMENTS and op in after_reads]
    if not counting:
        return
    needed = _what_it_needs(train_op)
    for assignment in counting:
        if assignment not in needed:
            continue
        following = {assignment, *followers([assignment])}
        private_api.run_after(
            assignment,
            [
                user
                for read in reads
                for user in (read, *read.outputs[0].consumers())
                if user in needed and user not in following
            ],
        )


def followers(ops: Iterable[Any]) -> set[Any]:
    """The operations that run after one of these."""
    found: set[Any] = set()
    todo = list(ops)
    while todo:
        op = todo.pop()
        after = [*op._control_outputs]
        for output in op.outputs:
            after += output.consumers()
        new = [one for one in after if one not in found]
        found.update(new)
        todo += new
    return found


def _what_it_needs(train_op: Any) -> set[Any]:
    """The operations that run before one does, and itself."""
    todo = [train_op]
    found = {train_op}
    while todo:
        op = todo.pop()
        before = [*(tensor.op for tensor in op.inputs), *op.control_inputs]
        new = [one for one in before if one not in found]
        found.update(new)
        todo += new
    return found
