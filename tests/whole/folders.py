"""The programs of any folder, and of our own exhibits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
from harness import Program
from loading import load

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

__all__ = ["programs_of", "recorded"]


def recorded(timeout: float = 600) -> list[Program]:
    """The fixtures, with the arguments that they were recorded with."""
    recorder = load(FIXTURES / "oracle/record.py", "oracle_record")
    return [
        Program(
            each.name,
            each.path.parent,
            each.path.name,
            args=tuple(each.arguments),
            env=dict(each.environment),
            # They were written for TensorFlow 1 as well.
            data=each.prepare
            and f"{sys.executable} -m tfmigrate run --tf 1 {each.prepare}",
            timeout=timeout,
        )
        for each in recorder.PROGRAMS
    ]


def programs_of(folder: Path, timeout: float = 120) -> Iterator[Program]:
    """Every program that `scan` counts in a folder, started without arguments.

    A script runs in the folder that holds it, a module of a package beside the
    package; its whole project is copied and rewritten.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tfmigrate", "scan", str(folder), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    for each in json.loads(done.stdout)["files"]:
        if each["program"] is None:
            continue
        path = Path(os.path.abspath(each["path"]))
        name, top = path.relative_to(folder).as_posix(), path.parent
        while (top / "__init__.py").exists() and top != folder:
            top = top.parent
        cwd = top.relative_to(folder).as_posix()
        if top == path.parent:
            yield Program(name, folder, path.name, timeout=timeout, cwd=cwd)
        else:
            module = ".".join(path.relative_to(top).with_suffix("").parts)
            yield Program(name, folder, module=module, timeout=timeout, cwd=cwd)
