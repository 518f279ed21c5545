"""``slim.learning``: the training step; its loop is a part of the tf_slim package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from ...surface.unavailable import Unavailable
from .. import training
from .._homes import PACKAGES
from ..training import add_gradients_summaries, clip_gradient_norms, multiply_gradients

__all__ = [
    "add_gradients_summaries",
    "clip_gradient_norms",
    "create_train_op",
    "multiply_gradients",
]

_USE_GLOBAL_STEP = 0

train = Unavailable("tf.contrib.slim.learning.train", PACKAGES["slim"])
train_step = Unavailable("tf.contrib.slim.learning.train_step", PACKAGES["slim"])


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Any = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = tf.train.Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Any:
    """A tensor that gives the loss and has trained one step."""

    def transform(gradients: Any) -> Any:
        if gradient_multipliers:
            with tf.name_scope("multiply_grads"):
                gradients = multiply_gradients(gradients, gradient_multipliers)
        if clip_gradient_norm > 0:
            with tf.name_scope("clip_grads"):
                gradients = clip_gradient_norms(gradients, clip_gradient_norm)
        return gradients

    return training.create_train_op(
        total_loss,
        optimizer,
        global_step,
        update_ops=update_ops,
        variables_to_train=variables_to_train,
        transform_grads_fn=transform,
        summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
    )
