"""Optimizers around another optimizer, and clipping by the joint norm."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "MovingAverageOptimizer",
    "VariableClippingOptimizer",
    "clip_gradients_by_global_norm",
]


class _Wrapper(tf.train.Optimizer):
    """An optimizer that passes on to another one."""

    def __init__(self, opt: Any, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._optimizer = opt

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The inner optimizer's gradients."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The inner optimizer's slot."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The inner optimizer's slot names."""
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """The inner optimizer's variables."""
        return self._optimizer.variables()


class MovingAverageOptimizer(_Wrapper):
    """Trains with another optimizer and keeps moving averages of the weights."""

    def __init__(
        self,
        opt: Any,
        average_decay: float = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        super().__init__(opt, False, "MovingAverageOptimizer")
        self._ema = tf.train.ExponentialMovingAverage(
            average_decay, num_updates=num_updates
        )
        self._swap: dict[str, Any] | None = None
        self._sequential_update = sequential_update

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Apply gradients, then move the averages."""
        update = self._optimizer.apply_gradients(
            grads_and_vars, global_step=global_step, name=name
        )
        variables = [var for _, var in grads_and_vars]
        with tf.control_dependencies([update] if self._sequential_update else []):
            averages = self._ema.apply(variables)
        self._swap = {}
        for var in variables:
            average = self._ema.average(var)
            self._swap[average.op.name] = var
            self._swap[var.op.name] = average
        return tf.group(update, averages, name="train_with_avg")

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """A saver that stores the averages under the weights' own names."""
        if self._swap is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the "
                "swapping_saver"
            )
        variables = tf.global_variables() if var_list is None else var_list
        if not isinstance(variables, dict):
            variables = {var.op.name: var for var in variables}
        swapped = {
            key: self._swap.get(var.op.name, var) for key, var in variables.items()
        }
        return tf.train.Saver(swapped, name=name, **kwargs)


class VariableClippingOptimizer(_Wrapper):
    """Clips variables by norm after each update of another optimizer."""

    def __init__(
        self,
        opt: Any,
        vars_to_clip_dims: Any,
        max_norm: Any,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(opt, use_locking, name)
        self._dims = {
            var.op.name: (var, dims) for var, dims in vars_to_clip_dims.items()
        }
        self._max_norm = max_norm
        del colocate_clip_ops_with_vars

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Apply gradients, then clip."""
        with tf.name_scope(name, self._name) as scope:
            update = self._optimizer.apply_gradients(
                grads_and_vars, global_step=global_step
            )
            clips = []
            with tf.control_dependencies([update]):
                for var, dims in self._dims.values():
                    clipped = tf.clip_by_norm(var, self._max_norm, dims)
                    clips.append(tf.assign(var, clipped))
            return tf.group(*clips, update, name=scope)


def clip_gradients_by_global_norm(
    gradients_variables: Any, clip_norm: float = 20.0
) -> list[tuple[Any, Any]]:
    """All gradients scaled so that their joint norm is at most ``clip_norm``."""
    pairs = list(gradients_variables)
    clipped, _ = tf.clip_by_global_norm([grad for grad, _ in pairs], clip_norm)
    return list(zip(clipped, [var for _, var in pairs], strict=True))
