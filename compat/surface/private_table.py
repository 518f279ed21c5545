"""Public names behind private paths of TF 1.15, for the doors to those paths.

The table (private.json) was recorded from TF 1.15.5: it says
for each private path which public thing was there. Today some of these modules are
gone, have lost names, or mean TF 2's thing by them.
"""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from importlib import resources

__all__ = ["ANCESTORS", "FILLED", "LEGACY_FIRST", "names_of"]

# Modules that TensorFlow still has, with names that mean TF 2's thing today.
LEGACY_FIRST = frozenset(
    f"tensorflow.python.{name}"
    for name in (
        "data",
        "data.experimental",
        "distribute.distribute_config",
        "distribute.mirrored_strategy",
        "distribute.one_device_strategy",
    )
)

# Modules that TensorFlow still has, and that have lost names.
FILLED = frozenset(
    f"tensorflow.python.{name}"
    for name in (
        "autograph",
        "data.experimental.ops.iterator_ops",
        "data.ops.dataset_ops",
        "distribute.distribute_lib",
        "distribute.parameter_server_strategy",
        "eager.context",
        "framework.config",
        "framework.graph_util_impl",
        "framework.ops",
        "ops.array_ops",
        "ops.control_flow_ops",
        "ops.control_flow_v2_toggles",
        "ops.gen_math_ops",
        "ops.math_ops",
        "ops.nn_impl",
        "ops.parsing_ops",
        "ops.random_ops",
        "ops.variable_scope",
        "ops.variables",
        "pywrap_tensorflow",
        "tpu.tpu",
        "tpu.tpu_strategy_util",
        "util.nest",
    )
)


def _ancestors() -> frozenset[str]:
    found = {"tensorflow.python.training"}
    for name in LEGACY_FIRST | FILLED:
        parts = name.split(".")
        found.update(".".join(parts[:end]) for end in range(2, len(parts)))
    return frozenset(found)


# Packages of these: ``from tensorflow.python.ops import control_flow_ops`` asks the
# package for its attribute, so the package has to answer with the door.
ANCESTORS = _ancestors()


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    text = resources.files(__package__).joinpath("private.json").read_text("utf-8")
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path, public in json.loads(text)["names"].items():
        module, _, name = path.rpartition(".")
        top = "" if module.startswith("tensorflow_estimator") else "tensorflow."
        found[top + module][name] = public
    # The wrapper of the C library was star-imported into the module programs name.
    wrapper = "tensorflow.python.pywrap_tensorflow"
    found[wrapper] = found[wrapper + "_internal"]
    # What had no public name, and is what a public one is.
    found["tensorflow.python.ops.variable_scope"]["variable"] = "tf.Variable"
    return dict(found)


def names_of(module: str) -> dict[str, str]:
    """Public path (``tf....``) of each name of a private module that had one."""
    return _table().get(module, {})
