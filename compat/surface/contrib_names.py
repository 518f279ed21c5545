"""Names of ``tf.contrib`` that have no home: importable, raising on use."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

from ..contrib._homes import PACKAGES, SINGLE_NAMES
from .unavailable import Unavailable, UnavailablePackage

__all__ = ["contrib_fallback", "known_names"]


@functools.cache
def known_names() -> dict[str, list[str]]:
    """The public names of each ``tf.contrib`` subpackage in TF 1.12 and 1.15."""
    text = resources.files("tfmigrate.compat.contrib").joinpath("names.json")
    found: dict[str, list[str]] = json.loads(text.read_text(encoding="utf-8"))
    return found


def contrib_fallback(path: str) -> Any:
    """What stands at a ``tf.contrib`` path that no module of ours provides.

    None when TF 1.x had no such name: then an AttributeError is the truth.
    """
    package, _, name = path.removeprefix("tf.contrib.").partition(".")
    advice = PACKAGES.get(package)
    if advice is None:
        return None
    if not name:
        return UnavailablePackage(path, advice)
    names = known_names().get(package, [])
    if names and name.partition(".")[0] not in names:
        return None
    return Unavailable(path, SINGLE_NAMES.get(f"{package}.{name}", advice))
