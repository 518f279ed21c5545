"""The whole story on one program: run it, rewrite it, prove both equal."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..datasets.bundled import bundled
from ..datasets.fashion_mnist import find, make_keras_home
from ..errors import UserError
from .html import render
from .parity import Options, verify
from .runner import Settings, run_process, run_program
from .sides import look_at
from .verdict import Verdict

Say = Callable[[str], None]

PROGRAM = "legacy/fashion_mnist_mirrored"
MARKER = ".tfmigrate-demo"
# What a demo writes; all it may ever delete again.
OWN = ("legacy", "rewritten", "work", "report.html", MARKER)
REPLICAS = 2
# The sample in 15 steps. 100 divides it: no step has batches of unequal size.
SMALL_BATCHES = {"BATCH_SIZE": "100"}


@dataclass(frozen=True)
class Told:
    """What the demo found out."""

    examples: int
    compat: Mapping[str, float]
    rewritten: Mapping[str, float]
    verdict: Verdict
    legacy_program: Path
    rewritten_program: Path
    report: Path
    seconds: float


def prepare_folder(folder: Path) -> None:
    """Make the folder, or empty it if all it holds is an earlier demo's."""
    if folder.exists():
        if not folder.is_dir():
            raise UserError(f"{folder}: not a folder")
        entries = {entry.name for entry in folder.iterdir()}
        foreign = entries - set(OWN)
        if foreign or (entries and MARKER not in entries):
            raise UserError(
                f"{folder}: holds files that are not of an earlier demo",
                hint="name another folder: tfmigrate demo --out FOLDER",
            )
        for name in entries - {MARKER}:
            target = folder / name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            else:
                target.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).write_text("Written by `tfmigrate demo`; may be deleted.\n")


def run_demo(folder: Path, *, data_dir: Path | None, sample: bool, say: Say) -> Told:
    """Tell the story in ``folder``; ``say`` gets a line whenever a part begins."""
    started = time.monotonic()
    prepare_folder(folder)
    work = folder / "work"
    home, examples = _data(work / "data", data_dir, sample)
    environment = {"EPOCHS": "1"}
    if examples < 10_000:
        environment |= SMALL_BATCHES

    legacy = folder / "legacy" / "train.py"
    legacy.parent.mkdir()
    shutil.copyfile(bundled(f"{PROGRAM}/train.py"), legacy)
    say(
        f"1/4  tfmigrate run {legacy} --replicas {REPLICAS}    "
        f"(TF 1.12 program, unedited; {examples:,} images, once)"
    )
    # Else the program would leave its checkpoints in the system's temp folder.
    model = {"MODEL_DIR": str((work / "model").resolve())}
    output = _output(
        [
            sys.executable,
            "-m",
            "tfmigrate",
            "run",
            "--replicas",
            str(REPLICAS),
            str(legacy),
        ],
        {**home, **environment, **model},
        work / "compat.log",
    )
    compat = figures(output)
    say(_figures_line(compat))

    rewritten = folder / "rewritten" / "train.py"
    say(f"2/4  tfmigrate rewrite {legacy} --out {rewritten.parent}")
    _rewrite(legacy, rewritten, work / "rewrite.log")
    lines = sum(_count(file) for file in rewritten.parent.glob("*.py"))
    say(f"     {_count(legacy)} lines became {lines}, no import of ours")

    say(f"3/4  the rewritten program on {REPLICAS} CPU replicas")
    launch = run_program(
        look_at(rewritten),
        work / "rewritten-run",
        Settings(replicas=REPLICAS, shuffle=True, env={**home, **environment, **model}),
    )
    after = {**figures(launch.log.read_text(errors="replace"))}
    if launch.recording.accuracy is not None:
        after["accuracy"] = launch.recording.accuracy
    say(_figures_line(after))

    say("4/4  tfmigrate verify: both from the same weights, on the same batches")
    verdict = verify(
        look_at(legacy),
        look_at(rewritten),
        Options(replicas=REPLICAS, env={"EPOCHS": "1", **SMALL_BATCHES}),
        work=work / "verify",
        say=lambda text: say(f"     {text}"),
    )
    report = folder / "report.html"
    report.write_text(render(verdict), encoding="utf-8")
    return Told(
        examples=examples,
        compat=compat,
        rewritten=after,
        verdict=verdict,
        legacy_program=legacy,
        rewritten_program=rewritten,
        report=report,
        seconds=time.monotonic() - started,
    )


def _data(
    folder: Path, data_dir: Path | None, sample: bool
) -> tuple[dict[str, str], int]:
    if not sample:
        try:
            # Offline on purpose: a demo must not wait for a network.
            located = find(data_dir, download=False)
        except UserError:
            if data_dir is not None:
                raise
        else:
            home = make_keras_home(
                folder, sample=False, noise=False, data_dir=located.folder
            )
            return home, 60_000
    return make_keras_home(folder, sample=True, noise=False), 3_000


def _output(command: list[str], environment: Mapping[str, str], log: Path) -> str:
    status = run_process(command, log, None, environment, None)
    text = log.read_text(errors="replace")
    if status != 0:
        tail = "\n".join(f"  {line}" for line in text.splitlines()[-12:])
        raise UserError(
            f"{' '.join(command[1:])} failed (status {status}):\n{tail}",
            hint=f"its whole output is in {log}",
        )
    return text


def _rewrite(legacy: Path, rewritten: Path, log: Path) -> None:
    command = [sys.executable, "-m", "tfmigrate", "rewrite", str(legacy)]
    command += ["--out", str(rewritten.parent)]
    result = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    log.write_text(result.stdout + result.stderr)
    written = sorted(rewritten.parent.rglob("train.py"))
    if result.returncode != 0 or not written:
        raise UserError(
            f"the rewrite ended with status {result.returncode}:\n"
            f"{result.stdout}{result.stderr}"
        )
    if written[0] != rewritten:
        # The mirror tree keeps the program's folders; the demo has one.
        for file in written[0].parent.iterdir():
            file.replace(rewritten.parent / file.name)


def figures(output: str) -> dict[str, float]:
    """The figures that the program prints: images/second, accuracy, loss."""
    found: dict[str, float] = {}
    speed = re.findall(r"([\d.]+) images/second", output)
    if speed:
        found["images/s"] = float(speed[-1])
    lines = [line for line in output.splitlines() if line.startswith("evaluation:")]
    for name, pattern in (
        ("accuracy", r"'(?:accuracy|acc)': (?:\w+\.\w+\()?([\d.]+)"),
        ("loss", r"'loss': (?:\w+\.\w+\()?([\d.]+)"),
        ("steps", r"'global_step': (?:\w+\.\w+\()?(\d+)"),
    ):
        match = re.search(pattern, lines[-1]) if lines else None
        if match:
            found[name] = float(match.group(1))
    return found


def _figures_line(found: Mapping[str, float]) -> str:
    told = [
        f"{name} {value:.4f}" if value < 10 else f"{value:,.0f} {name}"
        for name, value in found.items()
    ]
    return "     " + (", ".join(told) or "finished")


def _count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
