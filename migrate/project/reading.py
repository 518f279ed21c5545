"""Reads files that happen to lie in a project, whatever they turn out to be.

A tree one does not know may hold pipes, links to devices and files of gigabytes under
names that end in ``.py``. Files are looked at because another one may import them, and
not only in processes that can be given up.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# Notebooks with all of their pictures have some tens of megabytes.
_MOST_BYTES = 256 * 1024**2
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
)


def read_file(path: str | Path) -> bytes:
    """The bytes of a regular file that is no larger than any source; else OSError."""
    handle = os.open(path, _FLAGS)
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        # Files of /proc say that they are empty and go on for ever.
        vast = status.st_size > _MOST_BYTES
        raw = b"" if vast else stream.read(_MOST_BYTES + 1)
        if vast or len(raw) > _MOST_BYTES:
            raise OSError(errno.EFBIG, "larger than any source file", str(path))
    return raw


def read_or_nothing(path: str | Path) -> bytes:
    """The same, and no bytes for what cannot be read."""
    try:
        return read_file(path)
    except OSError:
        return b""
