"""``tf.contrib`` against numbers recorded from real TF 1.15.5."""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from comparing import differences
from runner import run

REPOSITORY = Path(__file__).parents[2]
ORACLE = REPOSITORY / "fixtures" / "oracle" / "contrib"
# Script -> by how much its numbers may differ, relative and absolute: both compute in
# float32 with different kernels. Three runs of a recorder wrote the same bytes.
TOLERANCES = {
    "record_more.py": (2e-5, 2e-6),
    "record_learn.py": (1e-5, 1e-6),
    "record_timeseries.py": (1e-4, 1e-5),
}
RECORDINGS = {
    "recorded.json": "record_more.py",
    "recorded_seq2seq.json": "record_more.py",
    "recorded_more.json": "record_more.py",
    "recorded_rnn.json": "record_more.py",
    "recorded_learn.json": "record_learn.py",
    "recorded_timeseries.json": "record_timeseries.py",
}
# Script and case -> what TF 1.15.5 gave.
RECORDED: dict[tuple[str, str], Any] = {
    (script, name): case
    for recording, script in RECORDINGS.items()
    for name, case in json.loads((ORACLE / recording).read_text())["cases"].items()
}
DRAWN = ("record_more.py", "initial_values")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """What the cases of a script give here."""

    @functools.cache
    def cases(script: str) -> dict[str, Any]:
        out = tmp_path_factory.mktemp("contrib") / "ours.json"
        options = ["--all"] if script == "record_more.py" else []
        done = run(ORACLE / script, *options, out, on="compat", watch=False)
        assert done.returncode == 0, done.stderr[-3000:]
        found: dict[str, Any] = json.loads(out.read_text())["cases"]
        return found

    return cases


@pytest.mark.parametrize(("script", "name"), sorted({*RECORDED} - {DRAWN}))
def test_numbers_names_and_collections(script: str, name: str, ours: Any) -> None:
    recorded = RECORDED[script, name]
    assert "error" not in recorded
    assert not [*differences(recorded, ours(script)[name], *TOLERANCES[script])][:10]


def test_initial_values_have_the_same_distribution(ours: Any) -> None:
    """Mean, deviation and limit of at least 9,000 draws each."""
    script, case = DRAWN
    for name, (mean, deviation, limit) in RECORDED[DRAWN].items():
        our_mean, our_deviation, our_limit = ours(script)[case][name]
        assert abs(our_mean - mean) < 5 * deviation / math.sqrt(9000), name
        assert our_deviation == pytest.approx(deviation, rel=0.03), name
        assert our_limit == pytest.approx(limit, rel=0.03), name


