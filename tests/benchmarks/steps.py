"""Steps per second: Estimator programs, on compat and as native programs.

    python tests/benchmarks/steps.py [--rounds 5] [--programs cnn dense ...]
                                     [--sides "TF 2.15" native ...] [--json FILE]
                                     [--gpu] [--keep FOLDER]

Small programs are written here, trained as Estimators (on real TF 2.15.1 where
TFMIGRATE_TF215_PYTHON names an interpreter, and on tfmigrate.compat), and rewritten.
Everybody takes a turn in each round, so that a machine which slows down slows all.
Shown are the median of the rounds, the median of their ratios with the smallest and the
largest of these, and the ratio of the best rounds, which is what a quiet machine would
show. A program trains for
a few steps and for many by turns; the time of a step is that of the difference between
the fastest of each, so that building graphs, tracing and saving count for nobody. The
last column, in seconds, is what does count there: from the start of the process to the
end of the first training. All have the same number of threads.

Each round also tells how busy others kept the machine: their share of its processor
time. With --json each round is kept, and rounds of earlier runs count as well, so that
a measurement can be made in pieces; only rounds of the same sides belong in one file.

With --gpu the programs see the GPUs and take as many threads as they like; native ones
then also train with XLA and in mixed precision, as someone would change them by hand.
With --keep the programs stay in a folder, and those that stand there are not made again:
`--gpu --rounds 0 --keep FOLDER` where tfmigrate is installed whole, and the folder is
measured where only TensorFlow is.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HEAD = '''"""A small Estimator program that tells how long a step takes."""
import os
import time

import numpy as np
import tensorflow.compat.v1 as tf

rng = np.random.RandomState(0)
x = rng.normal(size=(4096, {shape})).astype(np.float32)
y = rng.randint(10, size=4096).astype(np.int32)
SHAPE = {tensor}


def input_fn():
    data = tf.data.Dataset.from_tensor_slices((x.reshape((-1,) + SHAPE), y))
    return data.repeat().batch({batch}).prefetch(2)


'''
# Batches that are cut already: a GPU is not to wait for rows.
CUT = """    data = tf.data.Dataset.from_tensor_slices((x.reshape((-1, {batch}) + SHAPE),
                                               y.reshape((-1, {batch}))))
    return data.repeat().prefetch(2)
"""
HOOK = """class TimeHistory(tf.train.SessionRunHook):
    def begin(self):
        self.times = []

    def before_run(self, run_context):
        self.start = time.time()

    def after_run(self, run_context, run_values):
        self.times.append(time.time() - self.start)


"""
LAYERS = {
    "cnn": """\
