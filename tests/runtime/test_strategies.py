"""How devices add up what they computed, as tf.contrib.distribute let programs say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf
from tfmigrate.runtime.strategies import AllReduceCrossDeviceOps

PROGRAM = """
import json

import tensorflow as tf
%s

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration()] * 2)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer())
    loss = tf.losses.mean_squared_error(labels, net)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(([[1.0], [3.0]], [[2.0], [1.0]]))
    return data.repeat(9).batch(1)


def main(ops):
    strategy = tf.contrib.distribute.MirroredStrategy(
        devices=["/cpu:0", "/cpu:1"], cross_tower_ops=ops)
    config = tf.estimator.RunConfig(train_distribute=strategy)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    estimator.train(input_fn, steps=3)
    return float(estimator.evaluate(input_fn)["loss"])


print(json.dumps([main(None), main(%s('hierarchical_copy', 2, 0, 0))]))
"""
SPELLINGS = {
    "tf.contrib.distribute.AllReduceCrossDeviceOps": "",
    "tf.contrib.distribute.AllReduceCrossTowerOps": "",
    "cross_tower_ops.AllReduceCrossTowerOps": (
        "from tensorflow.contrib.distribute.python import cross_tower_ops"
    ),
}


def test_an_unknown_way_is_told() -> None:
    with pytest.raises(ValueError, match="nccl, hierarchical_copy, not 'ring'"):
        AllReduceCrossDeviceOps("ring")


def test_the_ways_are_those_of_today() -> None:
    kinds = {
        AllReduceCrossDeviceOps: tf.distribute.NcclAllReduce,
        lambda: AllReduceCrossDeviceOps(
            "hierarchical_copy", num_packs=2
        ): tf.distribute.HierarchicalCopyAllReduce,
    }
    for made, kind in kinds.items():
        assert isinstance(made(), kind)


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_program_that_chooses_one_leaves_its_estimator(
    spelled: str, tmp_path: Path
) -> None:
    """It trains as with the one that strategies take by themselves."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM % (SPELLINGS[spelled], spelled))
    command = [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty"]
    subprocess.run([*command, str(program)], check=True, capture_output=True)
    text = program.read_text()
    assert "training_loop.AllReduceCrossDeviceOps(" in text
    assert "contrib" not in text
    done = subprocess.run(
        [sys.executable, str(program)],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    alone, copied = json.loads(done.stdout.splitlines()[-1])
    assert alone == pytest.approx(copied, rel=1e-6)
