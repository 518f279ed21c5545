"""Programs that take TensorFlow 1 from `tensorflow.compat.v1`, as many do since 2.0.

They turn TensorFlow 2's behaviour off first, which a Trainer lives on. The figures are
those of TensorFlow 1.15.5, whose weights start from given numbers here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODEL_FN = """\
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.disable_v2_behavior()


def model_fn(features, labels, mode):
    out = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer())
    loss = tf.losses.mean_squared_error(labels, out)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    x = tf.reshape(tf.range(24.0), [8, 3]) / 24.0
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).repeat().batch(4)


strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
config = tf.estimator.RunConfig(train_distribute=strategy)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(data, steps=4)
found = estimator.evaluate(data, steps=2)
"""

KERAS = """\
import numpy as np
from tensorflow.compat.v1 import keras, data as tf_data
import tensorflow.compat.v1 as tf
from tensorflow.compat.v1.keras import layers
if tf.__version__ >= "2":
    tf.disable_v2_behavior()

inputs = keras.Input((3,))
model = keras.Model(inputs, layers.Dense(1, kernel_initializer="ones")(inputs))
model.compile("sgd", "mse", metrics=["mae"])


def data():
    x = np.linspace(-1, 1, 192).reshape(64, 3).astype("float32")
    pairs = (x, x.sum(1, keepdims=True) * 2)
    return tf_data.Dataset.from_tensor_slices(pairs).repeat().batch(8)


estimator = keras.estimator.model_to_estimator(model)
estimator.train(data, steps=10)
found = estimator.evaluate(data, steps=3)
error = found["mean_absolute_error"]
"""

# Its switch is in the file that it imports.
SPLIT = {
    "parts": MODEL_FN.partition("strategy =")[0],
    "split": """\
import tensorflow as tf
from parts import data, model_fn

estimator = tf.estimator.Estimator(model_fn)
estimator.train(data, steps=4)
found = estimator.evaluate(data, steps=2)
""",
}
PROGRAMS = {"layers": MODEL_FN, "compiled": KERAS, **SPLIT}
FIGURES = {
    "layers": {"loss": 0.0840401, "global_step": 4},
    "compiled": {"loss": 2.269269, "mean_absolute_error": 1.415866, "global_step": 10},
    "split": {"loss": 0.0840401, "global_step": 4},
}

RUN = """
import json, runpy, sys
folder, *names = sys.argv[1:]
sys.path.insert(0, folder)
found = {name: runpy.run_path(f"{folder}/{name}.py")["found"] for name in names}
print(json.dumps({n: {k: float(v) for k, v in f.items()} for n, f in found.items()}))
"""


def test_they_train_without_the_switch(tmp_path: Path) -> None:
    for name, text in PROGRAMS.items():
        (tmp_path / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "tfmigrate", "rewrite", str(tmp_path)]
    subprocess.run([*command, "--allow-dirty"], check=False, capture_output=True)
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path), *FIGURES],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {
        name: pytest.approx(figures, rel=1e-5) for name, figures in FIGURES.items()
    }
