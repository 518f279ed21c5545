"""train_and_evaluate in clusters of real processes, each with its TF_CONFIG."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import sys
import numpy as np
import tfmigrate.compat.v1 as tf
tf.logging.set_verbosity(tf.logging.ERROR)

def input_fn():
    x = np.arange(8, dtype=np.float32).reshape(4, 2) / 10
    return tf.data.Dataset.from_tensors(({"x": x}, x.sum(1, keepdims=True))).repeat()

places = {}

def model_fn(features, labels, mode):
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    places[mode] = w.device
    output = tf.matmul(features["x"], w)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"o": output})
    loss = tf.reduce_mean((output - labels) ** 2)
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

def serving():
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

config = tf.estimator.RunConfig(
    model_dir=sys.argv[1], save_checkpoints_steps=50,
    experimental_max_worker_delay_secs=1)
tf.estimator.train_and_evaluate(
    tf.estimator.Estimator(model_fn, config=config),
    tf.estimator.TrainSpec(input_fn, max_steps=200),
    tf.estimator.EvalSpec(
        lambda: input_fn().take(2), steps=None, start_delay_secs=0, throttle_secs=0,
        exporters=tf.estimator.FinalExporter("final", serving)))
print("PLACES", places, flush=True)
"""


ORACLE = Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "cluster"
RECORDED = json.loads((ORACLE / "together.json").read_text("utf-8"))


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What starts the tasks of a cluster, here as for the recordings."""
    monkeypatch.syspath_prepend(str(ORACLE))
    import processes

    return processes


@pytest.mark.slow
@pytest.mark.parametrize(
    "roles",
    [
        ("chief", "worker", "ps", "evaluator"),
        ("master", "worker", "ps"),
        ("chief", "evaluator"),
    ],
    ids="-".join,
)
def test_every_task_plays_its_part(
    roles: tuple[str, ...], tmp_path: Path, processes: Any
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    model_dir = tmp_path / "model"

    def command(task: str) -> list[str]:
        return [sys.executable, str(program), str(model_dir)]

    tasks = [f"{role}0" for role in roles]
    with processes.Cluster(tasks, command, str(tmp_path)) as cluster:
        for task, status in cluster.wait(400).items():
            assert status == 0, f"{task}: {cluster.said(task)[-2000:]}"
        if "ps" in roles:
            # It serves until it is told otherwise, and it holds the variables.
            assert cluster.processes["ps0"].poll() is None
            for role in {"chief", "master", "worker"} & set(roles):
                assert "'train': '/job:ps/task:0'" in cluster.said(f"{role}0")
    (exported,) = (model_dir / "export" / "final").iterdir()
    assert (exported / "saved_model.pb").exists()
    state = (model_dir / "checkpoint").read_text().splitlines()[0]
    assert int(state.rstrip('"').rpartition("-")[2]) >= 200


@pytest.mark.parametrize(
    "title",
    [
        "two workers",
        pytest.param("three workers", marks=pytest.mark.slow),
        "chief, worker and evaluator",
    ],
)
def test_workers_that_train_together_lose_what_tf_1_15_lost(
    title: str, tmp_path: Path, processes: Any
) -> None:
    expected = RECORDED[title]
    program = str(ORACLE / "together.py")

    def command(task: str) -> list[str]:
        result = str(tmp_path / f"{task}.json")
        start = [sys.executable, "-m", "tfmigrate", "run"]
        return [*start, program, str(tmp_path / "model"), result]

    processes.run_cluster(list(expected), command, str(tmp_path), 120)
    for task, seen in expected.items():
        found = json.loads((tmp_path / f"{task}.json").read_text("utf-8"))
        # The order in which workers' gradients are added is not fixed.
        assert found["losses"] == pytest.approx(seen["losses"], rel=1e-5), task
        # Which checkpoints an evaluator meets is a matter of time; the last is sure.
        if task == "evaluator0":
            step, mean = found["evaluations"][-1]
            assert step == seen["evaluations"][-1][0]
            assert mean == pytest.approx(seen["evaluations"][-1][1], rel=1e-4, abs=1e-7)
    # The others had to save with the first, but nobody is to find theirs.
    state = (tmp_path / "model" / "checkpoint").read_text("utf-8")
    assert 'model_checkpoint_path: "model.ckpt-20"' in state


def test_servers_compute_for_a_program_that_names_them(
    tmp_path: Path, processes: Any
) -> None:
    expected = json.loads((ORACLE / "remote.json").read_text("utf-8"))
    start = [sys.executable, "-m", "tfmigrate", "run", str(ORACLE / "remote.py")]
    result = tmp_path / "result.json"
    servers = ["worker0", "worker1"]
    with processes.Cluster(servers, lambda task: start, str(tmp_path)) as cluster:
        members = json.dumps(cluster.members)
        client = [*start, str(tmp_path / "model"), str(result), members]
        subprocess.run(client, check=True, capture_output=True, timeout=120)
    found = json.loads(result.read_text("utf-8"))
    assert found["shares"] == expected["servers"]["shares"]
    assert found["losses"] == pytest.approx(expected["servers"]["losses"], rel=1e-5)
    # It is the training of one process with the batches of both.
    assert found["losses"] == pytest.approx(expected["alone"]["losses"], rel=1e-4)


@pytest.mark.parametrize(
    "recorded",
    [
        "apart",
        pytest.param("apart_three", marks=pytest.mark.slow),
        pytest.param("apart_strategy", marks=pytest.mark.slow),
    ],
)
def test_asynchronous_training_ends_where_that_of_tf_1_15_ended(
    recorded: str, tmp_path: Path, processes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker is killed on the way and started again: it takes steps again."""
    monkeypatch.setenv("STRATEGY", "servers" if "strategy" in recorded else "")
    expected = json.loads((ORACLE / f"{recorded}.json").read_text("utf-8"))
    trains = [task for task in expected["tasks"] if task[:2] in ("ch", "wo")]

    def command(task: str) -> list[str]:
        result = str(tmp_path / f"{task}.json")
        start = [sys.executable, "-m", "tfmigrate", "run", str(ORACLE / "apart.py")]
        return [*start, str(tmp_path / "model"), result]

    with processes.Cluster(expected["tasks"], command, str(tmp_path)) as cluster:
        saved = tmp_path / "model" / "model.ckpt-0.index"
        cluster.wait_for(saved.exists, 90)
        cluster.kill("worker0")
        cluster.start("worker0")
        for task, status in cluster.wait(150).items():
            assert status == 0, f"{task}: {cluster.said(task)[-2000:]}"
        assert cluster.processes["ps0"].poll() is None
    seen = {
        task: json.loads((tmp_path / f"{task}.json").read_text("utf-8"))
        for task in expected["tasks"]
        if task != "ps0"
    }
    assert seen["chief0"]["places"] == expected["places"]
    # Lower where another was faster than the chief.
    assert seen["chief0"]["losses"][0] <= expected["first loss"] * (1 + 1e-5)
    step, weights = seen["evaluator0"]["evaluations"][-1]
    # Each task may take a step when the last but one is done.
    assert 300 <= step < 300 + len(trains)
    low, high = expected["final weights"]
    for weight, least, most in zip(weights, low, high, strict=True):
        # How workers take turns differs from run to run, more so than in the recording.
        assert least - 0.05 <= weight <= most + 0.05
    for task in trains:
        if seen[task]["steps"]:
            assert seen[task]["losses"][-1] <= 1e-4
