"""Relatives of Adam: Nesterov momentum, the infinity norm, lazy sparse updates."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "AdaMaxOptimizer",
    "LazyAdamOptimizer",
    "NadamOptimizer",
]


class NadamOptimizer(tf.train.AdamOptimizer):
    """Adam with Nesterov momentum."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        beta1_power, beta2_power = self._get_beta_accumulators()
        op = tf.raw_ops.ApplyAdam if not hasattr(var, "handle") else None
        if op is None:
            return self._resource_apply_dense(grad, var)
        dtype = var.dtype.base_dtype
        return op(
            var=var._ref(),
            m=m._ref(),
            v=v._ref(),
            beta1_power=tf.cast(beta1_power, dtype),
            beta2_power=tf.cast(beta2_power, dtype),
            lr=tf.cast(self._lr_t, dtype),
            beta1=tf.cast(self._beta1_t, dtype),
            beta2=tf.cast(self._beta2_t, dtype),
            epsilon=tf.cast(self._epsilon_t, dtype),
            grad=grad,
            use_locking=self._use_locking,
            use_nesterov=True,
        ).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        beta1_power, beta2_power = self._get_beta_accumulators()
        dtype = grad.dtype.base_dtype
        return tf.raw_ops.ResourceApplyAdam(
            var=var.handle,
            m=m.handle,
            v=v.handle,
            beta1_power=tf.cast(beta1_power, dtype),
            beta2_power=tf.cast(beta2_power, dtype),
            lr=tf.cast(self._lr_t, dtype),
            beta1=tf.cast(self._beta1_t, dtype),
            beta2=tf.cast(self._beta2_t, dtype),
            epsilon=tf.cast(self._epsilon_t, dtype),
            grad=grad,
            use_locking=self._use_locking,
            use_nesterov=True,
        )

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Any
    ) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (
            tf.cast(beta1_power, dtype),
            tf.cast(beta2_power, dtype),
        )
        beta1, beta2 = tf.cast(self._beta1_t, dtype), tf.cast(self._beta2_t, dtype)
        rate = tf.cast(self._lr_t, dtype) * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_scaled = grad * (1 - beta1)
        m_t = tf.assign(m, m * beta1, use_locking=self._use_locking)
        with tf.control_dependencies([m_t]):
            m_t = scatter_add(m, indices, m_scaled)
            m_bar = m_scaled + beta1 * tf.gather(m_t, indices)
        v_t = tf.assign(v, v * beta2, use_locking=self._use_locking)
        with tf.control_dependencies([v_t]):
            v_t = scatter_add(v, indices, grad * grad * (1 - beta2))
        root = tf.sqrt(tf.gather(v_t, indices)) + tf.cast(self._epsilon_t, dtype)
        update = scatter_add(var, indices, -rate * m_bar / root)
        return tf.group(update, m_t, v_t, m_bar)


class AdaMaxOptimizer(tf.train.AdamOptimizer):
    """Adam with the infinity norm."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        graph = None if tf.executing_eagerly() else tf.get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph)

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=lambda var: var.name)
        self._create_non_slot_variable(
            initial_value=self._beta1, name="beta1_power", colocate_with=first
        )
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _step(self, grad: Any, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        beta1, beta2 = tf.cast(self._beta1_t, dtype), tf.cast(self._beta2_t, dtype)
        power = tf.cast(self._get_beta_accumulators(), dtype)
        m_t = tf.assign(m, beta1 * m + (1 - beta1) * grad)
        v_t = tf.assign(v, tf.maximum(beta2 * v, tf.abs(grad)))
        rate = tf.cast(self._lr_t, dtype) / (1 - power)
        step = rate * m_t / (v_t + tf.cast(self._epsilon_t, dtype))
        return tf.group(tf.assign_sub(var, step), m_t, v_t)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._step(grad, var)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._step(grad, var)

    def _sparse_step(self, grad: Any, var: Any, indices: Any) -> Any:
        dtype = var.dtype.base_dtype
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        beta1, beta2 = tf.cast(self._beta1_t, dtype), tf.cast(self._beta2_t, dtype)
        power = tf.cast(self._get_beta_accumulators(), dtype)
        m_rows = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        v_rows = tf.maximum(beta2 * tf.gather(v, indices), tf.abs(grad))
        m_t = tf.scatter_update(m, indices, m_rows)
        v_t = tf.scatter_update(v, indices, v_rows)
        rate = tf.cast(self._lr_t, dtype) / (1 - power)
        step = rate * m_rows / (v_rows + tf.cast(self._epsilon_t, dtype))
        return tf.group(tf.scatter_sub(var, indices, step), m_t, v_t)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._sparse_step(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._sparse_step(grad, var, indices)

    def _finish(self, update_ops: Any, name_scope: Any) -> Any:
        with tf.control_dependencies(update_ops):
            power = self._get_beta_accumulators()
            with tf.colocate_with(power):
                moved = tf.assign(power, power * self._beta1_t)
        return tf.group(*update_ops, moved, name=name_scope)


class LazyAdamOptimizer(tf.train.AdamOptimizer):
    """Adam that leaves the slots of rows without a gradient alone."""

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (
            tf.cast(beta1_power, dtype),
            tf.cast(beta2_power, dtype),
        )
        beta1, beta2 = tf.cast(self._beta1_t, dtype), tf.cast(self._beta2_t, dtype)
        rate = tf.cast(self._lr_t, dtype) * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        m_t = tf.scatter_update(m, indices, m_rows)
        v_t = tf.scatter_update(v, indices, v_rows)
        step = rate * m_rows / (tf.sqrt(v_rows) + tf.cast(self._epsilon_t, dtype))
        return tf.group(tf.scatter_sub(var, indices, step), m_t, v_t)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._rows(grad, var, indices)
