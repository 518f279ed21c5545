"""Where nested values of two runs differ."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

__all__ = ["differences"]


def differences(
    theirs: Any, ours: Any, relative: float, absolute: float, path: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Each place, with what stands there on either side; floats may differ a little."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted({*theirs, *ours}, key=str):
            values = theirs.get(key, "absent"), ours.get(key, "absent")
            yield from differences(*values, relative, absolute, f"{path}/{key}")
    elif isinstance(theirs, list) and isinstance(ours, list | tuple):
        if len(theirs) != len(ours):
            yield path, theirs, ours
            return
        for index, values in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(*values, relative, absolute, f"{path}/{index}")
    elif not _same(theirs, ours, relative, absolute):
        yield path, theirs, ours


def _same(theirs: Any, ours: Any, relative: float, absolute: float) -> bool:
    numbers = isinstance(theirs, int | float) and isinstance(ours, int | float)
    if not numbers or (not isinstance(theirs, float) and not isinstance(ours, float)):
        return bool(theirs == ours)
    if math.isnan(theirs):
        return math.isnan(ours)
    return math.isclose(ours, theirs, rel_tol=relative, abs_tol=absolute)
