"""The part of ``tf.contrib`` that Estimator programs use.

Subpackages are imported when they are first asked for. What has no home today
can still be imported and raises, with a sentence of advice, when it is used.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

__all__ = sorted(
    entry.name
    for entry in pkgutil.iter_modules(__path__)
    if not entry.name.startswith("_")
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return list(__all__)
