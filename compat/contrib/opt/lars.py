"""Layer-wise adaptive rates."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "LARSOptimizer",
]


class LARSOptimizer(tf.train.Optimizer):
    """Layer-wise adaptive rate scaling with momentum."""

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Any = None,
        use_nesterov: bool = False,
    ) -> None:
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        rate = (
            self._learning_rate()
            if callable(self._learning_rate)
            else self._learning_rate
        )
        self._rate_tensor = tf.convert_to_tensor(rate, name="learning_rate")

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """The learning rate of one variable, and its gradient with decay."""
        rate = self._rate_tensor
        if self._skip_list is None or not any(
            part in var.name for part in self._skip_list
        ):
            w_norm, g_norm = tf.norm(var, ord=2), tf.norm(grad, ord=2)
            trust = tf.where(
                tf.greater(w_norm, 0),
                tf.where(
                    tf.greater(g_norm, 0),
                    self._eeta
                    * w_norm
                    / (g_norm + self._weight_decay * w_norm + self._epsilon),
                    1.0,
                ),
                1.0,
            )
            rate = rate * trust
            grad = grad + self._weight_decay * var
        return rate, grad

    def _step(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        slot = self.get_slot(var, "momentum")
        moved = tf.assign(slot, slot * self._momentum + grad)
        step = grad + moved * self._momentum if self._use_nesterov else moved
        return tf.group(tf.assign_sub(var, tf.cast(rate, var.dtype.base_dtype) * step))

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._step(grad, var)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._step(grad, var)
