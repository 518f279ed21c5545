"""Rules that another package brings, by the example of the documentation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "contributing.md"
OLD = "import our\nimport tensorflow as tf\n\nour.run(tf.log(1.0))\n"


def command(
    folder: Path, *args: str, rule: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command beside an installed package with the rule of the page."""
    text = PAGE.read_text("utf-8")
    (module,) = re.findall(
        r"```python\n# (our_rules/run_name.py)\n(.+?)```", text, re.S
    )
    (point,) = re.findall(r'"tfmigrate.rules"\]\n(.+?) = "(.+?)"', text)
    site = folder / "site"
    files = {
        module[0]: module[1] if rule is None else rule,
        "our_rules-1.dist-info/METADATA": "Name: our_rules\nVersion: 1\n",
        "our_rules-1.dist-info/entry_points.txt": (
            f"[tfmigrate.rules]\n{point[0]} = {point[1]}\n"
        ),
    }
    for name, content in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "tfmigrate", *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_rule_of_another_package_rewrites(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(OLD, "utf-8")
    listed = command(tmp_path, "rules")
    assert re.search(r"OUR001\s+run-name", listed.stdout), listed.stderr
    both = command(tmp_path, "rewrite", "program.py", "--allow-dirty")
    assert both.returncode == 0, both.stderr
    assert "OUR001 `our.run` is `our.start`" in both.stdout
    new = (tmp_path / "program.py").read_text("utf-8")
    assert new.endswith("our.start(tf.math.log(1.0))\n")


def test_it_runs_alone(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(OLD, "utf-8")
    command(tmp_path, "rewrite", "program.py", "--allow-dirty", "--select", "OUR001")
    new = (tmp_path / "program.py").read_text("utf-8")
    assert new.endswith("our.start(tf.log(1.0))\n")


def test_a_rule_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    for rule, why in {
        "import nothing_such\n": "cannot be loaded: ModuleNotFoundError",
        "RULE = 1\n\ndef diagnoses(context): ...\n": "needs a RULE of",
    }.items():
        (tmp_path / "program.py").write_text(OLD, "utf-8")
        for asked in (["rules"], ["scan", "program.py"]):
            told = command(tmp_path, *asked, rule=rule)
            assert told.returncode == 2
            assert f"error: the rule run-name (our_rules.run_name) {why}" in told.stderr
            assert "Traceback" not in told.stderr
