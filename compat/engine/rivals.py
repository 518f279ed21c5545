"""Says when two processes train into one model_dir.

Their checkpoints replace each other's, and each goes on from whichever was last: what
comes out is neither's. TF 1 said nothing. Both processes are told here, on one machine:
each marks the directory in a folder of the user's, with a lock that the system takes
away when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import tensorflow.compat.v1 as tf

try:
    import fcntl
except ImportError:  # Windows: no such locks, and no warning
    fcntl = None  # type: ignore[assignment]

__all__ = ["Watch", "watched"]

# Who trains already looks for those who came later this often.
_SECONDS = 5.0


class Watch:
    """Looks now and then for other processes that train into a directory."""

    def __init__(self, folder: Path | None, model_dir: str) -> None:
        self._folder = folder
        self._model_dir = model_dir
        self._told: set[str] = set()
        self._next = 0.0

    def look(self) -> None:
        """Warn, once for each, of processes that have come since."""
        now = time.monotonic()
        if self._folder is None or now < self._next:
            return
        self._next = now + _SECONDS
        for pid in _others(self._folder) - self._told:
            self._told.add(pid)
            tf.logging.warning(
                "Process %s trains into %s as well. Each replaces the other's "
                "checkpoints: give each a model_dir of its own.",
                pid,
                self._model_dir,
            )


@contextlib.contextmanager
def watched(model_dir: str) -> Iterator[Watch]:
    """Mark a directory as trained into; gives what looks for others."""
    folder = _folder(model_dir) if fcntl is not None else None
    mark = folder / str(os.getpid()) if folder is not None else None
    handle = None
    if mark is not None:
        # A warning that cannot be given must not stop the training.
        with contextlib.suppress(OSError):
            handle = os.open(mark, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    watch = Watch(folder, model_dir)
    try:
        watch.look()
        yield watch
    finally:
        if mark is not None and handle is not None:
            with contextlib.suppress(OSError):
                mark.unlink()
            os.close(handle)


def _folder(model_dir: str) -> Path | None:
    """Where marks of a directory lie; None if that is not the user's alone."""
    place = model_dir if "://" in model_dir else os.path.realpath(model_dir)
    name = hashlib.sha256(os.fsencode(place)).hexdigest()[:24]
    own = Path(tempfile.gettempdir()) / f"tfmigrate-{os.getuid()}"
    try:
        own.mkdir(mode=0o700, exist_ok=True)
        status = own.lstat()
        if own.is_symlink() or status.st_uid != os.getuid() or status.st_mode & 0o077:
            return None
        (own / name).mkdir(exist_ok=True)
    except OSError:
        return None
    return own / name


def _others(folder: Path) -> set[str]:
    """Process ids whose marks are locked; marks of the dead are swept."""
    found = set()
    for mark in folder.iterdir():
        if mark.name == str(os.getpid()) or not mark.name.isdigit():
            continue
        try:
            handle = os.open(mark, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mark.unlink()
        except OSError:
            found.add(mark.name)
        finally:
            os.close(handle)
    return found
