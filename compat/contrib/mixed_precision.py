"""``tf.contrib.mixed_precision``: losses scaled so that small gradients survive."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "ExponentialUpdateLossScaleManager",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaleOptimizer",
]


class LossScaleManager:
    """The interface: what to scale by, and how that changes."""

    def get_loss_scale(self) -> Any:
        """The scale, as a tensor."""
        raise NotImplementedError

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An operation that changes the scale after a step."""
        raise NotImplementedError


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays."""

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)

    def get_loss_scale(self) -> Any:
        """The scale, as a tensor."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """Changes nothing."""
        del finite_grads
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after good steps and shrinks after bad ones."""

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._every = incr_every_n_steps, decr_every_n_nan_or_inf
        self._ratio = incr_ratio, decr_ratio
        self._scale, self._good, self._bad = (
            tf.get_variable(
                name=tf.get_default_graph().unique_name(name, mark_as_used=False)
                if not tf.executing_eagerly()
                else name,
                initializer=tf.constant(value),
                trainable=False,
            )
            for name, value in (
                ("loss_scale", float(init_loss_scale)),
                ("good_steps", 0),
                ("bad_steps", 0),
            )
        )

    def get_loss_scale(self) -> Any:
        """The scale, as a tensor."""
        return self._scale.read_value()

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """Counts a step, and changes the scale when there were enough of its kind."""
        scale = self._scale.read_value()
        good = tf.where(finite_grads, self._good + 1, 0)
        bad = self._bad + tf.cast(tf.logical_not(finite_grads), tf.int32)
        grows = good >= self._every[0]
        shrinks = bad >= self._every[1]
        larger = scale * self._ratio[0]
        larger = tf.where(tf.math.is_finite(larger), larger, scale)
        smaller = tf.maximum(1.0, scale * self._ratio[1])
        changed = tf.where(grows, larger, tf.where(shrinks, smaller, scale))
        either = tf.logical_or(grows, shrinks)
        with tf.control_dependencies([changed, good, bad]):
            return tf.group(
                self._scale.assign(changed),
                self._good.assign(tf.where(either, 0, good)),
                self._bad.assign(tf.where(either, 0, bad)),
            )


class LossScaleOptimizer(tf.train.Optimizer):
    """An optimizer whose gradients are those of a scaled loss, scaled back.

    A step with gradients that are not finite changes no variable.
    """

    def __init__(self, opt: Any, loss_scale_manager: Any) -> None:
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = tf.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Any:
        """Gradients and variables."""
        scale = self._loss_scale_manager.get_loss_scale()

        def scaled(value: Any) -> Any:
            return value * tf.cast(scale, value.dtype.base_dtype)

        pairs = self._opt.compute_gradients(
            (lambda: scaled(loss())) if callable(loss) else scaled(loss),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )

        def back(gradient: Any) -> Any:
            if isinstance(gradient, tf.IndexedSlices):
                return tf.IndexedSlices(
                    back(gradient.values), gradient.indices, gradient.dense_shape
                )
            return gradient / tf.cast(scale, gradient.dtype.base_dtype)

        return [(None if g is None else back(g), v) for g, v in pairs]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """A step, where all gradients are finite."""
        pairs = list(grads_and_vars)
        finite = tf.reduce_all(
            [
                tf.reduce_all(tf.math.is_finite(_values(g)))
                for g, _ in pairs
                if g is not None
            ]
        )

        def step() -> Any:
            return tf.group(self._opt.apply_gradients(pairs, global_step, name))

        done = tf.cond(finite, step, tf.no_op)
        with tf.control_dependencies([done] if done is not None else []):
            return tf.group(self._loss_scale_manager.update_loss_scale(finite))


def _values(gradient: Any) -> Any:
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
