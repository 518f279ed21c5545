"""What TF 1.15 had and ``tensorflow.compat.v1`` of today has not.

The table maps a public path to what stands there. Everything else is passed
through from ``tensorflow.compat.v1``.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from ..contrib._homes import PACKAGES
from .contrib_aliases import CONTRIB_ALIASES
from .estimator_names import ESTIMATOR_V1
from .keras_names import KERAS_V1
from .namespace import Base, Entry, attribute
from .unavailable import Unavailable, UnavailablePackage

__all__ = ["OVERLAY"]


def _slim() -> Any:
    if importlib.util.find_spec("tf_slim") is not None:
        return importlib.import_module("tf_slim")
    return importlib.import_module("tfmigrate.compat.contrib.slim")


def _slim_nets() -> Any:
    if importlib.util.find_spec("tf_slim") is not None:
        return importlib.import_module("tf_slim.nets")
    return UnavailablePackage("tf.contrib.slim.nets", PACKAGES["slim"])


def _logger() -> Any:
    return importlib.import_module("tensorflow").get_logger()


_STATS = "Its statistics were dropped from tf.data; use the TensorFlow Profiler."
_TPU_EMBEDDING = "Use tf.tpu.experimental.embedding with a TPUStrategy."

OVERLAY: dict[str, Entry] = {
    **CONTRIB_ALIASES,
    **KERAS_V1,
    "tf.distribute.MirroredStrategy": attribute(
        "tfmigrate.compat.engine.strategies:MirroredStrategyV1"
    ),
    "tf.distribute.OneDeviceStrategy": attribute(
        "tfmigrate.compat.engine.strategies:OneDeviceStrategyV1"
    ),
    "tf.distribute.experimental.ParameterServerStrategy": attribute(
        "tfmigrate.compat.engine.strategies:ParameterServerStrategyV1"
    ),
    **ESTIMATOR_V1,
    "tf.Variable": attribute("tfmigrate.compat.surface.variable:Variable"),
    "tf.compat.v1": attribute("tfmigrate.compat.v1"),
    "tf.compat.v2": attribute("tfmigrate.compat.v2"),
    "tf.contrib": Base(attribute("tfmigrate.compat.contrib")),
    "tf.contrib.slim": Base(_slim),
    "tf.contrib.slim.nets": _slim_nets,
    "tf.python": attribute("tensorflow.python"),
    "tf.core": attribute("tensorflow.core"),
    "tf.tools": attribute("tensorflow.tools"),
    "tf.pywrap_tensorflow.NewCheckpointReader": attribute(
        "tensorflow.compat.v1:train.NewCheckpointReader"
    ),
    "tf.pywrap_tensorflow.list_devices": attribute(
        "tensorflow.compat.v1:config.list_logical_devices"
    ),
    "tf.config.experimental_list_devices": attribute(
        "tfmigrate.compat.surface.small:list_device_names"
    ),
    "tf.image.per_image_standardization": attribute(
        "tfmigrate.compat.surface.small:per_image_standardization"
    ),
    # Up to TF 1.13 a logger stood there.
    "tf.logging._logger": _logger,
    "tf.data.experimental.CheckpointInputPipelineHook": attribute(
        "tfmigrate.compat.contrib.data:CheckpointInputPipelineHook"
    ),
    "tf.data.experimental.MapVectorizationOptions": Unavailable(
        "tf.data.experimental.MapVectorizationOptions",
        "Map vectorisation was dropped from tf.data; leave the option out.",
    ),
    **{
        f"tf.data.experimental.{name}": Unavailable(
            f"tf.data.experimental.{name}", _STATS
        )
        for name in (
            "StatsAggregator",
            "StatsOptions",
            "bytes_produced_stats",
            "latency_stats",
            "set_stats_aggregator",
        )
    },
    "tf.lite.experimental.get_potentially_supported_ops": Unavailable(
        "tf.lite.experimental.get_potentially_supported_ops",
        "Convert with tf.lite.TFLiteConverter and read its error report.",
    ),
    "tf.lite.experimental.nn": Unavailable(
        "tf.lite.experimental.nn",
        "Use tf.keras.layers.LSTM, which the TFLite converter fuses by itself.",
    ),
    **{
        f"tf.tpu.experimental.{name}": Unavailable(
            f"tf.tpu.experimental.{name}", _TPU_EMBEDDING
        )
        for name in (
            "AdagradParameters",
            "AdamParameters",
            "StochasticGradientDescentParameters",
        )
    },
}
