"""The recorded legacy programs under ``tfmigrate run``, and the table of them.

    python tests/compat/programs.py                  # runs all, prints the page
    python tests/compat/programs.py --write          # writes it
    python tests/compat/programs.py --write NAME...  # measures these anew, keeps the
                                                     # other lines

What the real TensorFlow did is in fixtures/oracle/PROGRAM, the tolerances in
noise.json.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import runner
from loading import load
from tfmigrate.datasets import make_keras_home

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
ORACLE = REPOSITORY / "fixtures" / "oracle"
PAGE = REPOSITORY / "docs" / "programs.md"
NOISE: dict[str, Any] = json.loads((ORACLE / "noise.json").read_text())["programs"]


RECORDER = load(ORACLE / "record.py", "oracle_record")
PROGRAMS: dict[str, Any] = {program.name: program for program in RECORDER.PROGRAMS}

# In a convolutional program rounding alone decides some ReLU or maximum, at a step
# that depends on the build; from there on losses differ by 1e-5 to 3e-4. Which of
# the programs it meets is chance, so they share the worst that was measured on
# the real thing, and only the first three updates are held to 1e-5. Two replicas
# and one with the double batch drift alike under compat, which tells this from a
# wrong scale.
CONVOLUTIONAL = {
    "fashion_mnist_mirrored",
    "fashion_mnist_main",
    "fashion_mnist_imports",
    "fashion_mnist_core",
    "digits_model_fn",
    "oct_vgg16",
    "oct_notebook",
    "mnist_cnn_logging",
    "tiles_batch_norm_l2",
}
CONVOLUTIONAL_TIGHT = 3

# A cross-entropy near zero is what is left of terms around one, so a few units in
# the last place of those is as exact as float32 gets.
ROUNDING = dict.fromkeys(PROGRAMS, 5e-7)
# Two units in the last place of its initial weights move its losses by 4.9e-6.
ROUNDING["hparams_factory"] = 1e-5

# Real TF 1.15.5 on another processor (AVX2, and no AVX-512) ends 1.2e-5 and 3.4e-6 from
# what was recorded of it; its threads and repeats, which noise.json has, end in one place.
OF_PROCESSORS = {"bert_classifier": 4e-5, "hparams_factory": 4e-5}

# Since TF 2 the weights of a recurrent Keras layer stand below its cell.
KERAS_CELL = re.compile(r"/(lstm|gru)_cell(_\d+)?/")

CASES: list[tuple[str, int]] = [
    (name, replicas)
    for name, program in PROGRAMS.items()
    for replicas in sorted({run.replicas for run in program.kept})
]


def tolerances(name: str) -> tuple[float, float]:
    """For losses (relative) and final weights (absolute)."""
    group = CONVOLUTIONAL & set(NOISE) if name in CONVOLUTIONAL else {name}
    return (
        max(NOISE[each]["loss_tolerance"] for each in group),
        max(
            *(NOISE[each]["weight_tolerance"] for each in group),
            OF_PROCESSORS.get(name, 0.0),
        ),
    )


def reference(name: str, replicas: int) -> Path:
    """The recording to hold ``replicas`` against.

    Keras programs on a contrib strategy follow 1.12.3, because 1.15.5 scales
    their loss twice; those on a core strategy follow 1.15.5, as it is their own.
    """
    for version in ("tf112", "tf115") if replicas > 1 else ("tf115", "tf112"):
        folder = ORACLE / name / f"{version}-r{replicas}"
        if folder.is_dir():
            return folder
    raise AssertionError(f"{name} has no recording for {replicas} replicas")


def recording(folder: Path) -> dict[str, Any]:
    """What recording.json of a folder says."""
    content: dict[str, Any] = json.loads((folder / "recording.json").read_text())
    return content


def run(name: str, replicas: int, folder: Path, home: dict[str, str]) -> Path:
    """Train a program from its recorded weights; the folder of its recording."""
    program = PROGRAMS[name]
    variables = {**home, **program.environment}
    if program.prepare:
        script = program.path.with_name(program.prepare)
        done = runner.run(script, on="compat", watch=False, env=variables, cwd=folder)
        assert done.returncode == 0, done.stderr[-4000:]
    options = ["--steps", program.steps, "--replicas", replicas]
    if program.generated:
        options += ["--generate-weights", 7, "--light"]
    elif not program.own_weights:
        weights = reference(name, replicas) / "initial_weights.npz"
        options += ["--initial-weights", weights]
    done = runner.run_python(
        *(RECORDER.INSTRUMENT, "--compat", *options, "--out", folder / "recording"),
        *("--no-shuffle", "--seed", 1, "--threads", 1),
        *("--model-dir", folder / "models", program.path, *program.arguments),
        env=variables,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder / "recording"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table, figures as they are printed."""

    program: str
    replicas: int
    real: str
    steps: int
    last_loss: tuple[str, str]
    difference: str
    metric: str
    measured: tuple[str, str]


