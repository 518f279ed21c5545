"""Canonical names: one spelling for each TensorFlow symbol, whatever its door.

``tensorflow.compat.v1.train.AdamOptimizer``,
``tensorflow.python.training.adam.AdamOptimizer`` and
``tensorflow.train.AdamOptimizer`` are one symbol; it is called
``tf.train.AdamOptimizer`` everywhere in this tool.
"""

from __future__ import annotations

import enum
import json
import re
from functools import lru_cache
from importlib import resources


class Door(enum.Enum):
    """Through which path of the package a program reached a symbol."""

    PUBLIC = "tensorflow"
    COMPAT_V1 = "tensorflow.compat.v1"
    COMPAT_V2 = "tensorflow.compat.v2"
    PRIVATE = "tensorflow.python"
    ESTIMATOR_PACKAGE = "tensorflow_estimator"


# Roots that hold the same tree as ``tensorflow`` itself.
_ROOTS = (
    "tensorflow_core._api.v1",
    "tensorflow_core._api.v2",
    "tensorflow._api.v1",
    "tensorflow._api.v2",
    "tensorflow_core",
    "tensorflow",
)


# TF 2.0 to 2.15 had them too, and they are as gone as those of TF 1.
_IN_TF2 = ("estimator", "keras.estimator")


def _below(dotted: str, prefix: str) -> str | None:
    """What follows ``prefix`` in ``dotted`` (may be empty), or None."""
    if dotted == prefix:
        return ""
    if dotted.startswith(prefix + "."):
        return dotted[len(prefix) + 1 :]
    return None


def door(dotted: str) -> Door | None:
    """The door of a dotted import path, or None when it is not TensorFlow's."""
    if dotted.split(".")[0] == "tensorflow_estimator":
        return Door.ESTIMATOR_PACKAGE
    for root in _ROOTS:
        rest = _below(dotted, root)
        if rest is None:
            continue
        if _below(rest, "compat.v1") is not None:
            return Door.COMPAT_V1
        if _below(rest, "compat.v2") is not None:
            return Door.COMPAT_V2
        if _below(rest, "python") is not None:
            return Door.PRIVATE
        if rest.startswith("contrib.") and ".python." in rest + ".":
            return Door.PRIVATE
        return Door.PUBLIC
    return None


@lru_cache(maxsize=1)
def private_names() -> dict[str, str]:
    """Private definition path -> canonical name, as TF 1.15 defines them."""
    data = resources.files("tfmigrate.compat.surface").joinpath("private.json")
    try:
        text = data.read_text("utf-8")
    except FileNotFoundError:
        return {}
    table: dict[str, str] = json.loads(text)["names"]
    return table


def _private(path: str) -> str | None:
    """Look a private path up; longest known prefix wins, the rest is kept.

    A member of a known class (``adam.AdamOptimizer.minimize``) follows the
    class, so the prefix search is needed even for exact symbols.
    """
    table = private_names()
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        public = table.get(".".join(parts[:end]))
        if public is not None:
            return ".".join([public, *parts[end:]])
    return None


def _handed_on(path: str) -> str | None:
    """The public name of what a private module of contrib only hands on.

    ``contrib.tpu.python.tpu.tpu_estimator`` was moved out of contrib, and imports all
    that it has from its new place.
    """
    parts = path.split(".")
    if parts[2:3] != ["python"]:
        return None
    # What one device computes was a tower until TF 1.12.
    inner = ".".join(parts[3:]).replace("cross_tower_ops.", "cross_device_ops.")
    homes = ("python", f"python.{parts[1]}", "tensorflow_estimator.python.estimator")
    found = (_private(f"{home}.{inner}") for home in homes if inner)
    return next((one for one in found if one is not None), None)


# Private modules that hand on what is public elsewhere, under the same names.
_HANDING_ON = {
    "framework.dtypes": "tf",
    "ops.losses.losses": "tf.losses",
    "ops.metrics": "tf.metrics",
    "ops.nn": "tf.nn",
    "ops.rnn_cell": "tf.nn.rnn_cell",
}


@lru_cache(maxsize=20_000)
def canonical(dotted: str) -> str | None:
    """The ``tf.`` name of a dotted import path, or None if it is not TF.

    A private path without a public name keeps its own spelling below
    ``tf.python`` so that rules can still see that it is TensorFlow's.
    """
    rest = _below(dotted, "tensorflow_estimator")
    if rest is not None:
        return _estimator_package(rest)
    for root in _ROOTS:
        rest = _below(dotted, root)
        if rest is not None:
            break
    else:
        return None
    return public_name(rest)


def public_name(rest: str) -> str:
    """Canonical name of a path given below the package root."""
    while True:  # tf.compat.v1.compat.v1 exists, and people have written it
        inner = _below(rest, "compat.v1")
        if inner is None:
            break
        rest = inner
    for package in _IN_TF2:
        if _below(rest, f"compat.v2.{package}") is not None:
            rest = rest.removeprefix("compat.v2.")
    if not rest:
        return "tf"
    if _below(rest, "python") is not None:
        below = _below(rest, "python") or ""
        for package in ("estimator.api.estimator", "keras.api.keras"):
            inner = _below(below, package)
            if inner is not None:
                return _join("tf." + package.split(".")[0], inner)
        for module, home in _HANDING_ON.items():
            inner = _below(below, module)
            if inner:
                return _join(home, inner)
        found = _private("python." + below) if below else None
        if found is not None:
            return found
        # ``tensorflow.python.keras.layers.Dense`` mirrors the public tree.
        inner = _below(below, "keras")
        if inner is not None:
            return _join("tf.keras", inner)
        inner = _below(below, "estimator")
        if inner is not None and inner:
            return "tf.estimator." + inner.split(".")[-1]
        return _join("tf.python", below)
    # Slim hands these packages on, and what it imports itself.
    rest = (
        rest.removeprefix("contrib.slim.init_ops.") if "_initializer" in rest else rest
    )
    rest = re.sub(r"^contrib\.slim\.(losses|metrics)(?=\.|$)", r"contrib.\1", rest)
    if rest.startswith("contrib."):
        found = _private(rest) or _handed_on(rest)
        if found is not None:
            return found
    return "tf." + rest


def _estimator_package(rest: str) -> str:
    for prefix in (
        "_api.v1.estimator",
        "_api.v2.estimator",
        "python.estimator.api._v1.estimator",
        "python.estimator.api._v2.estimator",
        "python.estimator.api.estimator",
        "estimator",
    ):
        inner = _below(rest, prefix)
        if inner is not None:
            return _join("tf.estimator", inner)
    if not rest:
        return "tf.python.tensorflow_estimator"
    found = _private("tensorflow_estimator." + rest)
    if found is not None:
        return found
    inner = _below(rest, "python.estimator")
    if inner:
        return "tf.estimator." + inner.split(".")[-1]
    return "tf.python.tensorflow_estimator." + rest


def _join(prefix: str, rest: str) -> str:
    return f"{prefix}.{rest}" if rest else prefix
