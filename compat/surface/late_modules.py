"""Our modules that a program asks for after the clone has taken TensorFlow's name.

They are imported when they are needed, which most of them never are, and still mean
TensorFlow itself by ``tensorflow``: they are run with an ``__import__`` of their own.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

from .layered import Layered

__all__ = ["LateModules"]

_PREFIX = "tfmigrate.compat."
# These are made for the program: what they import is what it sees, too.
_OF_THE_PROGRAM = ("launcher", "examples", "v1", "v2")


class LateModules:
    """Finds modules of ours that are not loaded yet; goes into ``sys.meta_path``."""

    def __init__(self, real: types.ModuleType) -> None:
        self._real = real
        self._names = {**vars(builtins), "__import__": self._import}

    @staticmethod
    def can_load(package: types.ModuleType) -> bool:
        """Whether modules of a package lie in files that can be loaded this way."""
        loader = getattr(package.__spec__, "loader", None)
        return type(loader) is importlib.machinery.SourceFileLoader

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Answer for the modules of the runtime."""
        if not fullname.startswith(_PREFIX):
            return None
        if fullname.removeprefix(_PREFIX).partition(".")[0] in _OF_THE_PROGRAM:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is _SourceFileLoader:
            spec.loader = _LateLoader(fullname, spec.loader.path, self._names)
        return spec

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        """``__import__`` for which ``tensorflow`` is TensorFlow."""
        if level or name.partition(".")[0] != "tensorflow":
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = self._module(name)
        return module if fromlist else self._real

    def _module(self, name: str) -> Any:
        known = sys.modules.get(name)
        if isinstance(known, Layered):
            return known.__dict__["_tfm_real"] or known
        found: Any = self._real
        for part in name.split(".")[1:]:
            found = getattr(found, part, None)
        # Its public namespaces are attributes, and the clone has their names.
        if isinstance(found, types.ModuleType):
            return found
        return importlib.import_module(name)


_SourceFileLoader = importlib.machinery.SourceFileLoader


class _LateLoader(_SourceFileLoader):
    """Runs a module with builtins that the finder chose."""

    def __init__(self, fullname: str, path: str, names: dict[str, Any]) -> None:
        super().__init__(fullname, path)
        self._names = names

    def exec_module(self, module: types.ModuleType) -> None:
        module.__dict__["__builtins__"] = self._names
        super().exec_module(module)
