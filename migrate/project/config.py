"""``[tool.tfmigrate]`` in pyproject.toml: defaults the command line overrides."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UserError, did_you_mean
from ..tables import tomllib
from .reading import read_file

_LISTS = ("select", "ignore", "exclude")


@dataclass(frozen=True)
class Config:
    """Settings of the nearest pyproject.toml that has our table."""

    path: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def lists(self, name: str) -> tuple[str, ...]:
        """A list setting, empty when it is not there."""
        return tuple(self.values.get(name, ()))


def load_config(paths: Sequence[Path]) -> Config:
    """Look upwards from what the paths have in common; the nearest table wins."""
    resolved = [os.path.realpath(p) for p in paths] or [os.getcwd()]
    start = Path(os.path.commonpath(resolved))
    for directory in (start, *start.parents):
        file = directory / "pyproject.toml"
        if not file.is_file():
            continue
        try:
            tools = tomllib.loads(read_file(file).decode("utf-8")).get("tool", {})
        except OSError as error:
            raise UserError(f"cannot read {file}: {error.strerror}") from None
        except (ValueError, RecursionError) as error:  # not TOML, or not UTF-8
            raise UserError(f"cannot read {file}: {error}") from None
        table = tools.get("tfmigrate") if isinstance(tools, dict) else None
        if table is not None:
            return Config(file, _checked(file, table))
    return Config()


def _checked(file: Path, table: object) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise UserError(f"{file}: [tool.tfmigrate] must be a table")
    for key, value in table.items():
        if key in _LISTS:
            fits = isinstance(value, list) and all(isinstance(v, str) for v in value)
            if not fits:
                raise UserError(f"{file}: {key} must be a list of strings")
        else:
            known = ", ".join(sorted(_LISTS))
            near = did_you_mean(key, _LISTS)
            raise UserError(
                f"{file}: [tool.tfmigrate] has no setting {key!r}.{near}",
                hint=f"known settings: {known}",
            )
    return table
