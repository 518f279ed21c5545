"""Runs programs that export, then asks all exports the same and prints the answers.

    exports_child.py OUT PROGRAM...     where OUT/PROGRAM/ takes what it writes

A folder named "legacy" is only written; a run into another one asks both.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np


def ask(folder: Path) -> dict[str, Any]:
    """The answers of every signature of one SavedModel."""
    import tensorflow as tf

    x = np.random.RandomState(1).uniform(-1, 1, size=(40, 4)).astype("float32")
    answers: dict[str, Any] = {}
    loaded = tf.saved_model.load(str(folder))
    for name, function in loaded.signatures.items():
        (given,) = function.structured_input_signature[1]
        request = tf.constant(x)
        if given in ("examples", "inputs"):
            request = tf.constant([example(row / 2) for row in x])
        tensors = function(**{given: request})
        answers[name] = {
            "input": given,
            **{key: listed(tensor) for key, tensor in tensors.items()},
        }
    return answers


def listed(tensor: Any) -> list[Any]:
    """Values of a tensor; strings as text."""
    array = tensor.numpy()
    strings = array.dtype == object
    return list((array.astype(bytes).astype(str) if strings else array).tolist())


def example(row: Any) -> bytes:
    """A serialized tf.Example."""
    import tensorflow as tf

    values = tf.train.Feature(float_list=tf.train.FloatList(value=row))
    features = tf.train.Features(feature={"x": values})
    return bytes(tf.train.Example(features=features).SerializeToString())


def run(out: Path, programs: list[str]) -> None:
    """Each program, with its own folder under OUT."""
    for program in programs:
        folder = out / Path(program).stem
        folder.mkdir(parents=True)
        os.environ["EXPORTS"] = str(folder)
        # Their training module stands beside them.
        sys.path[0] = str(Path(program).resolve().parent)
        runpy.run_path(program, run_name="__main__")


def main() -> None:
    out, *programs = sys.argv[1:]
    run(Path(out), programs)
    if Path(out).name != "legacy":
        found: dict[str, Any] = {}
        for side in sorted(Path(out).parent.iterdir()):
            for model in sorted(side.rglob("saved_model.pb")):
                key = str(model.parent.parent.relative_to(side))
                found.setdefault(side.name, {}).setdefault(key, []).append(
                    ask(model.parent)
                )
        print("ANSWERS" + json.dumps(found))


if __name__ == "__main__":
    main()
