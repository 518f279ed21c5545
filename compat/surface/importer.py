"""Import of submodules below the clones, and the patched ``tensorflow``.

``import tfmigrate.compat.v1.keras.layers`` has no file behind it: a finder of
our own answers for names below the clones, and for nothing else. `install`
additionally puts the TF 1.15 clone in ``tensorflow``'s place for programs that
cannot be edited.
"""

from __future__ import annotations

import importlib.machinery
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .namespace import Entry, Namespace
from .unavailable import Unavailable

__all__ = ["make_clone"]


class _Loader:
    """Hands the import system an object that already exists."""

    def __init__(self, target: types.ModuleType) -> None:
        self.target = target

    def create_module(self, spec: Any) -> None:
        """Let Python make a throw-away module.

        Returning the target here would let Python write a new ``__spec__`` and
        ``__loader__`` into modules that belong to TensorFlow.
        """

    def exec_module(self, module: types.ModuleType) -> None:
        """Put the target where the throw-away module stands."""
        sys.modules[module.__name__] = self.target


class CloneFinder:
    """Finds modules below the clones by attribute."""

    def __init__(self) -> None:
        self.roots: dict[str, Namespace] = {}

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Answer for ``ROOT.a.b`` where ``a.b`` is a module in the clone."""
        parent, _, name = fullname.rpartition(".")
        root, rest = self._split(parent)
        if root is None:
            return None
        module = module_at(root, [*rest, name])
        return None if module is None else spec_for(fullname, module)

    def _split(self, parent: str) -> tuple[Namespace | None, list[str]]:
        for prefix, root in self.roots.items():
            if parent == prefix:
                return root, []
            if parent.startswith(prefix + "."):
                return root, parent[len(prefix) + 1 :].split(".")
        return None, []


def module_at(root: Any, parts: Sequence[str]) -> types.ModuleType | None:
    """The module at a path below a clone; what has no home is one as well."""
    found = root
    for part in parts:
        found = getattr(found, part, None)
        if isinstance(found, Unavailable):
            found = found.as_package()
        if not isinstance(found, types.ModuleType):
            return None
    module: types.ModuleType = found
    return module


def spec_for(name: str, module: types.ModuleType) -> importlib.machinery.ModuleSpec:
    """A module spec under which ``module`` is imported as ``name``."""
    loader: Any = _Loader(module)
    return importlib.machinery.ModuleSpec(name, loader, is_package=True)


_finder = CloneFinder()


def make_clone(
    name: str,
    *,
    base: Callable[[], Any],
    overlay: Mapping[str, Entry],
    doc: str | None = None,
) -> Namespace:
    """A root namespace called ``name`` whose submodules can be imported."""
    clone = Namespace("tf", base=base, overlay=overlay, module_name=name, doc=doc)
    _finder.roots[name] = clone
    if _finder not in sys.meta_path:
        finder: Any = _finder
        sys.meta_path.append(finder)
    return clone
