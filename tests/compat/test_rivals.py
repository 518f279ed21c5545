"""Two processes that train into one model_dir are told of each other.

Compat looks for them by a lock.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

PROGRAM = """
import os, sys, time
import tfmigrate.compat.v1 as tf
from tfmigrate.compat.v1.estimator import Estimator, EstimatorSpec, RunConfig

def model_fn(features, labels, mode):
    w = tf.get_variable("w", [])
    loss = tf.square(w - features)
    step = tf.train.get_global_step()
    return EstimatorSpec(
        mode, loss=loss, train_op=tf.train.GradientDescentOptimizer(0.1).minimize(loss, step))

class UntilTold(tf.train.SessionRunHook):
    def after_run(self, context, values):
        open(sys.argv[2], "w").close()
        time.sleep(0.05)
        if os.path.exists(sys.argv[3]):
            context.request_stop()

tf.logging.set_verbosity(tf.logging.WARN)
config = RunConfig(save_checkpoints_steps=1000000)
estimator = Estimator(model_fn, sys.argv[1], config)
estimator.train(lambda: tf.data.Dataset.from_tensors(1.0).repeat(), hooks=[UntilTold()])
"""


def test_each_is_told_of_the_other_once(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    # One after the other: two that save at one time delete each other's files.
    stops = [tmp_path / f"stop{i}" for i in range(3)]
    logs = [tmp_path / f"log{i}" for i in range(3)]
    processes = []

    def start(number: int, model_dir: str) -> None:
        going = tmp_path / f"going{number}"
        with logs[number].open("w") as log:
            processes.append(
                subprocess.Popen(
                    [sys.executable, "train.py", model_dir, going, stops[number]],
                    cwd=tmp_path,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )
        wait_for(lambda: going.exists() or processes[-1].poll() is not None)

    try:
        start(0, "model")
        start(1, str(tmp_path / "model"))  # the same, said differently
        start(2, "another")
        wait_for(lambda: all("trains into" in log.read_text() for log in logs[:2]))
        time.sleep(1)
    finally:
        for stop, process in zip(stops, processes, strict=False):
            stop.write_text("")
            process.wait(60)
    texts = [log.read_text() for log in logs]
    for text in texts[:2]:
        assert text.count("Another process trains into ") == 1, text
    assert "trains into" not in texts[2]
    assert [process.returncode for process in processes] == [0, 0, 0], texts


def wait_for(what: object, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not what() and time.monotonic() < deadline:  # type: ignore[operator]
        time.sleep(0.1)
