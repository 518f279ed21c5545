"""The symbol table against a current TensorFlow."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tfmigrate.names import table
from tfmigrate.names.curated import advice_for, importable
from tfmigrate.names.table import (
    Move,
    in_compat_v1,
    is_known,
    is_private_module,
    lookup,
    needs_nothing,
)

DATA = Path(table.__file__).parent / "data"
BUILD = Path(__file__).parents[2] / "fixtures" / "symbols" / "build.py"

MODULES = """
import importlib.util, json, os, sys
folder = os.path.dirname(importlib.util.find_spec("tensorflow").origin)
def exists(name):
    path = os.path.join(folder, *name.split("."))
    return os.path.exists(path + ".py") or os.path.exists(path + "/__init__.py")
json.dump([name for name in json.load(sys.stdin) if not exists(name)], sys.stdout)
"""
CHECK = """
import json, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
wanted = json.load(sys.stdin)
missing, hidden = [], []
for name in wanted["attributes"]:
    value = tf
    try:
        for part in name.split(".")[1:]:
            value = getattr(value, part)
    except AttributeError:
        missing.append(name)
for name in wanted["imports"]:
    parent, _, last = name.rpartition(".")
    try:
        exec("from tensorflow%s import %s" % (parent[2:], last), {})
    except ImportError:
        hidden.append(name)
json.dump({"version": tf.__version__, "missing": missing, "hidden": hidden}, sys.stdout)
"""


def moves() -> Iterator[Move]:
    """Every move of the table."""
    names = json.loads((DATA / "symbols.json").read_text("utf-8"))["symbols"]
    return filter(None, map(lookup, names))


def test_every_target_exists_in_todays_tensorflow() -> None:
    pytest.importorskip("tensorflow", reason="needs a current TensorFlow")
    names = {name for move in moves() for name in (move.to, move.otherwise)}
    targets = {name for name in names if name}
    wanted = {
        "attributes": sorted(targets),
        "imports": sorted(target for target in targets if importable(target)),
    }
    result = subprocess.run(
        [sys.executable, "-c", CHECK],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        timeout=300,
    )
    answer = json.loads(result.stdout)
    if tuple(map(int, answer["version"].split(".")[:2])) < (2, 21):
        pytest.skip("the table is made for TensorFlow 2.21")
    assert answer["missing"] == []
    assert answer["hidden"] == []
    assert len(targets) > 1500


def test_the_table_knows_the_frequent_symbols() -> None:
    expected = {
        "tf.log": "tf.math.log",
        "tf.Session": "tf.compat.v1.Session",
        "tf.read_file": "tf.io.read_file",
        "tf.train.AdamOptimizer": "tf.compat.v1.train.AdamOptimizer",
        "tf.contrib.data.map_and_batch": "tf.data.experimental.map_and_batch",
        "tf.contrib.data.shuffle_and_repeat": "tf.data.experimental.shuffle_and_repeat",
        "tf.image.resize_images": "tf.compat.v1.image.resize_images",
        "tf.string_split": "tf.compat.v1.string_split",
        "tf.contrib.framework.nest.flatten": "tf.nest.flatten",
        "tf.app.run": "tf.compat.v1.app.run",
    }
    found = {name: move.to for name in expected if (move := lookup(name))}
    assert found == expected


def test_renamed_arguments_are_known() -> None:
    move = lookup("tf.reduce_sum")
    assert move is not None
    assert move.keywords == {"keep_dims": "keepdims", "reduction_indices": "axis"}
    assert move.otherwise == "tf.compat.v1.reduce_sum"


def test_a_symbol_has_one_outcome() -> None:
    for move in moves():
        assert not needs_nothing(move.symbol)
    assert needs_nothing("tf.constant_initializer") is False
    assert needs_nothing("tf.nn.relu")
    assert is_known("tf.layers.dense")
    assert lookup("tf.layers.dense") is None
    assert not is_known("tf.no_such_symbol")
    assert in_compat_v1("tf.train.AdamOptimizer")
    assert not in_compat_v1("tf.contrib.slim")


def test_curated_names_do_not_contradict_each_other() -> None:
    build = runpy.run_path(str(BUILD))
    assert not build["KEEP_V1"] & build["SAME"]
    for name, target in build["CONTRIB"].items():
        assert name.startswith("tf.contrib.")
        if not target:
            assert advice_for(name), f"{name} has neither home nor advice"


def test_every_advice_is_a_sentence_part() -> None:
    for name in ("tf.contrib.slim.conv2d", "tf.estimator.Estimator", "tf.contrib.x.y"):
        text = advice_for(name)
        assert text
        assert not text.endswith(".")


def test_private_modules_are_in_todays_tensorflow() -> None:
    pytest.importorskip("tensorflow", reason="needs a current TensorFlow")
    names = (DATA / "modules.txt").read_text("utf-8").split()
    result = subprocess.run(
        [sys.executable, "-c", MODULES],
        input=json.dumps(names),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(result.stdout) == []
    assert is_private_module("tensorflow.core.protobuf.rewriter_config_pb2")
    assert not is_private_module("tensorflow.python.estimator.util")
    assert not is_private_module("tensorflow.contrib")
