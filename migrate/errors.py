"""Errors that are the user's to mend, told without a traceback."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path


class UserError(Exception):
    """A problem the user can act on.

    The command line prints ``message`` and ``hint`` on stderr and exits with
    status 2; a traceback would only hide them.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    # Found in one process, told by another.
    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.message, self.hint)


def _again(message: str, hint: str | None) -> UserError:
    return UserError(message, hint=hint)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` Did you mean ...?`` with the nearest known words; empty when none is near."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def missing(path: Path) -> UserError:
    """What to say of a path at which there is nothing: why, and what may be meant."""
    if path.is_symlink():
        return UserError(
            f"no such file or directory: {path}, a link to {os.readlink(path)}",
            hint="mend the link, or name the file itself",
        )
    if path.parent.is_dir() and os.access(path.parent, os.R_OK):
        near = did_you_mean(path.name, os.listdir(path.parent)).strip()
        hint = near or f"it was looked for from {os.getcwd()}"
    else:
        hint = f"there is no folder {path.parent} either, from {os.getcwd()}"
    return UserError(f"no such file or directory: {path}", hint=hint)


def require_tensorflow(what: str) -> None:
    """Raise UserError where what is about to train has nothing to train on."""
    lacks = [name for name in ("tensorflow", "tf_keras") if find_spec(name) is None]
    if lacks:
        told = " and ".join(lacks)
        if lacks == ["tf_keras"]:
            told += ", which is Keras 2 (TensorFlow itself comes with Keras 3)"
        raise UserError(
            f"{what} needs {told}", hint="pip install tensorflow tf-keras tensorboard"
        )
