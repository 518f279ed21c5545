"""Optimizer arguments of canned models: names, objects and factories."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
import tf_keras

__all__ = ["legacy_optimizer", "modern_optimizer", "read_early"]

_LEGACY: dict[str, Any] = {
    "Adagrad": tf.train.AdagradOptimizer,
    "Adam": tf.train.AdamOptimizer,
    "Ftrl": tf.train.FtrlOptimizer,
    "RMSProp": tf.train.RMSPropOptimizer,
    "SGD": tf.train.GradientDescentOptimizer,
}
_MODERN: dict[str, Any] = {
    "Adagrad": tf_keras.optimizers.legacy.Adagrad,
    "Adam": tf_keras.optimizers.legacy.Adam,
    "Ftrl": tf_keras.optimizers.legacy.Ftrl,
    "RMSProp": tf_keras.optimizers.legacy.RMSprop,
    "SGD": tf_keras.optimizers.legacy.SGD,
}


def _of_name(name: str, known: dict[str, Any]) -> Any:
    if name not in known:
        raise ValueError(
            f"Unsupported optimizer name: {name}. Supported names are: "
            f"{tuple(sorted(known))}"
        )
    return known[name]


def legacy_optimizer(optimizer: Any, *, learning_rate: float) -> Any:
    """A ``tf.train.Optimizer``; the rate is that of optimizers given by name."""
    if isinstance(optimizer, str):
        return _of_name(optimizer, _LEGACY)(learning_rate=learning_rate)
    if callable(optimizer):
        optimizer = optimizer()
    if not isinstance(optimizer, tf.train.Optimizer):
        raise ValueError(
            f"The given object is not an Optimizer instance. Given: {optimizer}"
        )
    return optimizer


def modern_optimizer(optimizer: Any, *, learning_rate: float | None = None) -> Any:
    """A Keras optimizer of the kind that TF 2 Estimators trained with.

    Without `learning_rate` an optimizer given by name keeps its own default.
    """
    if isinstance(optimizer, str):
        options = {} if learning_rate is None else {"learning_rate": learning_rate}
        return _of_name(optimizer, _MODERN)(**options)
    # Keras optimizers are not callable, factories are.
    if callable(optimizer):
        optimizer = _made_by(optimizer)
    if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer):
        return optimizer
    if isinstance(optimizer, tf_keras.optimizers.Optimizer) and hasattr(
        optimizer, "get_updates"
    ):
        return optimizer  # a class of the user's that writes its own updates
    converted = _converted(optimizer)
    if converted is None:
        raise ValueError(
            "The given object is not a tf.keras.optimizers.Optimizer instance. "
            f"Given: {optimizer}"
        )
    return converted


def _made_by(factory: Any) -> Any:
    """What a factory makes in the graph of a model, without variables in that graph.

    A newer Keras optimizer makes variables of its settings at once, which the older
    one that stands in for it does not use.
    """
    made = factory()
    if isinstance(made, tf_keras.optimizers.Optimizer) and not tf.executing_eagerly():
        own = {id(value) for value in [*vars(made).values(), *made.variables]}
        for key in (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.TRAINABLE_VARIABLES):
            listed = tf.get_collection_ref(key)
            listed[:] = [variable for variable in listed if id(variable) not in own]
    return made


def read_early(optimizer: Any) -> Any:
    """The argument of a new Estimator, as graphs that are built later can use it.

    Settings of a newer Keras optimizer are eager variables: inside of a graph
    nobody can read them any more.
    """
    newer = isinstance(optimizer, tf_keras.optimizers.Optimizer)
    if not newer or hasattr(optimizer, "get_updates") or not tf.executing_eagerly():
        return optimizer
    converted = _converted(optimizer)
    if converted is None:
        return optimizer
    config = converted.get_config()
    return lambda: type(converted).from_config(config)


def _converted(optimizer: Any) -> Any:
    """A newer Keras optimizer as the older one of the same name and settings.

    TF 2.15 converted its own new optimizers in the same way. Keras 3 ones take
    the same road: name and settings agree, but their clipping, weight decay and
    moving averages have no counterpart.
    """
    config_of = getattr(optimizer, "get_config", None)
    kind = _BY_CLASS.get(type(optimizer).__name__)
    if config_of is None or kind is None:
        return None
    if not tf.executing_eagerly() and hasattr(optimizer, "_serialize_hyperparameter"):
        # Settings are variables of this graph; their values, which may be tensors that
        # follow the step, are what they were made of.
        written = optimizer._serialize_hyperparameter
        optimizer._serialize_hyperparameter = lambda setting: (
            setting.initial_value
            if hasattr(setting, "initial_value")
            else written(setting)
        )
    config = config_of()
    unsupported = [
        name
        for name in ("weight_decay", "use_ema", "loss_scale_factor")
        if config.get(name)
    ]
    accumulation = config.get("gradient_accumulation_steps")
    if unsupported or accumulation:
        names = unsupported + (["gradient_accumulation_steps"] if accumulation else [])
        raise ValueError(
            f"{type(optimizer).__name__} with {', '.join(names)} cannot train a canned "
            "Estimator; use the optimizer from tf_keras.optimizers.legacy."
        )
    fresh = kind()
    wanted = {name: config[name] for name in fresh.get_config() if name in config}
    if isinstance(wanted.get("learning_rate"), dict):
        raise ValueError(
            "Learning-rate schedules of Keras 3 cannot be used in an Estimator graph; "
            "pass tf_keras.optimizers.legacy with a schedule of tf_keras."
        )
    clipping = {
        name: config[name]
        for name in ("clipnorm", "clipvalue", "global_clipnorm")
        if config.get(name) is not None
    }
    return kind.from_config({**wanted, **clipping})


_BY_CLASS: dict[str, Any] = {
    name: getattr(tf_keras.optimizers.legacy, name)
    for name in (
        "Adadelta",
        "Adagrad",
        "Adam",
        "Adamax",
        "Ftrl",
        "Nadam",
        "RMSprop",
        "SGD",
    )
}
