"""Replacing one file: old or new at every moment, and only the file that was read.

Between reading and writing someone else may put a link in the file's place, or in
that of its folder. So a file's identity (its folder's and its own inode) is taken
before it is read, the folder is opened once, and everything is done inside it without
following links.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
# A pipe that was put in the file's place must not be waited for either.
_READ = os.O_RDONLY | _NO_FOLLOW | _BINARY | getattr(os, "O_NONBLOCK", 0)
_BY_FOLDER = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd


class Moved(OSError):
    """What lies at a place is not what was read there."""

    def __init__(self) -> None:
        super().__init__("the file changed while it was being rewritten")
        self.strerror = str(self)


@dataclass(frozen=True)
class Target:
    """A file as it was when it was read: where it really lies, and which it is."""

    path: Path
    folder: tuple[int, int] | None = None
    file: tuple[int, int] | None = None

    @classmethod
    def of(cls, path: Path) -> Target:
        """The file that a path leads to now; a link stays and its target counts."""
        real = Path(os.path.realpath(path))
        try:
            return cls(real, _identity(os.stat(real.parent)), _identity(os.lstat(real)))
        except OSError:
            return cls(real)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _temporary(name: str) -> str:
    """The same name each time, so that what a kill leaves is found again."""
    return f".tfmigrate-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}.tmp"


@contextlib.contextmanager
def _folder(target: Target) -> Iterator[int | None]:
    """The file's folder, opened; None where names cannot be looked up in one."""
    if not _BY_FOLDER:
        yield None
        return
    handle = os.open(target.path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if target.folder not in (None, _identity(os.fstat(handle))):
            raise Moved
        yield handle
    finally:
        os.close(handle)


def _name(target: Target, folder: int | None, name: str | None = None) -> str:
    name = target.path.name if name is None else name
    return name if folder is not None else str(target.path.parent / name)


def read_plain(path: Path) -> bytes:
    """The content of a regular file that is no link; nothing is waited for."""
    handle = os.open(path, _READ)
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is no regular file")
        return stream.read()


def replace_file(target: Target, old: bytes, new: bytes) -> str | None:
    """Put new bytes in place of a file; what could not be kept, in words.

    Raises ``Moved`` when the file is not the one that was read, or has other content.
    The temporary file lies beside it, because a rename is atomic only inside one file
    system. Mode, owner and extended attributes are those of the old file.
    """
    with _folder(target) as folder:
        name = _name(target, folder)
        try:
            handle = os.open(name, _READ, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOENT):
                raise Moved from None
            raise
        with os.fdopen(handle, "rb") as stream:
            status = os.fstat(handle)
            if (
                not stat.S_ISREG(status.st_mode)
                or target.file not in (None, _identity(status))
                or stream.read() != old
            ):
                raise Moved
            with _written(target, folder, new, (status, handle)) as (temporary, lost):
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        if status.st_nlink > 1:
            links = status.st_nlink - 1
            lost.append(
                f"{links} other hard link{'s'[: links > 1]} to it kept the old text"
            )
    return "; ".join(lost) or None


@contextlib.contextmanager
def _written(
    target: Target,
    folder: int | None,
    content: bytes,
    like: tuple[os.stat_result, int] | None = None,
) -> Iterator[tuple[str, list[str]]]:
    """A temporary file with some content, and what could not be kept in it.

    It is as the old file, whose status and handle ``like`` has; and gone afterwards.
    """
    name = _name(target, folder, _temporary(target.path.name))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY
    mode = 0o666 if like is None else 0o600
    try:
        with os.fdopen(os.open(name, flags, mode, dir_fd=folder), "wb") as stream:
            stream.write(content)
            stream.flush()
            lost = [] if like is None else _make_like(stream.fileno(), *like)
            os.fsync(stream.fileno())
        yield name, lost
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)


def _make_like(handle: int, like: os.stat_result, old: int) -> list[str]:
    """Give a file owner, attributes and mode of another; what could not be kept."""
    lost = []
    made = os.fstat(handle)
    if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.fchown(handle, like.st_uid, like.st_gid)
        except OSError:
            lost.append("it belongs to you now")
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for attribute in os.listxattr(old):
                os.setxattr(handle, attribute, os.getxattr(old, attribute))
    if hasattr(os, "fchmod"):
        os.fchmod(handle, stat.S_IMODE(like.st_mode))
    return lost


def write_new(target: Target, content: bytes) -> None:
    """Make a file that must not exist yet: whole, or not at all."""
    with _folder(target) as folder, _written(target, folder, content) as (made, _):
        name = _name(target, folder)
        # A link, unlike a rename, fails where something is already.
        try:
            os.link(
                made,
                name,
                src_dir_fd=folder,
                dst_dir_fd=folder,
                follow_symlinks=False,
            )
        except FileExistsError:
            raise
        except (OSError, NotImplementedError):  # a file system without links
            if os.path.lexists(target.path):
                raise FileExistsError(f"{target.path} exists") from None
            os.replace(made, name, src_dir_fd=folder, dst_dir_fd=folder)


def sweep(path: Path) -> None:
    """Remove what a killed run may have left beside a file."""
    with contextlib.suppress(OSError):
        (path.parent / _temporary(path.name)).unlink()
