"""``tfmigrate demo``: the whole story, on the bundled sample, without a network."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tfmigrate.errors import UserError
from tfmigrate.verify.demo import MARKER, figures, prepare_folder

Runner = Callable[..., "subprocess.CompletedProcess[str]"]


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match="not of an earlier demo"):
        prepare_folder(tmp_path)
    (tmp_path / MARKER).touch()
    with pytest.raises(UserError, match="not of an earlier demo"):
        prepare_folder(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    # A folder named like one of ours is not ours without the marker.
    other = tmp_path / "other"
    (other / "legacy").mkdir(parents=True)
    with pytest.raises(UserError):
        prepare_folder(other)


def test_an_earlier_demo_is_replaced(tmp_path: Path) -> None:
    prepare_folder(tmp_path / "demo")
    (tmp_path / "demo" / "legacy").mkdir()
    (tmp_path / "demo" / "report.html").touch()
    prepare_folder(tmp_path / "demo")
    assert [path.name for path in (tmp_path / "demo").iterdir()] == [MARKER]


def test_figures_are_read_as_printed() -> None:
    text = (
        "763.4 images/second with 2 GPU(s)\n"
        "evaluation: {'accuracy': np.float32(0.591), 'loss': 1.25, 'global_step': 15}\n"
    )
    assert figures(text) == {
        "images/s": 763.4,
        "accuracy": 0.591,
        "loss": 1.25,
        "steps": 15,
    }
    assert figures("nothing to see") == {}


@pytest.mark.alone  # as a user has it, with nothing of the tests
def test_demo_ends_in_parity(tfmigrate: Runner, tmp_path: Path) -> None:
    result = tfmigrate("demo", "--sample", "--out", tmp_path / "out", timeout=1500)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Parity: they train the same over 15 steps" in result.stdout
    for part in ("1/4", "2/4", "3/4", "4/4"):
        assert part in result.stderr
    rewritten = (tmp_path / "out" / "rewritten" / "train.py").read_text()
    for gone in ("tf.estimator", "tf.contrib", "import tfmigrate"):
        assert gone not in rewritten
    assert "Trainer(" in rewritten
    assert (tmp_path / "out" / "report.html").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
