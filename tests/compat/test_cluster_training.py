"""train_and_evaluate in clusters of real processes, each with its TF_CONFIG."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

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


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("localhost", 0))
        port: int = sock.getsockname()[1]
        return port


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
def test_every_task_plays_its_part(roles: tuple[str, ...], tmp_path: Path) -> None:
    cluster = {r: [f"localhost:{free_port()}"] for r in roles if r != "evaluator"}
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    model_dir = tmp_path / "model"
    processes = {}
    for role in roles:
        task = {"cluster": cluster, "task": {"type": role, "index": 0}}
        processes[role] = subprocess.Popen(
            [sys.executable, str(program), str(model_dir)],
            env={**os.environ, "TF_CONFIG": json.dumps(task)},
            stdout=(tmp_path / f"{role}.out").open("w"),
            stderr=(tmp_path / f"{role}.err").open("w"),
        )
    try:
        deadline = time.monotonic() + 500
        for role, process in processes.items():
            if role != "ps":
                process.wait(timeout=max(1.0, deadline - time.monotonic()))
        for role, process in processes.items():
            if role != "ps":
                error = (tmp_path / f"{role}.err").read_text()[-2000:]
                assert process.returncode == 0, f"{role}: {error}"
        if "ps" in roles:
            # It serves until it is told otherwise, and it holds the variables.
            assert processes["ps"].poll() is None
            for role in ("chief", "master", "worker"):
                if role in roles:
                    places = (tmp_path / f"{role}.out").read_text()
                    assert "'train': '/job:ps/task:0'" in places
    finally:
        for process in processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()
    (exported,) = (model_dir / "export" / "final").iterdir()
    assert (exported / "saved_model.pb").exists()
    state = (model_dir / "checkpoint").read_text().splitlines()[0]
    assert int(state.rstrip('"').rpartition("-")[2]) >= 200


ORACLE = Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "cluster"
RECORDED = json.loads((ORACLE / "together.json").read_text("utf-8"))


@pytest.mark.parametrize(
    "title",
    [
        "two workers",
        pytest.param("three workers", marks=pytest.mark.slow),
        "chief, worker and evaluator",
    ],
)
def test_workers_that_train_together_lose_what_tf_1_15_lost(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ORACLE))
    from processes import run_cluster

    expected = RECORDED[title]
    program = str(ORACLE / "together.py")

    def command(task: str) -> list[str]:
        result = str(tmp_path / f"{task}.json")
        start = [sys.executable, "-m", "tfmigrate", "run"]
        return [*start, program, str(tmp_path / "model"), result]

    run_cluster(list(expected), command, str(tmp_path), 120)
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
