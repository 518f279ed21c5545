"""Modules that stand for private paths that legacy programs import from.

``tensorflow.python.estimator.canned.head`` and ``tensorflow.contrib.layers.
python.layers.regularizers`` were never public, yet programs import from them.
A layered module answers for such a path with the public names of the same
family, wherever in the family they live now.
"""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Callable, Iterable
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
            sources = (".".join([package, *below]), package) if below else (package,)
            return Family(".".join(parts[: place + 1]), sources)
    for family in FAMILIES:
        if fullname == family.prefix or fullname.startswith(family.prefix + "."):
            return family
    return None


class Layered(types.ModuleType):
    """A module that looks names up in several places, first hit wins."""

    def __init__(
        self, name: str, sources: Iterable[Callable[[], Any]], path: list[str]
    ) -> None:
        super().__init__(name)
        self.__dict__["_tfm_sources"] = tuple(sources)
        self.__dict__["__path__"] = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name != "__all__":
            raise AttributeError(name)
        if name == "__all__":
            return [known for known in dir(self) if not known.startswith("_")]
        below = sys.modules.get(f"{self.__name__}.{name}")
        if isinstance(below, Layered):
            return below
        gone: Unavailable | None = None
        for source in self.__dict__["_tfm_sources"]:
            try:
                value = getattr(source(), name)
            except AttributeError:
                continue
            if isinstance(value, Unavailable):
                gone = gone or value
                continue
            self.__dict__[name] = value
            return value
        if gone is not None:
            return gone
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        # `from package import name` makes a module of a name that no source has.
        raise UnavailableError(
            f"{self.__name__} is not available on this TensorFlow. It was a private "
            "name: look for its public form, or write it into the program."
        )

    def __dir__(self) -> Iterable[str]:
        names: set[str] = set()
        for source in self.__dict__["_tfm_sources"]:
            try:
                found = source()
            except AttributeError:
                continue
            if not isinstance(found, Unavailable):
                names.update(dir(found))
        return sorted(names)
