"""Tables that people write, in files of TOML beside the modules that read them."""

from __future__ import annotations

import sys
from importlib import resources
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["table_of", "tomllib"]


def table_of(package: str, name: str) -> dict[str, Any]:
    """What a file of a package says."""
    text = resources.files(package).joinpath(name).read_text("utf-8")
    return dict(tomllib.loads(text))
