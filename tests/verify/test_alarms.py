"""A few of the correct rewrites that tests/verify/alarms.py judges by the dozen."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


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