def row(name: str, replicas: int, ours: Path | None) -> Row:
    """The line of a case; without a run of ours only the real side is filled in."""
    theirs = recording(reference(name, replicas))
    mine = theirs if ours is None else recording(ours)
    a, b = np.array(theirs["losses"]), np.array(mine["losses"])
    metric = theirs["accuracy_metric"] or "loss"
    alias = {"acc": "accuracy", "accuracy": "acc"}.get(metric, metric)
    found = mine["evaluate"].get(metric, mine["evaluate"].get(alias))
    return Row(
        program=name,
        replicas=replicas,
        real=theirs["producer"]["tensorflow"],
        steps=len(a),
        last_loss=(f"{a[-1]:.6g}", f"{b[-1]:.6g}"),
        difference=f"{np.max(np.abs(a - b) / np.maximum(np.abs(a), 1e-12)):.0e}",
        metric=metric,
        measured=(f"{theirs['evaluate'][metric]:.6g}", f"{found:.6g}"),
    )


def line(row: Row) -> str:
    """A line of the table."""
    return (
        f"| `{row.program}` | {row.replicas} | {row.real} | {row.steps} "
        f"| {row.last_loss[0]} | {row.last_loss[1]} | {row.difference} "
        f"| {row.metric} | {row.measured[0]} | {row.measured[1]} |"
    )


def written() -> dict[tuple[str, int], str]:
    """The lines of the page as it is, by case."""
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    return {
        (text.split("`")[1], int(text.split("|")[2])): text
        for text in lines
        if text.startswith("| `")
    }


_HEAD = """# Legacy programs, real and under `tfmigrate run`

Each program of `fixtures/legacy` runs unedited under `tfmigrate run` on
current TensorFlow, from the weights and with the batches of a recorded run
of the real TensorFlow 1.x on a CPU. *Difference* is the largest relative
difference of the loss of a step. The test suite runs all of them and holds
each to the tolerance that real TensorFlow's own noise gives
(`fixtures/oracle/noise.json`).

Written by `python tests/compat/programs.py --write`; do not edit.

| program | replicas | real | steps | last loss: real | ours | difference \
| evaluated | real | ours |
|---|---|---|---|---|---|---|---|---|---|
""".replace("\\\n", "")


def main(arguments: list[str]) -> None:
    """Run the cases and render the page."""
    write = "--write" in arguments
    wanted = {name for name in arguments if not name.startswith("-")}
    lines = written() if wanted else {}
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        home = make_keras_home(work / "home", sample=True, noise=True)
        for name, replicas in CASES:
            if wanted and name not in wanted:
                continue
            folder = work / f"{name}-{replicas}"
            folder.mkdir()
            found = row(name, replicas, run(name, replicas, folder, home))
            lines[name, replicas] = line(found)
            print(line(found), file=sys.stderr, flush=True)
    text = _HEAD + "".join(lines[case] + "\n" for case in CASES if case in lines)
    if write:
        PAGE.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
