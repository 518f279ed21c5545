"""Runs programs in forks of one process, which has loaded TensorFlow for all of them.

    python forks.py PROGRAM.py ...     leaves PROGRAM.json beside each

A program takes its directory from ``MODEL_DIR``: the folder ``model`` beside it. What
it printed and how it ended is left, and the figures of its ``FIGURES``, if it has any.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ended", "run"]


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    returncode: int
    stdout: str
    stderr: str
    figures: dict[str, float]


def run(programs: Iterable[Path]) -> list[Ended]:
    """Run programs, each in a folder of its own."""
    paths = list(programs)
    done = subprocess.run(
        [sys.executable, __file__, *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr
    found = [path.with_suffix(".json").read_text("utf-8") for path in paths]
    return [Ended(**json.loads(text)) for text in found]


def _run_here(path: Path) -> tuple[int, dict[str, float]]:
    """Run a program as Python would; the exit status and its figures."""
    try:
        space = runpy.run_path(str(path), run_name="__main__")
    except SystemExit as ending:
        if isinstance(ending.code, str):
            print(ending.code, file=sys.stderr)
        return (ending.code if isinstance(ending.code, int) else 1), {}
    except BaseException:
        traceback.print_exc()
        return 1, {}
    figures = space.get("FIGURES", {}).get("result", {})
    return 0, {name: float(value) for name, value in figures.items()}


def _fork(path: Path) -> None:
    logs = [path.with_suffix(end) for end in (".out", ".err")]
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    for number, log in enumerate(logs, start=1):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.environ["MODEL_DIR"] = str(path.parent / "model")
    sys.path.insert(0, str(path.parent))
    code, figures = _run_here(path)
    sys.stdout.flush()
    sys.stderr.flush()
    said = [log.read_text("utf-8", "replace") for log in logs]
    ended = {"returncode": code, "stdout": said[0], "stderr": said[1]}
    path.with_suffix(".json").write_text(json.dumps({**ended, "figures": figures}))
    os._exit(0)


def main() -> None:
    """Run the programs one after the other."""
    import tensorflow  # noqa: F401
    import tf_keras  # noqa: F401

    for name in sys.argv[1:]:
        _fork(Path(name))


if __name__ == "__main__":
    main()
