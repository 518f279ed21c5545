"""``--trace-legacy``: which legacy symbols did the program look up, and where."""

from __future__ import annotations

import atexit
import os
import sys

from ..surface import namespace

__all__ = ["start"]

_first_use: dict[str, str] = {}
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def start() -> None:
    """Record from now on; print the list when the process ends."""
    namespace.observers.append(_record)
    atexit.register(_print, os.getpid())


def _record(path: str) -> None:
    if path in _first_use:
        return
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_HERE, "<frozen")):
            break
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None or _is_library(frame.f_code.co_filename):
        return
    _first_use[path] = f"{_short(frame.f_code.co_filename)}:{frame.f_lineno}"


def _is_library(path: str) -> bool:
    return any(part in path for part in ("site-packages", "dist-packages", os.__file__))


def _short(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _is_legacy(path: str) -> bool:
    """Whether today's ``tensorflow`` has no such name."""
    found = namespace.real_tensorflow()
    for part in path.split(".")[1:]:
        if part.startswith("_"):
            return False
        try:
            found = getattr(found, part)
        except AttributeError:
            return True
    return False


def _print(pid: int) -> None:
    if os.getpid() != pid:
        return  # a forked child: the parent prints
    legacy = {path: place for path, place in _first_use.items() if _is_legacy(path)}
    # A namespace is reported through the names used in it.
    leaves = sorted(
        path
        for path in legacy
        if not any(other.startswith(path + ".") for other in legacy)
    )
    if not leaves:
        print("no legacy TensorFlow symbols were used", file=sys.stderr)
        return
    width = max(len(path) for path in leaves)
    print(f"legacy TensorFlow symbols used ({len(leaves)}):", file=sys.stderr)
    for path in leaves:
        print(f"  {path:<{width}}  {legacy[path]}", file=sys.stderr)
