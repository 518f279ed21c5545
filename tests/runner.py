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

The process starts at the first call, once for each worker of pytest, and ends with it.
Programs run one by one. Python 3 sees the modules of TensorFlow loaded, and
``TF_ENABLE_ONEDNN_OPTS`` is 0 in all of them.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

__all__ = ["Run", "run", "run_python", "tfmigrate", "verify"]

START = Path(__file__).resolve().parents[1] / "compat" / "launcher" / "start.py"
INSTRUMENTS = "tfmigrate.verify.instruments"
PLAIN_KERNELS = {"TF_ENABLE_ONEDNN_OPTS": "0"}


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
        given["TFMIGRATE_TEST_REPLICAS"] = str(replicas or "")
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
    from tfmigrate.verify import runner

    before = runner.start_process, os.getcwd(), sys.argv, dict(os.environ)
    texts = io.StringIO(), io.StringIO()
    began = time.monotonic()
    status = 0
    runner.start_process = _in_fork
    os.chdir(cwd or before[1])
    sys.argv = ["tfmigrate", *map(str, argv)]
    os.environ.update(NO_COLOR="1", **(env or {}))
    try:
        with redirect_stdout(texts[0]), redirect_stderr(texts[1]):
            run_to_the_end(cli)
    except SystemExit as ending:
        status = int(ending.code or 0)
    finally:
        runner.start_process, here, sys.argv, variables = before
        os.chdir(here)
        os.environ.clear()
        os.environ.update(variables)
    told = [text.getvalue() for text in texts]
    return Run(status, *told, time.monotonic() - began, Path())


def _in_fork(
    command: Sequence[str],
    log: Path,
    cwd: Path | None,
    env: Mapping[str, str],
    seconds: float | None,
) -> int | None:
    """A process of `tfmigrate verify`, where a fork can stand for it."""
    from tfmigrate.verify.runner import run_process

    onednn = env.get("TF_ENABLE_ONEDNN_OPTS")
    if command[0] != sys.executable or onednn != PLAIN_KERNELS["TF_ENABLE_ONEDNN_OPTS"]:
        return run_process(command, log, cwd, env, seconds)
    given = {**os.environ, **env}
    done = _run(command[1:], given, cwd, seconds or 600, _new_folder(), log=log)
    return None if done.returncode == -signal.SIGKILL else done.returncode


# ------------------------------------------------------------------- the process

_SERVER: list[subprocess.Popen[str]] = []
_ROOT: list[Path] = []


def _new_folder() -> Path:
    if not _ROOT:
        _ROOT.append(Path(tempfile.mkdtemp(prefix="tfmigrate-runs-")))
        atexit.register(shutil.rmtree, _ROOT[0], ignore_errors=True)
    return Path(tempfile.mkdtemp(dir=_ROOT[0]))


def _server() -> subprocess.Popen[str]:
    if not _SERVER or _SERVER[0].poll() is not None:
        _SERVER[:] = [
            subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={
                    **os.environ,
                    **PLAIN_KERNELS,
                    "TF_CPP_MIN_LOG_LEVEL": "3",
                    "CUDA_VISIBLE_DEVICES": "-1",
                },
            )
        ]
        atexit.register(_SERVER[0].kill)
    return _SERVER[0]


def _run(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | Path | None,
    timeout: float,
    folder: Path,
    log: Path | None = None,
) -> Run:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    out, err = (log, log) if log else (folder / "stdout", folder / "stderr")
    job = {
        "argv": list(argv),
        "environment": dict(env),
        "folder": str(Path(cwd).resolve() if cwd else Path.cwd()),
        "logs": [str(out), str(err)],
        "timeout": timeout,
    }
    began = time.monotonic()
    server.stdin.write(json.dumps(job) + "\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    assert answer, "the process that runs programs has ended"
    texts = [path.read_text("utf-8", "replace") for path in (out, err)]
    return Run(int(answer), *texts, time.monotonic() - began, folder)


def _serve() -> None:
    """Answer jobs until stdin ends: each runs in a fork, alone in its process group."""
    import keras  # noqa: F401
    import tensorflow  # noqa: F401
    import tf_keras  # noqa: F401

    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            _in_child(job)
        limit = time.monotonic() + job["timeout"]
        ended, status = os.waitpid(child, os.WNOHANG)
        while not ended:
            if time.monotonic() > limit:
                os.killpg(child, signal.SIGKILL)
                ended, status = os.waitpid(child, 0)
            else:
                time.sleep(0.02)
                ended, status = os.waitpid(child, os.WNOHANG)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _in_child(job: Mapping[str, Any]) -> None:
    status = 1
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, log in enumerate(job["logs"], start=1):
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
        os.environ.update(job["environment"])
        os.chdir(job["folder"])
        _arm_at_once()
        status = _status_of(job["argv"])
    except BaseException:
        traceback.print_exc()
    finally:
        # Without the interpreter's own end: threads that a fork does not have are
        # waited for there.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _arm_at_once() -> None:
    """The clone of TF 1.15 waits for TensorFlow's import, which is behind us."""
    from tfmigrate.compat.launcher import trigger

    def arm(settings: Any) -> None:
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        trigger.prepare_tensorflow(settings)

    trigger.arm = arm


def _status_of(argv: list[str]) -> int:
    """Run what these arguments of Python name; its exit status."""
    replicas = os.environ.pop("TFMIGRATE_TEST_REPLICAS", "")
    if replicas:
        from tfmigrate.verify.instruments.tf2_devices import use_cpu_replicas

        use_cpu_replicas(int(replicas))
    try:
        if argv[0] == "-m":
            sys.argv = argv[1:]
            sys.path[0] = os.getcwd()
            runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = argv
            sys.path[0] = os.path.dirname(os.path.abspath(argv[0]))
            runpy.run_path(argv[0], run_name="__main__")
    except SystemExit as ending:
        if ending.code is not None and not isinstance(ending.code, int):
            print(ending.code, file=sys.stderr)
            return 1
        return ending.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    _serve()
