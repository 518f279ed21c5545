"""Modules that stand for private paths that legacy programs import from.

``tensorflow.python.estimator.canned.head`` and ``tensorflow.contrib.layers.
python.layers.regularizers`` were never public, yet programs import from them.
A layered module answers for such a path with the public names of the same
family, wherever in the family they live now; private_table.py says where each name
that had a public form had it.

TensorFlow imports its own modules late, in functions: it finds what it wrote there,
for a layered module answers callers inside TensorFlow with the real module's names.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from .unavailable import Unavailable, UnavailableError

__all__ = ["FAMILIES", "KERAS_PARTS", "Family", "Layered", "family_of"]


@dataclasses.dataclass(frozen=True)
class Family:
    """Private paths below ``prefix`` share the names of ``sources``.

    ``sources`` are dotted paths below the clone, or modules of ours; ``keep`` says
    that a real module of that name, if TensorFlow has one, answers for the rest.
    """

    prefix: str
    sources: tuple[str, ...]
    keep: bool = False


_ESTIMATOR = (
    "estimator",
    "estimator.export",
    "estimator.inputs",
    "estimator.experimental",
    "estimator.tpu",
    "tfmigrate.compat.estimator.private_names",
    "keras.estimator",
    "train",
)
KERAS_PARTS = (
    "layers",
    "models",
    "backend",
    "utils",
    "losses",
    "metrics",
    "optimizers",
    "callbacks",
    "initializers",
    "regularizers",
    "constraints",
    "activations",
)

FAMILIES: tuple[Family, ...] = (
    Family("tensorflow.python.estimator", _ESTIMATOR),
    Family("tensorflow_estimator", _ESTIMATOR),
    Family("tensorflow.python.layers", ("layers",), keep=True),
    Family("tensorflow.python.ops.rnn_cell_impl", ("nn.rnn_cell",), keep=True),
    Family("tensorflow.python.ops.rnn_cell", ("nn.rnn_cell",), keep=True),
    # Its layers moved to Keras.
    Family(
        "tensorflow.python.feature_column",
        ("keras.layers", "feature_column"),
        keep=True,
    ),
    Family(
        "tensorflow.python.framework.op_def_registry",
        ("tfmigrate.compat.surface.small",),
        keep=True,
    ),
    # What optimizers call. The module has moved, and its wrapper is gone.
    *(
        Family(
            f"tensorflow.python.training.{name}",
            ("tensorflow.python.ops.gen_training_ops",),
        )
        for name in ("training_ops", "gen_training_ops")
    ),
    Family("tensorflow.python.training.distribute", ("distribute",)),
    Family("tensorflow.python.training.distribution_strategy_context", ("distribute",)),
    Family(
        "tensorflow.python.distribute.distribution_strategy_context", ("distribute",)
    ),
    Family("tensorflow.python.ops.losses.loss_reduction", ("losses", "keras.losses")),
    *(
        Family(f"tensorflow.python.keras.{name}", (f"keras.{name}",), keep=True)
        for name in KERAS_PARTS
    ),
    *(
        Family(f"tensorflow.python.keras.{name}", (f"keras.{name}",))
        for name in ("applications", "datasets", "estimator", "preprocessing")
    ),
    Family(
        "tensorflow.python.keras",
        ("keras", "keras.layers", "keras.models"),
        keep=True,
    ),
)


def family_of(fullname: str) -> Family | None:
    """The family that a module name belongs to, if any."""
    parts = fullname.split(".")
    if parts[:2] == ["tensorflow", "contrib"] and "python" in parts[2:]:
        place = parts.index("python", 2)
        if place > 2:
            package = "contrib." + ".".join(parts[2:place])
            # A few modules below are public by their own name as well, such as
            # slim.learning and slim.nets.resnet_v1.
            start = parts.index("nets") if "nets" in parts[place:] else -1
            below = parts[place + 1 :] and parts[start:]
            sources: tuple[str, ...] = (package,)
            if below:
                sources = (".".join([package, *below]), package)
                if len(parts) > place + 2:
                    # Others in a subpackage: gan.losses, gan.eval.
                    sources += (f"{package}.{parts[place + 1]}",)
            if package == "contrib.tpu" and len(parts) > place + 2:
                # These modules were TensorFlow's own already in TF 1.15.
                sources += (f"tensorflow.python.tpu.{parts[-1]}",)
            sources += (f"tfmigrate.compat.{package}.private",)
            return Family(".".join(parts[: place + 1]), sources)
    for family in FAMILIES:
        if fullname == family.prefix or fullname.startswith(family.prefix + "."):
            return family
    return None


# Callers that mean the real module behind a door.
_INTERNAL = frozenset(("tensorflow", "tf_keras", "keras"))


class Layered(types.ModuleType):
    """A module that looks names up in several places, first hit wins.

    Args:
      name: the private path that it answers for.
      sources: functions that give a module each.
      path: folders for submodules that are not imported yet.
      real: TensorFlow's own module of that name; what a program writes goes there.
      names: providers of single names; they come before the sources.
      real_first: whether names of the real module come before `names`.
      renamed: providers of names that mean something else in the real module today.
    """

    def __init__(
        self,
        name: str,
        sources: Iterable[Callable[[], Any]],
        path: list[str],
        *,
        real: types.ModuleType | None = None,
        names: Mapping[str, Callable[[], Any]] | None = None,
        real_first: bool = False,
        renamed: Mapping[str, Callable[[], Any]] | None = None,
    ) -> None:
        super().__init__(name)
        self.__dict__["_tfm_renamed"] = renamed or {}
        self.__dict__["_tfm_sources"] = tuple(sources)
        self.__dict__["_tfm_real"] = real
        self.__dict__["_tfm_names"] = names or {}
        self.__dict__["_tfm_real_first"] = real_first
        self.__dict__["_tfm_found"] = {}
        self.__dict__["__path__"] = path

    def __getattr__(self, name: str) -> Any:
        real: types.ModuleType | None = self.__dict__["_tfm_real"]
        if name.startswith("__") and name.endswith("__") and name != "__all__":
            raise AttributeError(name)
        if real is not None and _caller() in _INTERNAL:
            return getattr(real, name)
        if name == "__all__":
            return [known for known in dir(self) if not known.startswith("_")]
        below = sys.modules.get(f"{self.__name__}.{name}")
        if isinstance(below, Layered):
            return below
        found: dict[str, Any] = self.__dict__["_tfm_found"]
        if name not in found:
            value = self._tfm_look_up(name)
            if (
                real is not None
                and name in real.__dict__
                and value is real.__dict__[name]
            ):
                return value  # it may be written to
            found[name] = value
        return found[name]

    def _tfm_look_up(self, name: str) -> Any:
        gone: Unavailable | None = None
        for provide in self._tfm_places(name):
            try:
                value = provide()
            except (AttributeError, ImportError):
                continue
            if isinstance(value, Unavailable):
                gone = gone or value
                continue
            return value
        if gone is not None:
            return gone
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def _tfm_places(self, name: str) -> Iterable[Callable[[], Any]]:
        if name in self.__dict__["_tfm_renamed"]:
            yield self.__dict__["_tfm_renamed"][name]
        real = self.__dict__["_tfm_real"]
        if real is not None and self.__dict__["_tfm_real_first"]:
            yield lambda: getattr(real, name)
        if name in self.__dict__["_tfm_names"]:
            yield self.__dict__["_tfm_names"][name]
        for source in self.__dict__["_tfm_sources"]:
            yield functools.partial(_attribute_of, source, name)
        if real is not None:
            yield lambda: getattr(real, name)

    def __setattr__(self, name: str, value: Any) -> None:
        real: types.ModuleType | None = self.__dict__["_tfm_real"]
        if real is None or (name.startswith("__") and name.endswith("__")):
            super().__setattr__(name, value)
        elif not isinstance(value, Layered):  # the import system binds submodules
            self.__dict__["_tfm_found"].pop(name, None)
            setattr(real, name, value)

    def __delattr__(self, name: str) -> None:
        real: types.ModuleType | None = self.__dict__["_tfm_real"]
        if real is None:
            super().__delattr__(name)
        else:
            delattr(real, name)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        # `from package import name` makes a module of a name that no source has.
        raise UnavailableError(
            f"{self.__name__} is not available on this TensorFlow. It was a private "
            "name: look for its public form, or write it into the program."
        )

    def __dir__(self) -> Iterable[str]:
        names: set[str] = set(self.__dict__["_tfm_names"])
        real = self.__dict__["_tfm_real"]
        for source in (*self.__dict__["_tfm_sources"], lambda: real):
            try:
                found = source()
            except (AttributeError, ImportError):
                continue
            if found is not None and not isinstance(found, Unavailable):
                names.update(dir(found))
        return sorted(names)


def _attribute_of(source: Callable[[], Any], name: str) -> Any:
    return getattr(source(), name)


def _caller() -> str:
    """Top package of the code that asks a module for an attribute."""
    name: str = sys._getframe(2).f_globals.get("__name__") or ""
    return name.partition(".")[0]
