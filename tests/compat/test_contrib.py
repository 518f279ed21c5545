"""``tf.contrib`` against numbers recorded from real TF 1.15.5."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from runner import run

REPOSITORY = Path(__file__).parents[2]
ORACLE = REPOSITORY / "fixtures" / "oracle" / "contrib"
RECORDED: dict[str, Any] = {
    name: case
    for recording in (
        "recorded.json",
        "recorded_seq2seq.json",
        "recorded_more.json",
        "recorded_rnn.json",
    )
    for name, case in json.loads((ORACLE / recording).read_text())["cases"].items()
}

# Both sides compute in float32 with different kernels. Three runs of the recorder
# on TF 1.15.5 wrote the same file byte for byte, so this is for kernels only.
RELATIVE, ABSOLUTE = 2e-5, 2e-6


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("contrib") / "ours.json"
    script = ORACLE / "record_more.py"
    done = run(script, "--all", out, on="compat", watch=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(out.read_text())["cases"]
    return found


def differences(theirs: Any, ours: Any, path: str = "") -> list[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if theirs.keys() != ours.keys():
            return [f"{path}: {sorted(theirs)} against {sorted(ours)}"]
        return [
            line
            for k in theirs
            for line in differences(theirs[k], ours[k], f"{path}/{k}")
        ]
    if isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours):
            return [f"{path}: {len(theirs)} elements against {len(ours)}"]
        return [
            line
            for i, (a, b) in enumerate(zip(theirs, ours, strict=True))
            for line in differences(a, b, f"{path}[{i}]")
        ]
    if isinstance(theirs, float | int) and isinstance(ours, float | int):
        if math.isnan(theirs) and math.isnan(ours):
            return []
        if math.isclose(theirs, ours, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            return []
    elif theirs == ours:
        return []
    return [f"{path}: {theirs} against {ours}"]


@pytest.mark.parametrize("name", sorted(set(RECORDED) - {"initial_values"}))
def test_numbers_names_and_collections(name: str, ours: dict[str, Any]) -> None:
    assert "error" not in RECORDED[name]
    found = differences(RECORDED[name], ours[name])
    assert not found, "\n".join(found[:10])


def test_initial_values_have_the_same_distribution(ours: dict[str, Any]) -> None:
    """Mean, deviation and limit of at least 9,000 draws each."""
    for name, (mean, deviation, limit) in RECORDED["initial_values"].items():
        our_mean, our_deviation, our_limit = ours["initial_values"][name]
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


@pytest.mark.parametrize("program", [CUDNN, CLOUD], ids=["cudnn", "cloud"])
def test_what_tf_1_15_runs_on_other_machines(program: str, tmp_path: Path) -> None:
    """It has no kernels of cuDNN for the CPU, and asks the network."""
    (tmp_path / "program.py").write_text(program)
    done = run(tmp_path / "program.py", on="compat", watch=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("fine")
    path = done.stdout[5:].strip()
    assert not path or not os.path.exists(path)


def test_the_page_of_names_is_current() -> None:
    """In a process of its own: tests that ran before must not show in it."""
    done = subprocess.run(
        [sys.executable, "-m", "tfmigrate.compat.surface.document"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == (REPOSITORY / "docs" / "contrib.md").read_text()
