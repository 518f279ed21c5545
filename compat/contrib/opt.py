"""``tf.contrib.opt``: optimizers with weight decay, lazy updates, averages."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "AdaMaxOptimizer",
    "AdamWOptimizer",
    "DecoupledWeightDecayExtension",
    "LARSOptimizer",
    "LazyAdamOptimizer",
    "MomentumWOptimizer",
    "MovingAverageOptimizer",
    "NadamOptimizer",
    "VariableClippingOptimizer",
    "clip_gradients_by_global_norm",
    "extend_with_decoupled_weight_decay",
]


class DecoupledWeightDecayExtension:
    """A mix-in that decays weights before the optimizer's own update."""

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._decay_var_list: list[str] | None = None
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = tf.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Any = None,
    ) -> Any:
        """Minimise, decaying ``decay_var_list`` (all variables by default)."""
        self._remember(decay_var_list)
        return super().minimize(  # type: ignore[misc]
            loss,
            global_step=global_step,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            name=name,
            grad_loss=grad_loss,
        )

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Any = None,
    ) -> Any:
        """Apply gradients, decaying ``decay_var_list`` (all by default)."""
        if decay_var_list is not None:
            self._remember(decay_var_list)
        return super().apply_gradients(  # type: ignore[misc]
            grads_and_vars, global_step=global_step, name=name
        )

    def _remember(self, variables: Any) -> None:
        self._decay_var_list = (
            None if not variables else [var.op.name for var in variables]
        )

    def _prepare(self) -> None:
        decay = (
            self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        )
        self._weight_decay_tensor = tf.convert_to_tensor(decay, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _decay(self, var: Any) -> Any:
        if self._decay_var_list is None or var.op.name in self._decay_var_list:
            return tf.assign_sub(
                var, tf.cast(self._weight_decay_tensor, var.dtype.base_dtype) * var
            )
        return tf.no_op()

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        # The gradient belongs to the weights before they decay.
        with tf.control_dependencies([grad]):
            decay = self._decay(var)
        with tf.control_dependencies([decay]):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies([grad]):
            decay = self._decay(var)
        with tf.control_dependencies([decay]):
            return super()._resource_apply_dense(grad, var)  # type: ignore[misc]

    def _decay_rows(self, var: Any, indices: Any) -> Any:
        # Only the rows that are looked up decay.
        if self._decay_var_list is None or var.op.name in self._decay_var_list:
            factor = tf.cast(self._weight_decay_tensor, var.dtype.base_dtype)
            return tf.scatter_sub(var, indices, factor * tf.gather(var, indices))
        return tf.no_op()

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies([grad.values]):
            decay = self._decay_rows(var, grad.indices)
        with tf.control_dependencies([decay]):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        with tf.control_dependencies([grad]):
            decay = self._decay_rows(var, indices)
        with tf.control_dependencies([decay]):
            return super()._resource_apply_sparse(  # type: ignore[misc]
                grad, var, indices
            )


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> type:
    """An optimizer class that first takes a ``weight_decay``."""

    class OptimizerWithDecoupledWeightDecay(
        DecoupledWeightDecayExtension,
        base_optimizer,
    ):
        """The given optimizer with decoupled weight decay."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            self._decay_var_list = None
            self._weight_decay = weight_decay
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.train.MomentumOptimizer):
    """Momentum with decoupled weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.train.AdamOptimizer):
    """Adam with decoupled weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )


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
