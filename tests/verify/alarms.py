"""Correct rewrites under the whole verdict: how many false alarms?

    python tests/verify/alarms.py --first 0 --count 30 --replicas 1 2

draws programs (tests/programs/grammar.py), rewrites them, runs both to their end from
the same weights and asks `tfmigrate verify` about the recordings. Losses, weights,
slots, figures, initializers, exports, checkpoints and the number of steps are judged.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from click.testing import CliRunner
from runner import Run, run, verify
from tfmigrate.cli import cli
from tfmigrate.datasets import make_keras_home


@dataclass
class Alarms:
    """What the verdicts said of correct programs."""

    judged: int = 0
    kept: dict[int, str] = field(default_factory=dict)
    alarms: dict[str, str] = field(default_factory=dict)
    # How often each check was made, and how often it could not be.
    same: collections.Counter[str] = field(default_factory=collections.Counter)
    left_out: collections.Counter[str] = field(default_factory=collections.Counter)


def judge(seeds: Sequence[int], replicas: Sequence[int], folder: Path) -> Alarms:
    """Rewrite, record, judge."""
    found = Alarms()
    home = make_keras_home(folder / "home", sample=True, noise=True)
    for seed in seeds:
        old, new = (
            folder / f"old{seed}" / "train.py",
            folder / f"new{seed}" / "train.py",
        )
        why = _write(seed, old, new)
        if why is not None:
            found.kept[seed] = why
            continue
        for count in replicas:
            _judge(f"{seed}-r{count}", old, new, count, home, found)
    return found


def _write(seed: int, old: Path, new: Path) -> str | None:
    """A program and its rewrite; the reason where it is kept."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
    try:
        source = importlib.import_module("grammar").generate(seed).source
    finally:
        del sys.path[0]
    for path in (old, new):
        path.parent.mkdir()
        path.write_text(source, "utf-8")
    options = ["--allow-dirty", "--format", "json"]
    done = CliRunner().invoke(cli, ["rewrite", str(new.parent), *options])
    (program,) = [
        each["program"]
        for each in json.loads(done.stdout)["files"]
        if each["path"].endswith("train.py")
    ]
    return None if program["outcome"] == "native" else str(program["reason"])


def _judge(
    name: str,
    old: Path,
    new: Path,
    replicas: int,
    home: Mapping[str, str],
    found: Alarms,
) -> None:
    first = run(old, replicas=replicas, env=home)
    runs = [first]
    if first.returncode == 0:
        runs.append(run(new, replicas=replicas, env=home, start=first))
    if runs[-1].returncode:
        found.alarms[name] = "not run: " + runs[-1].stderr[-300:]
        return
    told = _verify(runs[0], runs[1].folder, replicas)
    if told.returncode:
        # As a user would see it: with the program's own noise measured.
        told = _verify(runs[0], new, replicas)
    if not told.stdout.strip():
        found.alarms[name] = f"not judged: {told.stderr[-300:]}"
        return
    document = json.loads(told.stdout)
    found.judged += 1
    for check in document["checks"]:
        what = check["what"].partition(":")[0]
        if check["outcome"] == "same":
            found.same[what] += 1
        elif check["outcome"] == "not compared":
            found.left_out[f"{what}: {check['note']}"] += 1
    if told.returncode:
        found.alarms[name] = document["verdict"]


def _verify(first: Run, second: Path, replicas: int) -> Run:
    options = ["--format", "json", "--replicas", replicas, "--steps", "0"]
    return verify(first.folder, second, *options)


def main() -> None:
    """Print every alarm, and how often each thing was compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        seeds = range(options.first, options.first + options.count)
        found = judge(list(seeds), options.replicas, Path(scratch))
    for name, told in found.alarms.items():
        print(f"{name}: {told}")
    print(f"{found.judged} programs judged, {len(found.alarms)} alarms")
    for counter, told in ((found.same, "same"), (found.left_out, "not compared")):
        for what, count in counter.most_common():
            print(f"{count:4} {told}: {what}")
    for why, count in collections.Counter(found.kept.values()).most_common():
        print(f"{count:4} kept: {why}")
    sys.exit(bool(found.alarms))


if __name__ == "__main__":
    main()
