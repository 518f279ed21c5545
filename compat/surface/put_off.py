"""Packages that Keras imports and seldom uses: they are loaded when it does.

pandas, scipy, h5py and requests take a quarter of the time that TensorFlow and Keras
need to start, and tens of megabytes. Keras asks of each value whether it is of pandas
or scipy, which it cannot be while these are not loaded.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["packages_put_off"]


class _OfNothing:
    """Stands for a class of a package that nobody has loaded: it has no instances."""

    def __init__(self) -> None:
        raise TypeError("it only answers isinstance()")


def _is_sparse(value: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(value))


# Module -> what it says of itself until somebody has loaded it.
_MODULES: Mapping[str, Mapping[str, Any]] = {
    "pandas": {"DataFrame": _OfNothing, "Series": _OfNothing},
    "scipy": {},
    "scipy.linalg": {},
    "scipy.ndimage": {},
    "scipy.sparse": {"issparse": _is_sparse},
    "h5py": {},
    "requests": {},
}


class _PutOff(types.ModuleType):
    """A module that is imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        below = f"{self.__name__}.{name}"
        if below in _MODULES:
            standing = sys.modules.get(below)
            return standing if standing is not None else _PutOff(below)
        there = sys.modules.get(self.__name__)
        if there is None or there is self:
            unloaded = _MODULES[self.__name__]
            if name in unloaded:
                return unloaded[name]
            _take_away(self.__name__.partition(".")[0])
            there = importlib.import_module(self.__name__)
        return getattr(there, name)


def _take_away(top: str) -> None:
    for name in _MODULES:
        if name.partition(".")[0] == top and isinstance(sys.modules.get(name), _PutOff):
            del sys.modules[name]


@contextlib.contextmanager
def packages_put_off() -> Iterator[None]:
    """What is imported within gets stand-ins of these packages.

    Those that are loaded already, or not installed, are left as they are. Afterwards
    everybody else imports the packages themselves.
    """
    waiting = set()
    for name in _MODULES:
        top = name.partition(".")[0]
        if name == top and name not in sys.modules:
            spec = importlib.util.find_spec(name)
            if spec is not None:
                waiting.add(name)
                sys.modules[name] = _PutOff(name)
                # Somebody may ask whether the package is installed.
                sys.modules[name].__spec__ = spec
        elif top in waiting:
            sys.modules[name] = _PutOff(name)
    try:
        yield
    finally:
        for top in waiting:
            _take_away(top)
