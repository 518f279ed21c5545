"""The whole story on one program: run it, rewrite it, prove both equal."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..datasets.bundled import bundled
from ..datasets.fashion_mnist import raw_home
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
    # Offline on purpose: a demo must not wait for a network.
    home, examples = raw_home(work / "data", data_dir, sample=sample)
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
    variables = {**home, **environment, **model}
    output = _run(
        *(work / "compat.log", variables),
        *("run", "--replicas", str(REPLICAS), str(legacy)),
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
        Settings(replicas=REPLICAS, shuffle=True, env=variables),
    )
    after = figures(launch.log.read_text(errors="replace"))
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


def _run(log: Path, environment: Mapping[str, str], *words: str) -> str:
    """What a command of ours prints, which goes to a log as well."""
    command = [sys.executable, "-m", "tfmigrate", *words]
    status = run_process(command, log, environment)
    text = log.read_text(errors="replace")
    if status != 0:
        tail = "\n".join(f"  {line}" for line in text.splitlines()[-12:])
        raise UserError(
            f"{' '.join(command[1:])} failed (status {status}):\n{tail}",
            hint=f"its whole output is in {log}",
        )
    return text


def _rewrite(legacy: Path, rewritten: Path, log: Path) -> None:
    _run(log, {}, "rewrite", str(legacy), "--out", str(rewritten.parent))
    (written,) = rewritten.parent.rglob("train.py")
    if written != rewritten:
        # The mirror tree keeps the program's folders; the demo has one.
        for file in written.parent.iterdir():
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
