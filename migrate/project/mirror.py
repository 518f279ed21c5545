"""A rewritten copy of a tree (``--out``): never over files, never out of its folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..report.model import FileResult
from .writes import Target, read_plain, replace_file, write_new

# Files that are looked for to be told of.
_MOST_TOLD = 1000


@dataclass(frozen=True)
class Mirror:
    """Where the files of some paths go below ``out``."""

    base: Path
    out: Path
    force: bool = False

    @classmethod
    def of(cls, paths: Sequence[Path], out: Path, *, force: bool) -> Mirror:
        """The mirror of what a command was given; refuses to mirror into itself."""
        roots = [p if p.is_dir() else p.parent for p in paths]
        base = Path(os.path.commonpath([os.path.realpath(r) for r in roots]))
        if Path(os.path.realpath(out)) == base:
            raise UserError(
                f"--out {out} is where the files are",
                hint="name another folder, or rewrite in place without --out",
            )
        if out.exists() and not out.is_dir():
            raise UserError(f"--out {out}: not a folder")
        return cls(base, out, force)

    def place(self, path: Path) -> Path:
        """Where a file goes; raises UserError if that is not below ``out``."""
        full = Path(os.path.realpath(path.parent)) / path.name
        try:
            below = self.out / full.relative_to(self.base)
        except ValueError:
            raise UserError(f"{path} would be written outside {self.out}") from None
        top = os.path.realpath(self.out)
        if os.path.commonpath([top, os.path.realpath(below.parent)]) != top:
            raise UserError(
                f"{below.parent} leads out of {self.out} through a link",
                hint="remove the link, or name another folder",
            )
        return below

    def check(self, files: Sequence[Path]) -> None:
        """Refuse, before anything is done, what would overwrite files."""
        places = [(path, self.place(path)) for path in files]
        taken = [place for _, place in places if os.path.lexists(place)]
        for path, place in places:
            if os.path.lexists(place) and os.path.samefile(path, place):
                raise UserError(f"{place} is the file {path} itself")
        if taken and not self.force:
            shown = ", ".join(str(place) for place in taken[:3])
            more = f" and {len(taken) - 3} more" if len(taken) > 3 else ""
            raise UserError(
                f"{shown}{more} would be overwritten",
                hint="name an empty folder, or pass --force",
            )

    def left_behind(self, paths: Sequence[Path], written: Collection[Path]) -> str:
        """What is told of files that only lie beside those that are written, if any.

        Data may be of any size, so it is named and not copied.
        """
        known = {os.path.realpath(path) for path in written}
        found: list[str] = []
        for path in paths:
            for folder, folders, files in os.walk(path) if path.is_dir() else ():
                out = os.path.realpath(self.out)
                folders[:] = sorted(
                    name
                    for name in folders
                    if name[0] not in "._"
                    and os.path.realpath(os.path.join(folder, name)) != out
                )
                for name in sorted(files):
                    full = os.path.join(folder, name)
                    if name[:1] != "." and os.path.realpath(full) not in known:
                        found.append(os.path.relpath(full, path))
                if len(found) >= _MOST_TOLD:
                    break
        if not found:
            return ""
        count = f"{len(found)}" if len(found) < _MOST_TOLD else f"{_MOST_TOLD} or more"
        more = ", ..." if len(found) > 3 else ""
        return (
            f"files that are not copied: {count} ({', '.join(found[:3])}{more}); "
            f"copy what the programs read into {self.out}, in the same places"
        )

    def write(self, results: Sequence[FileResult]) -> Mapping[Path, str]:
        """Write every examined file, changed or not; what failed, by path."""
        failures: dict[Path, str] = {}
        for result in results:
            try:
                self._write(result)
            except UserError as error:
                failures[result.path] = error.message
            except OSError as error:
                failures[result.path] = (
                    f"cannot write below {self.out}: {error.strerror or error}"
                )
        return failures

    def _write(self, result: FileResult) -> None:
        content, mode = result.new, None
        if not result.added:
            source = Path(os.path.realpath(result.path))
            mode = stat.S_IMODE(source.stat().st_mode)
            if content is None:
                content = read_plain(source)
        assert content is not None
        place = self.place(result.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        # Once more: the folders were made just now, by whomever.
        target = Target.of(self.place(result.path))
        if target.file is not None and self.force:
            replace_file(target, read_plain(target.path), content)
        else:
            # What is there by now was not there when it was looked for.
            write_new(Target(place), content)
        if mode is not None:
            os.chmod(target.path, mode)
