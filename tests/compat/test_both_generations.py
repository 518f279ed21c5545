"""Parts at the edges of a generation, beside real TF 1.15.5 and TF 2.15.1.

What TF 1.15 programs use of TF 2's surface, of private modules and of contrib; exports
of untrained Estimators; parts of TF 2.15's Estimators that few programs reach.
"""

from __future__ import annotations

import importlib
import json
import os
import textwrap
from pathlib import Path
from typing import Any

import pytest
from comparing import differences
from runner import run, run_python

PARTS = Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "surface"

PROGRAM = """
import json, os, tempfile
from unittest import mock
import numpy as np
import tensorflow as tf

fc, v2 = tf.feature_column, tf.compat.v2.estimator
tf.logging.set_verbosity(tf.logging.ERROR)
columns = [fc.numeric_column("x"), fc.embedding_column(
    fc.categorical_column_with_identity("c", 4), 2)]


def rows():
    features = {"x": [[1.0], [2.0]], "c": [[1], [2]]}
    return tf.data.Dataset.from_tensors((features, [[0], [1]])).repeat(3)


# Canned models of TF 2 in TF 1's graphs: their variables are resources.
deep = v2.DNNClassifier([3], columns, batch_norm=True).train(rows, steps=2)
v2.LinearRegressor(columns).train(rows, steps=2)
v2.DNNLinearCombinedClassifier(
    linear_feature_columns=columns[:1], dnn_feature_columns=columns,
    dnn_hidden_units=[2]).train(rows, steps=2)
tags = {
    value.tag
    for name in os.listdir(deep.model_dir) if "tfevents" in name
    for event in tf.train.summary_iterator(os.path.join(deep.model_dir, name))
    for value in event.summary.value}
assert "dnn/hiddenlayer_0/activation" in tags, tags


# Recurrent models, of sequences and of their steps.
def sequences():
    features = {"ids": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 2])}
    return tf.data.Dataset.from_tensors((features, [[0], [2]])).repeat(2)


def steps():
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 0], [2, 2])
    return sequences().map(lambda features, _: (features, labels))


ids = fc.sequence_categorical_column_with_identity("ids", 5)
word = fc.embedding_column(ids, 3)
rnn = v2.experimental.RNNClassifier([word], units=[4], n_classes=3)
assert set(rnn.train(sequences).evaluate(sequences)) >= {"accuracy", "loss"}
assert {name for name, _ in tf.train.list_variables(rnn.model_dir)} >= {
    "rnn_model/rnn/kernel", "rnn_model/logits/kernel",
    "sequence_features/ids_embedding/embedding_weights"}
assert callable(rnn.export_savedmodel)  # theirs is the Estimator of TF 1
tagger = v2.experimental.RNNClassifier(
    [word], units=[4], cell_type="lstm", n_classes=3, return_sequences=True)
predicted = next(tagger.train(steps).predict(sequences))
assert predicted["sequence_mask"].tolist() == [True, True], predicted
assert predicted["logits"].shape == (2, 3)

# The number of classes may be a tensor.
assert v2.MultiClassHead(tf.constant(3)).name is None

# Logits whose width TF 1's shapes do not know are taken: labels go to all of them.
with tf.Graph().as_default(), tf.Session() as session:
    wide = tf.placeholder_with_default(np.linspace(-1, 1, 12).reshape(4, 3), [None, None])
    tf.train.create_global_step()
    head = tf.contrib.estimator.binary_classification_head()
    spec = head.create_estimator_spec({}, "eval", wide, tf.constant([0, 1, 1, 0]))
    session.run(tf.local_variables_initializer())
    np.testing.assert_allclose(session.run(spec.loss), 0.74102, atol=1e-5)  # of TF 1.15.5

# A DNN that names its inputs.
named = tf.contrib.estimator.DNNClassifierWithLayerAnnotations([2], columns)
with tf.Graph().as_default() as graph:
    named.model_fn({"x": tf.ones([2, 1]), "c": tf.constant([[1], [2]])}, None,
                   tf.estimator.ModeKeys.PREDICT, None)
    keys = graph.get_collection("layer_annotations/unprocessed_features/keys")
    assert sorted(keys) == ["c", "x"], keys

# A strategy with a method of its own, and an Estimator that is none.
class Feeds:
    def make_input_fn_iterator(self, input_fn):
        return input_fn(None)


assert isinstance(
    deep._get_iterator_from_input_fn(rows, "train", Feeds())[0], tf.data.Dataset)
cluster = {"cluster": {"chief": ["here:1"]}, "task": {"type": "evaluator", "index": 1}}
os.environ["TF_CONFIG"] = json.dumps(cluster)
settings = tf.estimator.RunConfig()
del os.environ["TF_CONFIG"]
kinds = tf.estimator.Estimator, tf.estimator.TrainSpec, tf.estimator.EvalSpec
given = [mock.Mock(spec=kind) for kind in kinds]
given[0].config = settings
try:
    tf.estimator.train_and_evaluate(*given)
except ValueError as error:
    assert "only be one `evaluator` task" in str(error), error
else:
    raise AssertionError("two evaluators")

# A Keras model that was trained before it became an Estimator.
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
model.compile("sgd", "mse")
model.fit(np.ones([4, 2]), np.ones([4]), verbose=0)
expected = model.predict(np.ones([1, 2]))
estimator = tf.keras.estimator.model_to_estimator(model)
receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
    {model.input_names[0]: tf.placeholder(tf.float32, [None, 2])})
exported = estimator.export_saved_model(tempfile.mkdtemp(), receiver)
serve = tf.contrib.predictor.from_saved_model(exported.decode())
found = serve({model.input_names[0]: np.ones([1, 2])})
np.testing.assert_allclose(list(found.values())[0], expected, rtol=1e-5)

# Names of Keras' layers and variables, as TF 1.15.5 has them.
class ResBlockV2(tf.keras.layers.Layer):
    pass


words = tf.placeholder(tf.float32, [None, 4, 3])
cells = [tf.keras.layers.LSTMCell(2), tf.keras.layers.GRUCell(3)]
for layer, first, last in (
        (tf.keras.layers.LSTM(2), "lstm/kernel:0", "lstm/bias:0"),
        (tf.keras.layers.RNN(cells), "rnn/kernel:0", "rnn/bias_1:0"),
        (tf.keras.layers.Bidirectional(tf.keras.layers.GRU(2)),
         "bidirectional/forward_gru/kernel:0", "bidirectional/backward_gru/bias:0")):
    layer(words)
    found = [weight.name for weight in layer.weights]
    assert (found[0], found[-1]) == (first, last), found
assert ResBlockV2().name == "res_block_v2", ResBlockV2().name
assert tf.keras.layers.ConvLSTM2D(2, 1).name == "conv_lst_m2d"

# The path that an export returns is bytes.
again = tf.contrib.estimator.SavedModelEstimator(exported)
assert again._available_modes == ["infer"], again._available_modes

# Everything that was recorded from TF 1.15.5.
import parts_tf1
print(json.dumps(parts_tf1.observed()))
"""


