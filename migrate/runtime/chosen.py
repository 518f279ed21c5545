"""The strategy that `rewrite --strategy` chose, whatever the program says."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from .config import RunConfig
from .strategies import (
    MirroredStrategy,
    MultiWorkerMirroredStrategy,
    OneDeviceStrategy,
    ParameterServerStrategy,
)


def train_under(make: Callable[[], Any]) -> Callable[[], Any]:
    """Lets every RunConfig train under one strategy, made when it is first needed."""
    made = functools.cache(make)
    RunConfig.chosen = staticmethod(made)
    return made


def chosen_strategy(*own: Any, **options: Any) -> Any:
    """The chosen strategy, where the program makes its own."""
    del own, options
    return RunConfig.chosen() if RunConfig.chosen is not None else None


def on_one_device() -> tf.distribute.Strategy:
    """On a GPU if there is one."""
    gpus = tf.config.list_logical_devices("GPU")
    return OneDeviceStrategy("/gpu:0" if gpus else "/cpu:0")


def on_tpu() -> tf.distribute.Strategy:
    """On the TPU that TPU_NAME says, or that this machine has."""
    name = os.environ.get("TPU_NAME", "local" if os.path.exists("/dev/accel0") else "")
    try:
        if not name:
            raise ValueError("TPU_NAME is not set, and there is no /dev/accel0")
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
    except (tf.errors.OpError, ValueError, RuntimeError, ImportError) as error:
        raise RuntimeError(
            f"No TPU was found ({error}). Name one in TPU_NAME, or rewrite the program "
            "with another --strategy."
        ) from error
    return tf.distribute.TPUStrategy(resolver)


def on_nothing() -> None:
    """Without a strategy."""


# What was chosen comes along; from here on it is so in all of the program.
chosen_mirrored = train_under(MirroredStrategy)
chosen_multiworker = train_under(MultiWorkerMirroredStrategy)
chosen_parameter_server = train_under(ParameterServerStrategy)
chosen_central = train_under(tf.distribute.experimental.CentralStorageStrategy)
chosen_one_device = train_under(on_one_device)
chosen_tpu = train_under(on_tpu)
chosen_default = train_under(on_nothing)