tf.keras.layers.Conv2D(32, 3, activation='relu', input_shape=SHAPE),
    tf.keras.layers.MaxPooling2D(2, 2),
    tf.keras.layers.Conv2D(64, 3, activation='relu'),
    tf.keras.layers.MaxPooling2D(2, 2),
    tf.keras.layers.Conv2D(64, 3, activation='relu'),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(64, activation='relu'),
    tf.keras.layers.Dense(10, activation='softmax'),""",
    "dense": "tf.keras.layers.Dense(10, activation='softmax', input_shape=SHAPE),",
}
KERAS = """model = tf.keras.Sequential([
    {layers}
])
model.compile(tf.train.AdamOptimizer(0.001), 'sparse_categorical_crossentropy')
{config}estimator = tf.keras.estimator.model_to_estimator(model{given})
"""
MODEL_FN = """def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 64, activation=tf.nn.relu)
    net = tf.layers.dense(net, 32, activation=tf.nn.relu)
    logits = tf.layers.dense(net, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.AdamOptimizer(0.001)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


{config}estimator = tf.estimator.Estimator(model_fn{given})
"""
# Without a hook the calls share a function in the rewrite; with one, each has its loop.
TRAIN = """began = time.time()
estimator.train(input_fn, steps={steps}{hooks})
{kind}.append(time.time() - began)
"""
SAY = """print('STEP', (min(many) - min(few)) / {more})
"""
STRATEGY = """strategy = tf.distribute.MirroredStrategy({devices})
config = tf.estimator.RunConfig(train_distribute=strategy)
"""
# One step, and how long the process took to get there.
FIRST = """estimator.train(input_fn, steps=1{hooks})
print('FIRST', time.time() - float(os.environ['BEGAN']))
"""
# By hand, in the native programs: the step compiled by XLA, and mixed precision.
XLA = """step = estimator.task.train_step
estimator.task.train_step = tf.function(step, jit_compile=True)
"""
MIXED = "tf_keras.mixed_precision.set_global_policy('mixed_bfloat16')\n"
TURNS = 3
# Program -> layers, hook, strategy, batch, steps that are timed: a second and more.
PROGRAMS = {
    "cnn": ("cnn", False, False, 128, 120),
    "cnn, timing hook": ("cnn", True, False, 128, 120),
    "cnn, mirrored, timing hook": ("cnn", True, True, 128, 120),
    "one Dense": ("dense", False, False, 32, 2000),
    "one Dense, timing hook": ("dense", True, False, 32, 2000),
    "model_fn": ("model_fn", False, False, 32, 1500),
    "model_fn, timing hook": ("model_fn", True, False, 32, 1500),
}
# Only with --gpu, which takes ten times the steps of convolutions.
LARGE = {"cnn, batch 1024": ("cnn", False, False, 1024, 120)}


def source(
    layers: str, hook: bool, strategy: bool, batch: int, more: int, *, gpu: bool
) -> str:
    """The legacy program."""
    image = layers == "cnn"
    if gpu and image:
        more *= 10
    text = HEAD.format(
        shape=784, tensor="(28, 28, 1)" if image else "(784,)", batch=batch
    )
    if gpu and image:
        rows = text.index("    data = ")
        text = text[:rows] + CUT.format(batch=batch) + "\n\n"
    if hook:
        text += HOOK
    body = MODEL_FN if layers == "model_fn" else KERAS
    text += body.format(
        layers=LAYERS.get(layers, ""),
        config=STRATEGY.format(devices="" if gpu else "['/cpu:0']") if strategy else "",
        given=", config=config" if strategy else "",
    )
    hooks = ", hooks=[TimeHistory()]" if hook else ""
    warm = max(more // 10, 5)
    text += FIRST.format(hooks=hooks)
    text += "few, many = [], []\n"
    for _ in range(TURNS):
        for kind, steps in (("few", warm), ("many", warm + more)):
            text += TRAIN.format(steps=steps, hooks=hooks, kind=kind)
    return text + SAY.format(more=more)


def contestants(folder: Path, text: str, *, gpu: bool) -> dict[str, list[str]]:
    """Name -> command of each side, whose programs stand or are written in `folder`."""
    texts = {
        "TF 2.15": text,
        "compat": text.replace(
            "import tensorflow.compat.v1", "import tfmigrate.compat.v1"
        ),
    }
    native = folder / "native" / "program.py"
    if not native.exists():
        native.parent.mkdir(parents=True, exist_ok=True)
        native.write_text(text)
        subprocess.run(
            [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty", native],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    texts["native"] = native.read_text()
    if "from training import" not in texts["native"]:
        sys.exit(f"not rewritten: {native}")
    if gpu and "Conv2D" in text and "hook" not in text:
        texts |= by_hand(texts["native"])
    found = {}
    for name, each in texts.items():
        program = native.with_name(re.sub(r"\W+", "_", name) + ".py")
        program.write_text(each)
        found[name] = [sys.executable, str(program)]
    real = os.environ.get("TFMIGRATE_TF215_PYTHON")
    if real:
        found["TF 2.15"][0] = real
    else:
        del found["TF 2.15"]
    return found


def by_hand(native: str) -> dict[str, str]:
    """What someone may make of a native program on a GPU."""
    made = "estimator = Trainer(KerasTask(model))\n"
    assert made in native
    compiled = native.replace(made, made + XLA)
    halves = []
    for text in (native, compiled):
        mixed = text.replace("model = tf_keras", MIXED + "model = tf_keras")
        # Probabilities and their loss stay in float32, as Keras advises.
        halves.append(mixed.replace("='softmax')", "='softmax', dtype='float32')"))
    return {
        "native, XLA": compiled,
        "native, bfloat16": halves[0],
        "native, bfloat16 and XLA": halves[1],
    }


def main() -> None:
    """Take turns, print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", nargs="*")
    parser.add_argument("--sides", nargs="*", help="only these")
    parser.add_argument("--json", type=Path, help="keep rounds here, and go on from it")
    parser.add_argument("--gpu", action="store_true", help="let programs see the GPUs")
    parser.add_argument("--keep", type=Path, help="folder for the programs")
    options = parser.parse_args()
    programs = PROGRAMS | LARGE if options.gpu else PROGRAMS
    kept: dict[str, list[Any]] = {}
    if options.json and options.json.exists():
        kept = json.loads(options.json.read_text())
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    if not options.gpu:
        for kind in ("INTEROP", "INTRAOP"):
            environment[f"TF_NUM_{kind}_THREADS"] = "2"
        environment["CUDA_VISIBLE_DEVICES"] = "-1"
    print(f"{'microseconds for each step':36}{'median':>8}{'ratio':>8}{'best':>8}")
    for program in options.programs or programs:
        with tempfile.TemporaryDirectory() as scratch:
            folder = (options.keep or Path(scratch)) / re.sub(r"\W+", "_", program)
            text = source(*programs[program], gpu=options.gpu)
            sides = contestants(folder.resolve(), text, gpu=options.gpu)
            if options.sides:
                sides = {name: sides[name] for name in options.sides if name in sides}
            rounds = kept.setdefault(program, [])
            for _ in range(options.rounds):
                busy = Busy()
                figures = {
                    name: measured(name, command, environment)
                    for name, command in sides.items()
                }
                rounds.append({"sides": figures, "others": busy.others()})
                if options.json:
                    options.json.write_text(json.dumps(kept, indent=1))
        if not rounds:
            continue
        times = {name: [one["sides"][name][0] for one in rounds] for name in sides}
        starts = {name: [one["sides"][name][1] for one in rounds] for name in sides}
        first = next(iter(times.values()))
        others = [one["others"] for one in rounds]
        print(
            f"{program}: {len(rounds)} rounds, others took {min(others):.0%} to "
            f"{max(others):.0%} of the machine"
        )
        for name, steps in times.items():
            # Above one: more steps in the same time than the Estimator.
            ratios = [a / b for a, b in zip(first, steps, strict=True)]
            middle = statistics.median(steps) * 1e6
            print(
                f"  {name:34}{middle:>8.0f}{statistics.median(ratios):>8.2f}"
                f"{min(first) / min(steps):>8.2f}"
                f"   ({min(ratios):.2f} to {max(ratios):.2f})"
                f"   {statistics.median(starts[name]):.1f}",
                flush=True,
            )


class Busy:
    """What others take of the processors while this process and its children work."""

    def __init__(self) -> None:
        self.began = self.now()

    def now(self) -> tuple[float, float, float]:
        """Seconds: all that passed on all processors, those in use, and our own."""
        words = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
        ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in words]
        mine = os.times()
        return sum(ticks), sum(ticks) - ticks[3] - ticks[4], sum(mine[:4])

    def others(self) -> float:
        """Their share since the beginning."""
        passed, used, own = (b - a for a, b in zip(self.began, self.now(), strict=True))
        return max(0.0, (used - own) / passed)


def measured(
    name: str, command: list[str], environment: dict[str, str]
) -> tuple[float, float]:
    """The seconds of a step, and those until the first one."""
    result = subprocess.run(
        command,
        env={**environment, "BEGAN": str(time.time())},
        capture_output=True,
        text=True,
    )
    told = dict(re.findall(r"^(STEP|FIRST) (\S+)$", result.stdout, re.M))
    if len(told) < 2:
        sys.exit(f"{name} failed:\n{result.stdout}{result.stderr}")
    return float(told["STEP"]), float(told["FIRST"])


if __name__ == "__main__":
    main()
