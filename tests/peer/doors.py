"""Import of tensorflow_estimator's modules where only public names are there.

A module of the tree answers with the public thing for each name that had a public
form, runs the helpers that tests share, and answers for everything else with a
`Private` object, which stops the test that uses it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import sys
import types
import unittest
from collections.abc import Sequence
from typing import Any

from sources import PACKAGE, SUMMED, Module, Tree

__all__ = ["Finder", "PrivateNameError", "touched"]

# Private names that the running test has used; the runner empties it before each.
touched: list[str] = []


class PrivateNameError(unittest.SkipTest):
    """A test used something that never had a public name."""


def _stop(name: str) -> Any:
    touched.append(name)
    raise PrivateNameError(f"private name {name}")


class _PrivateBase:
    """Base of classes that tests derive from private ones."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _stop("base of " + type(self).__name__)


class Private:
    """Stands for a private name: may be handed about, not used."""

    def __init__(self, name: str) -> None:
        self.__dict__["_peer_name"] = name
        self.__dict__["__name__"] = name.rpartition(".")[2]

    def _used(self, *args: Any, **kwargs: Any) -> Any:
        return _stop(self.__dict__["_peer_name"])

    __call__ = __instancecheck__ = __iter__ = __bool__ = __str__ = __enter__ = _used
    __hash__ = _used

    def __exit__(self, *args: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Private(f"{self.__dict__['_peer_name']}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        _stop(f"{self.__dict__['_peer_name']}.{name}")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_PrivateBase,)

    def __eq__(self, other: object) -> Any:
        return self is other or self._used()


class PeerModule(types.ModuleType):
    """A module of the tree, with public names in the place of its code."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        finder: Finder = self.__dict__["_peer_finder"]
        value = finder.value(self.__name__, name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        finder: Finder | None = self.__dict__.get("_peer_finder")
        if finder is None or name.startswith("__") or name in finder.below(self):
            super().__setattr__(name, value)
        elif self.__dict__.get(name) is not value:
            # A patch of a module that nothing looks at here.
            _stop(f"patch of {self.__name__}.{name}")


class Finder:
    """Finds the modules of the tree."""

    def __init__(self, tree: Tree, *, generation: int, root: Any) -> None:
        self.tree = tree
        self.generation = generation
        self.root = root

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Answer for names below the package."""
        if fullname.partition(".")[0] != PACKAGE:
            return None
        module = self.tree.module(fullname)
        if module is None:  # no other finder may answer in its place
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        if module.is_helper and not module.is_package:
            return importlib.util.spec_from_file_location(fullname, module.path)
        loader: Any = self
        return importlib.machinery.ModuleSpec(fullname, loader, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """A module that answers lazily."""
        return PeerModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""
        module.__dict__["_peer_finder"] = self

    def below(self, module: types.ModuleType) -> set[str]:
        """Submodules, which the import system writes into their package."""
        read = self.tree.module(module.__name__)
        if read is None or not read.is_package:
            return set()
        return {file.stem for file in read.path.parent.iterdir()}

    def value(self, module_name: str, name: str) -> Any:
        """What a module of the tree has under a name."""
        module = self.tree.module(module_name)
        if self.tree.module(f"{module_name}.{name}") is not None:
            return importlib.import_module(f"{module_name}.{name}")
        assert module is not None
        if name == "USE_DEFAULT":
            return self._default_cell_type(module)
        exported = module.exported.get(name)
        if exported is not None:
            return self.public(exported.v1, exported.v2)
        if name in module.constants:
            value = module.constants[name]
            return types.SimpleNamespace(**value) if isinstance(value, dict) else value
        if name in module.imported:
            where, inside = module.imported[name]
            try:
                return self._imported(where, inside)
            except (ImportError, AttributeError):
                return Private(f"{module_name}.{name}")
        for star in module.stars:
            found = self.value(star, name)
            if not isinstance(found, Private):
                return found
        return Private(f"{module_name}.{name}")

    def _imported(self, where: str, inside: str | None) -> Any:
        if inside is None:
            return importlib.import_module(where)
        try:
            return importlib.import_module(f"{where}.{inside}")
        except ImportError:
            return getattr(importlib.import_module(where), inside)

    def public(self, v1: str | None, v2: str | None) -> Any:
        """The public object, as the generation's programs find it."""
        if self.generation == 1:
            path = v1 if v1 is not None else f"compat.v2.{v2}"
        else:
            path = v2 if v2 is not None else f"compat.v1.{v1}"
        if path.endswith("keras.estimator.model_to_estimator"):
            return self._model_to_estimator()
        if path in SUMMED:
            head = getattr(self.root.compat.v1.contrib.estimator, path)
            reduction = self.root.compat.v1.losses.Reduction.SUM
            return functools.partial(head, loss_reduction=reduction)
        found = self.root
        for part in path.split("."):
            # TF 1.15 has a few things in contrib only, whatever their decorators say.
            home = found if hasattr(found, part) else self.root.contrib.estimator
            found = getattr(home, part)
        return found

    def _default_cell_type(self, module: Module) -> Any:
        """A private mark, which is public as the default of a parameter."""
        known = module.exported["RNNClassifier"]
        function = self.public(known.v1, known.v2).__init__
        return inspect.signature(function).parameters["cell_type"].default

    def _model_to_estimator(self) -> Any:
        """The function behind both public forms: a parameter says which."""
        v1 = self.root.compat.v1.keras.estimator.model_to_estimator
        v2 = self.root.compat.v2.keras.estimator.model_to_estimator

        def model_to_estimator(
            *args: Any, use_v2_estimator: bool = False, **kwargs: Any
        ) -> Any:
            return (v2 if use_v2_estimator else v1)(*args, **kwargs)

        return model_to_estimator


def install(finder: Finder) -> None:
    """Answer before any other finder does."""
    meta: Any = finder
    sys.meta_path.insert(0, meta)
