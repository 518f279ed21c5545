"""``optimize_loss``: one call from a loss to a train op."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "OPTIMIZER_CLS_NAMES",
    "OPTIMIZER_SUMMARIES",
    "adaptive_clipping_fn",
    "optimize_loss",
]

OPTIMIZER_CLS_NAMES: dict[str, Any] = {
    "Adagrad": tf.train.AdagradOptimizer,
    "Adam": tf.train.AdamOptimizer,
    "Ftrl": tf.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: tf.train.MomentumOptimizer(
        learning_rate, momentum=0.9
    ),
    "RMSProp": tf.train.RMSPropOptimizer,
    "SGD": tf.train.GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]

Gradients = list[tuple[Any, Any]]


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Iterable[Any] | None = None,
    variables: Any = None,
    name: str | None = None,
    summaries: Iterable[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """A tensor of the loss that, when evaluated, has trained one step."""
    loss = tf.convert_to_tensor(loss)
    tf.debugging.assert_scalar(loss)
    if global_step is None:
        global_step = tf.train.get_global_step()
    else:
        tf.train.assert_global_step(global_step)
    with tf.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        update_ops = (
            tf.get_collection(tf.GraphKeys.UPDATE_OPS)
            if update_ops is None
            else update_ops
        )
        unique = list(dict.fromkeys(update_ops))
        if unique:
            with tf.control_dependencies(unique):
                loss = tf.identity(loss)
        wanted = _check_summaries(summaries)
        rate = _learning_rate(learning_rate)
        if rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in wanted:
                tf.summary.scalar("learning_rate", rate)
        opt = _optimizer(optimizer, rate)
        gradients = opt.compute_gradients(
            loss,
            tf.trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gradient_noise_scale is not None:
            gradients = _with_noise(gradients, gradient_noise_scale)
        if gradient_multipliers is not None:
            gradients = _multiplied(gradients, gradient_multipliers)
            if not gradients:
                raise ValueError(
                    "Empty list of (gradient, var) pairs encountered. This is most "
                    "likely to be caused by an improper value of "
                    "gradient_multipliers."
                )
        norms = {"global_gradient_norm", "gradient_norm"} & wanted
        if norms:
            tf.summary.scalar("global_norm/gradient_norm", _global_norm(gradients))
        if isinstance(clip_gradients, float):
            gradients = _clipped(gradients, clip_gradients)
        elif callable(clip_gradients):
            gradients = clip_gradients(gradients)
        elif clip_gradients is not None:
            raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
        if "loss" in wanted:
            tf.summary.scalar("loss", loss)
        _summarize_gradients(gradients, wanted)
        if clip_gradients is not None and norms:
            tf.summary.scalar(
                "global_norm/clipped_gradient_norm", _global_norm(gradients)
            )
        update = opt.apply_gradients(
            gradients,
            global_step=global_step if increment_global_step else None,
            name="train",
        )
        with tf.control_dependencies([update]):
            return tf.identity(loss, name="control_dependency")


def _check_summaries(summaries: Iterable[str] | None) -> set[str]:
    if summaries is None:
        return {"loss", "learning_rate", "global_gradient_norm"}
    wanted = list(summaries)
    for name in wanted:
        if name not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], "
                f"you provided {name}."
            )
    return set(wanted)


def _learning_rate(learning_rate: Any) -> Any:
    if learning_rate is None:
        return None
    if tf.is_tensor(learning_rate):
        if learning_rate.get_shape().ndims != 0:
            raise ValueError(
                "learning_rate should be 0d Tensor or float. Got "
                f"{learning_rate} of type {type(learning_rate)}"
            )
        return learning_rate
    if isinstance(learning_rate, float):
        if learning_rate < 0.0:
            raise ValueError(f"Invalid learning_rate {learning_rate}.")
        return tf.get_variable(
            "learning_rate",
            [],
            trainable=False,
            initializer=tf.constant_initializer(learning_rate),
        )
    raise ValueError(
        "Learning rate should be 0d Tensor or float. Got "
        f"{learning_rate} of type {type(learning_rate)}"
    )


def _optimizer(optimizer: Any, rate: Any) -> Any:
    if isinstance(optimizer, str):
        if optimizer not in OPTIMIZER_CLS_NAMES:
            names = ", ".join(OPTIMIZER_CLS_NAMES)
            raise ValueError(
                f"Optimizer name should be one of [{names}], you provided {optimizer}."
            )
        if rate is None:
            raise ValueError("Learning rate is None, but should be specified.")
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, type) and issubclass(optimizer, tf.train.Optimizer):
        if rate is None:
            raise ValueError("Learning rate is None, but should be specified.")
        return optimizer(learning_rate=rate)
    if isinstance(optimizer, tf.train.Optimizer):
        return optimizer
    if callable(optimizer):
        made = optimizer(rate) if rate is not None else optimizer()
        if not isinstance(made, tf.train.Optimizer):
            raise ValueError(
                "Unrecognized optimizer: function should return subclass of "
                f"Optimizer. Got {made}."
            )
        return made
    raise ValueError(
        "Unrecognized optimizer: should be string, subclass of Optimizer, instance "
        f"of subclass of Optimizer or function with one argument. Got {optimizer}."
    )


def _values(gradients: Gradients) -> list[Any]:
    return [grad for grad, _ in gradients]


def _global_norm(gradients: Gradients) -> Any:
    return tf.global_norm(_values(gradients))


def _clipped(gradients: Gradients, limit: float) -> Gradients:
    clipped, _ = tf.clip_by_global_norm(_values(gradients), limit)
    return list(zip(clipped, [var for _, var in gradients], strict=True))


def _scaled(grad: Any, factor: Any) -> Any:
    if isinstance(grad, tf.IndexedSlices):
        return tf.IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return grad * tf.cast(factor, grad.dtype)


def _multiplied(gradients: Gradients, factors: Mapping[Any, Any]) -> Gradients:
    by_name = {
        key if isinstance(key, str) else key.name: value
        for key, value in factors.items()
    }
    result = []
    for grad, var in gradients:
        factor = by_name.get(var.name)
        if grad is not None and factor is not None:
            grad = _scaled(grad, tf.cast(factor, grad.dtype))
        result.append((grad, var))
    return result


def _with_noise(gradients: Gradients, scale: float) -> Gradients:
    noisy = []
    for grad, var in gradients:
        if grad is None:
            noisy.append((None, var))
            continue
        if isinstance(grad, tf.IndexedSlices):
            noise = tf.truncated_normal(tf.shape(grad.values)) * scale
            slices = tf.IndexedSlices(
                grad.values + noise, grad.indices, grad.dense_shape
            )
            noisy.append((slices, var))
        else:
            noisy.append((grad + tf.truncated_normal(grad.shape) * scale, var))
    return noisy


def _summarize_gradients(gradients: Gradients, wanted: set[str]) -> None:
    for grad, var in gradients:
        if grad is None:
            continue
        values = grad.values if isinstance(grad, tf.IndexedSlices) else grad
        name = var.name.replace(":", "_")
        if "gradients" in wanted:
            tf.summary.histogram(f"gradients/{name}", values)
        if "gradient_norm" in wanted:
            tf.summary.scalar(f"gradient_norm/{name}", tf.global_norm([values]))


def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: float = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable[[Gradients], Gradients]:
    """Clip where the gradient norm leaves its own moving mean and deviation."""

    def clip(gradients: Gradients) -> Gradients:
        with tf.variable_scope(name, "AdaptiveMaxNorm", _values(gradients)):
            norm = _global_norm(gradients)
            log_norm = tf.log(norm + epsilon)

            def average(label: str, value: Any, rate: Any) -> Any:
                var = tf.get_variable(
                    label, [], initializer=tf.zeros_initializer(), trainable=False
                )
                moved = var * rate + value * (1.0 - rate)
                return tf.assign(var, moved)

            rate: Any = decay
            if global_step is not None:
                steps = tf.cast(global_step, tf.float32)
                rate = tf.minimum(decay, steps / (steps + 1.0))
            mean = average("mean", log_norm, rate)
            square = average("sq_mean", tf.square(log_norm), rate)
            deviation = tf.sqrt(tf.maximum(epsilon, square - tf.square(mean)))
            limit = tf.exp(mean + std_factor * deviation)
            if static_max_norm is not None:
                limit = tf.minimum(limit, static_max_norm)
            if report_summary:
                tf.summary.scalar("global_norm/adaptive_max_gradient_norm", limit)
            factor = tf.where(norm < limit, tf.ones_like(norm), tf.exp(mean) / norm)
            return [
                (None if grad is None else _scaled(grad, factor), var)
                for grad, var in gradients
            ]

    return clip
