"""Whether version control could bring the files back without us."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError


def require_clean(root: Path, paths: Sequence[Path]) -> None:
    """Raise UserError unless git has every file of ``paths`` committed."""
    try:
        status = subprocess.run(
            [
                "git",
                # A tree's own settings must not name a program to run.
                "-c",
                "core.fsmonitor=false",
                *_without_filters(root),
                "-C",
                str(root),
                "status",
                "--porcelain",
                "--untracked-files=all",
                "--ignored=no",
                "--",
                *(os.path.realpath(p) for p in paths),
            ],
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise UserError(
            f"git is not installed, so nothing could bring back {root}",
            hint="install git, or pass --allow-dirty (`tfmigrate undo` needs no git)",
        ) from None
    if status.returncode != 0:
        raise UserError(
            f"{root} is not under version control",
            hint="commit the files to git first (git init, add, commit), or pass "
            "--allow-dirty; --diff and --out need neither",
        )
    # A stray log file is nobody's loss; sources are, tracked or not.
    lines = [
        line
        for line in status.stdout.splitlines()
        if not line.startswith("??") or line.rstrip('"').endswith((".py", ".ipynb"))
    ]
    if lines:
        shown = ", ".join(line[3:] for line in lines[:3])
        more = f" and {len(lines) - 3} more" if len(lines) > 3 else ""
        raise UserError(
            f"uncommitted changes in {shown}{more}",
            hint="commit or stash them first, or pass --allow-dirty",
        )


def _without_filters(root: Path) -> list[str]:
    """Options by which no program that a tree's own settings name is run on its files.

    What such a filter takes out of a file, as outputs of a notebook, git could not
    bring back either.
    """
    told = subprocess.run(
        [
            *["git", "-C", str(root), "config", "--local", "--includes", "--null"],
            *["--name-only", "--get-regexp", r"^filter\..*\.(clean|process|required)$"],
        ],
        capture_output=True,
        text=True,
        errors="surrogateescape",
    )
    options = []
    for name in dict.fromkeys(filter(None, told.stdout.split("\0"))):
        options += ["-c", f"{name}={'false' if name.endswith('required') else ''}"]
    return options
