"""Turn event files and checkpoints of a finished training into a recording.

python -m tfmigrate.verify.instruments.run_directory --out DIR RUN_DIRECTORY
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..recording import Recording, save_recording

# What optimizers of TF1 hang below the name of the variable they belong to.
SLOT = re.compile(
    r"/(Adam|Adam_1|Momentum|RMSProp|RMSProp_1|Adagrad|Adadelta|Adadelta_1"
    r"|Ftrl|Ftrl_1|ExponentialMovingAverage)(_\d+)?$"
)
STATE = re.compile(r"(^|/)(global_step|beta[12]_power|iteration|learning_rate)(_\d+)?$")
OBJECT = "/.ATTRIBUTES/VARIABLE_VALUE"


def main(argv: Sequence[str] | None = None) -> int:
    """Read, and write the recording; one line on stderr says what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("run", type=Path)
    options = parser.parse_args(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import tensorflow as tf

    train, evaluations = read_scalars(tf, options.run)
    usual = [tag for tag in ("loss", "loss_1", "train/loss") if tag in train]
    tag = next(iter([*usual, *(t for t in sorted(train) if "loss" in t)]), None)
    losses = sorted(train[tag].items()) if tag else []
    checkpoints = find_checkpoints(tf, options.run)
    if not losses and not checkpoints:
        print("no losses in its event files and no checkpoints", file=sys.stderr)
        return 1
    evaluate = {
        name: points[max(points)] for name, points in sorted(evaluations.items())
    }
    named = [name for name in evaluate if "acc" in name]
    last = max([*checkpoints, *(step for step, _ in losses)])
    save_recording(
        Recording(
            program=str(options.run),
            producer={
                "tensorflow": None,
                "python": None,
                "platform": None,
                "threads": None,
                "read_by": f"TensorFlow {tf.__version__}, {platform.platform()}",
            },
            replicas=0,  # event files do not tell
            losses=[loss for _, loss in losses],
            logged_steps=[step for step, _ in losses],
            global_step=last,
            evaluate=evaluate,
            accuracy_metric=named[0] if named else None,
            initial_weights=weights(tf, checkpoints[0]) if 0 in checkpoints else (),
            final_weights=weights(tf, checkpoints[last]) if last in checkpoints else (),
        ),
        options.out,
    )
    return 0


Scalars = dict[str, dict[int, float]]


def read_scalars(tf: Any, run: Path) -> tuple[Scalars, Scalars]:
    """Scalars by tag and step: those of training, and those of evaluations."""
    train: Scalars = {}
    evaluations: Scalars = {}
    for path in sorted(run.rglob("events.out.tfevents.*")):
        folder = path.parent.relative_to(run).as_posix()
        evaluation = re.match(r"(eval|test|val)", folder) is not None
        found = evaluations if evaluation else train
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    number = value.simple_value
                elif value.HasField("tensor") and not value.tensor.tensor_shape.dim:
                    array = tf.make_ndarray(value.tensor)
                    if array.dtype.kind not in "fiu":
                        continue
                    number = float(array)
                else:
                    continue
                # The estimator logs the loss of step N after N steps were done.
                found.setdefault(value.tag, {})[int(event.step)] = float(number)
    return train, evaluations


def find_checkpoints(tf: Any, run: Path) -> dict[int, str]:
    """Every checkpoint of the run by the step in its name."""
    found = {}
    for index in sorted(run.rglob("*.index")):
        match = re.search(r"-(\d+)\.index$", index.name)
        if match:
            found[int(match.group(1))] = str(index)[: -len(".index")]
    return found


def weights(tf: Any, prefix: str) -> list[tuple[str, Any]]:
    """The model's weights in a checkpoint, without the optimizer's state.

    A checkpoint does not tell in which order its variables were made; they are
    given by name, and matched to a program's by name and shape.
    """
    reader = tf.train.load_checkpoint(prefix)
    shapes = reader.get_variable_to_shape_map()
    types = reader.get_variable_to_dtype_map()
    chosen = []
    for key in sorted(shapes):
        name = key[: -len(OBJECT)] if key.endswith(OBJECT) else key
        if not types[key].is_floating or SLOT.search(name) or STATE.search(name):
            continue
        if key.endswith(OBJECT) and re.search(
            r"(^|/)(optimizer|_?opt)\b|/\.OPTIMIZER_SLOT", key
        ):
            continue
        chosen.append((name, reader.get_tensor(key)))
    return chosen


if __name__ == "__main__":
    sys.exit(main())
