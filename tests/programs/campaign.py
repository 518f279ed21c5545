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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from grammar import Generated, generate
from running import nudged, recorded, rewrite, run

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


def run_campaign(seeds: list[int], folder: Path) -> Campaign:
    """Generate, rewrite and run the programs of the seeds, compare each."""
    found = Campaign()
    for seed in seeds:
        program = generate(seed)
        text, reason = rewrite(program.source)
        if text is None:
            found.kept[seed] = reason
            continue
        found.native.append(seed)
        old, new = folder / f"old{seed}.py", folder / f"new{seed}.py"
        old.write_text(program.source)
        new.write_text(text)
        try:
            _judge(old, new, program, seed, found)
        except AssertionError as error:
            found.problems[seed] = f"{error} {program.traits}"
    return found


def _judge(
    old: Path, new: Path, program: Generated, seed: int, found: Campaign
) -> None:
    """Run both sides from the same weights; where they drift apart, once more."""
    settings: dict[str, Any] = {"replicas": program.replicas, "seed": seed}
    first = run(old, **settings)
    before = recorded(first)
    assert "error" not in before, "compat: " + before["error"][-1500:]
    after = recorded(run(new, start=first, **settings))
    assert "error" not in after, "rewritten: " + after["error"][-1500:]
    apart = differences(before, after)
    try:
        compare(before, after, None)
    except AssertionError:
        # Both ran and began alike, but something differs in the end.
        if not apart or apart[0] >= TOLERANCE:
            raise
    else:
        found.largest = max([found.largest, *apart])
        return
    found.noisy.append(seed)
    size = NUDGE[program.traits["image"]]
    start = nudged(first.folder / "initial_weights.npz", size)
    compare(before, after, recorded(run(new, start=start, **settings)))


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[float]:
    """Difference of each step's loss, relative to it or to a tenth of the first."""
    losses = old["losses"][:WINDOW]
    pairs = zip(losses, new["losses"][:WINDOW], strict=False)
    least = max(SMALL * abs(losses[0]), 1e-6) if losses else 0
    return [abs(a - b) / max(abs(a), least) for a, b in pairs]


def compare(
    old: dict[str, Any],
    new: dict[str, Any],
    again: dict[str, Any] | None,
) -> None:
    """Hold the two runs of a program against each other.

    ``again`` is the rewrite from nudged weights, where rounding has to be measured.
    """
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
        found = run_campaign(seeds, folder)
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
