"""Safe writes and the way back: lock, journal, atomic replacement, undo.

Order of a run: take the lock, copy every original into the journal and flush
it, then replace files one by one. Killed at any moment, each file is either old
or new, and the journal can restore the old ones.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError

__all__ = ["UndoResult", "lock", "replace_file", "undo", "write_all"]

FOLDER = ".tfmigrate"
KEPT_RUNS = 10


def digest(content: bytes) -> str:
    """The identity of a file's content."""
    return hashlib.sha256(content).hexdigest()


def replace_file(path: Path, content: bytes) -> None:
    """Put new bytes in place of a file: old or new at every moment, mode kept.

    The temporary file lies beside the target, because a rename is atomic only
    inside one file system. A link keeps pointing to the replaced target.
    """
    target = Path(os.path.realpath(path))
    mode = stat.S_IMODE(target.stat().st_mode)
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=".tfmigrate-tmp", dir=target.parent
    )
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _folder(root: Path) -> Path:
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", "utf-8")
    return folder


@contextlib.contextmanager
def lock(root: Path) -> Iterator[None]:
    """Refuse a second run on the same tree; freed by the system on any death."""
    path = _folder(root) / "lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            _take(handle)
        except OSError:
            raise UserError(
                f"another tfmigrate run is working on {root}",
                hint="wait for it to end, then try again",
            ) from None
        yield
    finally:
        os.close(handle)


def _take(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_all(
    root: Path, changes: Mapping[Path, tuple[bytes, bytes]]
) -> dict[Path, str]:
    """Replace files (path -> old and new bytes), journalled; returns failures.

    A file that changed since it was read is not touched.
    """
    if not changes:
        return {}
    run = _new_run(root)
    entries = []
    for index, (path, (old, new)) in enumerate(changes.items()):
        (run / f"{index}.orig").write_bytes(old)
        entries.append(
            {
                "path": os.path.relpath(os.path.realpath(path), os.path.realpath(root)),
                "backup": f"{index}.orig",
                "old": digest(old),
                "new": digest(new),
            }
        )
    _write_durably(
        run / "manifest.json",
        json.dumps({"format": 1, "files": entries}, indent=1).encode(),
    )
    failures: dict[Path, str] = {}
    for path, (old, new) in changes.items():
        try:
            if path.read_bytes() != old:
                failures[path] = "the file changed while it was being rewritten"
                continue
            if not os.access(path, os.W_OK):
                failures[path] = "the file is read-only"
                continue
            replace_file(path, new)
        except OSError as error:
            failures[path] = f"cannot write: {error.strerror or error}"
    _prune(root)
    return failures


def _write_durably(path: Path, content: bytes) -> None:
    temporary = path.with_suffix(".tmp")
    with open(temporary, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, path)


def _runs(root: Path) -> list[Path]:
    """Finished journals, oldest first. One without a manifest touched nothing."""
    journal = root / FOLDER / "journal"
    if not journal.is_dir():
        return []
    return sorted(r for r in journal.iterdir() if (r / "manifest.json").exists())


def _new_run(root: Path) -> Path:
    journal = _folder(root) / "journal"
    journal.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1000):
        run = journal / f"{stamp}-{number:03d}"
        try:
            run.mkdir()
        except FileExistsError:
            continue
        return run
    raise UserError(f"cannot make a journal in {journal}")


def _prune(root: Path) -> None:
    for old in _runs(root)[:-KEPT_RUNS]:
        shutil.rmtree(old, ignore_errors=True)


@dataclass(frozen=True)
class UndoResult:
    """What ``undo`` restored, found already old, and refused (with reason)."""

    restored: tuple[Path, ...]
    unchanged: tuple[Path, ...]
    refused: Mapping[Path, str]


def undo(root: Path, *, force: bool = False) -> UndoResult:
    """Bring the files of the last rewrite back; edited ones only with force."""
    runs = _runs(root)
    if not runs:
        raise UserError(
            f"there is no rewrite to undo in {root}",
            hint="run `tfmigrate undo` inside the project that was rewritten",
        )
    run = runs[-1]
    manifest = json.loads((run / "manifest.json").read_text("utf-8"))
    restored: list[Path] = []
    unchanged: list[Path] = []
    refused: dict[Path, str] = {}
    for entry in manifest["files"]:
        path = root / entry["path"]
        original = (run / entry["backup"]).read_bytes()
        if digest(original) != entry["old"]:
            refused[path] = "its copy in the journal is damaged"
            continue
        try:
            now = path.read_bytes()
        except OSError as error:
            refused[path] = f"cannot read: {error.strerror or error}"
            continue
        if digest(now) == entry["old"]:
            unchanged.append(path)
        elif digest(now) != entry["new"] and not force:
            refused[path] = "it was edited after the rewrite (use --force)"
        else:
            try:
                replace_file(path, original)
            except OSError as error:
                refused[path] = f"cannot write: {error.strerror or error}"
                continue
            restored.append(path)
    if not refused:
        shutil.rmtree(run)
    return UndoResult(tuple(restored), tuple(unchanged), refused)
