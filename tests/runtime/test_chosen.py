"""Programs on the loop module under strategies that `rewrite --strategy` chose."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys

import numpy as np
import tensorflow as tf


def input_fn():
    x = np.sin(np.arange(240, dtype=np.float32)).reshape(60, 4)
    y = x.sum(1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(5)


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [4, 1], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, tf.matmul(features, w))
    optimizer = tf.train.AdamOptimizer(0.03)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


# Two GPUs that this machine may not have.
strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=2)
config = tf.estimator.RunConfig(model_dir=sys.argv[1], train_distribute=strategy)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, max_steps=30)
loss = float(estimator.evaluate(input_fn, steps=3)["loss"])
"""
# One that becomes a loop in its own file, and trains twice.
INLINE = """
import sys

import numpy as np
import tensorflow as tf


def input_fn():
    x = np.sin(np.arange(240, dtype=np.float32)).reshape(60, 4)
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).repeat().batch(5)


model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile(tf.train.AdamOptimizer(0.1), "mse")
estimator = tf.keras.estimator.model_to_estimator(model, model_dir=sys.argv[1])
estimator.train(input_fn, max_steps=30)
estimator.train(input_fn, max_steps=60)
"""
# Each program has a loop module of its own.
RUNS = """
import json, os, runpy, socket, sys
found = {}
for folder in sys.argv[1:]:
    name = os.path.basename(folder)
    sys.modules.pop("training_loop", None)
    sys.path.insert(0, folder)
    sys.argv = ["program.py", os.path.join(folder, "model")]
    if name == "inline":
        modules_port = os.environ["PROFILER_PORT"]
        os.environ["PROFILER_PORT"] = os.environ["OTHER_PORT"]
        runpy.run_path(os.path.join(folder, "program.py"))
        continue
    try:
        made = runpy.run_path(os.path.join(folder, "program.py"))
        strategy = made["strategy"]
        found[name] = [made["loss"], type(strategy).__name__]
    except RuntimeError as error:
        found[name] = str(error)
    sys.path.pop(0)
for port in modules_port, os.environ["OTHER_PORT"]:
    with socket.create_connection(("localhost", int(port))):
        found["profiler"] = "listens"
# A second train call of an inline loop does not start it again.
assert "PROFILER_PORT" not in os.environ
print(json.dumps(found))
"""
KINDS = {
    "central": "CentralStorageStrategy",
    "one_device": "OneDeviceStrategy",
    "default": "NoneType",
}


def test_each_strategy_trains_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    styles = {**dict.fromkeys([*KINDS, "tpu"], "module"), "inline": "inline"}
    for name, style in styles.items():
        program = tmp_path / name / "program.py"
        program.parent.mkdir()
        program.write_text(INLINE if name == "inline" else PROGRAM)
        command = [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty"]
        chosen = "keep" if name == "inline" else name
        command += ["--style", style, "--strategy", chosen, "--profile", str(program)]
        subprocess.run(command, check=True, capture_output=True)
    monkeypatch.delenv("TPU_NAME", raising=False)
    monkeypatch.syspath_prepend(
        str(Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "cluster")
    )
    from processes import free_ports

    for variable, port in zip(
        ("PROFILER_PORT", "OTHER_PORT"), free_ports(2), strict=True
    ):
        monkeypatch.setenv(variable, str(port))
    folders = [str(tmp_path / name) for name in styles]
    run = [sys.executable, "-c", RUNS, *folders]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert "No TPU was found (TPU_NAME is not set" in found["tpu"]
    assert {name: found[name][1] for name in KINDS} == KINDS
    losses = [found[name][0] for name in KINDS]
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-6)
    assert found["profiler"] == "listens"
    for name in (*KINDS, "inline"):
        assert list((tmp_path / name / "model" / "profile").rglob("*.xplane.pb"))
