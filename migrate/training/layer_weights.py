"""Layers that begin with weights of another checkpoint."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import core

VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"  # behind the path of a variable


class Task(core.Task):
    """A task whose layers begin with weights of another checkpoint."""

    def initialize(self) -> None:
        """Sets weights that the task does not begin with by itself."""


class Trainer(core.Trainer):
    """A trainer of such tasks."""

    def _prepare(self, features: Any, path: str | None = None) -> None:
        """Makes all variables, and restores the latest or another checkpoint."""
        super()._prepare(features, path)
        if not (path or self.latest_checkpoint()):
            self.task.initialize()


def read_layers(path: str, layers: dict[str, Any], missing_ok: bool = False) -> None:
    """Sets the weights of layers from a checkpoint, by the names that it has for them.

    One of TensorFlow 2 has paths of objects: those that end in such a name are meant.
    """
    reader = tf.train.load_checkpoint(path)
    keys = {key.removesuffix(VALUE): key for key in reader.get_variable_to_shape_map()}
    count = 0
    for name, layer in layers.items():
        for weight in layer.weights:
            own = weight.name.rpartition("/")[2].partition(":")[0]
            found, end = [f"{name}/{own}"], f"{name}/{own}"
            if found[0] not in keys:
                objects = [one for one in keys if one.startswith("model/")]
                found = [one for one in objects if one.endswith(f"/{end}")]
                while not found and end.count("/") > 1:
                    end = end.partition("/")[2]
                    found = [one for one in objects if one.endswith(f"/{end}")]
            if len(found) == 1:
                weight.assign(reader.get_tensor(keys[found[0]]))
                count += 1
            elif found or not missing_ok:
                raise ValueError(f"{path} has {len(found)} variables `{name}/{own}`.")
    if not count:
        raise ValueError(f"{path} has none of the weights that begin as it has them.")
