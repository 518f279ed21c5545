"""Runs programs quickly: each in a fork of one process that has loaded TensorFlow.

    from runner import run, run_python, tfmigrate, verify

    old = run("legacy/train.py", "--steps", "20", replicas=2)
    new = run("native/train.py", "--steps", "20", replicas=2, start=old)
    assert new.returncode == 0, new.stderr
    new.stdout, new.losses, new.evaluations, new.trainings   # trainings are recordings

* A program is a script, a notebook, or a module (``run(folder, module="pkg.main")``).
  One that names Estimators runs on the compat layer, any other as it stands; ``on=``
  ("compat" or "native") says otherwise.
* ``replicas`` are logical CPUs, which take the place of the GPUs that it names.
* It is watched by the instruments of ``tfmigrate verify``: given the initial weights of
  another run (``start``), stopped after ``steps`` of each training, batches in order,
  files kept apart. ``watch=False`` leaves it alone; only its output is known then.
* ``run_python(*argv)`` runs what ``python ARGV`` would; ``tfmigrate(*argv)`` a command
  of ours, here, with the programs that it verifies in forks. ``env``, ``cwd`` and
  ``timeout`` are as of a process.

What forks is in startup/forks.py.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from startup import forks, sitecustomize

__all__ = ["Run", "run", "run_python", "tfmigrate", "verify"]

START = Path(__file__).resolve().parents[1] / "compat" / "launcher" / "start.py"
sitecustomize.install()
INSTRUMENTS = "tfmigrate.verify.instruments"


@dataclass
class Run:
    """How a program ended, and what it did."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    # Holds the recording of a program that was watched.
    folder: Path

    @cached_property
    def trainings(self) -> tuple[Any, ...]:
        """A recording of each training."""
        from tfmigrate.verify.recording import load_recording

        assert self.returncode == 0, self.stderr[-5000:]
        return tuple(load_recording(self.folder).trainings)

    @property
    def losses(self) -> list[float]:
        """The loss of each step of the first training."""
        return list(self.trainings[0].losses)

    @property
    def evaluations(self) -> list[dict[str, float]]:
        """What each `evaluate` of the first training returned."""
        return list(self.trainings[0].extra["evaluations"])


def run(
    program: str | Path,
    *args: object,
    on: str | None = None,
    module: str | None = None,
    replicas: int | None = None,
    steps: int | None = None,
    start: Run | Path | None = None,
    shuffle: bool = False,
    seed: int | None = None,
    threads: int | None = None,
    predictions: bool = False,
    watch: bool = True,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    timeout: float = 300,
) -> Run:
    """Run a program; see above."""
    from tfmigrate.verify.runner import Settings, command_of
    from tfmigrate.verify.sides import Kind, look_at

    side = look_at(Path(program), module)
    legacy = side.kind is Kind.LEGACY if on is None else on == "compat"
    folder = _new_folder()
    words = [str(word) for word in args]
    given = dict(env or {})
    if watch:
        if start is not None and isinstance(start, Run):
            assert start.returncode == 0, start.stderr[-5000:]
            start = start.folder / "initial_weights.npz"
        settings = Settings(
            replicas=replicas or 1,
            steps=steps,
            shuffle=shuffle,
            steady_random=not shuffle,
            seed=seed,
            threads=threads,
            args=words,
            predictions=predictions,
        )
        kind = Kind.LEGACY if legacy else Kind.TF2
        _, *argv = command_of(side, kind, folder, settings, start)
        return _run(argv, given, cwd, timeout, folder)
    target = [module] if module else [str(side.path.resolve())]
    if legacy:
        notebook = "notebook" if side.path.suffix == ".ipynb" else "script"
        argv = [str(START), "module" if module else notebook, *target, *words]
        given["TFMIGRATE_RUN"] = json.dumps({"replicas": replicas})
    else:
        assert side.path.suffix == ".py", "Python runs no notebooks"
        argv = [*(["-m"] if module else []), *target, *words]
        given[forks.REPLICAS] = str(replicas or "")
    if module:
        cwd = cwd or program
    return _run(argv, given, cwd, timeout, folder)


def run_python(
    *argv: object,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    timeout: float = 300,
) -> Run:
    """What ``python ARGV`` would run, with TensorFlow loaded."""
    return _run([str(word) for word in argv], env or {}, cwd, timeout, _new_folder())


def verify(*argv: object, **options: Any) -> Run:
    """``tfmigrate verify ARGV``, as :func:`tfmigrate` runs it."""
    return tfmigrate("verify", *argv, **options)


def tfmigrate(
    *argv: object, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Run:
    """``tfmigrate ARGV`` in this process; programs that it verifies run in forks."""
    from tfmigrate.cli import cli
    from tfmigrate.cli.endings import run_to_the_end

    forks.start()
    before = os.getcwd(), sys.argv, dict(os.environ)
    texts = io.StringIO(), io.StringIO()
    began = time.monotonic()
    status = 0
    os.chdir(cwd or before[0])
    sys.argv = ["tfmigrate", *map(str, argv)]
    os.environ.update(NO_COLOR="1", **(env or {}))
    try:
        with redirect_stdout(texts[0]), redirect_stderr(texts[1]):
            run_to_the_end(cli)
    except SystemExit as ending:
        status = int(ending.code or 0)
    finally:
        here, sys.argv, variables = before
        os.chdir(here)
        os.environ.clear()
        os.environ.update(variables)
    told = [text.getvalue() for text in texts]
    return Run(status, *told, time.monotonic() - began, Path())


_ROOT: list[Path] = []


def _new_folder() -> Path:
    if not _ROOT:
        _ROOT.append(Path(tempfile.mkdtemp(prefix="tfmigrate-runs-")))
        atexit.register(shutil.rmtree, _ROOT[0], ignore_errors=True)
    return Path(tempfile.mkdtemp(dir=_ROOT[0]))


def _run(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | Path | None,
    timeout: float,
    folder: Path,
) -> Run:
    forks.start()
    began = time.monotonic()
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, *argv],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **forks.VARIABLES, **env},
            cwd=cwd,
        )
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    texts = [(folder / name).read_text("utf-8", "replace") for name in ("out", "err")]
    return Run(process.returncode, *texts, time.monotonic() - began, folder)
