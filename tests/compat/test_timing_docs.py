"""The examples of docs/timing.md run, and the figures they give are right."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

CHECKS = """
import json
print(json.dumps({
    "replicas": [r.replicas for r in reports],
    "steps": [r.steps for r in reports],
    "warmup": [len(r.warmup_seconds) for r in reports],
    "global_batch": [r.global_batch_size for r in reports],
    "rates_follow_from_times": all(
        abs(r.images_per_second - 32 * r.replicas / np.mean(r.step_seconds)) < 1e-6
        * r.images_per_second for r in reports),
    "wall_includes_steps": all(
        r.wall_seconds >= sum(r.step_seconds) for r in reports),
}))
"""


def test_examples_run_and_tell_the_truth(repository: Path, tmp_path: Path) -> None:
    page = (repository / "docs" / "timing.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    script = tmp_path / "examples.py"
    script.write_text("\n".join(blocks) + CHECKS)
    run = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert found == {
        "replicas": [1, 2],
        "steps": [25, 25],
        "warmup": [5, 5],
        "global_batch": [32, 64],
        "rates_follow_from_times": True,
        "wall_includes_steps": True,
    }
    assert "images/s with 2 replica(s)" in run.stdout
    rows = list(csv.DictReader((tmp_path / "scaling.csv").open()))
    assert [row["name"] for row in rows] == ["1 replicas", "2 replicas"]
