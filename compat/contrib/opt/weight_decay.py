"""Optimizers that decay weights beside the gradient step."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "AdamWOptimizer",
    "DecoupledWeightDecayExtension",
    "MomentumWOptimizer",
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
