"""Runs a program under its instrument, in a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from ..errors import UserError
from .recording import Recording, load_recording
from .sides import Kind, Side, program_text
from .trees import in_tree, set_stage


@dataclass(frozen=True)
class Settings:
    """What both sides of a comparison are given alike."""

    replicas: int = 1
    steps: int | None = None
    shuffle: bool = False
    # Random operations draw the same numbers in every program.
    steady_random: bool = False
    seed: int | None = None
    threads: int | None = None
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    legacy_python: Path | None = None
    # Predict a few fixed examples, where a program has Estimators that can.
    predictions: bool = False
    # A program that takes longer than so many seconds is ended.
    seconds: float | None = None
    # TF2 programs only: optimizers' decay rates as float32, as TF 1.x had them.
    round_constants: bool = False


@dataclass(frozen=True)
class Launch:
    """A finished run: its recording, where it is, and how long it took."""

    recording: Recording
    folder: Path
    log: Path
    seconds: float

    @property
    def weights(self) -> Path:
        """The file of the weights that it started from."""
        return self.folder / "initial_weights.npz"


class ProgramFailed(UserError):
    """A program that could not be run to a recording, and why."""

    def __init__(self, side: Side, reason: str, hint: str | None) -> None:
        super().__init__(f"{side.path}: {reason}", hint=hint)
        self.side = side
        self.reason = reason


def run_program(
    side: Side, folder: Path, settings: Settings, *, weights: Path | None = None
) -> Launch:
    """Run one side and load its recording; a failed program is a user error.

    What the program prints goes to ``program.log`` in ``folder``; it runs in a copy of
    its directory, which is gone afterwards.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    log, stage = folder / "program.log", folder / "stage"
    here = (side.folder or Path()).resolve()
    home = side.path.parent.resolve()
    root = side.root and side.root.resolve()
    started = time.monotonic()
    try:
        set_stage(stage, [here, root or home])
        there = replace(
            side,
            path=in_tree(stage, home / side.path.name),
            root=root and in_tree(stage, root),
            folder=in_tree(stage, here),
        )
        status = run_process(
            command_of(there, side.kind, folder, settings, weights),
            log,
            settings.env,
            there.folder,
            settings.seconds,
        )
    finally:
        # Never through its links.
        shutil.rmtree(stage, ignore_errors=True)
    if status is None:
        told = f"not done after {settings.seconds:g} s"
        raise ProgramFailed(side, told, _where(log))
    seconds = time.monotonic() - started
    if status != 0 or not (folder / "recording.json").is_file():
        told = last_line(log).replace(str(stage), "")
        hint = _where(log)
        if side.folder is None and (beside := _beside(side.path, told)):
            hint = f"{beside}; {hint}"
        if not told.startswith("it trained nothing"):
            told = f"the program failed (status {status}): {told}"
        if side.kind is Kind.TF2 and "module 'tensorflow' has no attribute" in told:
            hint = f"verify tells a legacy program by its Estimator; {hint}"
        raise ProgramFailed(side, told, hint)
    recording = load_recording(folder)
    ended = [
        # The instrument may stop at the very step at which the program would end.
        replace(
            each, complete=settings.steps is None or len(each.losses) < settings.steps
        )
        for each in recording.trainings
    ]
    return Launch(replace(ended[0], further=ended[1:]), folder, log, seconds)


def record_run_directory(path: Path, folder: Path) -> Recording:
    """What event files and checkpoints of a run tell, as a recording under ``folder``.

    What TensorFlow wrote is read by TensorFlow, in a process of its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", f"{__package__}.instruments.run_directory"]
    command += ["--out", str(folder), str(path)]
    log = folder / "reading.log"
    if run_process(command, log) != 0:
        raise UserError(f"{path}: {last_line(log) or 'cannot be read'}")
    return load_recording(folder)


def run_process(
    command: Sequence[str],
    log: Path,
    env: Mapping[str, str] = MappingProxyType({}),
    cwd: Path | None = None,
    seconds: float | None = None,
) -> int | None:
    """Run a command; its exit status, or None when it took longer than allowed."""
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**os.environ, **env},
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.kill()
            process.wait()


def command_of(
    side: Side, kind: Kind, folder: Path, settings: Settings, weights: Path | None
) -> list[str]:
    """The command that runs a program as one of a kind, under its instrument."""
    instruments = Path(__file__).parent / "instruments"
    if kind is Kind.LEGACY:
        python = os.path.abspath(settings.legacy_python or sys.executable)
        command = [python, str(instruments / "legacy_program.py")]
        if settings.legacy_python is None:
            command.append("--compat")
        # The program's own checkpoints must neither be resumed nor touched.
        command += ["--model-dir", str(folder / "files")]
    else:
        command = [sys.executable, "-m", f"{__package__}.instruments.tf2_program"]
        if settings.round_constants:
            command.append("--round-constants")
    given = {
        "--out": folder,
        "--replicas": settings.replicas,
        "--steps": settings.steps,
        "--seed": settings.seed,
        "--threads": settings.threads,
        "--initial-weights": weights and weights.resolve(),
        "--path": side.root and side.root.resolve(),
        "--module": side.module,
        "--no-predictions": not settings.predictions,
        "--no-shuffle": not settings.shuffle,
        "--steady-random": settings.steady_random,
    }
    for option, value in given.items():
        if value is True:
            command.append(option)
        elif value is not None and value is not False:
            command += [option, str(value)]
    script = side.path if side.folder is None else side.path.resolve()
    if script.suffix == ".ipynb" and settings.legacy_python and kind is Kind.LEGACY:
        # No Python runs notebooks, and this one has nothing of ours: their cells.
        cells = folder / f"{script.stem}.py"
        cells.write_text(program_text(script), encoding="utf-8")
        command += ["--path", str(script.parent.resolve()), "--name", script.name]
        script = cells
    return [*command, str(script), *settings.args]


def _beside(path: Path, told: str) -> str | None:
    """A hint where a program misses a file that stands beside it."""
    if "No such file" in told:
        for name in re.findall(r"[^\s'\";:,()\[\]]+", told):
            if (path.parent / name).exists() and not Path(name).exists():
                return (
                    f"{name} is there from the program's folder, in which "
                    f"`tfmigrate verify A/ B/ -- python {path.name}` runs it"
                )
    return None


def _where(log: Path) -> str | None:
    return f"its whole output is in {log}" if log.exists() else None


def last_line(log: Path) -> str:
    """The line of a program's output that says what it died of: the last.

    TensorFlow puts places in its graph, indented, below what it has to say.
    """
    lines = [*filter(str.strip, log.read_text(errors="replace").splitlines())]
    begun = [i for i, line in enumerate(lines) if line.startswith("Traceback (")]
    if begun and lines[-1][0].isspace():
        said = [line for line in lines[begun[-1] + 1 :] if not line[0].isspace()]
        lines = [" ".join(said[: 1 + said[0].endswith(":")])] if said else lines
    return lines[-1].strip() if lines else ""
