"""Trains the article's Fashion-MNIST program again and again, for docs/study.

    python docs/study/train.py [--seeds 1 2 3 4 5] [--sides tf115 compat ...]
                               [--replicas 1 2] [--program article ten_epochs]

One line of `runs.jsonl` for each finished run; runs that stand there are not repeated,
so the work can be done in pieces, by several processes, and be cut at any time. A run
is a process of its own that trains on all 60,000 images, shuffled, from random initial
weights, and evaluates on the 10,000 test images. Seeds set weights and shuffling; real
TensorFlow 1.15.5 is the interpreter that TFMIGRATE_TF115_PYTHON names.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfmigrate.datasets import make_keras_home

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
RUNS = HERE / "runs.jsonl"
ARTICLE = REPOSITORY / "fixtures" / "legacy" / "fashion_mnist_mirrored" / "train.py"
LEGACY_INSTRUMENT = REPOSITORY / "migrate/verify/instruments/legacy_program.py"
TF2_INSTRUMENT = "tfmigrate.verify.instruments.tf2_program"

SIDES = ("tf115", "compat", "tf_keras", "keras3")
# What each program's environment asks for: the article's own settings, and ten
# epochs in batches of 64, the length of TensorFlow's tutorial of that time.
PROGRAMS: dict[str, dict[str, str]] = {
    "article": {},
    "ten_epochs": {"EPOCHS": "10", "BATCH_SIZE": "64"},
}


@dataclass(frozen=True)
class Run:
    """One training: which program, on what, with how many replicas and which seed."""

    program: str
    side: str
    replicas: int
    seed: int

    def key(self) -> tuple[Any, ...]:
        return (self.program, self.side, self.replicas, self.seed)


def finished() -> list[dict[str, Any]]:
    """The runs that stand in `runs.jsonl`."""
    if not RUNS.is_file():
        return []
    return [json.loads(line) for line in RUNS.read_text().splitlines() if line]


def command_of(run: Run, out: Path, scratch: Path) -> list[str]:
    """What trains it: the instruments of `tfmigrate verify` look on from outside."""
    common = [
        "--out", str(out), "--replicas", str(run.replicas), "--seed", str(run.seed),
    ]  # fmt: skip
    if run.side in {"tf115", "compat"}:
        python = sys.executable
        if run.side == "tf115":
            python = os.environ["TFMIGRATE_TF115_PYTHON"]
        else:
            common.append("--compat")
        common += ["--light", "--no-predictions", str(ARTICLE)]
        return [python, str(LEGACY_INSTRUMENT), *common]
    keras = "keras3" if run.side == "keras3" else "tf_keras"
    rewrite = [
        sys.executable, "-m", "tfmigrate", "rewrite", str(ARTICLE),
        "--keras", keras, "--out", str(scratch / "rewritten"),
    ]  # fmt: skip
    subprocess.run(rewrite, check=True, capture_output=True)
    (program,) = (scratch / "rewritten").rglob("train.py")
    return [sys.executable, "-m", TF2_INSTRUMENT, *common, str(program)]


def train(run: Run, home: dict[str, str]) -> dict[str, Any]:
    """Trains it and tells what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        environment = {
            **os.environ,
            **home,
            **PROGRAMS[run.program],
            "MODEL_DIR": str(scratch / "model"),
            "TMPDIR": folder,
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        begin = time.time()
        subprocess.run(
            command_of(run, scratch / "out", scratch),
            check=True, env=environment, cwd=folder, capture_output=True,
        )  # fmt: skip
        seconds = time.time() - begin
        recording = json.loads((scratch / "out" / "recording.json").read_text())
    figures = recording["evaluate"]
    names = ("acc", "accuracy", recording.get("accuracy_metric"))
    return {
        **run.__dict__,
        "steps": recording["global_step"],
        "accuracy": next(figures[name] for name in names if name in figures),
        "loss": figures.get("loss"),
        "seconds": round(seconds, 1),
    }


def wanted(options: argparse.Namespace) -> Iterator[Run]:
    """Seed by seed, so that what is cut short has the same number for all sides."""
    for program in options.program:
        for seed in options.seeds:
            for replicas in options.replicas:
                for side in options.sides:
                    yield Run(program, side, replicas, seed)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--sides", nargs="*", choices=SIDES, default=list(SIDES))
    parser.add_argument("--replicas", nargs="*", type=int, default=[1, 2])
    parser.add_argument(
        "--program", nargs="*", choices=sorted(PROGRAMS), default=["article"]
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = make_keras_home(Path(folder), sample=False, noise=False)
        for run in wanted(options):
            done = {
                Run(*(one[name] for name in Run.__dataclass_fields__)).key()
                for one in finished()
            }
            if run.key() in done:
                continue
            result = train(run, home)
            with RUNS.open("a") as lines:
                lines.write(json.dumps(result) + "\n")
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
