"""What TF 1.15 had and ``tensorflow.compat.v1`` of today has not.

The table maps a public path to what stands there. Everything else is passed
through from ``tensorflow.compat.v1``.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from ..contrib._homes import PACKAGES
from .contrib_aliases import CONTRIB_ALIASES
from .estimator_names import ESTIMATOR_V1
from .keras_names import KERAS_V1
from .namespace import Base, Entry, attribute
from .unavailable import Unavailable, UnavailablePackage

__all__ = ["OVERLAY"]


def _published(package: str, module: str) -> Callable[[], Any]:
    """A package of its own where it is installed, else what stands in for it here."""

    def provide() -> Any:
        name = module if importlib.util.find_spec(module.partition(".")[0]) else package
        if name.startswith("tf."):
            return UnavailablePackage(name, PACKAGES[name.split(".")[2]])
        return importlib.import_module(name)

    return provide


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
    "tf.contrib.compiler.xla.estimator_model_fn": attribute(
        "tfmigrate.compat.surface.small:estimator_model_fn"
    ),
    "tf.contrib.eager.list_devices": attribute(
        "tfmigrate.compat.surface.small:list_device_names"
    ),
    "tf.contrib.eager.num_gpus": attribute(
        "tfmigrate.compat.surface.small:number_of_gpus"
    ),
    "tf.contrib.gan": _published("tf.contrib.gan", "tensorflow_gan"),
    "tf.contrib.slim": Base(_published("tfmigrate.compat.contrib.slim", "tf_slim")),
    "tf.contrib.slim.nets": _published("tf.contrib.slim.nets", "tf_slim.nets"),
    "tf.contrib.tensorboard.plugins.projector": attribute(
        "tfmigrate.compat.contrib._projector"
    ),
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
    "tf.test.is_built_with_cuda": attribute(
        "tfmigrate.compat.surface.small:is_built_with_cuda"
    ),
    "tf.train.string_input_producer": attribute(
        "tfmigrate.compat.surface.small:string_input_producer"
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
