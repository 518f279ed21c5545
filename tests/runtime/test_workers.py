"""Loops of several processes that train in step, each with its TF_CONFIG."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ORACLE = Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "cluster"
RECORDED = json.loads((ORACLE / "together.json").read_text("utf-8"))
CHILD = Path(__file__).with_name("workers_child.py")


@pytest.fixture
def run_cluster(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a program as all tasks of a cluster."""
    monkeypatch.syspath_prepend(str(ORACLE))
    from processes import run_cluster

    return run_cluster


@pytest.mark.parametrize(
    ("title", "flags"),
    [
        pytest.param(
            "two workers", ["--strategy", "multiworker"], marks=pytest.mark.slow
        ),
        pytest.param("three workers", [], marks=pytest.mark.slow),
        ("chief, worker and evaluator", []),
    ],
)
def test_rewritten_workers_lose_what_tf_1_15_lost(
    title: str, flags: list[str], tmp_path: Path, run_cluster: Any
) -> None:
    program = tmp_path / "together.py"
    shutil.copy(ORACLE / "together.py", program)
    rewrite = [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty", *flags]
    subprocess.run([*rewrite, str(program)], check=True, capture_output=True)
    assert "tfmigrate" not in program.read_text("utf-8")
    expected = RECORDED[title]

    def command(task: str) -> list[str]:
        result = str(tmp_path / f"{task}.json")
        return [sys.executable, str(program), str(tmp_path / "model"), result]

    run_cluster(list(expected), command, str(tmp_path), 150)
    for task, seen in expected.items():
        found = json.loads((tmp_path / f"{task}.json").read_text("utf-8"))
        # The order in which workers' gradients are added is not fixed.
        assert found["losses"] == pytest.approx(seen["losses"], rel=1e-5), task
        # Which checkpoints an evaluator meets is a matter of time; the last is sure.
        if task == "evaluator0":
            step, mean = found["evaluations"][-1]
            assert step == seen["evaluations"][-1][0]
            assert mean == pytest.approx(seen["evaluations"][-1][1], rel=1e-4, abs=1e-7)
    # The others saved with the first, and nothing of that is left.
    state = (tmp_path / "model" / "checkpoint").read_text("utf-8")
    assert 'model_checkpoint_path: "model.ckpt-20"' in state
    assert not list((tmp_path / "model").glob("tmp_*"))


def descent(batches: list[Any], weights: Any) -> Any:
    """What one process does with the workers' batches joined."""
    for x in batches:
        error = x @ weights - x.sum(1, keepdims=True)
        weights = weights - 0.1 * 2 * x.T @ error / len(x)
    return weights


def test_workers_end_go_on_and_stop_together(tmp_path: Path, run_cluster: Any) -> None:
    def command(task: str) -> list[str]:
        result = str(tmp_path / f"{task}.json")
        return [sys.executable, str(CHILD), str(tmp_path / "model"), result]

    run_cluster(["worker0", "worker1"], command, str(tmp_path), 150)
    first, second = (
        json.loads((tmp_path / f"worker{index}.json").read_text("utf-8"))
        for index in (0, 1)
    )
    assert first.pop("context") == [2, 0, 2]
    assert second.pop("context") == [2, 1, 2]
    assert first == second
    assert first["one strategy"]
    x = np.cos(np.arange(120, dtype=np.float32)).reshape(-1, 3).astype(np.float64)
    joined = [x[8 * n : 8 * n + 8] for n in range(5)]
    weights = descent(joined[:3], np.zeros([3, 1]))

    def check(found: list[Any], step: int) -> None:
        assert found[0] == step
        assert found[1] == pytest.approx(weights.ravel().tolist(), rel=1e-4, abs=1e-6)

    # The second worker has three batches; one process of twice the batch does the same.
    check(first["the shortest share"], 3)
    weights = descent(joined[:1], weights)
    check(first["one more step"], 4)
    # Here both read the same; the second asked for the end.
    same = [x[4 * n : 4 * n + 4] for n in range(10)] * 23
    weights = descent(same[:3], weights)
    check(first["stopped by one"], 7)
    # It is in the step that the other waits in, and takes no further one.
    weights = descent(same[:3], weights)
    check(first["left by one"], 10)
    weights = descent(same, np.zeros([3, 1]))
    check(first["many"], 230)
    assert first["figures"] < 1e-2
    assert "model.ckpt-230.index" in first["saved"]
    assert not [name for name in first["saved"] if name.startswith("tmp_")]
    logged = (tmp_path / "worker0.log").read_text("utf-8")
    assert "save after steps, not seconds" in logged
