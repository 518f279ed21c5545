"""Both sides of many small programs, recorded in few processes, and compared."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def rewrite(
    source: Path, target: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    """Rewrite a file or folder by the command line."""
    command = [sys.executable, "-m", "tfmigrate", "rewrite", str(source), *options]
    return subprocess.run(
        [*command, "--out", str(target), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )


def record(
    runs: Iterable[tuple[Path, int]], rewritten: Path, folder: Path, *, steps: int
) -> Path:
    """Recordings of programs and their rewrites, from the same initial weights."""
    jobs = []
    for program, replicas in runs:
        out = folder / f"{program.stem}-{replicas}"
        out.mkdir()
        old, new = out / "legacy", out / "tf2"
        common = f"--replicas {replicas} --steps {steps} --no-shuffle".split()
        legacy = ["--compat", "--no-predictions", "--model-dir", f"{out}/files"]
        start = ["--initial-weights", f"{old}/initial_weights.npz"]
        source, target = str(program), str(rewritten / program.name)
        for side, module, arguments in (
            ("legacy", "legacy_program", [*legacy, "--out", str(old), source]),
            ("tf2", "tf2_program", [*start, "--out", str(new), target]),
        ):
            name = f"tfmigrate.verify.instruments.{module}"
            jobs.append((f"{out}/{side}.log", name, [*common, *arguments]))
    listed = folder / "jobs.json"
    listed.write_text(json.dumps(jobs), "utf-8")
    subprocess.run([sys.executable, str(HERE / "forked.py"), str(listed)], check=False)
    return folder


def assert_same(folder: Path, *, steps: int, names: bool = False) -> None:
    """Both sides of a program lost the same in every step.

    ``names`` says that the variables must have the same names as well.
    """
    found = []
    for side in ("legacy", "tf2"):
        recording = folder / side / "recording.json"
        assert recording.is_file(), (folder / f"{side}.log").read_text("utf-8")
        found.append(json.loads(recording.read_text("utf-8")))
    first, second = found
    assert len(first["losses"]) == len(second["losses"]) == steps
    # Two builds of TF 1.15 agree to 3e-7 on dense models; rounding grows in steps.
    np.testing.assert_allclose(second["losses"], first["losses"], rtol=1e-5)
    if names:
        assert set(first["weights"]) == set(second["weights"])
