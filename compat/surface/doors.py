"""Finds what stands behind the import paths that legacy programs come in through."""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import importer
from .layered import KERAS_PARTS, Family, Layered, family_of
from .namespace import Namespace
from .private_table import ANCESTORS, FILLED, LEGACY_FIRST, names_of

__all__ = ["DoorFinder"]

_TRACKING = "tensorflow.python.training.tracking"
_CHECKPOINTABLE = "tensorflow.python.training.checkpointable"  # until TF 1.13
_TRACKABLE = "tensorflow.python.trackable"
_KERAS = "tensorflow.python.keras"
# Where tf_keras keeps what TensorFlow's own Keras had under a private path.
_KERAS_SOURCE = "tf_keras.src"
_KERAS_MOVED = {
    ".optimizer_v2": ".optimizers.legacy",
    ".premade": ".premade_models",
    ".testing_utils": ".testing_infra.test_utils",
}

# What TensorFlow's modules of legacy layers load when one is asked for; Keras 2 has it
# by another name.
_LEGACY_LAYERS = "tf_keras.legacy_tf_layers"

# Private classes that go by another name today, since TF 2's has theirs.
_DISTRIBUTE = "tensorflow.python.distribute.distribute_lib"
_RENAMED: Mapping[str, Mapping[str, Callable[[], Any]]] = {
    _DISTRIBUTE: {
        # "Is there a strategy?", asked of what tf.distribute.get_strategy() gives.
        "_DefaultDistributionStrategy": lambda: type(
            importlib.import_module(_DISTRIBUTE)._get_default_strategy()
        ),
    },
}

# Top folders of TensorFlow that are packages of code, not part of its API.
_PRIVATE = frozenset(
    (
        *("_api", "compiler", "core", "dtensor", "include"),
        *("lite", "python", "security", "tools", "tsl"),
    )
)


