"""A campaign over the programs of a folder, the same table that the tests hold.

    python tests/whole/campaign.py FOLDER|MANIFEST.toml [--only NAME ...]
        [--timeout SECONDS] [--work DIR] [--json FILE]

Of a folder, every program that `tfmigrate scan` counts is started without arguments;
those of fixtures/legacy with the arguments of their recordings. Programs that need
command lines and data stand in a manifest (see ``harness.load_manifest``), which may lie
outside of this repository. Exit status 1 if anything
is worse after the rewrite than before.

Figures that were measured before, in FILE, are kept and not measured again, so that
a long campaign can be done in pieces.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from folders import programs_of
from harness import Outcome, examine, table
from tfmigrate.datasets import make_keras_home


def main() -> int:
    """Run the campaign and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="a folder or a manifest")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--timeout", type=float, help="seconds for each run")
    parser.add_argument("--work", type=Path, help="keep copies and logs here")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    known: list[dict[str, Any]] = []
    if options.json and options.json.exists():
        known = json.loads(options.json.read_text("utf-8"))
    done = {each["name"] for each in known}
    with tempfile.TemporaryDirectory() as scratch:
        work = options.work or Path(scratch)
        work.mkdir(parents=True, exist_ok=True)
        for outcome in _outcomes(options, work, done):
            for kind in ("before", "after"):
                log = work / f"{outcome.program.name.replace('/', '-')}.{kind}.log"
                log.write_text(getattr(outcome, kind).output, "utf-8")
            known.append(outcome.row())
            print(f"{outcome.program.name}: {outcome.verdict}", file=sys.stderr)
            if options.json:
                options.json.write_text(json.dumps(known, indent=1))
    print(table(known))
    return int(any(each["verdict"] == "worse" for each in known))


def _outcomes(
    options: argparse.Namespace, work: Path, done: set[str]
) -> Iterator[Outcome]:
    home = make_keras_home(work / "home", sample=True, noise=True)
    for program in programs_of(options.source, options.timeout):
        if program.name in done or (options.only and program.name not in options.only):
            continue
        place = work / program.name.replace("/", "-")
        yield examine(program, place, home)


if __name__ == "__main__":
    sys.exit(main())
