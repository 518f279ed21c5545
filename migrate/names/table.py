"""What happened to each TF1 symbol, read from the generated data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

from .surface import has


@dataclass(frozen=True)
class Move:
    """Where a symbol lives today, and what its call must change.

    ``old`` and ``new`` are parameter names then and now, None when the name is
    all that changed. ``otherwise`` has exactly the old behaviour.
    """

    symbol: str
    to: str
    old: tuple[str, ...] | None = None
    new: tuple[str, ...] = ()
    keyword_only: tuple[str, ...] = ()
    keywords: Mapping[str, str] = field(default_factory=dict)
    differ: tuple[str, ...] = ()
    otherwise: str | None = None


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("data/symbols.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    for name in ("kept", "none", "lite", "until_2_15"):
        data[name] = frozenset(data[name])
    return data


@lru_cache(maxsize=4096)
def lookup(name: str) -> Move | None:
    """The move of a canonical TF1 name, or None when it needs or has none."""
    entry = _data()["symbols"].get(name)
    if entry is None:
        return None
    return Move(
        name,
        entry["to"],
        tuple(entry["old"]) if "old" in entry else None,
        tuple(entry.get("new", ())),
        tuple(entry.get("newkw", ())),
        entry.get("keywords", {}),
        tuple(entry.get("differ", ())),
        entry.get("else"),
    )


def needs_nothing(name: str) -> bool:
    """Whether TF2 has the symbol under the same name with the same meaning."""
    return name in _data()["kept"]


def is_known(name: str | None) -> bool:
    """Whether TF 1 has a public symbol of this canonical name outside contrib."""
    if name is None:
        return False
    data = _data()
    return name in data["symbols"] or name in data["kept"] or name in data["none"]


def means_something_else(name: str) -> bool:
    """Whether TF 2 has the name too, with other arguments or another meaning."""
    return name in _data()["symbols"] and _is_in_tf2(name)


def is_recent(name: str) -> bool:
    """Whether TF 2 has the name and no TF 1 ever had it."""
    own = not is_known(name) and not name.startswith("tf.raw_ops")
    return own and _is_in_tf2(name)


def _is_in_tf2(name: str) -> bool:
    return name in _data()["lite"] or has(f"tensorflow{name[2:]}")


def was_in_tf2(name: str) -> bool:
    """Whether TF 2.15 had a name as TF 1 did, and today's TensorFlow has it no more."""
    return name in _data()["until_2_15"]


@lru_cache(maxsize=1)
def _modules() -> frozenset[str]:
    text = resources.files(__package__).joinpath("data/modules.txt").read_text("utf-8")
    return frozenset(text.split())


def is_private_module(path: str) -> bool:
    """Whether ``tensorflow.python...`` or ``.core...`` is a module then and now."""
    return path.removeprefix("tensorflow.") in _modules()


def in_compat_v1(name: str) -> bool:
    """Whether today's ``tf.compat.v1`` offers a canonical TF1 name."""
    if name in ("tf", "tf.compat", "tf.keras"):
        return False
    return _is_in_tf2(f"tf.compat.v1{name[2:]}")
