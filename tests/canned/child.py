"""Runs rewritten programs of canned models from the recorded checkpoints.

    python child.py FOLDER CASE.REPLICAS...

FOLDER holds CASE_REPLICAS.py; what each saw goes to CASE_REPLICAS.json and .npz.
"""

from __future__ import annotations

import json
import os
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
import runner  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.get_logger().setLevel("ERROR")


def initial(name: str) -> dict[str, Any]:
    """The recorded checkpoint at step 0."""
    with np.load(RECORDINGS / "v1" / f"{name}.npz") as stored:
        return {
            key.removeprefix("initial:"): stored[key]
            for key in stored.files
            if key.startswith("initial:")
        }


def run(folder: Path, name: str) -> dict[str, Any]:
    """One program's losses, figures, predictions and last checkpoint."""
    place = name.replace(".", "_")
    model_dir = folder / f"{place}_model"
    model_dir.mkdir()
    runner.write_checkpoint(tf, str(model_dir), initial(name))
    os.environ["MODEL_DIR"] = str(model_dir)
    found = runpy.run_path(str(folder / f"{place}.py"))
    arrays: dict[str, Any] = {}
    for key in found["PREDICTED"][0]:
        shown = "/".join(key) if isinstance(key, tuple) else key
        arrays[f"predictions:{shown}"] = np.stack([p[key] for p in found["PREDICTED"]])
    last = runner.read_checkpoint(tf, tf.train.latest_checkpoint(str(model_dir)))
    arrays.update((f"final:{key}", value) for key, value in last.items())
    np.savez(folder / f"{place}.npz", **arrays)
    return {
        "losses": found["LOSSES"],
        "evaluate": {k: float(v) for k, v in found["EVALUATED"].items()},
    }


def main(folder: Path, wanted: list[str]) -> None:
    """Runs the wanted programs."""
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * 2
    )
    tf.config.threading.set_intra_op_parallelism_threads(1)
    sys.path.insert(0, str(folder))
    for name in wanted:
        try:
            result = run(folder, name)
        except Exception:
            result = {"error": traceback.format_exc()}
        text = json.dumps(result)
        (folder / f"{name.replace('.', '_')}.json").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
