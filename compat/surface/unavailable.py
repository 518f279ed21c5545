"""Legacy names that have no home today: importable, raising on use.

A program that imports a name must not die for a branch that it never takes.
So a name without a home is an object that can be imported, passed around and
looked into; the moment it is called or subclassed it raises one sentence that
says what to look at instead.
"""

from __future__ import annotations

import types
from typing import Any, NoReturn

__all__ = ["Unavailable", "UnavailableError", "UnavailablePackage"]


class UnavailableError(RuntimeError):
    """A legacy TensorFlow symbol was used that cannot work any more."""


class Unavailable:
    """Stands for a legacy symbol that cannot work; raises when it is used."""

    def __init__(self, name: str, advice: str) -> None:
        self._tfmigrate_name = name
        self._tfmigrate_advice = advice
        self.__name__ = name.rpartition(".")[2]
        self.__qualname__ = self.__name__
        self.__doc__ = f"{name} is not available: {advice}"

    def _raise(self) -> NoReturn:
        raise UnavailableError(
            f"{self._tfmigrate_name} is not available on this TensorFlow. "
            f"{self._tfmigrate_advice}"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._raise()

    def __getattr__(self, name: str) -> Any:
        # Dunder look-ups come from inspect, copy, pickle and isinstance: they
        # ask whether a protocol is there, so the honest answer is no.
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Unavailable(f"{self._tfmigrate_name}.{name}", self._tfmigrate_advice)

    def as_package(self) -> UnavailablePackage:
        """A module in the place of this name, for ``import`` statements."""
        return UnavailablePackage(self._tfmigrate_name, self._tfmigrate_advice)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        """A class statement with this base works; making an instance raises."""
        me = self

        def refuse(_cls: type, *_args: Any, **_kwargs: Any) -> Any:
            me._raise()

        return (type(self.__name__, (), {"__new__": refuse, "__doc__": self.__doc__}),)

    def __instancecheck__(self, instance: Any) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<unavailable {self._tfmigrate_name}>"


class UnavailablePackage(types.ModuleType):
    """A package without a home: a module all of whose names raise on use."""

    def __init__(self, path: str, advice: str) -> None:
        super().__init__(path.replace("tf.", "tensorflow.", 1), advice)
        self.__dict__["_tfm_path"] = path
        self.__dict__["_tfm_advice"] = advice
        self.__dict__["__path__"] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Unavailable(f"{self._tfm_path}.{name}", self._tfm_advice)
