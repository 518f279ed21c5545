"""Correct rewrites under the whole verdict: how many false alarms?

    python tests/verify/alarms.py --first 0 --count 30 --replicas 1 2

draws programs (tests/programs/grammar.py), rewrites them, runs both to their end from
the same weights and asks `tfmigrate verify` about the recordings. Losses, weights,
slots, figures, initializers, exports, checkpoints and the number of steps are judged.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from campaign import choices
from click.testing import CliRunner
from grammar import generate
from running import rewrite
from tfmigrate.cli import cli
from tfmigrate.datasets import make_keras_home
from tfmigrate.verify.sides import Kind, look_at

FORKED = Path(__file__).resolve().parents[1] / "emit" / "forked.py"
INSTRUMENTS = "tfmigrate.verify.instruments"


@dataclass
class Alarms:
    """What the verdicts said of correct programs."""

    judged: int = 0
    alarms: dict[str, str] = field(default_factory=dict)
    # How often each check was made, and how often it could not be.
    same: collections.Counter[str] = field(default_factory=collections.Counter)
    left_out: collections.Counter[str] = field(default_factory=collections.Counter)


def run(seeds: Sequence[int], replicas: Sequence[int], folder: Path) -> Alarms:
    """Rewrite, record, judge."""
    jobs: list[Any] = []
    names: list[str] = []
    for seed in seeds:
        text, _ = rewrite(generate(seed).source, choices(seed), module=True)
        if text is None:
            continue
        old, new = folder / f"old{seed}.py", folder / f"new{seed}.py"
        old.write_text(generate(seed).source, "utf-8")
        new.write_text(text, "utf-8")
        for count in replicas:
            name = f"{seed}-r{count}"
            names.append(name)
            jobs += _jobs(name, folder, old, new, count)
    listed = folder / "jobs.json"
    listed.write_text(json.dumps(jobs), "utf-8")
    home = make_keras_home(folder / "home", sample=True, noise=True)
    subprocess.run(
        [sys.executable, str(FORKED), str(listed)],
        cwd=folder,
        env={**os.environ, **home, "TF_ENABLE_ONEDNN_OPTS": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    found = Alarms()
    for name in names:
        _judge(name, folder, found)
    return found


def _jobs(name: str, folder: Path, old: Path, new: Path, replicas: int) -> list[Any]:
    first, second = folder / f"{name}-old", folder / f"{name}-new"
    common = ["--no-shuffle", "--no-predictions", "--replicas", str(replicas)]
    files = ["--model-dir", str(folder / f"{name}-files")]
    # A kept model_fn may have brought the loop module's Estimator along.
    module = look_at(new).kind is Kind.MODULE
    start = ["--initial-weights", str(first / "initial_weights.npz")]
    return [
        [
            f"{first}.log",
            f"{INSTRUMENTS}.legacy_program",
            ["--compat", *common, *files, "--out", str(first), str(old)],
        ],
        [
            f"{second}.log",
            f"{INSTRUMENTS}.{'module_program' if module else 'tf2_program'}",
            [*common, *start, "--out", str(second), str(new)],
        ],
    ]


def _judge(name: str, folder: Path, found: Alarms) -> None:
    sides = [folder / f"{name}-old", folder / f"{name}-new"]
    for side in sides:
        if not (side / "recording.json").is_file():
            log = Path(f"{side}.log").read_text("utf-8", "replace")
            found.alarms[name] = "not run: " + log[-300:]
            return
    told = _verify(sides[0], sides[1], name)
    if told.exit_code:
        # As a user would see it: with the program's own noise measured.
        program = folder / f"new{name.partition('-')[0]}.py"
        told = _verify(sides[0], program, name)
    if not told.stdout.strip():
        found.alarms[name] = f"not judged: {told.exception!r} {told.output[-300:]}"
        return
    document = json.loads(told.stdout)
    found.judged += 1
    for check in document["checks"]:
        what = check["what"].partition(":")[0]
        if check["outcome"] == "same":
            found.same[what] += 1
        elif check["outcome"] == "not compared":
            found.left_out[f"{what}: {check['note']}"] += 1
    if told.exit_code:
        found.alarms[name] = document["verdict"]


def _verify(first: Path, second: Path, name: str) -> Any:
    replicas = name.rpartition("r")[2]
    options = ["--format", "json", "--replicas", replicas, "--steps", "0"]
    return CliRunner().invoke(cli, ["verify", str(first), str(second), *options])


def main() -> None:
    """Print every alarm, and how often each thing was compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        seeds = range(options.first, options.first + options.count)
        found = run(list(seeds), options.replicas, folder)
    for name, told in found.alarms.items():
        print(f"{name}: {told}")
    print(f"{found.judged} programs judged, {len(found.alarms)} alarms")
    for counter, told in ((found.same, "same"), (found.left_out, "not compared")):
        for what, count in counter.most_common():
            print(f"{count:4} {told}: {what}")
    sys.exit(bool(found.alarms))


if __name__ == "__main__":
    main()
