"""Finds the exhibits that ship with the distribution."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ..errors import UserError


def bundled(relative: str) -> Path:
    """Return the path of a shipped file or folder, e.g. ``"data"``.

    An installed wheel has them in the package ``tfmigrate._fixtures``; a source
    checkout has them in ``fixtures/`` next to the tool, also when it was
    installed editable before that package existed.
    """
    parent = __name__.rpartition(".datasets")[0]
    roots = [Path(__file__).resolve().parents[2] / "fixtures"]
    spec = importlib.util.find_spec(f"{parent}._fixtures")
    if spec is not None and spec.submodule_search_locations:
        roots[:0] = [Path(place) for place in spec.submodule_search_locations]
    for root in roots:
        candidate = root / relative
        if candidate.exists():
            return candidate
    raise UserError(
        f"this installation of tfmigrate lacks its bundled {relative!r}",
        hint="install the distribution again",
    )
