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

from ..checkpoints.contents import open_checkpoint
from ..recording import Recording, save_recording
from .legacy_record import accuracy_metric, checkpoints_in

# What is no weight of a model, whatever the optimizer.
_STATE = re.compile(r"(^|/)(global_step|iterations?|learning_rate)(_\d+)?$")


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
    checkpoints = checkpoints_in(options.run)
    if not losses and not checkpoints:
        print("no losses in its event files and no checkpoints", file=sys.stderr)
        return 1
    evaluate = {name: each[max(each)] for name, each in sorted(evaluations.items())}
    last = max([*checkpoints, *(step for step, _ in losses)])
    save_recording(
        Recording(
            program=str(options.run),
            producer={"read_by": f"TensorFlow {tf.__version__}, {platform.platform()}"},
            replicas=0,  # event files do not tell
            losses=[loss for _, loss in losses],
            logged_steps=[step for step, _ in losses],
            global_step=last,
            evaluate=evaluate,
            accuracy_metric=accuracy_metric(evaluate),
            initial_weights=weights(checkpoints[0]) if 0 in checkpoints else (),
            final_weights=weights(checkpoints[last]) if last in checkpoints else (),
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
                number = value.simple_value
                if value.HasField("tensor"):
                    array = tf.make_ndarray(value.tensor)
                    if array.shape or array.dtype.kind not in "fiu":
                        continue
                    number = float(array)
                elif not value.HasField("simple_value"):
                    continue
                # The estimator logs the loss of step N after N steps were done.
                found.setdefault(value.tag, {})[int(event.step)] = float(number)
    return train, evaluations


def weights(prefix: str) -> list[tuple[str, Any]]:
    """The model's weights in a checkpoint, without the optimizer's state.

    A checkpoint does not tell in which order its variables were made; they are
    given by name, and matched to a program's by name and shape.
    """
    opened = open_checkpoint(prefix)
    return [
        (entry.name, opened.value(entry))
        for entry in opened.entries
        if entry.role == "weight"
        and "float" in entry.dtype
        and not _STATE.search(entry.name)
    ]


if __name__ == "__main__":
    sys.exit(main())
