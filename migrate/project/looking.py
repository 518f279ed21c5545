"""Looks for the files below some paths, in a process that can be ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from .files import find_files, from_here
from .workers import Limits, Overrun, work_through


@dataclass(frozen=True)
class _Look:
    """Finds files in a process of its own: a pattern can take for ever to match."""

    exclude: tuple[str, ...]

    def __call__(self) -> Callable[[tuple[Path, ...]], list[Path] | UserError]:
        return self._look

    def _look(self, paths: tuple[Path, ...]) -> list[Path] | UserError:
        try:
            return [from_here(c.path) for c in find_files(paths, exclude=self.exclude)]
        except UserError as error:
            return error
        except OSError as error:
            return UserError(f"cannot read {error.filename}: {error.strerror}")


def look_for_files(
    paths: Sequence[Path], exclude: Sequence[str], limits: Limits
) -> list[Path]:
    """The files below some paths; raises UserError when that takes too long."""
    (done,) = work_through(
        [tuple(paths)], _Look(tuple(exclude)), processes=1, limits=limits
    )
    if isinstance(done.made, Overrun):
        how = "failed" if done.made.what is None else f"took too much {done.made.what}"
        raise UserError(
            f"looking for files {how}",
            hint="a pattern of --exclude, pyproject.toml or .gitignore may take for "
            "ever; --timeout SECONDS gives a large tree longer",
        )
    if isinstance(done.made, UserError):
        raise done.made
    return done.made
