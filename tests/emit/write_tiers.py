"""Write docs/tiers.md: what became of each legacy program, and how exactly.

    python tests/emit/write_tiers.py                   tiers, with figures at hand
    python tests/emit/write_tiers.py --measure [NAME]  and measure what is missing

Tiers are those of the present rewriter. Figures are kept in
fixtures/oracle/measured.json with a digest of the code they were measured on; for
other code they do not count. Measuring takes about half a minute for each program.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LEGACY = ROOT / "fixtures" / "legacy"
ORACLE = ROOT / "fixtures" / "oracle"
MEASURED = ORACLE / "measured.json"
PAGE = ROOT / "docs" / "tiers.md"
HEADER = """# What becomes of legacy programs: the tiers

Written by `tests/emit/write_tiers.py`; do not edit.

T1 is a loop with Keras layers, T2 a loop around the model function as it was written.
T3 keeps its Estimator and imports tfmigrate.compat; T4 cannot run there either and
keeps every byte.

## Programs the rewriter was not made with

{unseen}
## The programs the rewriter was made with

Every program of [fixtures/legacy](../fixtures/legacy/README.md) was recorded on real
TensorFlow 1.15.5 (`fixtures/oracle`). A figure is the largest relative difference
of a step's loss over that many steps, from the same initial weights on the same
batches, on TensorFlow {tensorflow}.

* *compat*: the unedited program on the compat layer, against the recording;
* *1 replica*: the rewritten program, against the recording;
* *2 replicas*: the rewritten program on two CPUs in the place of GPUs, against the
  recording of two replicas where the legacy program had a strategy; where it had
  none, the program is rewritten with `--strategy mirrored` and *runs* says that it
  trained and evaluated.

~ marks a difference that grew from rounding: the same program with its initial
weights changed in their last digits drifts as far (see [verify](verify.md)).
° was measured on an earlier form of the rewritten program; `-` is not measured.
† TF 1.15 scaled the loss of Keras Estimators twice; the loop has the true mean, and
the report says so ([TFM130](rules/TFM130.md)).
"""

_UNSEEN = """\
150 entry programs (scripts and notebooks that a person starts) of 75 public repositories
of the TF 1 era, chosen before anything was measured:

| | T1 or T2 | T3 | T4 | none found or not read |
|---|---|---|---|---|
| at first contact, with the rewriter that recognised shapes | 11 | 122 | 3 | 14 |
| at first contact, with the loop module | 41 | 75 | 8 | 26 |
| after general mending, no pattern for one program | 120 (84 of them T1) | 17 | 4 | 9 |

[Real programs](real-programs.md) has the reasons, and what was run before and after.

Programs written in the shapes of published code were counted before anything was mended
for them ("first") and after:

| written to try | programs | T1 first | T2 first | T1 now | T2 now |
|---|---|---|---|---|---|
| any shape (counted before the others) | 21 | 2 | 0 | 4 | 0 |
| how Estimators are made, handed about and called | 21 | 3 | 0 | 11 | 1 |
| model_fns | 22 | 9 | 3 | 16 | 2 |
| both, after all mending | 12 | 4 | 3 | 5 | 2 |

The rest keeps its Estimator (T3), with the reason. In 74 published packages, most of
them libraries, no Estimator became a loop. What stands in the way is spread thin: base
classes whose subclasses give the model_fn, hooks that are None or a list, Estimators
held in pairs, `add_metrics`, Experiments, cells from a helper, an Estimator that a
library builds for its callers.
"""


def recorder() -> ModuleType:
    """The module with the list of recorded programs."""
    spec = importlib.util.spec_from_file_location("recorder", ORACLE / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["recorder"] = module
    spec.loader.exec_module(module)
    return module


@dataclasses.dataclass(frozen=True)
class Rewritten:
    """A legacy program after the rewrite."""

    tier: str
    reason: str
    digest: str
    rules: frozenset[str]


def rewrite(target: Path, *options: str) -> dict[str, Any]:
    """Rewrite all legacy programs into ``target``; returns the report."""
    command = [sys.executable, "-m", "tfmigrate", "rewrite", str(LEGACY)]
    result = subprocess.run(
        [*command, "--out", str(target), "--format", "json", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    report: dict[str, Any] = json.loads(result.stdout)
    # The data that programs look for beside themselves.
    for path in LEGACY.rglob("*"):
        copy = target / path.relative_to(LEGACY)
        if path.is_file() and path.suffix != ".pyc" and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    return report


def look_at_all(target: Path, report: Mapping[str, Any]) -> dict[str, Rewritten]:
    """What the report says of each program folder."""
    found: dict[str, Rewritten] = {}
    for folder in sorted(path for path in LEGACY.iterdir() if path.is_dir()):
        findings = [
            finding
            for file in report["files"]
            if Path(file["path"]).resolve().is_relative_to(folder)
            for finding in file["findings"]
        ]
        stops = [
            finding
            for finding in findings
            if finding["rule"].startswith("TFM10") and finding["tier"] is not None
        ]
        if not stops:
            continue
        worst = max(stops, key=lambda finding: str(finding["tier"]))
        digest = hashlib.sha256()
        for place in (folder, target / folder.name):
            for path in sorted(place.rglob("*.py")):
                digest.update(path.read_bytes())
        found[folder.name] = Rewritten(
            worst["tier"],
            worst["reason"] or "",
            digest.hexdigest()[:16],
            frozenset(finding["rule"] for finding in findings),
        )
    return found


def page(found: Mapping[str, Rewritten], measured: Mapping[str, Any]) -> str:
    """The page's text."""
    lines = [
        HEADER.format(tensorflow=measured["tensorflow"], unseen=_UNSEEN),
        "| program | tier | compat | 1 replica | 2 replicas | why not T1 |",
        "|---|---|---|---|---|---|",
    ]
    for name, program in found.items():
        figures = measured["programs"].get(name, {})
        one, two = (_shown(figures, column, program) for column in ("one", "two"))
        compat = figures.get("compat", "-")
        reason = program.reason.replace("|", "\\|")
        lines.append(
            f"| `{name}` | {program.tier} | {compat} | {one} | {two} | {reason} |"
        )
    counts = {
        tier: sum(program.tier == tier for program in found.values())
        for tier in ("T1", "T2", "T3", "T4")
    }
    told = ", ".join(f"{count} {tier}" for tier, count in counts.items() if count)
    lines += ["", f"{len(found)} programs: {told}.", ""]
    return "\n".join(lines)


