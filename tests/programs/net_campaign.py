"""Generated model functions: what compat leaves against what the rewrite leaves.

    python tests/programs/net_campaign.py --first 0 --count 200

prints a line for each program that leaves something else or fails, and how many are
native. The test in tests/rewrite/layers/test_generated.py runs a small one.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from nets import net
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.model import Report, merge
from tfmigrate.rewrite.counting import counted
from tfmigrate.rewrite.pipeline import Job, process_file
from tfmigrate.rewrite.settle import settle
from tfmigrate.rewrite.training_file import with_training_files

__all__ = ["Found", "campaign"]

CHILD = Path(__file__).parents[1] / "native" / "child.py"
# The same kernels on the same values; rounding grows in five steps.
RELATIVE, ABSOLUTE = 2e-4, 2e-5

Results = dict[str, dict[str, dict[str, float]]]


@dataclass
class Found:
    """What came of the programs of some seeds."""

    outcomes: dict[int, str] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)
    largest: float = 0.0


def put(seed: int, old: Path, plain: Path, work: Path) -> tuple[str, str]:
    """Writes a program and its rewrite; tells its outcome, and why it is kept."""
    program = net(seed)
    source = program.source.replace("import blocks\n", f"import blocks_{seed}\n")
    source = source.replace("blocks.", f"blocks_{seed}.")
    files = {f"program_{seed}": source}
    files |= {f"{name}_{seed}": text for name, text in program.others.items()}
    work.mkdir()
    for name, text in files.items():
        for folder in (old, work):
            folder.joinpath(f"{name}.py").write_text(text, "utf-8")
    report = rewritten(sorted(work.iterdir()))
    for result in report.results:
        text = result.new if result.new is not None else result.path.read_bytes()
        # Each program has a training module of its own.
        name = result.path.name.replace("training", f"training_{seed}")
        own = text.replace(
            b"from training import", f"from training_{seed} import".encode()
        )
        (plain / name).write_bytes(own)
    ((_, only),) = report.programs
    return only.outcome.value, only.reason or ""


def rewritten(paths: Sequence[Path]) -> Report:
    """As `run_job`, in this process."""
    facts = ProjectFacts(tuple(paths))
    results = [process_file(path, Job(), facts) for path in paths]
    settled = settle(results, facts, Job().selection)
    return merge(counted(with_training_files(settled), facts))


def left(kind: str, folder: Path, names: Sequence[str]) -> Results:
    """What programs leave that one process runs."""
    output = folder / "found.json"
    done = subprocess.run(
        [sys.executable, CHILD, kind, folder, output, *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert output.exists(), done.stderr[-3000:]
    found: Results = json.loads(output.read_text("utf-8"))
    return found


def campaign(seeds: Sequence[int], folder: Path) -> Found:
    """Generate, rewrite and run the programs of the seeds; compare each."""
    found = Found()
    old, plain = folder / "old", folder / "plain"
    old.mkdir(parents=True)
    plain.mkdir()
    for seed in seeds:
        outcome, why = put(seed, old, plain, folder / f"work_{seed}")
        found.outcomes[seed] = outcome
        found.reasons[seed] = why
    seeds = [seed for seed in seeds if found.outcomes[seed] == "native"]
    names = [f"program_{seed}" for seed in seeds]
    before, after = left("legacy", old, names), left("plain", plain, names)
    for seed in seeds:
        one, other = before[f"program_{seed}"], after[f"program_{seed}"]
        problem = difference(one, other, found)
        if problem:
            found.problems[seed] = f"{problem} ({found.outcomes[seed]})"
    return found


def difference(
    one: dict[str, dict[str, float]], other: dict[str, dict[str, float]], found: Found
) -> str | None:
    """What a program and its rewrite leave that is not the same."""
    for side, each in (("compat", one), ("rewritten", other)):
        if "error" in each:
            return f"{side}: {each['error']}"
    old, new = one["result"], other["result"]
    if set(old) != set(new):
        return f"names: {sorted(set(old) ^ set(new))}"
    for name, value in old.items():
        apart = abs(new[name] - value)
        if apart > ABSOLUTE + RELATIVE * abs(value):
            return f"{name}: {value:.8g}, then {new[name]:.8g}"
        found.largest = max(found.largest, apart / max(abs(value), 1e-2))
    return None


def main() -> None:
    """Run a campaign and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="folder for the programs")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.count)
    with tempfile.TemporaryDirectory() as scratch:
        found = campaign(seeds, options.keep or Path(scratch) / "programs")
    for seed, problem in found.problems.items():
        print(f"seed {seed}: {problem} {net(seed).traits}")
    for seed, outcome in found.outcomes.items():
        if outcome != "native":
            print(f"seed {seed}: {outcome}, {found.reasons[seed]}")
    outcomes = collections.Counter(found.outcomes.values())
    print(
        f"{len(seeds)} programs, seeds {seeds[0]} to {seeds[-1]}: {dict(outcomes)}, "
        f"{len(found.problems)} differ; largest relative difference of the others "
        f"{found.largest:.1e}"
    )
    sys.exit(bool(found.problems))


if __name__ == "__main__":
    main()
