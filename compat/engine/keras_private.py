"""Every private tf_keras import of the compat engine, with its reason.

``tf_keras.__internal__`` is what the Estimator package itself was built on:
cloning a compiled model into another graph has no public counterpart.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tf_keras

# tf.nn.rnn_cell: tensorflow.compat.v1 looks for it in Keras 3, which has none.
from tf_keras.api._v1.keras.__internal__.legacy import rnn_cell

# The session that Keras runs graphs of TF 1 in; public in tf.keras of TF 1 only.
from tf_keras.api._v1.keras.backend import set_session
from tf_keras.src.engine import functional, sequential, training_utils_v1
from tf_keras.src.optimizers import optimizer_v1

__all__ = [
    "TFOptimizer",
    "accept_any_input_shape",
    "class_bases_kept",
    "clone_and_build_model",
    "convert_to_legacy_optimizer",
    "initialize_variables",
    "restore_subclassed_model",
    "rnn_cell",
    "set_session",
    "standardize_sample_weights",
    "track_variable",
]

clone_and_build_model = tf_keras.__internal__.models.clone_and_build_model
restore_subclassed_model = (
    tf_keras.__internal__.models.in_place_subclassed_model_state_restoration
)
convert_to_legacy_optimizer = (
    tf_keras.__internal__.optimizers.convert_to_legacy_optimizer
)
track_variable = tf_keras.__internal__.backend.track_variable
initialize_variables = tf_keras.__internal__.backend.initialize_variables

# What a model compiled with a tf.train optimizer holds.
TFOptimizer = optimizer_v1.TFOptimizer


def standardize_sample_weights(sample_weights: Any, output_names: Any) -> Any:
    """One sample weight tensor (or None) per output."""
    return training_utils_v1.standardize_sample_weights(sample_weights, output_names)


def accept_any_input_shape() -> None:
    """Models of layers leave the check of their inputs to the layers, as in TF 1.

    A model for [batch, 784] may be called on [batch, 28, 28] there if its first
    layer can take it, which programs do when they export. For a process that is a
    TF 1 program's own: it changes the classes of tf_keras.
    """
    for kind in (functional.Functional, sequential.Sequential):
        kind.input_spec = property(_given_input_spec, kind.input_spec.fset)


def _given_input_spec(model: Any) -> Any:
    return getattr(model, "_manual_input_spec", None)


@contextlib.contextmanager
def class_bases_kept(model: Any) -> Iterator[None]:
    """Puts the base classes of the user's model and layers back afterwards.

    tf_keras exchanges the base class of every layer class it instantiates in a
    session graph. The user's eager objects would change their class under his
    hands, and fail in the next ``fit`` or ``predict``.
    """
    saved: dict[type, tuple[type, ...]] = {}
    for layer in model._flatten_layers():
        for cls in type(layer).__mro__:
            if cls is not object:
                saved[cls] = cls.__bases__
    try:
        yield
    finally:
        for cls, bases in saved.items():
            if cls.__bases__ != bases:
                cls.__bases__ = bases
