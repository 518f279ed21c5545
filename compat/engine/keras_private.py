"""Every private tf_keras import of the compat engine, with its reason.

``tf_keras.__internal__`` is what the Estimator package itself was built on:
cloning a compiled model into another graph has no public counterpart.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator
from typing import Any

import tf_keras

# tf.nn.rnn_cell: tensorflow.compat.v1 looks for it in Keras 3, which has none.
from tf_keras.api._v1.keras.__internal__.legacy import rnn_cell

# The session that Keras runs graphs of TF 1 in; public in tf.keras of TF 1 only.
from tf_keras.api._v1.keras.backend import set_session
from tf_keras.src.engine import (
    base_layer,
    base_layer_v1,
    functional,
    sequential,
    training_utils_v1,
)
from tf_keras.src.layers.rnn import base_rnn, stacked_rnn_cells
from tf_keras.src.optimizers import optimizer_v1
from tf_keras.src.utils import generic_utils

__all__ = [
    "TFOptimizer",
    "behave_as_in_tf1",
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


def behave_as_in_tf1() -> None:
    """Keras with the names and the freedom that it had in TF 1.15.

    For a process that is a TF 1 program's own: it changes tf_keras itself.
    """
    _accept_any_input_shape()
    _name_as_in_tf1()
    _keep_variables_of_tf1()


def _accept_any_input_shape() -> None:
    """Models of layers leave the check of their inputs to the layers.

    A model for [batch, 784] may be called on [batch, 28, 28] there if its first
    layer can take it, which programs do when they export.
    """
    for kind in (functional.Functional, sequential.Sequential):
        kind.input_spec = property(_given_input_spec, kind.input_spec.fset)


def _name_as_in_tf1() -> None:
    """Layers and variables get the names that checkpoints of TF 1.15 know them by.

    The cell of a recurrent layer had no scope of its own, and digits counted as part
    of the word before them (ResBlockV2 is res_block_v2, ConvLSTM2D conv_lst_m2d).
    """
    for module in (base_rnn, stacked_rnn_cells):
        module.backend = _BackendWithoutScopes(module.backend)
    for module in (generic_utils, base_layer, base_layer_v1):
        module.to_snake_case = functools.wraps(generic_utils.to_snake_case)(_snake_case)


def _keep_variables_of_tf1() -> None:
    """Ftrl has a setting today that TF 1.15 had not, and held no variable for.

    One would be missing in a checkpoint of TF 1.15. Ftrl gets it from a function then.
    """
    kind = tf_keras.optimizers.legacy.Ftrl
    made = kind.__init__

    @functools.wraps(made)
    def __init__(self: Any, *args: Any, **settings: Any) -> None:
        made(self, *args, **settings)
        beta = self._hyper["beta"]
        if isinstance(beta, float) and not beta:
            self._hyper["beta"] = lambda: beta

    kind.__init__ = __init__


class _BackendWithoutScopes:
    """What two modules know as Keras' backend; their one scope is that of a cell."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    @staticmethod
    def name_scope(_: str) -> contextlib.AbstractContextManager[None]:
        """No scope."""
        return contextlib.nullcontext()


def _snake_case(name: str) -> str:
    words = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    words = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    return f"private{words}" if words.startswith("_") else words


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
