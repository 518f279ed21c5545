"""A few of the correct rewrites that tests/verify/alarms.py judges by the dozen."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from runner import verify


def test_correct_rewrites_raise_no_alarm(tmp_path: Path) -> None:
    """Drawn programs on two replicas; every optimizer's slots have a partner."""
    place = Path(__file__).with_name("alarms.py")
    spec = importlib.util.spec_from_file_location("alarms", place)
    assert spec is not None
    assert spec.loader is not None
    alarms = importlib.util.module_from_spec(spec)
    sys.modules["alarms"] = alarms
    spec.loader.exec_module(alarms)
    found = alarms.judge(SEEDS, [2], tmp_path)
    assert found.alarms == {}
    assert found.kept == {}
    assert found.judged == len(SEEDS)
    assert found.same["optimizer slots"] == len(SEEDS)
    assert found.same["weights and moving averages"] == len(SEEDS)
    assert found.same["checkpoints"] == len(SEEDS)


SEEDS = [17, 19]


def test_a_model_that_is_called_twice_and_data_that_numpy_shuffles(
    tmp_path: Path, tfmigrate: Callable[..., CompletedProcess[str]]
) -> None:
    """Weights of one shape are told apart by what makes the loss, not by the model."""
    legacy = Path(__file__).parent / "programs" / "two_inputs.py"
    new = tmp_path / "native.py"
    shutil.copy(legacy, new)
    assert "1 native" in tfmigrate("rewrite", "--allow-dirty", new).stdout
    told = verify(legacy, new, "--steps", "0", cwd=tmp_path)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "Parity: they train the same over 6 steps" in told.stdout
