"""Generated programs: compat against the rewrite, in forks of one process.

    python tests/programs/campaign.py --first 0 --count 200

prints a line for each program that trains differently or fails, and the figures
of the campaign. The test beside this file runs a small one.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from grammar import Generated, generate
from running import Run, nudged, rewrite, run_all

__all__ = ["Campaign", "run_campaign"]

# Real TF 1.15 differs from itself by 3e-7 over 50 steps of a dense net. Where a
# program amplifies rounding (a large learning rate, ReLU, normalization), it is run
# again from weights changed by two units in the last place, and the limit is ten
# times the largest drift until two steps later, as in `tfmigrate verify`. Adam of TF 1
# multiplies its powers of beta up, Keras takes `pow`: rounding of 6e-8 in 1 - 0.999**t
# is up to 3e-5 of an update, which came to 1.2e-5 of the loss that training began with.
TOLERANCE = 2e-5
# A loss that has become small is still a difference of terms as large as at the start.
SMALL = 0.1
# As in tfmigrate verify: convolutions add up in another order on each run.
NUDGE = {"False": 2.0**-22, "True": 2.0**-17}
WINDOW = 20
FIGURES = 1e-4


@dataclass
class Campaign:
    """What came of the programs of some seeds."""

    native: list[int] = field(default_factory=list)
    kept: dict[int, str] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)
    # Programs whose limit was measured, because they amplify rounding.
    noisy: list[int] = field(default_factory=list)
    largest: float = 0.0


def run_campaign(
    seeds: list[int], folder: Path, *, timeout: float = 560, batch: int = 25
) -> Campaign:
    """Generate, rewrite and run the programs of the seeds, compare each."""
    found = Campaign()
    programs: dict[int, Generated] = {}
    for seed in seeds:
        program = generate(seed)
        text, reason = rewrite(program.source)
        if text is None:
            found.kept[seed] = reason
            continue
        programs[seed] = program
        found.native.append(seed)
        (folder / f"old{seed}.py").write_text(program.source)
        (folder / f"new{seed}.py").write_text(text)
    for start in range(0, len(found.native), batch):
        chosen = found.native[start : start + batch]
        runs = [
            Run(
                f"{kind}{seed}",
                folder / f"{kind}{seed}.py",
                legacy=kind == "old",
                replicas=programs[seed].replicas,
                weights=None if kind == "old" else f"old{seed}",
                seed=seed,
            )
            for seed in chosen
            for kind in ("old", "new")
        ]
        results = run_all(runs, folder, timeout=timeout)
        drifting = [s for s in chosen if drifts(results, s)]
        if drifting:
            found.noisy += drifting
            more = []
            for run in runs:
                if run.seed in drifting and not run.legacy:
                    start = folder / f"old{run.seed}" / "initial_weights.npz"
                    size = NUDGE[programs[run.seed].traits["image"]]
                    again = replace(run, name=f"again{run.seed}")
                    more.append(replace(again, weights=nudged(start, size)))
            results |= run_all(more, folder, timeout=timeout)
        for seed in chosen:
            old, new = results[f"old{seed}"], results[f"new{seed}"]
            again = results.get(f"again{seed}")
            try:
                compare(old, new, again)
            except AssertionError as error:
                found.problems[seed] = f"{error} {programs[seed].traits}"
            else:
                if again is None:
                    found.largest = max(found.largest, *differences(old, new))
    return found


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[float]:
    """Difference of each step's loss, relative to it or to a tenth of the first."""
    losses = old["losses"][:WINDOW]
    pairs = zip(losses, new["losses"][:WINDOW], strict=False)
    least = max(SMALL * abs(losses[0]), 1e-6) if losses else 0
    return [abs(a - b) / max(abs(a), least) for a, b in pairs]


def drifts(results: dict[str, dict[str, Any]], seed: int) -> bool:
    """Both ran and began alike, but something differs in the end."""
    old, new = results[f"old{seed}"], results[f"new{seed}"]
    if "losses" not in old or "losses" not in new:
        return False
    try:
        compare(old, new, None)
    except AssertionError:
        found = differences(old, new)
        return bool(found) and found[0] < TOLERANCE
    return False


def compare(
    old: dict[str, Any],
    new: dict[str, Any],
    again: dict[str, Any] | None,
) -> None:
    """Hold the two runs of a program against each other.

    ``again`` is the rewrite from nudged weights, where rounding has to be measured.
    """
    assert "error" not in old, "compat: " + old["error"][-1500:]
    assert "error" not in new, "rewritten: " + new["error"][-1500:]
    assert len(old["losses"]) == len(new["losses"]), (
        f"{len(old['losses'])} steps, then {len(new['losses'])}"
    )
    window = min(WINDOW, len(old["losses"]))
    drift = [0.0] * WINDOW
    if again is not None and "losses" in again:
        drift = differences(new, again)
    for step, difference in enumerate(differences(old, new)[:window]):
        limit = max(TOLERANCE, 10 * max(drift[: step + 3]))
        assert difference < limit, (
            f"loss of step {step + 1} differs by {difference:.2g}"
        )
    before, after = (figures(run["printed"]) for run in (old, new))
    assert set(before) == set(after), f"figures {sorted(before)}, then {sorted(after)}"
    nearly = after
    if again is not None and "losses" in again:
        nearly = figures(again["printed"])
    for name, value in before.items():
        # A bias before a normalization has a gradient that is nothing but rounding;
        # Adam makes full steps of it, which moving averages see.
        noise = 10 * abs(nearly[name] - after[name])
        limit = max(FIGURES * max(abs(value), 1), noise)
        shown = f"{name}: {value:.8g}, then {after[name]:.8g}"
        assert abs(after[name] - value) <= limit, shown


def figures(printed: str) -> dict[str, float]:
    """What ``evaluate`` returned, as the program printed it last."""
    lines = [line for line in printed.splitlines() if line.startswith("RESULT ")]
    found: dict[str, float] = json.loads(lines[-1].removeprefix("RESULT "))
    # TF 1.12 and TF 2 call it accuracy, TF 1.13 to 1.15 acc; the report tells of it.
    if "acc" in found:
        found["accuracy"] = found.pop("acc")
    return found


def main() -> None:
    """Run a campaign and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="folder for the programs")
    options = parser.parse_args()
    seeds = list(range(options.first, options.first + options.count))
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(exist_ok=True, parents=True)
        found = run_campaign(seeds, folder, timeout=3600)
    for seed, problem in found.problems.items():
        print(f"seed {seed}: {problem}")
    print(
        f"{len(seeds)} programs, seeds {seeds[0]} to {seeds[-1]}: "
        f"{len(found.native)} native, {len(found.problems)} of them differ, "
        f"{len(found.noisy)} amplify rounding; "
        f"largest relative loss difference of the others {found.largest:.1e}"
    )
    for reason, count in collections.Counter(found.kept.values()).most_common():
        print(f"{count:4} kept: {reason}")
    sys.exit(bool(found.problems))


if __name__ == "__main__":
    main()
