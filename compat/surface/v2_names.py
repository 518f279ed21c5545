"""What TF 2.15 had and today's ``tensorflow`` has not: Estimators, Keras 2."""

from __future__ import annotations

from .estimator_names import ESTIMATOR_V2
from .keras_names import KERAS_V2
from .namespace import Entry, attribute

__all__ = ["OVERLAY"]

OVERLAY: dict[str, Entry] = {
    **KERAS_V2,
    **ESTIMATOR_V2,
    "tf.distribute.MirroredStrategy": attribute(
        "tfmigrate.compat.engine.strategies:MirroredStrategy"
    ),
    "tf.distribute.OneDeviceStrategy": attribute(
        "tfmigrate.compat.engine.strategies:OneDeviceStrategy"
    ),
    "tf.compat.v1": attribute("tfmigrate.compat.v1"),
    "tf.compat.v2": attribute("tfmigrate.compat.v2"),
}
