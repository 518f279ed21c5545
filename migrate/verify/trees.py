"""Copies of directories in which programs run: what they write stays there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

# Larger files are data: they are read where they are. So is a folder of more entries,
# and every further one when so many have been copied.
_LARGEST_COPY = 1024 * 1024
_MOST_ENTRIES = 1000
_MOST = 5000


def copy_tree(
    root: Path, copy: Path, held: Collection[Path] = (), apart: Path | None = None
) -> None:
    """Copy the tree below ``root``, and in any case the folders ``held``.

    The folder ``apart``, which the copy is, or is in, is none of it. What a program
    writes into the copy stays there: folders are made anew, small files are copied.
    Large files and folders and what is none of the project are links.
    """
    count = 0
    waiting = [root]
    for folder in waiting:
        place = copy / folder.relative_to(root)
        entries = [*folder.iterdir()] if os.access(folder, os.R_OK) else []
        count += len(entries)
        many = len(entries) > _MOST_ENTRIES or count > _MOST
        if folder != root and folder not in held and (many or _is_foreign(folder)):
            place.symlink_to(folder)
            continue
        place.mkdir(parents=True, exist_ok=True)
        for each in entries:
            if each.name == "__pycache__" or each == (apart or copy):
                continue
            if each.is_dir() and not each.is_symlink():
                waiting.append(each)
            else:
                with suppress(OSError):
                    _put(each, place / each.name, root)


def set_stage(top: Path, places: Collection[Path]) -> None:
    """Copy folders to the same paths below ``top``; all around them is linked."""
    held = {each for place in places for each in (place, *place.parents)}
    for place in places:
        if in_tree(top, place).exists() or set(place.parents) & {*places}:
            continue
        for folder in reversed(place.parents):
            in_tree(top, folder).mkdir(exist_ok=True)
            for each in folder.iterdir() if os.access(folder, os.R_OK) else ():
                if each not in held and not os.path.lexists(in_tree(top, each)):
                    in_tree(top, each).symlink_to(each)
        copy_tree(place, in_tree(top, place), held, top)


def in_tree(top: Path, path: Path) -> Path:
    """Where a file or folder stands below ``top``."""
    return top / path.relative_to(path.anchor)


def _is_foreign(folder: Path) -> bool:
    """Whether a folder is none of a project: hidden, mounted, an environment."""
    hidden = folder.name.startswith(".") or os.path.ismount(folder)
    return hidden or (folder / "pyvenv.cfg").exists()


def _put(source: Path, place: Path, root: Path) -> None:
    real = Path(os.path.realpath(source))
    if source.is_symlink() and real.is_relative_to(os.path.realpath(root)):
        inside = os.path.relpath(real, os.path.realpath(source.parent))
        place.symlink_to(inside)
    elif real.is_dir() or source.is_symlink() or real.stat().st_size > _LARGEST_COPY:
        place.symlink_to(real)
    elif real.is_file():
        shutil.copy2(source, place)
