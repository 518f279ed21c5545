"""Examples per second with one worker and with two, each on a processor core.

    python tests/benchmarks/scaling.py [--rounds 3] [--model large] [--model small]

The same program, which counts its steps per second itself, as it is and rewritten, with
workers in step and with a parameter server. Each worker has a core, one thread for
computing, and the same batch, however many they are: with two, examples per second may
double at best. What takes no steps (a parameter server, a rewritten chief) has no core
of its own. One worker and two take turns in each round.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "fixtures" / "oracle" / "cluster"))
from processes import Cluster  # noqa: E402

PROGRAM = """
import glob, json, os, sys, time
import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.INFO)
MODEL, MODEL_DIR = sys.argv[1:]
# Much to compute and little to send, or next to nothing to compute.
BATCH, STEPS, EVERY = {"large": (32, 160, 20), "small": (32, 3200, 400)}[MODEL]


def input_fn():
    x = np.sin(np.arange(BATCH * 1024, dtype=np.float32)).reshape(BATCH, 32, 32, 1)
    y = x.sum(axis=(1, 2))
    return tf.data.Dataset.from_tensors((x, y)).repeat()


def model_fn(features, labels, mode):
    if MODEL == "large":
        net = tf.layers.conv2d(features, 32, 3, padding="same", activation=tf.nn.relu)
        net = tf.layers.conv2d(net, 32, 3, padding="same", activation=tf.nn.relu)
        net = tf.reduce_mean(net, axis=[1, 2])
    else:
        net = tf.layers.dense(features[:, 0, :, 0], 32, activation=tf.nn.relu)
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(net, 1))
    optimizer = tf.train.GradientDescentOptimizer(0.001)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class AllAtOnce(tf.train.SessionRunHook):
    # A worker looks every 30 s whether the chief has made the variables.
    def after_create_session(self, session, coord):
        place = json.loads(os.environ["TF_CONFIG"])
        trains = [at for job, at in place["cluster"].items() if job != "ps"]
        open(MODEL_DIR + "/here-" + place["task"]["type"], "w").close()
        while len(glob.glob(MODEL_DIR + "/here-*")) < sum(map(len, trains)):
            time.sleep(0.05)


config = tf.estimator.RunConfig(
    model_dir=MODEL_DIR,
    save_summary_steps=None,
    save_checkpoints_steps=STEPS,
    log_step_count_steps=EVERY,
    experimental_max_worker_delay_secs=0,
    train_distribute=STRATEGY,
)
tf.estimator.train_and_evaluate(
    tf.estimator.Estimator(model_fn, config=config),
    tf.estimator.TrainSpec(input_fn, max_steps=STEPS, hooks=HOOKS),
    tf.estimator.EvalSpec(input_fn, steps=1),
)
"""
BATCH = 32
IN_STEP = "tf.contrib.distribute.CollectiveAllReduceStrategy()"
# The strategy of the program, the option of its rewrite, and its tasks for one worker
# and for two; a task named first has a core first.
MODES: dict[str, tuple[str, str | None, list[list[str]]]] = {
    "in step, unedited": (IN_STEP, None, [["worker0"], ["worker0", "worker1"]]),
    "in step, rewritten": (
        *(IN_STEP, "multiworker"),
        [["worker0"], ["worker0", "worker1"]],
    ),
    "servers, unedited": (
        *("None", None),
        [["chief0", "ps0"], ["chief0", "worker0", "ps0"]],
    ),
    "servers, rewritten": (
        *("None", "parameter_server"),
        [["worker0", "chief0", "ps0"], ["worker0", "worker1", "chief0", "ps0"]],
    ),
}


def prepared(mode: str, folder: Path) -> list[str]:
    """What starts the program of a mode."""
    strategy, option, _ = MODES[mode]
    folder.mkdir()
    program = folder / "train.py"
    hooks = "[AllAtOnce()]" if mode == "servers, unedited" else "[]"
    program.write_text(PROGRAM.replace("STRATEGY", strategy).replace("HOOKS", hooks))
    if option is None:
        return [sys.executable, "-m", "tfmigrate", "run", str(program)]
    rewrite = [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty"]
    rewrite += ["--strategy", option, str(program)]
    subprocess.run(rewrite, check=True, capture_output=True)
    return [sys.executable, str(program)]


def measured(start: list[str], model: str, tasks: list[str], workers: int) -> float:
    """Examples per second of all workers, when all are at work."""
    cores = {task: str(core) for core, task in enumerate(tasks[:workers])}
    with tempfile.TemporaryDirectory() as folder:

        def command(task: str) -> list[str]:
            pinned = ["taskset", "-c", cores[task]] if task in cores else []
            return [*pinned, *start, model, f"{folder}/model"]

        with Cluster(tasks, command, folder) as cluster:
            ended = cluster.wait(240)
            first = "chief0" if "chief0" in tasks else "worker0"
            said = cluster.said(first)
        speeds = [float(one) for one in re.findall(r"global_step/sec: ([\d.]+)", said)]
        if any(ended.values()) or len(speeds) < 4:
            sys.exit(f"{ended}\n{said[-3000:]}")
    # A step of workers in step is one of each; the others count each their own. When
    # the first figures were taken, somebody was still starting.
    per_step = BATCH * (workers if "ps0" not in tasks else 1)
    return statistics.median(speeds[2:]) * per_step


def main() -> None:
    """Take turns, print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", action="append", choices=["large", "small"])
    parser.add_argument("--mode", action="append", choices=list(MODES))
    options = parser.parse_args()
    os.environ.update(
        CUDA_VISIBLE_DEVICES="-1",
        TF_NUM_INTRAOP_THREADS="1",
        TF_CPP_MIN_LOG_LEVEL="3",
    )
    found: dict[tuple[str, str], list[list[float]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        starts = {
            mode: prepared(mode, Path(scratch, str(number)))
            for number, mode in enumerate(options.mode or MODES)
        }
        for _ in range(options.rounds):
            for model in options.model or ["large", "small"]:
                for mode, start in starts.items():
                    figures = found.setdefault((model, mode), [[], []])
                    for workers, tasks in enumerate(MODES[mode][2], start=1):
                        speed = measured(start, model, tasks, workers)
                        figures[workers - 1].append(speed)
                        print(f"{model:6}{mode:20}{workers:3}{speed:>9.0f}", flush=True)
    print(f"\n{'examples/s':26}{'1 worker':>10}{'2 workers':>10}{'to one':>8}  range")
    for (model, mode), (one, two) in found.items():
        ratios = [b / a for a, b in zip(one, two, strict=True)]
        single, double = statistics.median(one), statistics.median(two)
        print(
            f"{model:6}{mode:20}{single:>10.0f}{double:>10.0f}{double / single:>8.2f}"
            f"  {min(ratios):.2f}-{max(ratios):.2f}"
        )


if __name__ == "__main__":
    main()
