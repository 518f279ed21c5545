"""Gives unedited programs the names that Python and NumPy dropped since TF 1.

They are found on demand, through the ``__getattr__`` of the modules they were in:
what is still there is not touched, and a program that needs none loses nothing.
The first use of each is told on standard error, for it is work left to do.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import inspect
import sys
import types
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from ..bygone_names import ADVICE, METHODS, RENAMED

__all__ = ["restore_names", "restore_python_names"]

_PYTHON = ("base64", "collections", "fractions", "inspect", "time")
_ArgSpec = namedtuple("_ArgSpec", "args varargs keywords defaults")


def restore_python_names() -> None:
    """Let the standard library's modules answer for the names they had."""
    for name in _PYTHON:  # cheap modules all
        importlib.import_module(name)
    restore_names(*_PYTHON)


def restore_names(*packages: str) -> None:
    """Let modules that are loaded answer for the names they had."""
    for package in packages:
        module = sys.modules.get(package)
        if module is not None and "_tfmigrate_bygone" not in module.__dict__:
            module.__dict__["_tfmigrate_bygone"] = True
            _extend(module)
            for kind in ("ndarray", "generic") if package == "numpy" else ():
                _add_methods(module.__dict__[kind])


def _extend(module: types.ModuleType) -> None:
    before: Callable[[str], Any] | None = module.__dict__.get("__getattr__")

    def find(name: str) -> Any:
        dotted = f"{module.__name__}.{name}"
        provide = _FUNCTIONS.get(dotted)
        if provide is not None:
            value = provide()
        elif dotted in RENAMED:
            value = _at(RENAMED[dotted])
        elif before is not None:
            return before(name)
        else:
            raise AttributeError(
                f"module {module.__name__!r} has no attribute {name!r}"
            )
        instead = ADVICE.get(dotted) or f"{RENAMED[dotted]} today"
        print(
            f"tfmigrate: {dotted} is gone from this {_maker(module)}; the old one "
            f"stands in for it ({instead})",
            file=sys.stderr,
        )
        module.__dict__[name] = value
        return value

    module.__dict__["__getattr__"] = find


def _add_methods(kind: type) -> None:
    """Give a class that is written in C the methods that it had.

    Assignment refuses such a class; its own dictionary, which garbage collection sees
    behind the proxy, does not.
    """
    (own,) = gc.get_referents(kind.__dict__)
    for old, new in METHODS.items():
        if isinstance(own, dict) and not hasattr(kind, old):
            own[old] = _told(kind, old, new)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _told(kind: type, old: str, new: str) -> Callable[..., Any]:
    """A method under the name that it had, which says so when first it is called."""
    say = [
        f"tfmigrate: {kind.__name__}.{old} is gone from this NumPy; it is {new} today"
    ]

    def method(array: Any, *args: Any) -> Any:
        while say:
            print(say.pop(), file=sys.stderr)
        return getattr(array, new)(*args)

    method.__name__ = old
    return method


def _maker(module: types.ModuleType) -> str:
    return "NumPy" if module.__name__ == "numpy" else "Python"


def _at(dotted: str) -> Any:
    package, *rest = dotted.split(".")
    found: Any = importlib.import_module(package)
    path = package
    for part in rest:
        path = f"{path}.{part}"
        if not hasattr(found, part):
            importlib.import_module(path)
        found = getattr(found, part)
    return found


def _getargspec() -> Callable[[Any], Any]:
    def getargspec(func: Any) -> Any:
        """Names and defaults of a function's arguments, as Python 2 gave them."""
        spec = inspect.getfullargspec(func)
        # TensorFlow's functions had no annotations; ours stand in their place.
        ours = str(getattr(func, "__module__", "")).startswith("tfmigrate.")
        if spec.kwonlyargs or (spec.annotations and not ours):
            raise ValueError(
                "Function has keyword-only parameters or annotations, use "
                "inspect.signature() API which can support them"
            )
        return _ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)

    return getargspec


def _of_numpy(make: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: make(importlib.import_module("numpy"))


_FUNCTIONS: dict[str, Callable[[], Any]] = {
    "inspect.getargspec": _getargspec,
    "numpy.NINF": _of_numpy(lambda np: -np.inf),
    "numpy.alen": _of_numpy(lambda np: lambda a: len(np.atleast_1d(a))),
    "numpy.asfarray": _of_numpy(
        lambda np: (
            lambda a, dtype=float: np.asarray(
                a, dtype if np.issubdtype(dtype, np.inexact) else float
            )
        )
    ),
    "numpy.asscalar": _of_numpy(lambda np: lambda a: a.item()),
    "numpy.in1d": _of_numpy(
        lambda np: (
            lambda ar1, ar2, **options: np.isin(np.asarray(ar1).ravel(), ar2, **options)
        )
    ),
    "numpy.msort": _of_numpy(lambda np: lambda a: np.sort(a, axis=0)),
    "numpy.rank": _of_numpy(lambda np: np.ndim),
    "numpy.trapz": _of_numpy(lambda np: np.trapezoid),
}
