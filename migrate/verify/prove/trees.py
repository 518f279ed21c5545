"""Copies of a project in which its programs can be run: as it was, and rewritten."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from ...errors import UserError

# Larger files are data: they are read where they are.
_LARGEST_COPY = 1024 * 1024
_MOST_FILES = 20_000
_NO_PART = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox"})


def copy_tree(root: Path, copy: Path, texts: Mapping[Path, bytes]) -> None:
    """Copy the tree below ``root``, with other contents for the files in ``texts``.

    What a program writes into the copy stays there: folders are made anew, small files
    are copied and large ones linked. ``texts`` has absolute paths.
    """
    files = 0
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if _belongs(folder, name, copy)]
        place = copy / Path(folder).relative_to(root)
        place.mkdir(parents=True, exist_ok=True)
        links = [name for name in below if os.path.islink(os.path.join(folder, name))]
        files += len(names) + len(links)
        if files > _MOST_FILES:
            raise UserError(
                f"{root} holds more than {_MOST_FILES:,} files, too many to copy",
                hint="rewrite a smaller folder, or prove it with `tfmigrate verify`",
            )
        for name in (*names, *links):
            _put(Path(folder) / name, place / name, root)
    for path, text in texts.items():
        place = copy / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.write_bytes(text)


def _belongs(folder: str, name: str, copy: Path) -> bool:
    path = os.path.join(folder, name)
    if name in _NO_PART or os.path.realpath(path) == os.path.realpath(copy):
        return False
    return not os.path.exists(os.path.join(path, "pyvenv.cfg"))


def _put(source: Path, place: Path, root: Path) -> None:
    real = Path(os.path.realpath(source))
    if source.is_symlink() and real.is_relative_to(os.path.realpath(root)):
        inside = os.path.relpath(real, os.path.realpath(source.parent))
        place.symlink_to(inside)
    elif source.is_symlink() or not source.is_file():
        if real.exists() and (real.is_file() or real.is_dir()):
            place.symlink_to(real)
    elif source.stat().st_size > _LARGEST_COPY:
        place.symlink_to(real)
    else:
        shutil.copy2(source, place)
