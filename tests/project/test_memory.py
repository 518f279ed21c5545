"""Memory follows the file that is worked on, not the tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.project.facts import ProjectFacts

SCAN = """
import resource, sys
from tfmigrate.cli import cli
try:
    cli(["scan", sys.argv[1], "-j1", "--format", "json", "-o", sys.argv[2]],
        standalone_mode=False)
except SystemExit:
    pass
# The command's own, and that of the process which works on the files.
for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
    print(resource.getrusage(who).ru_maxrss)
"""
FUNCTION = (
    "def f{n}(x):\n    y = [x, {n}, (x + 1) * 2]\n    return {{1: x, 2: y}}\n\n\n"
)
SOURCE = "import tensorflow as tf\n\ny = tf.log(1)\n" + "".join(
    FUNCTION.format(n=n) for n in range(20)
)


def peak(folder: Path, files: int) -> tuple[int, ...]:
    """The most memory (in the system's units) that a scan of so many files takes."""
    folder.mkdir()
    for number in range(files):
        (folder / f"m{number:04}.py").write_text(f"# {number}\n{SOURCE}")
    report = folder.with_suffix(".json")
    done = subprocess.run(
        [sys.executable, "-c", SCAN, str(folder), str(report)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert report.read_text().count('"rule": "TFM201"') >= files
    return tuple(map(int, done.stdout.split()))


def test_four_times_the_files_do_not_take_more_memory(tmp_path: Path) -> None:
    """Kept, the syntax trees of all files would more than double it.

    What is remembered of the last statements is there with fewer files, too.
    """
    few = peak(tmp_path / "few", 300)
    many = peak(tmp_path / "many", 1200)
    # The command itself keeps the report, and with it what each file becomes.
    assert many[0] < few[0] * 1.5, (few, many)
    assert many[1] < few[1] * 1.35, (few, many)


@pytest.mark.parametrize("named", ["absolutely", "from here"])
def test_a_module_that_is_held_is_not_read_twice(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many were read since: whose program is large asks for them often."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path if named == "absolutely" else Path()
    paths = [folder / f"part_{number}.py" for number in range(200)]
    for path in paths:
        path.write_text("import tensorflow as tf\n")
    facts = ProjectFacts(tuple(paths))
    held = [facts.parsed(path) for path in paths]
    assert all(one is not None for one in held)
    assert all(facts.parsed(path) is one for path, one in zip(paths, held, strict=True))
    # As another file imports it.
    assert facts.module("part_0", paths[1]) is held[0]
