"""Keras 2 for the legacy namespaces, whatever ``tf.keras`` is in this process.

``tensorflow.compat.v1`` routes keras, layers and rnn_cell through a loader that
gives Keras 3 or refuses, unless an environment variable was set before
TensorFlow was imported. The clones therefore name tf_keras' modules directly.
The v1 API packages of tf_keras (``tf_keras.api._v1``) have no public path of
their own; they are named here only.
"""

from __future__ import annotations

from typing import Any

from .namespace import Base, Entry, attribute
from .unavailable import Unavailable

__all__ = ["KERAS_V1", "KERAS_V2"]

_V1 = "tf_keras.api._v1.keras"
_SCIKERAS = "Use the scikeras package (scikeras.wrappers)."
_MULTI_GPU = (
    "Build and compile the model under tf.distribute.MirroredStrategy().scope()."
)

_MODEL_TO_ESTIMATOR = "tfmigrate.compat.estimator.keras_model:model_to_estimator"

_GONE: dict[str, Entry] = {
    path: Unavailable(path, advice)
    for path, advice in {
        "tf.keras.experimental.LinearCosineDecay": (
            "Use tf.train.linear_cosine_decay, which is the same schedule."
        ),
        "tf.keras.experimental.NoisyLinearCosineDecay": (
            "Use tf.train.noisy_linear_cosine_decay, which is the same schedule."
        ),
        "tf.keras.experimental.PeepholeLSTMCell": (
            "Use tf.nn.rnn_cell.LSTMCell(units, use_peepholes=True)."
        ),
        "tf.keras.experimental.terminate_keras_multiprocessing_pools": (
            "Leave the call out: workers of Model.fit end with it."
        ),
        "tf.keras.mixed_precision.experimental.LossScaleOptimizer": (
            "Use tf.keras.mixed_precision.LossScaleOptimizer, whose scale is dynamic "
            "by default."
        ),
        "tf.keras.utils.HDF5Matrix": (
            "Read the file with h5py and feed it through tf.data instead."
        ),
        "tf.keras.utils.convert_all_kernels_in_model": (
            "It was for Theano weights, which Keras reads no more."
        ),
        "tf.keras.utils.multi_gpu_model": _MULTI_GPU,
        "tf.keras.wrappers.scikit_learn.KerasClassifier": _SCIKERAS,
        "tf.keras.wrappers.scikit_learn.KerasRegressor": _SCIKERAS,
    }.items()
}

_COSINE = "tfmigrate.compat.surface.small:cosine_proximity"


def _keras_v1() -> Any:
    """The module, once Keras finds by name what TF 1 found and it has no more."""
    objects = attribute("tf_keras.utils:get_custom_objects")()()
    for name in ("cosine_proximity", "cosine_similarity"):
        objects.setdefault(name, attribute(_COSINE)())
    return attribute(_V1)()


_SAVED_MODEL = "tfmigrate.compat.contrib.saved_model"
_PRECISION = "tf_keras.api._v2.keras.mixed_precision"

KERAS_V1: dict[str, Entry] = {
    "tf.keras": Base(_keras_v1),
    **{
        f"tf.keras.{part}.{name}": attribute(_COSINE)
        for part in ("losses", "metrics")
        for name in ("cosine", "cosine_proximity")
    },
    "tf.keras.losses.cosine_similarity": attribute(_COSINE),
    "tf.keras.losses.CosineSimilarity": attribute(
        "tfmigrate.compat.surface.keras_losses:CosineSimilarity"
    ),
    "tf.keras.experimental.export_saved_model": attribute(
        f"{_SAVED_MODEL}:save_keras_model"
    ),
    "tf.keras.experimental.load_from_saved_model": attribute(
        f"{_SAVED_MODEL}:load_keras_model"
    ),
    "tf.keras.mixed_precision.experimental": Base(lambda: None),
    **{
        f"tf.keras.mixed_precision.experimental.{old}": attribute(f"{_PRECISION}:{new}")
        for old, new in (
            ("Policy", "Policy"),
            ("global_policy", "global_policy"),
            ("set_policy", "set_global_policy"),
        )
    },
    "tf.layers": Base(attribute(f"{_V1}.__internal__.legacy.layers")),
    "tf.nn.rnn_cell": Base(attribute(f"{_V1}.__internal__.legacy.rnn_cell")),
    "tf.keras.estimator": Base(lambda: None),
    "tf.keras.estimator.model_to_estimator": attribute(_MODEL_TO_ESTIMATOR),
    **_GONE,
}

KERAS_V2: dict[str, Entry] = {
    "tf.keras": Base(attribute("tf_keras.api._v2.keras")),
    "tf.keras.estimator": Base(lambda: None),
    "tf.keras.estimator.model_to_estimator": attribute(f"{_MODEL_TO_ESTIMATOR}_v2"),
}
