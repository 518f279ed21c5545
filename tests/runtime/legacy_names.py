"""TensorFlow 1's names with those of the loop module in the place of the Estimator's.

What a rewrite does to a program's text is done here to its `tf`, so that the programs of
fixtures/oracle run on the loop module as they stand.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import SimpleNamespace
from typing import Any

import tensorflow as tf
import tfmigrate.runtime

v1 = tf.compat.v1


# Parts that come along where an option of `rewrite` asks for them, and take effect by
# being there.
OF_OPTIONS = {"chosen", "profiling"}


def provided() -> dict[str, Any]:
    """Every name of the loop module's parts."""
    names: dict[str, Any] = {}
    for part in pkgutil.iter_modules(tfmigrate.runtime.__path__):
        if part.name in OF_OPTIONS:
            continue
        module = importlib.import_module(f"tfmigrate.runtime.{part.name}")
        names.update(
            (name, value)
            for name, value in vars(module).items()
            if not name.startswith("_") and name != "annotations"
        )
    return names


class DataNames:
    """`tf.data`, with the iterators of the loop module."""

    def __getattr__(self, name: str) -> Any:
        return provided().get(name) or getattr(v1.data, name)


class KerasNames:
    """`tf.keras`, whose Estimators are the loop module's."""

    def __init__(self) -> None:
        self.estimator = SimpleNamespace(**provided())

    def __getattr__(self, name: str) -> Any:
        import tf_keras

        return getattr(tf_keras, name)


class Names:
    """A package of TensorFlow's, with some names of the loop module."""

    def __init__(self, package: Any, **ours: Any) -> None:
        self.package = package
        vars(self).update(ours)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.package, name)


class LegacyTensorFlow:
    """`tf` of a legacy program."""

    def __init__(self) -> None:
        import tfmigrate.compat.v1 as compat

        names = SimpleNamespace(**provided())
        names.inputs = names.export = names.experimental = names.tpu = names
        self.estimator = names
        self.contrib = compat.contrib
        self.layers = compat.layers
        self.nn = compat.nn
        self.keras = KerasNames()
        self.data = DataNames()
        self.feature_column = compat.feature_column
        self.summary = Names(v1.summary, FileWriter=names.FileWriter)
        self.distribute = tf.distribute
        self.train = Names(v1.train, ProfilerHook=names.ProfilerHook)

    def __getattr__(self, name: str) -> Any:
        return getattr(v1, name)
