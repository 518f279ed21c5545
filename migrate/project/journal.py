"""The way back: lock, journal, undo.

Order of a run: take the lock, copy every original into the journal and flush it, then
replace files one by one. Killed at any moment, each file is either old or new, and the
journal can restore the old ones.

A journal is a file of the project, and a project may come from anywhere. So what it
says is believed only as far as it can do no harm: nothing outside the project's root,
nothing through a link, nothing inside version control's own folders.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeGuard

from ..errors import UserError
from .reading import digest
from .writes import Moved, Target, read_plain, replace_file, sweep, write_new

FOLDER = ".tfmigrate"
KEPT_RUNS = 10
_FORMAT = 2
_BACKUP = re.compile(r"\d{1,9}\.orig")
_DIGEST = re.compile(r"[0-9a-f]{64}")
# No rewrite touches these, so no journal may.
_NEVER = frozenset({".git", ".hg", ".svn", FOLDER})


@dataclass(frozen=True)
class Change:
    """What one file was (None: it is new) and becomes."""

    target: Target
    old: bytes | None
    new: bytes


@dataclass(frozen=True)
class Written:
    """What could not be written, and what could not be kept of what was, by path."""

    failures: Mapping[Path, str] = field(default_factory=dict)
    remarks: Mapping[Path, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Undone:
    """What ``undo`` restored, found already old, and refused (with reason)."""

    restored: tuple[Path, ...]
    unchanged: tuple[Path, ...]
    refused: Mapping[Path, str]
    remarks: Mapping[Path, str] = field(default_factory=dict)


def _words(error: OSError) -> str:
    return error.strerror or str(error)


# -- the folder and the lock ---------------------------------------------------------


def own_folder(root: Path, below: str = "journal") -> Path:
    """The folder of the journal; a link in its place is someone's trap."""
    folder = root / FOLDER
    try:
        for place in (folder, folder / below):
            place.mkdir(exist_ok=True)
            if place.is_symlink():
                raise UserError(f"{place} is a link; remove it first")
        with contextlib.suppress(FileExistsError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(folder / ".gitignore", flags, 0o666), "w") as stream:
                stream.write("*\n")
    except OSError as error:
        raise UserError(
            f"cannot make the journal in {folder}: {_words(error)}",
            hint="without a journal nothing is changed; --out DIR writes a copy",
        ) from None
    return folder


# Locks of this process. A process forked from it must not keep them when it is killed.
_held: set[int] = set()


def _let_go() -> None:
    while _held:
        os.close(_held.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


@contextlib.contextmanager
def lock(root: Path) -> Iterator[None]:
    """Refuse a second run on the same tree; freed by the system on any death."""
    path = own_folder(root) / "lock"
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o644)
    except OSError as error:
        raise UserError(f"cannot lock {path}: {_words(error)}") from None
    try:
        try:
            _take(handle)
        except OSError:
            raise UserError(
                f"another tfmigrate run is working on {root}",
                hint="wait for it to end, then try again",
            ) from None
        _held.add(handle)
        yield
    finally:
        _held.discard(handle)
        os.close(handle)


