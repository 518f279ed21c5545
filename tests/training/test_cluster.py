"""Clusters of real processes, whose trainers are those of an assembled training.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tfmigrate.launch.cluster import Task, local_cluster
from tfmigrate.training import parts_for, training_module

HERE = Path(__file__).parent
RECORDED = HERE.parents[1] / "fixtures" / "oracle" / "cluster" / "together.json"
# What two workers of TensorFlow 1.15.5 lost in each step.
LOSSES = json.loads(RECORDED.read_text("utf-8"))["two workers"]["worker0"]["losses"]
pytestmark = pytest.mark.timeout(900)

Process = subprocess.Popen[str]
Start = Callable[..., dict[str, Process]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the tasks of a cluster, which end with the test."""
    started: list[Process] = []

    def start(tasks: list[Task], *common: str, **own: str) -> dict[str, Process]:
        kind = "parameter_servers" if "ps" in tasks[0].cluster else "workers"
        text = training_module(parts_for((kind, "train_and_evaluate", "hooks")))
        text = text.replace("LARGE = 64 << 20", "LARGE = 20")
        (tmp_path / "training.py").write_text(text, "utf-8")
        folders = os.pathsep.join((str(tmp_path), os.environ["PYTHONPATH"]))
        found = {}
        for task in tasks:
            name = f"{task.role}{task.index}"
            arguments = [str(tmp_path / "model"), *common, *own.get(name, "").split()]
            found[name] = subprocess.Popen(
                [sys.executable, str(HERE / "cluster_program.py"), *arguments],
                env={
                    **os.environ,
                    "PYTHONPATH": folders,
                    "TF_CONFIG": task.tf_config,
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=(tmp_path / f"{name}.log").open("w"),
                text=True,
            )
        started.extend(found.values())
        return found

    yield start
    for process in started:
        process.kill()
        process.communicate()


def printed(process: Process, kind: str) -> dict[str, float]:
    """What a task has printed when it ends: its losses by step, or its results."""
    lines = [line.split() for line in process.communicate()[0].splitlines()]
    return {name: float(value) for word, name, value in lines if word == kind}


@pytest.mark.slow
def test_workers_in_step_lose_what_tf_1_15_lost_and_go_on_after_one_is_killed(
    start: Start, tmp_path: Path
) -> None:
    cluster = local_cluster(workers=2, evaluator=True)
    first = start(cluster, "20", worker1="--die 15")
    seen = printed(first["worker0"], "LOSS")
    assert list(seen.values()) == pytest.approx(LOSSES[: len(seen)], rel=1e-5)
    assert len(seen) >= 14
    assert first["worker0"].returncode == 1
    address = cluster[1].cluster["worker"][1]
    assert f"Lost worker 1 ({address})" in (tmp_path / "worker0.log").read_text()
    # The 10th step was in the midst of the data.
    again = start(local_cluster(workers=2), "20")
    for process in again.values():
        seen = printed(process, "LOSS")
        assert list(seen) == [str(step) for step in range(11, 21)]
        assert list(seen.values()) == pytest.approx(LOSSES[10:], rel=1e-5)
        assert process.returncode == 0
    assert printed(first["evaluator0"], "RESULT")["global_step"] == 20
    folders = [path for path in (tmp_path / "model").iterdir() if path.is_dir()]
    assert folders == []


def test_all_workers_stop_when_the_data_of_one_are_over(start: Start) -> None:
    tasks = start(local_cluster(workers=2), "20", worker1="--short")
    for process in tasks.values():
        seen = printed(process, "LOSS")
        assert list(seen.values()) == pytest.approx(LOSSES[:12], rel=1e-5)
        assert process.returncode == 0


def test_a_master_with_parameter_servers_trains_on_when_a_worker_is_killed(
    start: Start, tmp_path: Path
) -> None:
    tasks = local_cluster(workers=2, ps=2, chief=True)
    jobs = {
        "master" if job == "chief" else job: at for job, at in tasks[0].cluster.items()
    }
    tasks = [
        Task("master" if task.role == "chief" else task.role, task.index, jobs)
        for task in tasks
    ]
    processes = start(tasks, "60", master0="--pause 20")
    master = processes["master0"]
    assert master.stdout is not None
    seen = list(iter(master.stdout.readline, "WAITS\n"))
    processes["worker0"].kill()
    processes["worker0"].wait()
    seen += master.communicate()[0].splitlines()
    assert master.returncode == 0, (tmp_path / "master0.log").read_text()[-3000:]
    losses = [float(line.split()[2]) for line in seen if line.startswith("LOSS")]
    assert len(losses) == 60
    assert sum(losses[-10:]) < sum(losses[:10]) / 4
    results = dict(line.split()[1:] for line in seen if line.startswith("RESULT"))
    assert float(results["global_step"]) >= 60
    assert float(results["error"]) < 1
