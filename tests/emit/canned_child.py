"""Runs rewritten programs of canned models from the recorded initial weights.

python canned_child.py FOLDER CASE.REPLICAS...

FOLDER holds CASE.REPLICAS.py; leaves CASE.REPLICAS.json beside it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
RECORDINGS = Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "canned"
sys.path.insert(0, str(RECORDINGS))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.get_logger().setLevel("ERROR")
_ENDINGS = ("embedding_weights", "kernel", "weights", "bias", "gamma", "beta")
_TEXTS = ("classes", "all_classes")
_AVERAGES = ("moving_mean", "moving_variance")


def recorded(name: str, part: str) -> dict[str, np.ndarray]:
    """Model weights of a recording by plain name, in order of creation."""
    path = RECORDINGS / "v1" / f"{name.removesuffix('c')}.npz"
    if not path.exists():
        # The same weights as with one replica.
        path = RECORDINGS / "v1" / f"{name.partition('.')[0]}.1.npz"
    with np.load(path) as stored:
        found = {
            re.sub(r"^(dnn|linear)/\1/", r"\1/", key.removeprefix(f"{part}:")): value
            for key in stored.files
            if key.startswith(f"{part}:")
            if (value := stored[key]).dtype == np.float32
        }
    ends = (*_ENDINGS, "bias_weights", *_AVERAGES)
    names = [n for n in found if n.rpartition("/")[2] in ends]
    return {n: found[n] for n in sorted(names, key=_order)}


def _order(name: str) -> tuple[Any, ...]:
    """Deep before wide; columns by name, their biases last; averages at the end."""
    folder, _, last = name.rpartition("/")
    return (
        last in _AVERAGES,
        name.startswith("linear"),
        "logits" in folder,
        "hiddenlayer" in folder,
        last == "bias_weights",
        re.sub(r"/batchnorm_\d+", "", folder),
        (*_ENDINGS, "bias_weights", *_AVERAGES).index(last),
    )


class _Injecting:
    """Stands in for restoring: sets the weights of the new model."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self.weights = weights
        self.model: Any = None

    def __call__(self, manager: Any) -> None:
        self.model = manager.checkpoint.model
        for variable, value in self.pairs(self.weights):
            assert tuple(variable.shape) == value.shape, (variable.name, value.shape)
            variable.assign(value)

    def pairs(self, weights: dict[str, np.ndarray]) -> list[tuple[Any, np.ndarray]]:
        variables = [
            *self.model.trainable_variables,
            *self.model.non_trainable_variables,
        ]
        numbers = [v for v in variables if v.dtype == tf.float32]
        return list(zip(numbers, weights.values(), strict=True))


def run(path: Path, name: str) -> dict[str, Any]:
    """One program's losses, figures, predictions and distance of weights."""
    injecting = _Injecting(recorded(name, "initial"))
    manager = tf.train.CheckpointManager
    original, saving = manager.restore_or_initialize, manager.save
    manager.restore_or_initialize = lambda self: injecting(self)

    def save(self: Any, *args: Any, **kwargs: Any) -> Any:
        if injecting.model is None:  # A directory of its own holds nothing to restore.
            injecting(self)
        return saving(self, *args, **kwargs)

    manager.save = save
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            found = runpy.run_path(str(path))
    finally:
        manager.restore_or_initialize, manager.save = original, saving
    apart = 0.0
    if (RECORDINGS / "v1" / f"{name.removesuffix('c')}.npz").exists():
        apart = max(
            float(np.max(np.abs(variable.numpy() - value)))
            for variable, value in injecting.pairs(recorded(name, "final"))
        )
    losses = re.findall(r"loss = ([\d.]+)", output.getvalue())
    return {
        "losses": [float(loss) for loss in losses],
        "evaluate": found["RESULTS"],
        "predictions": {
            key: np.stack([p[key] for p in found["PREDICTIONS"]]).tolist()
            for key in found["PREDICTIONS"][0]
            if key not in _TEXTS
        },
        "texts": {
            key: [[text.decode() for text in p[key]] for p in found["PREDICTIONS"]]
            for key in _TEXTS
            if key in found["PREDICTIONS"][0]
        },
        "apart": apart,
    }


def main(folder: str, wanted: list[str]) -> None:
    """Runs the wanted programs."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * 2
    )
    tf.config.threading.set_intra_op_parallelism_threads(1)
    for name in wanted:
        path = Path(folder) / f"{name}.py"
        try:
            result = run(path, name)
        except Exception:
            result = {"error": traceback.format_exc()}
        path.with_suffix(".json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
