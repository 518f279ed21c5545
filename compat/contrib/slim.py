"""``tf.contrib.slim``: the tf_slim package, when it is installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from ..surface.unavailable import Unavailable

__all__: list[str] = []

_ADVICE = "It lives in a package of its own now: pip install tf_slim"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if importlib.util.find_spec("tf_slim") is None:
        return Unavailable(f"tf.contrib.slim.{name}", _ADVICE)
    return getattr(importlib.import_module("tf_slim"), name)
