"""A bounded part of the robustness proof: see whole_tree.py and docs/robustness.md."""

from __future__ import annotations

import random
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from whole_tree import (
    check_commands,
    check_probe,
    check_rewrite,
    statement_lines,
    stray_change,
)

STDLIB = Path(sysconfig.get_path("stdlib"))
FIXTURES = Path(__file__).parents[2] / "fixtures" / "legacy"


def stdlib_files(number: int) -> list[Path]:
    """The same files each time, small ones and large ones."""
    found = sorted(p for p in STDLIB.rglob("*.py") if "site-packages" not in p.parts)
    return random.Random(1).sample(found, min(number, len(found)))


@pytest.mark.parametrize(
    "every", [6, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_both_commands_over_a_tree(every: int, tmp_path: Path) -> None:
    programs = [*FIXTURES.glob("*/*.py"), *FIXTURES.glob("*/*.ipynb")]
    for path in sorted(programs)[::every]:
        shutil.copy(path, tmp_path / f"{path.parent.name}_{path.name}")
    (tmp_path / "library").mkdir()
    for number, path in enumerate(stdlib_files(200)):
        shutil.copy(path, tmp_path / "library" / f"l{number}_{path.name}")
    seen = check_commands(tmp_path, 2)
    assert [s for s in seen if s.problem] == []
    assert sum(s.status == "changed" for s in seen) >= 50 // every


@pytest.mark.parametrize("number", [12, pytest.param(300, marks=pytest.mark.slow)])
def test_a_legacy_line_in_library_code_is_all_that_changes(number: int) -> None:
    seen = [check_probe(path) for path in stdlib_files(number)]
    assert [s for s in seen if s.problem] == []
    assert sum(s.status == "probed" for s in seen) >= number // 2


def test_the_checks_find_what_they_look_for() -> None:
    old = b"import tensorflow as tf\nx = 1\ny = tf.log(\n    x)\n"
    new = old.replace(b"tf.log", b"tf.math.log")
    entry = {
        "path": "x.py",
        "status": "changed",
        "findings": [{"rule": "TFM201", "line": 3}],
    }
    assert check_rewrite(old, new, entry) is None
    assert check_rewrite(old, new.replace(b"x = 1", b"x = 2"), entry) is not None
    assert check_rewrite(old, new + b"(", entry) == "the rewrite does not compile"
    silent = {**entry, "findings": []}
    assert check_rewrite(old, new, silent) == "changed without a finding"
    assert statement_lines(old, [3]) == {3, 4}
    assert stray_change(old, old + b"z = 1\n", []) is not None
