"""Runs a program with canned models of tf.contrib.learn from the recorded checkpoints.

    python learn_child.py PROGRAM MODEL_DIR

What it tells, its last checkpoints and its summaries go to MODEL_DIR/seen.npz.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
RECORDINGS = Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "canned"
sys.path.insert(0, str(RECORDINGS))

import numpy as np  # noqa: E402
import runner  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.core.protobuf import saved_model_pb2  # noqa: E402

tf.get_logger().setLevel("ERROR")


def signatures(folder: Path) -> dict[str, Any]:
    """How each export is served."""
    found: dict[str, Any] = {}
    for path in folder.glob("*/*/saved_model.pb"):
        model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
        for key, one in model.meta_graphs[0].signature_def.items():
            found[f"{path.parent.parent.name} {key}"] = [
                one.method_name.split("/")[-1],
                sorted(one.inputs),
                sorted([name, info.dtype] for name, info in one.outputs.items()),
            ]
    return found


program, folder = map(Path, sys.argv[1:])
recorded = np.load(RECORDINGS / "learn" / "recorded.npz")
names = list(json.loads(str(recorded["told"])))
for name in names:
    start = f"{name}:initial:"
    (folder / name).mkdir(parents=True)
    variables = {
        key.removeprefix(start): recorded[key]
        for key in recorded.files
        if key.startswith(start)
    }
    runner.write_checkpoint(tf, str(folder / name), variables)
os.environ["MODEL_DIR"] = str(folder)
sys.path.insert(0, str(program.parent))
runpy.run_path(str(program), run_name="__main__")
told = json.loads((folder / "found.json").read_text())
kept = {}
for name in names:
    last = runner.read_checkpoint(tf, tf.train.latest_checkpoint(str(folder / name)))
    kept.update((f"{name}:final:{key}", value) for key, value in last.items())
    told[name]["signatures"] = signatures(folder / name)
    told[name]["tags"] = Counter(
        value.tag
        for path in (folder / name).glob("events*")
        for event in tf.compat.v1.train.summary_iterator(str(path))
        for value in event.summary.value
    )
np.savez(folder / "seen.npz", told=json.dumps(told), **kept)
