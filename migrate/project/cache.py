"""Reports of earlier runs, for a run that would come to the same.

A run notes all that it asks of the file system (`reading.py`): what is in files, and
which there are. Its report is kept in the project, and told again by the same tool,
with the same options, from the same folder, while each of these questions has the same
answer. An entry is signed with a key from the user's home: a project that comes from
elsewhere brings no reports.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import pickle
import sys
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from tfmigrate import compat

from .. import __version__
from ..errors import UserError
from ..options import Job
from ..report.model import Report
from .files import project_root
from .journal import FOLDER, own_folder
from .reading import asked, is_so

# Entries of a project: one for each choice of paths and options.
_KEPT = 16
_SIGNATURE = hashlib.sha256().digest_size


@dataclass(frozen=True)
class Cache:
    """The place of the report of one run; without one, nothing is kept."""

    path: Path | None

    @classmethod
    def of(cls, files: Sequence[Path], job: Job) -> Cache:
        """The cache for a run; only projects under version control have one."""
        root = project_root(files)
        versioned = any((root / one).exists() for one in (".git", ".hg"))
        if not files or not versioned or job.options.refuted:
            return cls(None)
        if metadata.entry_points(group="tfmigrate.rules"):
            return cls(None)  # nobody knows of what they depend
        asked()  # for other ends
        what = (_tool(), os.getcwd(), job, [*map(str, files)])
        name = hashlib.sha256(repr(what).encode("utf-8", "replace")).hexdigest()
        return cls(root / FOLDER / "cache" / name[:32])

    def report(self) -> Report | None:
        """The report that the run would make, if it is known."""
        raw = self._read()
        if raw is None:
            return None
        answers, report = pickle.loads(zlib.decompress(raw))
        for (question, path), answer in answers.items():
            if not is_so(question, path, answer):
                return None
        assert isinstance(report, Report)
        return report

    def _read(self) -> bytes | None:
        """What is in the entry, if it was written by this user."""
        try:
            if self.path is None or self.path.parent.is_symlink():
                return None
            raw = self.path.read_bytes()
            signature, content = raw[:_SIGNATURE], raw[_SIGNATURE:]
            own = hmac.compare_digest(signature, _signed(self.path.name, content))
        except OSError:
            return None
        return content if own else None

    def keep(self, report: Report) -> None:
        """Remember the report of the run that was made; or not, where that fails."""
        answers = asked()
        if self.path is None:
            return
        content = zlib.compress(pickle.dumps((answers, report)), 1)
        with contextlib.suppress(OSError, UserError):
            folder = self.path.parent
            own_folder(folder.parents[1], folder.name)
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as stream:
                stream.write(_signed(self.path.name, content) + content)
            os.replace(stream.name, self.path)
            entries = sorted(folder.iterdir(), key=lambda one: one.stat().st_mtime)
            for old in entries[:-_KEPT]:
                old.unlink()


def _tool() -> tuple[object, ...]:
    """This tool: its sources, as Python tells whether they have changed."""
    sources = []
    for package in (Path(__file__).parents[1], *compat.__path__):
        for folder, _, names in sorted(os.walk(package)):
            for name in sorted(names):
                if not name.endswith(".pyc"):
                    status = os.stat(os.path.join(folder, name))
                    sources.append((folder, name, status.st_size, status.st_mtime_ns))
    return __version__, sys.version, metadata.version("libcst"), sources


def _signed(name: str, content: bytes) -> bytes:
    """The signature of an entry, by a key that only this user has."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = home / "tfmigrate" / "key"
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(os.urandom(32))
    key = path.read_bytes()
    if len(key) != 32:
        raise OSError("the key is not whole")
    return hmac.digest(key, name.encode() + content, "sha256")
