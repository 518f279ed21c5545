"""Kills training processes at bad moments; the next one must carry on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def train(model_dir: str, max_steps: int, dies_when: str) -> None:
    import tensorflow  # noqa: F401 - starts the devices before the clone does
    import tfmigrate.compat.v1 as tf

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        # Large enough that writing it takes a moment.
        tf.get_variable("ballast", [3_000_000], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(features - w))
        train_op = tf.group(
            tf.assign_add(w, 1.0), tf.assign_add(tf.train.get_global_step(), 1)
        )
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    class Killer(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs(tf.train.get_global_step())

        def after_run(self, run_context, run_values):
            # The fetch may see the step before or after its update: 6 or 7 is done.
            if dies_when == "between steps" and run_values.results >= 6:
                die()

    class DuringSave(tf.train.CheckpointSaverListener):
        def before_save(self, session, global_step_value):
            if dies_when == "during a save" and global_step_value >= 12:
                # A watcher kills as soon as the first bytes are there.
                code = (
                    "import glob, os, signal, time\n"
                    f"while not glob.glob({model_dir!r} + '/*tempstate*')"
                    f" and not glob.glob({model_dir!r} + '/*_temp*'):\n"
                    "    time.sleep(0.0005)\n"
                    f"os.kill({os.getpid()}, signal.SIGKILL)\n"
                )
                subprocess.Popen([sys.executable, "-c", code])
                time.sleep(0.5)

        def after_save(self, session, global_step_value):
            if dies_when == "during a save" and global_step_value >= 12:
                time.sleep(5)

    config = tf.estimator.RunConfig(model_dir=model_dir, save_checkpoints_steps=4)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    estimator.train(
        lambda: tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(),
        hooks=[Killer()],
        saving_listeners=[DuringSave()],
        max_steps=max_steps,
    )
    # One is added to w at every step that a checkpoint has seen.
    assert estimator.get_variable_value("w") == max_steps
    print("step", estimator.get_variable_value("global_step"), flush=True)


def run(model_dir: str, max_steps: int, dies_when: str) -> int:
    return subprocess.run(
        [sys.executable, __file__, model_dir, str(max_steps), dies_when], timeout=300
    ).returncode


def latest(model_dir: str) -> str:
    return (Path(model_dir) / "checkpoint").read_text().splitlines()[0]


if __name__ == "__main__":
    if len(sys.argv) == 4:
        train(sys.argv[1], int(sys.argv[2]), sys.argv[3])
        sys.exit()
    folder = sys.argv[1]
    assert run(folder, 30, "between steps") == -signal.SIGKILL
    # Saved at 0, 4; the steps since are repeated.
    assert '"model.ckpt-4"' in latest(folder), latest(folder)
    assert run(folder, 30, "during a save") == -signal.SIGKILL
    # The checkpoint of step 12 was half written: the one before it counts.
    assert '"model.ckpt-8"' in latest(folder), latest(folder)
    assert run(folder, 30, "never") == 0
    assert '"model.ckpt-30"' in latest(folder)
    print("all resumed")
