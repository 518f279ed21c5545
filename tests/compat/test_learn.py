"""Canned models and monitors of ``tf.contrib.learn`` against real TF 1.15.5."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from runner import run

ORACLE = Path(__file__).parents[2] / "fixtures" / "oracle" / "contrib"
RECORDED: dict[str, Any] = json.loads((ORACLE / "recorded_learn.json").read_text())[
    "cases"
]

# Five steps in float32 with different kernels.
RELATIVE, ABSOLUTE = 1e-5, 1e-6


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("learn") / "ours.json"
    script = ORACLE / "record_learn.py"
    done = run(script, out, on="compat", watch=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(out.read_text())["cases"]
    return found


def differences(theirs: Any, ours: Any, path: str) -> list[str]:
    if isinstance(theirs, dict):
        if sorted(theirs) != sorted(ours):
            return [f"{path}: {sorted(theirs)} against {sorted(ours)}"]
        return [
            line
            for key, value in theirs.items()
            for line in differences(value, ours[key], f"{path}/{key}")
        ]
    if isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours):
            return [f"{path}: {len(theirs)} elements against {len(ours)}"]
        pairs = enumerate(zip(theirs, ours, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{path}/{i}")]
    if isinstance(theirs, float):
        same = ours == pytest.approx(theirs, rel=RELATIVE, abs=ABSOLUTE)
    else:
        same = theirs == ours
    return [] if same else [f"{path}: {theirs} against {ours}"]


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_names_and_numbers(name: str, ours: dict[str, Any]) -> None:
    assert differences(RECORDED[name], ours[name], "") == []


def test_a_table_of_pandas_has_rows(tmp_path: Path) -> None:
    """What iterates over it sees the names of its columns; TF 1.15.5 took its rows."""
    pytest.importorskip("pandas")
    path = tmp_path / "program.py"
    path.write_text("""
import pandas
from tensorflow.contrib import learn
table = pandas.DataFrame({"Embarked": ["S", "C", "?", "S"]})
found = learn.preprocessing.CategoricalProcessor().fit_transform(table)
print([row.tolist() for row in found])
""")
    done = run(path, on="compat", watch=False)
    assert done.stdout.endswith("[[1], [2], [3], [1]]\n"), done.stderr[-3000:]


def test_predictions_end_with_the_first_batch_of_no_queue(tmp_path: Path) -> None:
    """Of TF 1.15.5, which took tensors that no queue gives for constants."""
    path = tmp_path / "program.py"
    path.write_text("""
import inspect
import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers, learn
makers = learn.io.numpy_input_fn, learn.io.pandas_input_fn
assert all(inspect.signature(one).parameters["shuffle"].default for one in makers)
X = np.arange(12, dtype=np.float32).reshape(6, 2)
model = learn.LinearClassifier([layers.real_valued_column("", dimension=2)])
model.fit(X, np.arange(6) % 2, steps=1)
def data():
    dataset = tf.data.Dataset.from_tensor_slices(X).batch(2)
    return dataset.make_one_shot_iterator().get_next()
def queued():
    once = tf.train.limit_epochs(tf.constant(X), 1)
    return tf.train.batch([once], 4, enqueue_many=True, allow_smaller_final_batch=True)
print([
    len([*model.predict(input_fn=data)]), len([*model.predict(input_fn=lambda: X)]),
    len([*model.predict(input_fn=queued)]), len([*model.predict(X, batch_size=4)]),
    len(model.predict(input_fn=queued, as_iterable=False)),
    len(model.predict(X, batch_size=4, as_iterable=False))])
""")
    done = run(path, on="compat", watch=False)
    assert done.stdout.endswith("[2, 6, 6, 6, 4, 6]\n"), done.stderr[-3000:]


def test_crosses_are_of_features_in_the_order_of_their_names(tmp_path: Path) -> None:
    """The buckets are those of TF 1.15.5, where a key says how words are hashed."""
    path = tmp_path / "program.py"
    path.write_text("""
import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers
a = layers.sparse_column_with_hash_bucket("a", 100)
b = layers.sparse_column_with_keys("b", ["p", "q"])
key = layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
cross = layers.crossed_column([b, a], 50, hash_key=key)
features = {"a": tf.constant([["x"], ["y"], ["z"]]),
            "b": tf.constant([["p"], ["q"], ["p"]])}
rows = layers.input_from_feature_columns(features, [layers.one_hot_column(cross)])
with tf.Session() as session:
    session.run(tf.tables_initializer())
    print(np.argmax(session.run(rows), 1).tolist())
""")
    done = run(path, on="compat", watch=False)
    assert done.stdout.endswith("[2, 42, 34]\n"), done.stderr[-3000:]