def _take(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


# -- writing -----------------------------------------------------------------------


def write_all(root: Path, changes: Mapping[Path, Change]) -> Written:
    """Replace and make files, journalled.

    A file that changed since it was read is not touched, one that is new replaces
    nothing.
    """
    _sweep_after_kills(root)
    if not changes:
        return Written()
    try:
        _record(root, changes)
    except OSError as error:
        raise UserError(
            f"cannot write the journal in {root / FOLDER}: {_words(error)}",
            hint="no file was changed",
        ) from None
    failures: dict[Path, str] = {}
    remarks: dict[Path, str] = {}
    # New files first: those that are changed may need them.
    for path in sorted(changes, key=lambda path: changes[path].old is not None):
        change = changes[path]
        missing = next((p for p in failures if changes[p].old is None), None)
        if missing is not None and change.old is not None:
            failures[path] = f"{missing}, which it may need, could not be made"
            continue
        try:
            remark = _put(change)
        except Moved as error:
            failures[path] = _words(error)
        except OSError as error:
            failures[path] = f"cannot write: {_words(error)}"
        else:
            if remark is not None:
                remarks[path] = remark
    _prune(root)
    return Written(failures, remarks)


def _put(change: Change) -> str | None:
    if change.old is None:
        write_new(change.target, change.new)
        return None
    if not os.access(change.target.path, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")
    return replace_file(change.target, change.old, change.new)


def _record(root: Path, changes: Mapping[Path, Change]) -> None:
    """Copy the originals and say which they are; all of it lies on disk then."""
    run = _new_run(root)
    top = os.path.realpath(root)
    entries: list[dict[str, Any]] = []
    try:
        for index, change in enumerate(changes.values()):
            entry: dict[str, Any] = {
                "path": Path(os.path.relpath(change.target.path, top)).as_posix(),
                "new": digest(change.new),
            }
            if change.old is not None:
                _write_durably(run / f"{index}.orig", change.old)
                mode = stat.S_IMODE(os.lstat(change.target.path).st_mode)
                entry |= {
                    "backup": f"{index}.orig",
                    "old": digest(change.old),
                    "mode": mode,
                }
            entries.append(entry)
        manifest = json.dumps({"format": _FORMAT, "files": entries}, indent=1)
        _write_durably(run / "manifest.tmp", manifest.encode())
        os.replace(run / "manifest.tmp", run / "manifest.json")
    except BaseException:
        shutil.rmtree(run, ignore_errors=True)
        raise


def _write_durably(path: Path, content: bytes) -> None:
    with open(path, "xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _runs(root: Path, *, whole: bool = True) -> list[Path]:
    """Journals, oldest first; those without a manifest (not ``whole``) began only."""
    journal = root / FOLDER / "journal"
    if journal.is_symlink() or (root / FOLDER).is_symlink() or not journal.is_dir():
        return []
    return sorted(
        run
        for run in journal.iterdir()
        if run.is_dir()
        and not run.is_symlink()
        and os.path.lexists(run / "manifest.json") is whole
    )


def _new_run(root: Path) -> Path:
    journal = own_folder(root) / "journal"
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1000):
        run = journal / f"{stamp}-{number:03d}"
        with contextlib.suppress(FileExistsError):
            run.mkdir()
            return run
    raise UserError(f"cannot make a journal in {journal}")


def _prune(root: Path) -> None:
    for old in _runs(root)[:-KEPT_RUNS]:
        shutil.rmtree(old, ignore_errors=True)


def _sweep_after_kills(root: Path) -> None:
    """Remove what a run that was killed has left: half a journal, temporary files."""
    for begun in _runs(root, whole=False):
        shutil.rmtree(begun, ignore_errors=True)
    for run in _runs(root)[-1:]:
        with contextlib.suppress(UserError):
            for entry in _manifest(root, run):
                sweep(entry.target.path)


# -- undo --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Entry:
    """One file of a journal, checked: it lies below the root, and no link leads on."""

    shown: Path
    target: Target
    new: str
    old: str | None
    backup: Path | None
    mode: int


def _manifest(root: Path, run: Path) -> list[_Entry]:
    """What a journal lists; raises UserError for one that cannot be believed."""
    place = run / "manifest.json"
    try:
        loaded = json.loads(read_plain(place).decode("utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {place}: {_words(error)}") from None
    except (ValueError, RecursionError):
        raise _disbelief(place, "it is not JSON") from None
    files = loaded.get("files") if isinstance(loaded, dict) else None
    if not isinstance(files, list) or loaded.get("format") != _FORMAT:
        raise _disbelief(place, "it is not a list of files in a known format")
    return [_entry(root, run, place, item) for item in files]


def _disbelief(place: Path, why: str) -> UserError:
    return UserError(
        f"the journal {place} was not written by tfmigrate, or is damaged: {why}",
        hint=f"nothing was changed; remove {place.parent} to undo the run before it",
    )


def _fits(text: object, form: re.Pattern[str]) -> TypeGuard[str]:
    return isinstance(text, str) and form.fullmatch(text) is not None


def _entry(root: Path, run: Path, place: Path, item: object) -> _Entry:
    if not isinstance(item, dict):
        raise _disbelief(place, "an entry is no table")
    path, new = item.get("path"), item.get("new")
    old, backup, mode = item.get("old"), item.get("backup"), item.get("mode", 0o644)
    if not isinstance(path, str) or not _fits(new, _DIGEST):
        raise _disbelief(place, "an entry lacks its path or digest")
    kept = (old, backup) != (None, None)
    if kept and not (_fits(old, _DIGEST) and _fits(backup, _BACKUP)):
        raise _disbelief(place, f"the entry of {path!r} has no proper backup")
    if not isinstance(mode, int):
        raise _disbelief(place, f"the entry of {path!r} has no proper mode")
    parts = PurePosixPath(path).parts
    if (
        not parts
        or "\0" in path
        or PurePosixPath(path).is_absolute()
        or Path(path).is_absolute()
        or ".." in parts
        or _NEVER.intersection(part.lower() for part in parts)
    ):
        raise _disbelief(place, f"{path!r} is no place that a rewrite writes to")
    full = Path(os.path.realpath(root), *parts)
    if os.path.realpath(full.parent) != str(full.parent):
        raise _disbelief(place, f"a link leads {path!r} somewhere else")
    return _Entry(
        shown=root.joinpath(*parts),
        target=Target.of(full) if not full.is_symlink() else Target(full),
        new=new,
        old=old,
        backup=run / backup if backup is not None else None,
        mode=mode & 0o777,
    )


def undo(root: Path, *, force: bool = False) -> Undone:
    """Bring the files of the last rewrite back; edited ones only with force."""
    runs = _runs(root)
    if not runs:
        raise UserError(
            f"there is no rewrite to undo in {root}",
            hint="run `tfmigrate undo` inside the project that was rewritten",
        )
    run = runs[-1]
    restored: list[Path] = []
    unchanged: list[Path] = []
    refused: dict[Path, str] = {}
    remarks: dict[Path, str] = {}
    for entry in _manifest(root, run):
        sweep(entry.target.path)
        try:
            changed, remark = _restore(entry, force=force)
        except _Refused as refusal:
            refused[entry.shown] = str(refusal)
        except Moved as error:
            refused[entry.shown] = _words(error)
        except OSError as error:
            refused[entry.shown] = f"cannot write: {_words(error)}"
        else:
            (restored if changed else unchanged).append(entry.shown)
            if remark is not None:
                remarks[entry.shown] = remark
    if not refused:
        # The manifest goes first: half a journal is one that touched nothing.
        with contextlib.suppress(OSError):
            (run / "manifest.json").unlink()
        shutil.rmtree(run, ignore_errors=True)
    return Undone(tuple(restored), tuple(unchanged), refused, remarks)


class _Refused(Exception):
    """A file that undo leaves as it is; the text says why."""


def _restore(entry: _Entry, *, force: bool) -> tuple[bool, str | None]:
    """Whether the file had to be restored, and what could not be kept of it."""
    path = entry.target.path
    original = _original(entry)
    try:
        now = read_plain(path)
    except FileNotFoundError:
        if original is None:
            return False, None
        path.parent.mkdir(parents=True, exist_ok=True)
        write_new(Target(path), original)
        os.chmod(path, entry.mode)
        return True, None
    except OSError as error:
        raise _Refused(f"cannot read: {_words(error)}") from None
    if original is not None and digest(now) == entry.old:
        return False, None
    if digest(now) != entry.new and not force:
        raise _Refused("it was edited after the rewrite (use --force)")
    if original is None:
        path.unlink()
        return True, None
    return True, replace_file(entry.target, now, original)


def _original(entry: _Entry) -> bytes | None:
    """The file as it was before the run; None when the run made it."""
    if entry.backup is None:
        return None
    try:
        original = read_plain(entry.backup)
    except OSError:
        raise _Refused("its copy in the journal is missing") from None
    if digest(original) != entry.old:
        raise _Refused("its copy in the journal is damaged")
    return original
