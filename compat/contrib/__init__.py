"""The part of ``tf.contrib`` that Estimator programs use.

Subpackages are imported when they are first asked for. What has no home today
can still be imported and raises, with a sentence of advice, when it is used.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    found = {entry.name for entry in pkgutil.iter_modules(__path__)}
    return sorted(name for name in found if not name.startswith("_"))
