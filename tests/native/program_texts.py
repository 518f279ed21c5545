"""The texts of programs; what many of them share stands here, in the place of each.

A program of programs/ that says no more than its model is put into a frame, and one
that ends with an `output` gets a loss, a metric and an optimizer. Programs that differ
in their optimizer alone have no file. Scripts of fixtures/oracle read this, too, on
Python 3.7.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")

OUTPUT_USED = """\
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
SEQUENCES = """

def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 7, 3)).astype(np.float32)
    y = x[:, 0].sum(axis=1, keepdims=True).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(6).batch(20)
"""
SEQUENCES_OF_LENGTHS = """

def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 7, 3)).astype(np.float32)
    length = draw.randint(1, 8, size=count).astype(np.int32)
    y = x[:, 0].sum(axis=1, keepdims=True).astype(np.float32)
    features = {"x": x, "length": length}
    return tf.data.Dataset.from_tensor_slices((features, y)).repeat(6).batch(20)
"""
TRAINED = """

estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=os.environ["MODEL_DIR"],
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params=PARAMS,
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
"""

CLASSIFIER = """

def model_fn(features, labels, mode):
    logits = tf.layers.dense(
        features["x"], 3, kernel_initializer=tf.constant_initializer(0.1)
    )
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"class": tf.argmax(logits, 1), "logits": logits}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(0.5).minimize(
        loss, tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
POINTS = """

def input_fn():
    x = np.random.RandomState(1).uniform(-1, 1, size=(40, 4)).astype("float32")
    y = (x[:, 0] > 0).astype("int32") + (x[:, 1] > 0.3).astype("int32")
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8)
"""
COMPILED = """\
import os

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, optimizers


def get_model():
    m = tf.keras.Sequential()
    m.add(layers.Dense(8, activation="relu", input_shape=(4,)))
    m.add(layers.Dense(3, activation="softmax"))
    m.compile(
        optimizer=OPTIMIZER,
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return m


def input_fn():
    rng = np.random.RandomState(0)
    x = rng.rand(96, 4).astype(np.float32)
    y = (x.sum(axis=1) * 1.4).astype(np.int32) % 3
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(5).batch(16)


tf.logging.set_verbosity(tf.logging.INFO)
est = tf.keras.estimator.model_to_estimator(
    keras_model=get_model(), model_dir=os.environ["MODEL_DIR"] or None
)
est.train(input_fn, steps=20)
print(est.evaluate(input_fn, steps=3))
"""
COMPILED_WITH = {
    "adadelta_clipped": "tf.keras.optimizers.Adadelta(lr=1.0, clipnorm=0.05)",
    "adagrad_by_name": '"Adagrad"',
    "adagrad_rate": "tf.keras.optimizers.Adagrad(0.1)",
    "adam_by_name": '"adam"',
    "adam_clipped": "tf.keras.optimizers.Adam(learning_rate=0.01, clipvalue=0.001)",
    "adamax_by_name": '"adamax"',
    "momentum_decay": "optimizers.SGD(lr=0.05, decay=1e-2, momentum=0.9, nesterov=True)",
    "nadam_decay": "tf.keras.optimizers.Nadam(lr=0.01)",
    "rmsprop_by_name": '"rmsprop"',
    "rmsprop_momentum": "optimizers.RMSprop(lr=0.01, rho=0.8, momentum=0.5, decay=1e-2)",
    "sgd_clipped": "tf.keras.optimizers.SGD(lr=0.5, momentum=0.9, clipnorm=0.1)",
}

CHANGING = """\
import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
NETWORK
    logits = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, tf.squeeze(logits, 1))
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
STEPPED
        optimizer = tf.train.OPTIMIZER
        train_op = optimizer.minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    draw = np.random.RandomState(0)
    x = draw.normal(size=(80, 6)).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(axis=1)))
    return data.repeat().batch(20)


