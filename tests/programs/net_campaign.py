"""Generated model functions: what compat leaves against what the rewrite leaves.

    python tests/programs/net_campaign.py --first 0 --count 200

prints a line for each program that leaves something else or fails, and the tiers. The
test in tests/lift/test_generated.py runs a small one.
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
sys.path.insert(0, str(Path(__file__).parents[1]))
from around.here import run_here
from nets import net
from tfmigrate.options import RewriteOptions
from tfmigrate.rewriting.pipeline import Job

__all__ = ["Found", "campaign"]

CHILD = Path(__file__).parents[1] / "around" / "child.py"
# The same kernels on the same values; rounding grows in five steps.
RELATIVE, ABSOLUTE = 2e-4, 2e-5

Results = dict[str, dict[str, dict[str, float]]]


@dataclass
class Found:
    """What came of the programs of some seeds."""

    tiers: dict[int, str] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)
    largest: float = 0.0


def put(seed: int, old: Path, plain: Path, work: Path) -> tuple[str, str]:
    """Writes a program and its rewrite; tells its tier, and why it is not T1."""
    program = net(seed)
    source = program.source.replace("import blocks\n", f"import blocks_{seed}\n")
    source = source.replace("blocks.", f"blocks_{seed}.")
    files = {f"program_{seed}": source}
    files |= {f"{name}_{seed}": text for name, text in program.others.items()}
    work.mkdir()
    for name, text in files.items():
        for folder in (old, work):
            folder.joinpath(f"{name}.py").write_text(text, "utf-8")
    paths = sorted(work.iterdir())
    report = run_here(paths, Job(RewriteOptions(loop_module=f"loop_{seed}")))
    own = f"tf_contrib_{seed}"
    for result in report.results:
        text = result.new if result.new is not None else result.path.read_bytes()
        target = plain / result.path.name.replace("tf_contrib", own)
        target.write_bytes(text.replace(b"tf_contrib", own.encode()))
    (tier,) = {r.program.tier.value for r in report.results if r.program}
    reasons = [f.reason for r in report.results for f in r.findings if f.reason]
    return tier, "; ".join(reasons)


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
        tier, why = put(seed, old, plain, folder / f"work_{seed}")
        found.tiers[seed] = tier
        found.reasons[seed] = why
    names = [f"program_{seed}" for seed in seeds]
    before, after = left("legacy", old, names), left("plain", plain, names)
    for seed in seeds:
        one, other = before[f"program_{seed}"], after[f"program_{seed}"]
        problem = difference(one, other, found)
        if problem:
            found.problems[seed] = f"{problem} ({found.tiers[seed]})"
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
    for seed, tier in found.tiers.items():
        if tier != "T1":
            print(f"seed {seed}: {tier}, {found.reasons[seed]}")
    tiers = collections.Counter(found.tiers.values())
    print(
        f"{len(seeds)} programs, seeds {seeds[0]} to {seeds[-1]}: {dict(tiers)}, "
        f"{len(found.problems)} differ; largest relative difference of the others "
        f"{found.largest:.1e}"
    )
    sys.exit(bool(found.problems))


if __name__ == "__main__":
    main()
