"""Reads files that happen to lie in a project, whatever they turn out to be.

What is asked of the file system is noted with its answers: while these are the same, so
is what a run makes of them (`cache.py`).

A tree one does not know may hold pipes, links to devices and files of gigabytes under
names that end in ``.py``. Files are looked at because another one may import them, and
not only in processes that can be given up.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

# Notebooks with all of their pictures have some tens of megabytes.
_MOST_BYTES = 256 * 1024**2
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
)


# (question, absolute path) -> answer
Asked = Mapping[tuple[str, str], object]
_asked: dict[tuple[str, str], object] = {}
# The answer of what was answered in two ways: it is never so again.
_UNSURE = "unsure"


def digest(content: bytes) -> str:
    """The identity of a file's content."""
    return hashlib.sha256(content).hexdigest()


def note(more: Asked) -> None:
    """Note what another process asked."""
    for place, answer in more.items():
        known = _asked.get(place, answer)
        _asked[place] = answer if known == answer else _UNSURE


def asked() -> Asked:
    """What was asked since this was last called."""
    found = dict(_asked)
    _asked.clear()
    return found


def is_so(question: str, path: str, answer: object) -> bool:
    """Whether a question that was asked is answered as it was then."""
    return question in _QUESTIONS and _QUESTIONS[question](path) == answer


def read_file(path: str | Path) -> bytes:
    """The bytes of a regular file that is no larger than any source; else OSError."""
    place = "content", os.path.abspath(path)
    try:
        raw = _read(path)
    except OSError:
        note({place: None})
        raise
    note({place: digest(raw)})
    return raw


def is_file(path: str | Path) -> bool:
    """Whether there is a regular file."""
    return bool(_answer("file", path))


def exists(path: str | Path) -> bool:
    """Whether there is anything."""
    return bool(_answer("exists", path))


def is_taken(path: str | Path) -> bool:
    """Whether anything has this name, be it a link to nowhere."""
    return bool(_answer("taken", path))


def is_folder(path: str | Path) -> bool:
    """Whether there is a folder."""
    return bool(_answer("folder", path))


def sources_in(folder: str | Path) -> tuple[str, ...]:
    """The names of the source files in a folder, sorted; none where it is not one."""
    found = _answer("sources", folder)
    assert isinstance(found, tuple)
    return found


def _answer(question: str, path: str | Path) -> object:
    place = question, os.path.abspath(path)
    found = _QUESTIONS[question](place[1])
    note({place: found})
    return found


def _content(path: str) -> str | None:
    try:
        return digest(_read(path))
    except OSError:
        return None


def _sources(folder: str) -> tuple[str, ...]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    return tuple(name for name in names if name.endswith((".py", ".ipynb")))


_QUESTIONS: Mapping[str, Callable[[str], object]] = {
    "content": _content,
    "exists": os.path.exists,
    "taken": os.path.lexists,
    "file": os.path.isfile,
    "folder": os.path.isdir,
    "sources": _sources,
}


def _read(path: str | Path) -> bytes:
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
