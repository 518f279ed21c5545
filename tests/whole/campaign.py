"""A campaign over programs of a manifest, the same table that the tests hold.

    python tests/whole/campaign.py MANIFEST.toml [--only NAME ...] [--work DIR]

For foreign programs, say: their folders, command lines and data stand in a manifest
(see ``harness.load``) outside of this repository. Exit status 1 if anything is worse
after the rewrite than before.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from harness import Outcome, examine, load, table
from tfmigrate.datasets import make_keras_home


def main() -> int:
    """Run the campaign and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--only", nargs="*", metavar="NAME")
    parser.add_argument("--work", type=Path, help="keep copies and logs here")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    programs = load(options.manifest)
    if options.only:
        programs = [each for each in programs if each.name in options.only]
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as scratch:
        work = options.work or Path(scratch)
        home = make_keras_home(work / "home", sample=True, noise=True)
        for program in programs:
            outcome = examine(program, work / program.name, home)
            outcomes.append(outcome)
            print(f"{program.name}: {outcome.tier} {outcome.verdict}", file=sys.stderr)
            for kind in ("before", "after"):
                run = getattr(outcome, kind)
                log = work / program.name / f"{kind}.log"
                log.write_text(run.output, "utf-8")
    print(table(outcomes))
    if options.json:
        options.json.write_text(
            json.dumps([_data(each) for each in outcomes], indent=1)
        )
    return int(any(each.verdict == "worse" for each in outcomes))


def _data(outcome: Outcome) -> dict[str, object]:
    return {
        "name": outcome.program.name,
        "tier": outcome.tier,
        "before": outcome.before.word,
        "after": outcome.after.word,
        "figures": outcome.compared,
        "largest": outcome.largest,
        "verdict": outcome.verdict,
        "seconds": [outcome.before.seconds, outcome.after.seconds],
        "changed": outcome.touched,
    }


if __name__ == "__main__":
    sys.exit(main())