class DoorFinder:
    """Finds what stands behind legacy import paths; goes first in ``sys.meta_path``."""

    def __init__(self, root: Namespace) -> None:
        self.root = root
        self._loading: set[str] = set()

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> Any:
        """Answer for names below ``tensorflow``, ``keras`` and the estimator's."""
        top = fullname.partition(".")[0]
        if fullname in self._loading:
            return None
        if fullname.startswith(_CHECKPOINTABLE):
            name = _TRACKING + fullname[len(_CHECKPOINTABLE) :]
            return importer.spec_for(fullname, importlib.import_module(name))
        if fullname.startswith(_TRACKING):  # renamed as a whole
            name = _TRACKABLE + fullname[len(_TRACKING) :]
            if importlib.util.find_spec(name):
                moved = importlib.import_module(name)
                return importer.spec_for(
                    fullname, Layered(fullname, [lambda: moved], [])
                )
        if top == "tensorflow_core":  # what TF 1.15 called itself inside
            name = "tensorflow" + fullname[len(top) :]
            return importer.spec_for(fullname, importlib.import_module(name))
        if top == "keras":
            return self._keras(fullname)
        if fullname.startswith(_LEGACY_LAYERS):
            name = _KERAS_SOURCE + fullname.removeprefix("tf_keras")
            return importer.spec_for(fullname, importlib.import_module(name))
        if top not in ("tensorflow", "tensorflow_estimator"):
            return None
        if fullname == "tensorflow":
            return importer.spec_for(fullname, self.root)
        if fullname.startswith("tensorflow.examples"):
            return self._example(fullname)
        found = self._private_door(fullname)
        if found is None:
            parts = fullname.split(".")[1:]
            if parts and parts[0] not in _PRIVATE:
                found = importer.module_at(self.root, parts)
        if found is None and names_of(fullname) and not self._is_there(fullname):
            found = self._layered(fullname, [], None)  # a module that is gone
        return None if found is None else importer.spec_for(fullname, found)

    def _private_door(self, fullname: str) -> types.ModuleType | None:
        family = family_of(fullname)
        if family is not None:
            return self._of_family(fullname, family)
        if fullname == "tensorflow.python":
            return self._layered(
                fullname, [lambda: self.root], self._real_module(fullname), True
            )
        if fullname in LEGACY_FIRST:
            return self._layered(fullname, [], self._real_module(fullname))
        if fullname in FILLED:
            # What TensorFlow moved elsewhere has the same public name as a rule.
            root = [lambda: self.root]
            return self._layered(fullname, root, self._real_module(fullname), True)
        if fullname in ANCESTORS:
            return self._layered(fullname, [], self._real_module(fullname), True)
        return None

    def _of_family(self, fullname: str, family: Family) -> Layered:
        sources = [self._source(path) for path in family.sources]
        if fullname.startswith(_KERAS):
            sources.append(_keras_source(fullname))
        real = self._real_module(fullname) if family.keep else None
        return self._layered(fullname, sources, real)

    def _layered(
        self,
        fullname: str,
        sources: list[Callable[[], Any]],
        real: types.ModuleType | None,
        real_first: bool = False,
    ) -> Layered:
        return Layered(
            fullname,
            sources,
            list(getattr(real, "__path__", [])),
            real=real,
            names=self._names(fullname),
            real_first=real_first,
            renamed=_RENAMED.get(fullname),
        )

    def _names(self, fullname: str) -> Mapping[str, Callable[[], Any]]:
        return {
            name: self._source(public.removeprefix("tf."))
            for name, public in names_of(fullname).items()
        }

    def _keras(self, fullname: str) -> Any:
        """Keras 2 for programs that import the Keras package by itself.

        A module called keras in the program's own folder stays what it is.
        """
        spec = importlib.machinery.PathFinder.find_spec("keras")
        folders = (spec.submodule_search_locations if spec is not None else None) or ()
        if not any(os.path.isdir(os.path.join(f, "_tf_keras")) for f in folders):
            return None
        found: Any = self.root.keras
        for part in fullname.split(".")[1:]:
            found = getattr(found, part, None)
        if not isinstance(found, types.ModuleType):
            sources = [self._source("keras")]
            sources += [self._source(f"keras.{name}") for name in KERAS_PARTS]
            found = Layered(fullname, sources, [])
        return importer.spec_for(fullname, found)

    def _source(self, path: str) -> Callable[[], Any]:
        if path.startswith(("tfmigrate.", "tensorflow.")):
            return lambda: importlib.import_module(path)

        def look() -> Any:
            found: Any = self.root
            for part in path.split("."):
                found = getattr(found, part)
            return found

        return look

    def _is_there(self, fullname: str) -> bool:
        """Whether TensorFlow itself has a module of that name."""
        self._loading.add(fullname)
        try:
            return importlib.util.find_spec(fullname) is not None
        except ImportError:
            return False
        finally:
            self._loading.discard(fullname)

    def _real_module(self, fullname: str) -> types.ModuleType | None:
        """TensorFlow's own module of that name, loaded if need be."""
        known = sys.modules.get(fullname)
        if isinstance(known, Layered):
            found: types.ModuleType | None = known.__dict__["_tfm_real"]
            return found
        if known is not None:
            return known
        self._loading.add(fullname)
        try:
            return importlib.import_module(fullname)
        except ImportError:
            return None
        finally:
            self._loading.discard(fullname)

    def _example(self, fullname: str) -> Any:
        ours = "tfmigrate.compat.examples" + fullname[len("tensorflow.examples") :]
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name and ours.startswith(error.name):
                return None
            raise
        return importer.spec_for(fullname, module)


def _keras_source(fullname: str) -> Callable[[], Any]:
    rest = fullname[len(_KERAS) :]
    for old, new in _KERAS_MOVED.items():
        if rest.startswith(old):
            rest = new + rest[len(old) :]
    return functools.partial(importlib.import_module, _KERAS_SOURCE + rest)
