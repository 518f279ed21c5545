"""Names of ``tf.contrib`` that have no home: importable, raising on use."""

from __future__ import annotations

import functools
import json
import types
from importlib import resources
from typing import Any

from ..contrib._homes import PACKAGES, SINGLE_NAMES
from .unavailable import Unavailable

__all__ = ["contrib_fallback", "known_names"]


@functools.cache
def known_names() -> dict[str, list[str]]:
    """The public names of each ``tf.contrib`` subpackage in TF 1.12 and 1.15."""
    text = resources.files("tfmigrate.compat.contrib").joinpath("names.json")
    found: dict[str, list[str]] = json.loads(text.read_text(encoding="utf-8"))
    return found


class _UnavailablePackage(types.ModuleType):
    """A subpackage without a home: a module all of whose names raise on use."""

    def __init__(self, path: str, advice: str) -> None:
        super().__init__(path.replace("tf.", "tensorflow.", 1), advice)
        self.__dict__["_tfm_path"] = path
        self.__dict__["_tfm_advice"] = advice
        self.__dict__["__path__"] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Unavailable(f"{self._tfm_path}.{name}", self._tfm_advice)


def contrib_fallback(path: str) -> Any:
    """What stands at a ``tf.contrib`` path that no module of ours provides.

    None when TF 1.x had no such name: then an AttributeError is the truth.
    """
    package, _, name = path.removeprefix("tf.contrib.").partition(".")
    advice = PACKAGES.get(package)
    if advice is None:
        return None
    if not name:
        return _UnavailablePackage(path, advice)
    names = known_names().get(package, [])
    if names and name.partition(".")[0] not in names:
        return None
    return Unavailable(path, SINGLE_NAMES.get(f"{package}.{name}", advice))
