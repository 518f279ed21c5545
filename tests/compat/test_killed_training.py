"""Training that is killed goes on from its last good checkpoint.

Real processes and real SIGKILLs: between two steps, and while a checkpoint is
being written. The resumed run must end with the very weights of a run that
was never disturbed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

# The ballast makes a checkpoint large enough to be caught half written.
PROGRAM = """
import json, os, sys
import numpy as np
import tfmigrate.compat.v1 as tf
tf.logging.set_verbosity(tf.logging.ERROR)

model_dir, max_steps, progress = sys.argv[1], int(sys.argv[2]), sys.argv[3]

def input_fn():
    x = np.arange(8, dtype=np.float32).reshape(4, 2) / 10
    return tf.data.Dataset.from_tensors(({"x": x}, x.sum(1, keepdims=True))).repeat()

def model_fn(features, labels, mode):
    ballast = tf.get_variable("ballast", [BALLAST], trainable=False,
                              initializer=tf.ones_initializer())
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean((tf.matmul(features["x"], w) - labels) ** 2)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op,
        eval_metric_ops={"kept": tf.metrics.mean(tf.reduce_mean(ballast))})

class Progress(tf.train.SessionRunHook):
    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.train.get_global_step())
    def after_run(self, run_context, run_values):
        with open(progress, "a") as file:
            file.write("%d\\n" % run_values.results)

def make(directory):
    return tf.estimator.Estimator(model_fn, directory, tf.estimator.RunConfig(
        save_checkpoints_steps=5, keep_checkpoint_max=2, save_summary_steps=2))

estimator = make(model_dir)
estimator.train(input_fn, hooks=[Progress()], max_steps=max_steps)
if len(sys.argv) > 4:
    twin = make(sys.argv[4])
    twin.train(input_fn, max_steps=max_steps)
    names = [n for n in twin.get_variable_names() if n != "ballast"]
    same = {n: np.array_equal(estimator.get_variable_value(n),
                              twin.get_variable_value(n)) for n in names}
    losses = []
    for path in sorted(os.listdir(model_dir)):
        if "tfevents" in path:
            try:
                for event in tf.train.summary_iterator(os.path.join(model_dir, path)):
                    for value in event.summary.value:
                        if value.tag == "loss":
                            losses.append(event.step)
            except tf.errors.DataLossError:
                pass  # the half record that a kill leaves
    metrics = estimator.evaluate(input_fn, steps=1)
    print(json.dumps({"same": same, "step": int(metrics["global_step"]),
                      "kept": float(metrics["kept"]), "losses": losses}))
"""

MEGABYTES = 160


class Training:
    """The program in a process of its own, and its files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model_dir = folder / "model"
        self.progress = folder / "progress"
        self.progress.touch()
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM.replace("BALLAST", str(MEGABYTES << 18)))

    def command(self, max_steps: int, *extra: str) -> list[str]:
        return [
            sys.executable,
            str(self.program),
            str(self.model_dir),
            str(max_steps),
            str(self.progress),
            *extra,
        ]

    def start(self, max_steps: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(max_steps),
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "stderr").open("w"),
        )

    def steps(self) -> list[int]:
        return [int(line) for line in self.progress.read_text().split()]

    def checkpoint(self) -> str | None:
        """What the state file names; read without TensorFlow, as it lies."""
        state = self.model_dir / "checkpoint"
        if not state.exists():
            return None
        return state.read_text().splitlines()[0].split('"')[1]

    def kill_when(self, process: subprocess.Popen[bytes], condition: Any) -> None:
        deadline = time.monotonic() + 240
        while not condition():
            assert process.poll() is None, (self.folder / "stderr").read_text()[-2000:]
            assert time.monotonic() < deadline, "the moment to kill never came"
            time.sleep(0.0005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def test_killed_training_loses_nothing(tmp_path: Path) -> None:
    training = Training(tmp_path)

    # Between two steps, after a checkpoint.
    process = training.start(10_000)
    training.kill_when(process, lambda: training.steps()[-1:] > [7])
    first = training.checkpoint()
    assert first is not None
    first_step = int(first.rpartition("-")[2])
    assert first_step % 5 == 0
    assert first_step >= 5

    # While a checkpoint is written: its parts lie in a folder of their own
    # until they are complete.
    before = len(training.steps())
    process = training.start(10_000)

    def is_writing_a_later_checkpoint() -> bool:
        return len(training.steps()) > before + 2 and any(
            training.model_dir.glob("model.ckpt-*_temp*/*")
        )

    training.kill_when(process, is_writing_a_later_checkpoint)
    # It went on where the checkpoint was, not at zero and not later.
    resumed_at = training.steps()[before]
    assert first_step <= resumed_at <= first_step + 1
    half_written = list(training.model_dir.glob("model.ckpt-*_temp*"))
    assert half_written, "the kill came too late to leave half a checkpoint"
    second = training.checkpoint()
    assert second is not None
    assert (training.model_dir / f"{second}.index").exists()
    second_step = int(second.rpartition("-")[2])
    assert second_step >= first_step

    # To the end, next to a run that was never disturbed.
    before = len(training.steps())
    last = second_step + 12
    done = subprocess.run(
        training.command(last, str(tmp_path / "twin")),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert second_step <= training.steps()[before] <= second_step + 1
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["step"] == last
    assert result["kept"] == 1.0
    assert result["same"]
    assert all(result["same"].values()), result["same"]
    # Dashboards still read the whole curve.
    assert max(result["losses"]) >= last - 1
    assert min(result["losses"]) <= 1