CUDNN = """
import numpy as np
import tensorflow as tf
rnn = tf.contrib.cudnn_rnn
LSTM = "stack_bidirectional_rnn/cell_{}/bidirectional_rnn/{}/cudnn_compatible_lstm_cell"
x = tf.constant(np.sin(np.arange(24)).reshape(4, 2, 3).astype("float32"))
layer = rnn.CudnnLSTM(2, 5, direction="bidirectional", dropout=0.5, name="encoder")
outputs, (h, c) = layer(x, training=False)
again, _ = layer(tf.transpose(x, [1, 0, 2]), time_major=False, training=False)
dropped, _ = layer(x, training=True)
# Names and shapes of TF 1.15's checkpoints (saveable of the layer).
assert {v.op.name: v.shape.as_list() for v in tf.trainable_variables()} == {
    f"encoder/{LSTM.format(i, d)}/{kind}": shape
    for i, size in ((0, 3), (1, 10)) for d in ("fw", "bw")
    for kind, shape in (("kernel", [size + 5, 20]), ("bias", [20]))}
cells = [rnn.CudnnCompatibleLSTMCell(5) for _ in range(4)]
with tf.variable_scope("encoder", reuse=True):
    wanted, _, _ = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
        cells[:2], cells[2:], x, dtype=tf.float32, time_major=True)
stop = rnn.CudnnGRU(1, 5)
kept, (state,) = stop(x, initial_state=(tf.ones([1, 2, 5]),), sequence_lengths=[4, 2])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    one, two, three, four, h, c, kept, state, kernel = session.run(
        [outputs, wanted, tf.transpose(again, [1, 0, 2]), dropped, h, c, kept, state,
         layer.variables[0]])
assert one.shape == (4, 2, 10) and h.shape == c.shape == (4, 2, 5)
np.testing.assert_allclose(one, two, rtol=1e-6)
np.testing.assert_allclose(one, three, rtol=1e-6)
np.testing.assert_allclose(h[2], one[-1, :, :5], rtol=1e-6)
np.testing.assert_allclose(h[3], one[0, :, 5:], rtol=1e-6)
assert abs(one - four).max() > 1e-3
np.testing.assert_allclose(state[0, 1], kept[1, 1], rtol=1e-6)
# Each gate's matrices are drawn by themselves: wider than one draw for all.
assert 0.7 < abs(kernel[:3]).max() <= np.sqrt(6 / 8), abs(kernel[:3]).max()
print("fine")
"""
CLOUD = """
import json, os
import tensorflow as tf
cloud = tf.contrib.cloud
token = {"refresh_token": "r", "type": "authorized_user"}
with tf.Session() as session:
    cloud.configure_gcs(session, credentials=json.dumps(token),
                        block_cache=cloud.BlockCacheParams(2 ** 22))
path = os.environ["GOOGLE_APPLICATION_CREDENTIALS"]
assert json.load(open(path)) == token and os.stat(path).st_mode & 0o777 == 0o600
assert os.environ["GCS_READ_CACHE_BLOCK_SIZE_MB"] == "4"
assert os.environ["GCS_READ_CACHE_MAX_SIZE_MB"] == "8"
for wrong, words in ((3, "unknown type"), ({"a": 1}, "neither")):
    try:
        cloud.ConfigureGcsHook(wrong)
    except ValueError as error:
        assert words in str(error)
    else:
        raise AssertionError(wrong)
print("fine", path)
"""
# What iterates over a table of pandas sees its columns; TF 1.15.5 took its rows.
TABLE = """
import pandas
from tensorflow.contrib import learn
table = pandas.DataFrame({"Embarked": ["S", "C", "?", "S"]})
found = learn.preprocessing.CategoricalProcessor().fit_transform(table)
print([row.tolist() for row in found])
"""
# TF 1.15.5 took tensors that no queue gives for constants.
ENDS = """
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
"""
# Crossed are features in the order of their names; a key says how words are hashed.
CROSSES = """
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
"""
PRINTED = {
    TABLE: "[[1], [2], [3], [1]]\n",
    ENDS: "[2, 6, 6, 6, 4, 6]\n",
    CROSSES: "[2, 42, 34]\n",
}


@pytest.mark.parametrize("program", PRINTED, ids=["table", "ends", "crosses"])
def test_what_tf_1_15_5_printed(program: str, tmp_path: Path) -> None:
    if "pandas\n" in program:
        pytest.importorskip("pandas")
    (tmp_path / "program.py").write_text(program)
    done = run(tmp_path / "program.py", on="compat", watch=False)
    assert done.stdout.endswith(PRINTED[program]), done.stderr[-3000:]


@pytest.mark.parametrize("program", [CUDNN, CLOUD], ids=["cudnn", "cloud"])
def test_what_tf_1_15_runs_on_other_machines(program: str, tmp_path: Path) -> None:
    """It has no kernels of cuDNN for the CPU, and asks the network."""
    (tmp_path / "program.py").write_text(program)
    done = run(tmp_path / "program.py", on="compat", watch=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("fine")
    path = done.stdout[5:].strip()
    assert not path or not os.path.exists(path)


def test_the_page_of_names_is_current(python: Any) -> None:
    """In a process of its own: tests that ran before must not show in it."""
    done = python("-m", "tfmigrate.compat.surface.document")
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == (REPOSITORY / "docs" / "contrib.md").read_text()