strategy = STRATEGY
estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(train_distribute=strategy),
    params={"rate": RATE},
)
estimator.train(data, steps=24)
"""
DENSE = '    net = tf.layers.dense(features["x"], 8, activation=tf.nn.tanh)'
# Each batch looks up some rows.
TABLE = """\
    ids = tf.cast(tf.abs(features["x"] * 9), tf.int32) % 41
    table = tf.get_variable(
        "table", [41, 4], initializer=tf.truncated_normal_initializer(stddev=0.3)
    )
    net = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)"""
FIXED = "        step = tf.train.get_global_step()"
IN_STEPS = """\
        step = tf.train.get_or_create_global_step()
        rate = tf.train.piecewise_constant(
            step, [6, 14], [params["rate"], 0.2 * params["rate"], 0.5 * params["rate"]]
        )"""
WARM_UP = """\
        step = tf.train.get_global_step()
        warm = tf.cast(step + 1, tf.float32) / 8.0
        decayed = tf.train.exponential_decay(params["rate"], step, 5, 0.7)
        rate = tf.cond(step < 8, lambda: warm * params["rate"], lambda: decayed)"""
MOMENTUM = "MomentumOptimizer(rate, 0.9)"
NESTEROV = "MomentumOptimizer(rate, 0.8, use_nesterov=True)"
ADADELTA = "AdadeltaOptimizer(rate, rho=0.9)"
FTRL = """FtrlOptimizer(
            rate, learning_rate_power=-0.7, l1_regularization_strength=0.01
        )"""
RMSPROP = """RMSPropOptimizer(
            rate, momentum=0.5, epsilon=1e-3, centered=True
        )"""
# name -> network, rate by step, optimizer, first rate
CHANGING_WITH = {
    "adadelta_steps": (DENSE, IN_STEPS, ADADELTA, 0.8),
    "adadelta_table": (TABLE, FIXED, ADADELTA, 0.8),
    "adagrad_warm_up": (DENSE, WARM_UP, "AdagradOptimizer(rate)", 0.2),
    "ftrl_power": (DENSE, IN_STEPS, FTRL, 0.2),
    "ftrl_table": (TABLE, FIXED, FTRL, 0.2),
    "momentum_steps": (DENSE, IN_STEPS, MOMENTUM, 0.02),
    "momentum_table": (TABLE, FIXED, MOMENTUM, 0.1),
    "nesterov_table": (TABLE, WARM_UP, NESTEROV, 0.5),
    "nesterov_warm_up": (DENSE, WARM_UP, NESTEROV, 0.02),
    "rmsprop_centered": (DENSE, WARM_UP, RMSPROP, 0.02),
    "rmsprop_table": (TABLE, FIXED, RMSPROP, 0.02),
}


def program_text(name: str) -> str:
    """The text of a program."""
    if name in COMPILED_WITH:
        return COMPILED.replace("OPTIMIZER", COMPILED_WITH[name])
    if name in CHANGING_WITH:
        return _changing(*CHANGING_WITH[name])
    if name == "replicas":
        return _on_replicas(program_text("scalars"))
    text = (PROGRAMS / (name + ".py")).read_text("utf-8")
    if name.startswith("served_"):
        return _serving(text)
    trains = any(call in text for call in (".train(", ".fit(", "train_and_evaluate("))
    return text if trains else _trained(text)


def written(names: Iterable[str], folder: Path) -> list[Path]:
    """Programs in files of a folder."""
    paths = [folder / (name + ".py") for name in dict.fromkeys(names)]
    folder.mkdir(exist_ok=True)
    for path in paths:
        path.write_text(program_text(path.stem), "utf-8")
    return paths


def _changing(network: str, stepped: str, optimizer: str, rate: float) -> str:
    strategy = "tf.distribute.MirroredStrategy()"
    if "rate = " not in stepped:
        optimizer = optimizer.replace("rate,", 'params["rate"],', 1)
    # Ftrl of TensorFlow 1 knows no strategies.
    text = CHANGING.replace("STRATEGY", "None" if "Ftrl" in optimizer else strategy)
    text = text.replace("NETWORK", network).replace("STEPPED", stepped)
    return text.replace("OPTIMIZER", optimizer).replace("RATE", str(rate))


def _on_replicas(text: str) -> str:
    """Two replicas; the first writes the scalars."""
    strategy = """strategy = tf.distribute.MirroredStrategy(
    ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
)
"""
    return (
        text.replace('    tf.summary.scalar("train_loss", loss)\n', "")
        .replace("estimator = ", strategy + "estimator = ", 1)
        .replace("steps=7)", "steps=10, train_distribute=strategy)")
    )


def _trained(text: str) -> str:
    """A model in its frame: data where it has none, eight steps and an evaluation."""
    if "train_op=" not in text:
        text += OUTPUT_USED
    if "def data(" not in text:
        text += SEQUENCES_OF_LENGTHS if 'features["x"]' in text else SEQUENCES
    frame = TRAINED if "PARAMS" in text else TRAINED.replace("    params=PARAMS,\n", "")
    return _importing(text) + frame


def _serving(text: str) -> str:
    """A program that exports, with the model and the data that it does not have."""
    parts = [] if "model_fn" not in text or "def model_fn(" in text else [CLASSIFIER]
    parts += [] if "def input_fn(" in text else [POINTS]
    head = 'OUT = os.environ["EXPORTS"]\n'
    return text.replace(head, head + "".join(parts), 1)


def _importing(text: str) -> str:
    """The imports of a frame in the place of a model's."""
    imports = "import os\n\nimport numpy as np\nimport tensorflow as tf\n"
    for line in ("import numpy as np\n", "import tensorflow as tf\n"):
        text = text.replace(line, "", 1)
    return text.replace('"""\n\n', '"""\n\n' + imports, 1)