def _shown(figures: Mapping[str, str], column: str, program: Rewritten) -> str:
    figure = figures.get(column, "-")
    if column == "two" and "TFM130" in program.rules and "*" in figure:
        figure = f"{figure.strip('*')}†"
    if figures.get("digest") == program.digest or figure == "-":
        return figure
    # An Estimator's figure says nothing of the loop it has become.
    return f"{figure}°" if figures.get("tier") == program.tier else "-"


def recorded(name: str, replicas: int, *versions: str) -> Path | None:
    """The recording by the first of the versions that has one."""
    folders = (ORACLE / name / f"{version}-r{replicas}" for version in versions)
    return next((folder for folder in folders if folder.is_dir()), None)


def measure(name: str, rewritten: Path, mirrored: Path, tier: str) -> dict[str, str]:
    """Run a program in all its forms."""
    program = next(p for p in recorder().PROGRAMS if p.name == name)
    legacy = LEGACY / name / program.script
    one, two = recorded(name, 1, "tf115", "tf112"), recorded(name, 2, "tf112", "tf115")
    assert one is not None, name
    figures = {"compat": compare(program, one, legacy, 1)}
    if tier in ("T1", "T2"):
        new = rewritten / name / program.script
        figures["one"] = compare(program, one, new, 1)
        figures["two"] = (
            compare(program, two, new, 2)
            if two is not None
            else "-"
            if program.light
            else execute(program, mirrored / name / program.script)
        )
    elif tier == "T3":
        figures["one"] = compare(program, one, rewritten / name / program.script, 1)
    return figures


def compare(program: Any, recording: Path, script: Path, replicas: int) -> str:
    """The difference to a recording, as the table shows it."""
    from tfmigrate.errors import UserError
    from tfmigrate.verify.parity import Options, verify
    from tfmigrate.verify.sides import look_at

    if program.light:
        return "-"
    with tempfile.TemporaryDirectory() as work:
        try:
            verdict = verify(
                look_at(recording),
                look_at(script),
                Options(
                    steps=program.steps,
                    replicas=replicas,
                    args=program.arguments,
                    env=dict(program.environment),
                ),
                work=Path(work),
                say=print,
            )
        except UserError as error:
            print(error)
            return "fails"
    trajectory = verdict.trajectory
    if trajectory.problems:
        print(*trajectory.problems, sep="\n")
        return "differs"
    difference = trajectory.loss_difference or 0.0
    told = f"{difference:.0e} in {len(trajectory.steps)}"
    if not verdict.parity:
        return f"**{told}**"
    return f"~{told}" if verdict.noise_measured else told


def execute(program: Any, script: Path) -> str:
    """Whether a program without a strategy runs on two replicas."""
    from tfmigrate.datasets import make_keras_home
    from tfmigrate.errors import UserError
    from tfmigrate.verify.runner import Settings, run_program
    from tfmigrate.verify.sides import look_at

    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        home = make_keras_home(work / "home", sample=True, noise=True)
        settings = Settings(
            replicas=2,
            steps=program.steps,
            args=program.arguments,
            env={**home, **program.environment},
        )
        try:
            launch = run_program(look_at(script), work / "run", settings)
        except UserError as error:
            print(error)
            return "fails"
    replicas = launch.recording.replicas
    return "runs" if replicas == 2 else f"runs on {replicas}"


def main() -> None:
    """Measure what was asked for, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", nargs="*", metavar="NAME")
    wanted = parser.parse_args().measure
    with tempfile.TemporaryDirectory() as folder:
        plain, mirrored = Path(folder) / "plain", Path(folder) / "mirrored"
        found = look_at_all(plain, rewrite(plain))
        if wanted is not None:
            # Some programs write where they are started.
            os.chdir(folder)
            rewrite(mirrored, "--strategy", "mirrored")
        known = {program.name for program in recorder().PROGRAMS}
        for name, program in found.items():
            measured = json.loads(MEASURED.read_text())
            old = measured["programs"].get(name, {})
            if wanted is None or name not in known:
                continue
            if wanted and name not in wanted:
                continue
            if not wanted and old.get("digest") == program.digest:
                continue
            figures = measure(name, plain, mirrored, program.tier)
            print(name, program.tier, figures, flush=True)
            measured = json.loads(MEASURED.read_text())
            measured["programs"][name] = {
                "digest": program.digest,
                "tier": program.tier,
                **figures,
            }
            MEASURED.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n")
        PAGE.write_text(page(found, json.loads(MEASURED.read_text())), "utf-8")


if __name__ == "__main__":
    main()