def check(observed: dict[str, Any], release: str) -> None:
    """The same as on the real release; figures have five digits."""
    recorded = json.loads((PARTS / f"tf{release}.json").read_text())
    assert not [*differences(recorded, observed, 3e-5, 1e-6)]


def test_tf1_programs_use_tf2_parts(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    folders = os.pathsep.join((str(PARTS), os.environ["PYTHONPATH"]))
    done = run(path, on="compat", watch=False, env={"PYTHONPATH": folders})
    assert done.returncode == 0, done.stderr[-3000:]
    check(json.loads(done.stdout.splitlines()[-1]), "1.15")


GUIDE = """
import tempfile
import {surface} as tf
tf1 = tf.compat.v1
columns = [tf.feature_column.numeric_column("x")]

# Canned models whose optimizer is made in their graph, with a rate that follows the step.
def rows():
    features = {{"x": [0.0, 1.0, 2.0, 3.0]}}
    return tf1.data.Dataset.from_tensor_slices((features, [0, 0, 1, 1])).repeat().batch(4)

def ftrl():
    return tf.keras.optimizers.Ftrl(
        l1_regularization_strength=0.001,
        learning_rate=tf1.train.exponential_decay(
            0.1, global_step=tf1.train.get_global_step(), decay_steps=1, decay_rate=0.5))

def old():
    return tf.keras.optimizers.legacy.Ftrl(
        l1_regularization_strength=0.001, learning_rate=ftrl_rate())

def ftrl_rate():
    return tf1.train.exponential_decay(
        0.1, global_step=tf1.train.get_global_step(), decay_steps=1, decay_rate=0.5)

head = tf.estimator.BinaryClassHead()
weights = []
for made in (ftrl, old):
    linear = tf.estimator.LinearEstimator(head, columns, optimizer=made)
    linear.train(rows, steps=4)
    names = linear.get_variable_names()
    assert not [name for name in names if name.endswith("learning_rate")], names
    weights.append(linear.get_variable_value("linear/linear_model/x/weights").item())
assert weights[0] == weights[1] != 0, weights
both = tf.estimator.DNNLinearCombinedEstimator(
    head, linear_feature_columns=columns, linear_optimizer=ftrl,
    dnn_feature_columns=columns, dnn_optimizer=ftrl, dnn_hidden_units=[2])
for model in (both, tf.estimator.DNNEstimator(head, [2], columns, optimizer=ftrl)):
    assert model.train(rows, steps=2).evaluate(rows, steps=1)["global_step"] == 2

# Checkpoints by objects, beside an Estimator.
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.last = tf.keras.layers.Dense(1)

    def call(self, inputs):
        return self.last(inputs)

def model_fn(features, labels, mode):
    net, optimizer = Net(), tf.keras.optimizers.Adam(0.1)
    step = tf1.train.get_global_step()
    checkpoint = {checkpoint}(step=step, optimizer=optimizer, net=net)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(features["x"][:, None])))
    weights = net.trainable_variables
    update = optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=tf.group(update, step.assign_add(1)),
        scaffold=tf1.train.Scaffold(saver=checkpoint))

folder = tempfile.mkdtemp()
tf.estimator.Estimator(model_fn, folder).train(rows, steps=3)
estimator = tf.estimator.Estimator(model_fn, folder).train(rows, steps=2)
assert estimator.evaluate(rows, steps=1)["global_step"] == 5
print(sorted(name for name, _ in tf.train.list_variables(folder) if "OPT" not in name))
"""


@pytest.mark.parametrize("tf", [1, 2])
def test_programs_of_the_migration_guide(tf: int, tmp_path: Path) -> None:
    """Eager code; TF 1.15.5 refuses its class of checkpoints, which TF 2 takes."""
    path = tmp_path / "program.py"
    checkpoint = ("tf1" if tf == 1 else "tf") + ".train.Checkpoint"
    path.write_text(GUIDE.format(surface="tfmigrate.compat.v2", checkpoint=checkpoint))
    done = run_python(path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "net/last/kernel/.ATTRIBUTES/VARIABLE_VALUE" in done.stdout


def test_queues_of_files_that_are_looked_up_in_the_graph(tmp_path: Path) -> None:
    """Beside eager code, where the names of files are a variable of TF 2."""
    tf = importlib.import_module("tfmigrate.compat.v1")
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text("1,2")

    def rows() -> Any:
        found = tf.train.match_filenames_once(str(tmp_path / "*.csv"))
        files = tf.train.string_input_producer(found, num_epochs=1, shuffle=False)
        _, line = tf.TextLineReader().read(files)
        x, y = tf.decode_csv(line, [[0.0], [0.0]])
        return tf.train.batch([x, y], 1)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = tf.get_variable("weight", [])
        loss = tf.reduce_mean(tf.square(features * weight - labels))
        step = tf.train.GradientDescentOptimizer(0.1)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=step.minimize(loss, tf.train.get_global_step())
        )

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path / "model"))
    assert estimator.train(rows).get_variable_value("global_step") == 3


def test_parts_of_tf2_are_those_of_the_release(monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(PARTS))
    surface = importlib.import_module("tfmigrate.compat.v2")
    check(importlib.import_module("parts_tf2").observed(surface), "2.15")
