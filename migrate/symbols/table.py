"""What happened to each TF1 symbol, read from the generated data."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources

__all__ = ["is_known", "known_names"]


@lru_cache(maxsize=1)
def known_names() -> frozenset[str]:
    """Canonical names of the whole public API of TF 1.15."""
    data = resources.files(__package__).joinpath("data/names.json")
    return frozenset(json.loads(data.read_text("utf-8"))["names"])


def is_known(name: str | None) -> bool:
    """Whether TF 1.15 has a public symbol of this canonical name."""
    return name is not None and name in known_names()
