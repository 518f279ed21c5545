"""Runs recorded cases on a compat surface, in a process of its own.

python canned_child.py GENERATION OUT CASE.REPLICAS...

Each case starts from the checkpoint of step 0 that real TensorFlow wrote, as
far as one was recorded, and leaves OUT/CASE.REPLICAS.{json,npz}.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
RECORDINGS = Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "canned"
sys.path.insert(0, str(RECORDINGS))

import cases  # noqa: E402
import numpy as np  # noqa: E402
import runner  # noqa: E402
import tensorflow  # noqa: E402


def initial_values(generation: str, name: str, replicas: int) -> dict[str, object]:
    """The recorded checkpoint of step 0, by variable name.

    Empty where nothing was recorded: names of slots depend on the number of
    replicas, so another number's checkpoint would not load. The runner then
    makes the checkpoint from the same fixed weights.
    """
    path = RECORDINGS / generation / f"{name}.{replicas}.npz"
    if not path.exists():
        return {}
    with np.load(path) as stored:
        return {
            key.removeprefix("initial:"): stored[key]
            for key in stored.files
            if key.startswith("initial:")
        }


def main(generation: str, out: str, wanted: list[str]) -> None:
    """Runs the wanted cases, each with one result or one error."""
    cpu = tensorflow.config.list_physical_devices("CPU")[0]
    tensorflow.config.set_logical_device_configuration(
        cpu, [tensorflow.config.LogicalDeviceConfiguration()] * 2
    )
    tf = importlib.import_module(f"tfmigrate.compat.{generation}")
    v1 = tensorflow.compat.v1
    v1.logging.set_verbosity(v1.logging.ERROR)
    by_name = {case.name: case for case in cases.cases(generation)}
    for request in wanted:
        name, _, count = request.partition(".")
        replicas = int(count.removesuffix("x"))
        case = by_name[name]
        if request.endswith("x"):
            # One replica that gets what two would share.
            replicas, case = 1, cases.with_batch(case, 2 * cases.BATCH)
        config = v1.ConfigProto(
            device_count={"CPU": 2},
            intra_op_parallelism_threads=1,
            inter_op_parallelism_threads=2,
        )
        target = Path(out) / request
        try:
            result = runner.run(
                tf, case, replicas, config, initial_values(generation, name, replicas)
            )
        except Exception:
            target.with_suffix(target.suffix + ".json").write_text(
                json.dumps({"error": traceback.format_exc()})
            )
            continue
        arrays = {
            f"{part}:{key}": value
            for part in ("final", "predictions")
            for key, value in result[part].items()
        }
        np.savez(f"{target}.npz", **{k: _plain(v) for k, v in arrays.items()})
        record = {key: result[key] for key in ("losses", "trainable", "evaluate")}
        record["variables"] = {k: list(v.shape) for k, v in result["final"].items()}
        Path(f"{target}.json").write_text(json.dumps(record))


def _plain(value: np.ndarray) -> np.ndarray:
    """Byte strings as text: object arrays cannot be stored without pickle."""
    if value.dtype.kind != "O":
        return value
    texts = [v if isinstance(v, str) else v.decode("latin-1") for v in value.ravel()]
    return np.array(texts, dtype=str).reshape(value.shape)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
