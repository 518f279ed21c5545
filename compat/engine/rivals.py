"""Says when two processes of this machine train into one model_dir."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from typing import Any

import tensorflow as tf

# Who trains already looks for those who came later this often.
SECONDS_BETWEEN_LOOKS = 5.0


class Rivals:
    """Warns of other processes: checkpoints of two would replace each other.

    All who train into a directory hold one file together, by a lock that the system
    takes away when a process ends, however it ends. Who can have it alone is alone.
    """

    def __init__(self, model_dir: str | None):
        self.model_dir = model_dir
        self.handle: int | None = None
        self.next_look = 0.0

    def __enter__(self) -> Rivals:
        # A warning that cannot be given must not stop training; Windows has no fcntl.
        with contextlib.suppress(OSError, ImportError):
            if self.model_dir is not None:
                self.hold(self.model_dir)
        self.look()
        return self

    def hold(self, model_dir: str) -> None:
        """Takes its part of the file that stands for the directory."""
        import fcntl

        self.locks: Any = fcntl
        place = model_dir if "://" in model_dir else os.path.realpath(model_dir)
        name = hashlib.sha256(os.fsencode(place)).hexdigest()[:24]
        self.path = f"{tempfile.gettempdir()}/training-{os.getuid()}-{name}"
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(self.path, flags, 0o600)
        if os.fstat(handle).st_uid == os.getuid():  # else somebody waits for us
            self.handle = handle

    def alone(self) -> bool:
        """Whether nobody else holds the file; this process does afterwards."""
        try:
            self.locks.flock(self.handle, self.locks.LOCK_EX | self.locks.LOCK_NB)
            return True
        except OSError:
            return False
        finally:
            self.locks.flock(self.handle, self.locks.LOCK_SH)

    def look(self) -> None:
        """Warns, once, if another process trains now; looks every few seconds."""
        now = time.monotonic()
        if self.handle is None or now < self.next_look:
            return
        self.next_look = now + SECONDS_BETWEEN_LOOKS
        if not self.alone():
            self.next_look = float("inf")
            tf.get_logger().warning(
                "Another process trains into %s as well. Each replaces the other's "
                "checkpoints: give each a model_dir of its own.",
                self.model_dir,
            )

    def __exit__(self, *error: object) -> None:
        if self.handle is None:
            return
        with contextlib.suppress(OSError):
            if self.alone():
                os.unlink(self.path)
        os.close(self.handle)
        self.handle = None
