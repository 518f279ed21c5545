"""Seconds to the first step and peak memory: compat beside a real Estimator.

    python tests/benchmarks/start_and_memory.py PYTHON [--rounds 5]

PYTHON has TensorFlow 2.15. Its Estimator and compat's (`tfmigrate run`) train the same
small network in turns, each in a process of its own; the medians are printed, and
what `import tensorflow` alone takes on either side. Seconds are of the clock and, which
others that use the machine change less, of the processor for all of the process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

IMPORT = """
import resource, time
begin = time.time()
import tensorflow as tf
first = time.time()
"""
TRAIN = """
tf1 = tf.compat.v1
first = None
class First(tf1.train.SessionRunHook):
    def after_run(self, run_context, run_values):
        global first
        first = first or time.time()
def model_fn(features, labels, mode):
    hidden = tf1.layers.dense(features, 64, activation=tf.nn.relu)
    loss = tf1.losses.mean_squared_error(labels, tf1.layers.dense(hidden, 1))
    step = tf1.train.get_global_step()
    train_op = tf1.train.AdamOptimizer().minimize(loss, step)
    return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
def data():
    rows = (tf.ones([32, 16]), tf.ones([32, 1]))
    return tf1.data.Dataset.from_tensors(rows).repeat()
estimator = tf1.estimator.Estimator(model_fn)
estimator.train(data, hooks=[First()], steps=50)
estimator.evaluate(data, steps=5)
"""
SAY = """
used = resource.getrusage(resource.RUSAGE_SELF)
print("MEASURED", first - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def measured(command: list[str], environment: dict[str, str]) -> list[float]:
    """Seconds, of the processor too, and megabytes that a process tells of itself."""
    done = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    )
    line = next(line for line in done.stdout.splitlines() if "MEASURED" in line)
    return [float(word) for word in line.split()[1:]]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="interpreter with TensorFlow 2.15")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    quiet = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    folder = Path(tempfile.mkdtemp())
    trains, imports = folder / "trains.py", folder / "imports.py"
    trains.write_text(IMPORT + TRAIN + SAY)
    imports.write_text(IMPORT + SAY)
    run = [sys.executable, "-m", "tfmigrate", "run", "--tf", "2"]
    sides = {
        "import, TF 2.15": [options.python, str(imports)],
        "import, today's with Keras 2": [sys.executable, str(imports)],
        "import, tfmigrate run": [*run, str(imports)],
        "first step, TF 2.15": [options.python, str(trains)],
        "first step, tfmigrate run": [*run, str(trains)],
    }
    found: dict[str, list[list[float]]] = {name: [] for name in sides}
    for _ in range(options.rounds):
        for name, command in sides.items():
            environment = {**quiet, "TF_USE_LEGACY_KERAS": "1"}
            if command[0] == options.python:
                environment = quiet
            found[name].append(measured(command, environment))
    for name, rows in found.items():
        seconds, processor, megabytes = (
            statistics.median(column) for column in zip(*rows, strict=True)
        )
        print(f"{name:30} {seconds:5.2f} s {processor:5.2f} s {megabytes:5.0f} MB")


if __name__ == "__main__":
    main()
