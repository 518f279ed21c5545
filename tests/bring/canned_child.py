"""Runs recorded cases on the modules of a project, in a process of its own.

python canned_child.py RECORDINGS OUT CASE...

The folder it stands in holds the project's training_loop.py and tf_contrib.py, and
a tfmigrate.py that cannot be imported.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import types
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, sys.argv[1])

import cases
import numpy as np
import runner
import tensorflow
import tf_contrib
import training_loop

v1 = tensorflow.compat.v1


class Names(types.SimpleNamespace):
    """TF1's names, from the project's modules first."""

    def __init__(self, *sources: object, **named: object) -> None:
        super().__init__(**named)
        self._sources = sources

    def __getattr__(self, name: str) -> object:
        for source in self._sources:
            if hasattr(source, name):
                return getattr(source, name)
        raise AttributeError(name)


def main(recordings: str, out: str, wanted: list[str]) -> None:
    """Runs the wanted cases, each with one result or one error."""
    v1.disable_v2_tensorshape()
    v1.disable_tensor_equality()
    v1.logging.set_verbosity(v1.logging.ERROR)
    both = Names(training_loop, tf_contrib)
    tf = Names(
        v1,
        estimator=Names(training_loop, tf_contrib, experimental=both),
        contrib=Names(estimator=both, tpu=both),
    )
    by_name = {case.name: case for case in cases.cases("v1")}
    for name in wanted:
        target = Path(out) / f"{name}.1"
        with np.load(Path(recordings) / "v1" / f"{name}.1.npz") as stored:
            initial = {
                key.removeprefix("initial:"): stored[key]
                for key in stored.files
                if key.startswith("initial:")
            }
        try:
            result = runner.run(tf, by_name[name], initial=initial)
        except Exception:
            error = json.dumps({"error": traceback.format_exc()})
            Path(f"{target}.json").write_text(error)
            continue
        record = {key: result[key] for key in ("losses", "trainable", "evaluate")}
        record["variables"] = {k: list(v.shape) for k, v in result["final"].items()}
        Path(f"{target}.json").write_text(json.dumps(record))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
