"""Programs in shapes of public code: each leaves its figures in ``RESULT``.

Initial weights do not depend on random numbers and data is read in order, so that the
figures of a run on tfmigrate.compat and of the native program are the same.
"""

from __future__ import annotations

from pathlib import Path

# What programs of programs/shapes leave out: first weights, data, an Estimator.
RAMP = """

def ramp(shape, dtype=tf.float32, partition_info=None):
    count = int(np.prod(shape))
    return tf.constant(np.cos(np.arange(count)).reshape([int(n) for n in shape]), dtype)


"""
ROWS = """

def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat(3)
"""
TRAINED = """

estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), params=PARAMS)
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
"""
PREDICTED = """\
RESULT['sum'] = sum(
    np.sum(value) for one in estimator.predict(input_fn) for value in one.values())
"""


def framed(text: str) -> str:
    """A program with what it leaves out of what many have."""
    if "def ramp(" not in text and "ramp" in text:
        text = text.replace("\n\n\n", f"\n{RAMP}", 1)
    if "RESULT" not in text:
        text = text.replace('"""\n', '"""\nimport tempfile\n\n', 1)
        text += "" if "def input_fn(" in text else ROWS
        params = ", params=PARAMS" if "PARAMS" in text else ""
        text += TRAINED.replace(", params=PARAMS", params)
        text += PREDICTED if "predictions={" in text else ""
    return text


PROGRAMS = {
    "sessions_by_hand": """\
# A session that looks at a batch, one in a helper, and variables of its own.
import numpy as np
import tensorflow as tf

X = np.arange(8, dtype=np.float32).reshape(8, 1)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({'x': X}, 3 * X))
    return data.batch(4).repeat(5).make_one_shot_iterator().get_next()


def count(limit):
    holder = tf.placeholder(tf.int64, [])
    iterator = tf.data.Dataset.range(holder).make_initializable_iterator()
    following = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer, {holder: limit})
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return len(found)


def model_fn(features, labels, mode):
    net = tf.layers.dense(
        features['x'], 1, kernel_initializer=tf.constant_initializer(.5))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, net)
    loss = tf.losses.mean_squared_error(labels, net)
    train_op = tf.train.GradientDescentOptimizer(.01).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, net, loss, train_op)


features, labels = input_fn()
with tf.Session() as session:
    first = session.run(features)
    second = session.run(features)
estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn)
predicted = next(estimator.predict(input_fn))
scale = tf.get_variable('scale', initializer=2.)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    scaled = session.run(scale * 3.)
RESULT = dict(
    estimator.evaluate(input_fn), first=first['x'].sum(), second=second['x'].sum(),
    counted=count(5), predicted=predicted.sum(), scaled=scaled)
tf.reset_default_graph()
RESULT['left'] = len(tf.global_variables())
""",
    "shared_columns": """\
# Columns that share a table, made where the program begins.
import numpy as np
import tensorflow as tf
from tensorflow.python.estimator.canned import optimizers

columns = tf.feature_column.shared_embedding_columns(
    [tf.feature_column.categorical_column_with_identity(name, 5) for name in 'ab'],
    dimension=2, initializer=tf.ones_initializer())


class Model(tf.estimator.Estimator):

    def __init__(self, rate, model_dir=None):

        def model_fn(features, labels, mode):
            net = tf.feature_column.input_layer(features, columns)
            net = tf.layers.dense(
                net, 1, kernel_initializer=tf.constant_initializer(.2))
            loss = tf.losses.mean_squared_error(labels, net)
            optimizer = optimizers.get_optimizer_instance('SGD', rate)
            train_op = optimizer.minimize(loss, tf.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, net, loss, train_op)

        super(Model, self).__init__(model_fn, model_dir)


def input_fn():
    data = {'a': np.arange(4), 'b': np.arange(4)[::-1].copy()}
    labels = np.arange(4, dtype=np.float32).reshape(4, 1)
    return tf.data.Dataset.from_tensor_slices((data, labels)).batch(4).repeat(6)


model = Model(.05)
model.train(input_fn)
RESULT = model.evaluate(input_fn, steps=1)
""",
    "variables_in_parts": """\
# A table in two parts, trained, read by its whole name, and trained on.
import tempfile

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    with tf.variable_scope('model', partitioner=tf.fixed_size_partitioner(2)):
        table = tf.get_variable(
            'table', [5, 2], initializer=tf.constant_initializer(.3))
    net = tf.reduce_sum(tf.nn.embedding_lookup(table, features['k']), -1)
    loss = tf.losses.mean_squared_error(labels, net)
    train_op = tf.train.AdagradOptimizer(.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, net, loss, train_op)


def input_fn():
    data = {'k': np.arange(5)}, np.arange(5, dtype=np.float32)
    return tf.data.Dataset.from_tensor_slices(data).batch(5).repeat(4)


folder = tempfile.mkdtemp()
for _ in range(2):
    estimator = tf.estimator.Estimator(model_fn, folder)
    estimator.train(input_fn)
table = estimator.get_variable_value('model/table')
RESULT = dict(estimator.evaluate(input_fn, steps=1), whole=len(table), sum=table.sum())
""",
    "learn_records": """\
# Examples in record files, read through tf.contrib.learn in an input function.
import os
import tempfile

import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), 'x.tfrecord')
with tf.python_io.TFRecordWriter(path) as writer:
    for number in range(8):
        value = tf.train.Feature(float_list=tf.train.FloatList(value=[number / 8.]))
        features = tf.train.Features(feature={'x': value, 'y': value})
        writer.write(tf.train.Example(features=features).SerializeToString())


def input_fn():
    columns = {name: tf.FixedLenFeature([1], tf.float32) for name in 'xy'}
    features = tf.contrib.learn.io.read_batch_features(
        path, 4, columns, tf.TFRecordReader, randomize_input=False, num_epochs=3)
    return features, features.pop('y')


def model_fn(features, labels, mode):
    net = tf.layers.dense(features['x'], 1, kernel_initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, net)
    train_op = tf.train.GradientDescentOptimizer(.3).minimize(
        loss, tf.train.get_global_step())
    return tf.contrib.learn.ModelFnOps(mode, net, loss, train_op)


estimator = tf.contrib.learn.Estimator(model_fn, tempfile.mkdtemp())
estimator.fit(input_fn=input_fn)
RESULT = estimator.evaluate(input_fn=input_fn)
""",
    "learn_canned": """\
# Canned classes of tf.contrib.learn, by a name.
import tempfile

import numpy as np
import tensorflow as tf

learn = tf.contrib.learn
X = np.linspace(-1., 1., 24).reshape(12, 2).astype(np.float32)


def input_fn():
    return {'x': tf.constant(X)}, tf.constant((X.sum(1) > 0).astype(np.int32))


def build(kind, folder):
    columns = [tf.contrib.layers.real_valued_column('x', dimension=2)]
    config = learn.RunConfig(save_checkpoints_steps=5)
    if kind == 'wide':
        return learn.LinearClassifier(columns, folder, config=config)
    return learn.DNNClassifier([4], columns, folder, config=config)


classifier = build('wide', tempfile.mkdtemp())
classifier.fit(input_fn=input_fn, steps=12)
RESULT = classifier.evaluate(input_fn=input_fn, steps=1)
""",
    "profilers": """\
# Profilers: TensorFlow's, one derived from it, and a hook that asks for the times.
import glob
import json
import os
import tempfile

import numpy as np
import tensorflow as tf

FOLDER = tempfile.mkdtemp()
X = np.linspace(-1., 1., 24).reshape(12, 2).astype(np.float32)


class Often(tf.train.ProfilerHook):
    def __init__(self, folder):
        super().__init__(save_steps=2, output_dir=folder, show_memory=False)


class Times(tf.train.SessionRunHook):
    seen = 0

    def before_run(self, run_context):
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        return tf.train.SessionRunArgs(None, options=options)

    def after_run(self, run_context, run_values):
        for device in run_values.run_metadata.step_stats.dev_stats:
            names = [node.node_name for node in device.node_stats]
            self.seen += 'squared' in names


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 1, kernel_initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(net - labels, name='squared'))
    train_op = tf.train.GradientDescentOptimizer(.3).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, X[:, :1])).repeat().batch(4)


def profiled(folder):
    found = []
    for path in glob.glob(os.path.join(FOLDER, folder, 'timeline-*.json')):
        with open(path) as f:
            events = json.load(f)['traceEvents']
        found.append(any(e.get('args', {}).get('name') == 'squared' for e in events))
    return sum(found)


estimator = tf.estimator.Estimator(model_fn, os.path.join(FOLDER, 'model'))
times = Times()
estimator.train(input_fn, steps=3, hooks=[times])
estimator.train(input_fn, steps=8, hooks=[
    tf.estimator.ProfilerHook(save_steps=3, output_dir=os.path.join(FOLDER, 'third')),
    Often(os.path.join(FOLDER, 'second'))])
RESULT = {'seen': times.seen, 'third': profiled('third'), 'second': profiled('second'),
          'loss': estimator.evaluate(input_fn, steps=3)['loss']}
""",
    "keras_of_tf1": """\
# A compiled model of layers that Keras changed: gates, resets, normalization.
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import GRU, Dense

layers = tf.keras.layers
X = np.sin(np.arange(120.)).reshape(10, 4, 3).astype(np.float32)
Y = X.sum((1, 2))[:, None]


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(4).batch(5)


inputs = tf.keras.Input((4, 3))
net = layers.LSTM(3, return_sequences=True, name='first')(inputs)
net = layers.BatchNormalization(name='normal', momentum=.8)(net)
net = layers.Bidirectional(GRU(2, return_sequences=True), name='both')(net)
net = layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], name='cells')(net)
outputs = Dense(1, kernel_initializer=tf.keras.initializers.he_normal(), name='last')(net)
model = tf.keras.Model(inputs, outputs)
model.compile(tf.keras.optimizers.SGD(.1), 'mse', metrics=['mae'])
model.set_weights([
    w if 'moving' in v.name else np.cos(np.arange(w.size) + i).reshape(w.shape) ** 2
    for i, (v, w) in enumerate(zip(model.weights, model.get_weights()))])
estimator = tf.keras.estimator.model_to_estimator(model, model_dir=tempfile.mkdtemp())
estimator.train(input_fn)
RESULT = dict(estimator.evaluate(input_fn), **{
    name: float(np.abs(estimator.get_variable_value(name)).sum())
    for name in estimator.get_variable_names()})
""",
}
# Each is a file of its own.
PROGRAMS |= {
    path.stem: framed(path.read_text("utf-8"))
    for path in (Path(__file__).parent / "programs" / "shapes").glob("*.py")
}
# Written for TensorFlow 2.
LATER_PROGRAMS = {
    "canned_of_tf2": """\
# A canned Estimator of TensorFlow 2, with an optimizer of Keras.
import numpy as np
import tensorflow as tf

X = np.linspace(-1., 1., 20).astype(np.float32)


def input_fn():
    labels = (X > 0).astype(np.int64)
    return tf.data.Dataset.from_tensor_slices(({'x': X}, labels)).batch(10).repeat(4)


def build(kind):
    columns = [tf.feature_column.numeric_column('x')]
    return tf.estimator.LinearClassifier(
        columns, optimizer=tf.keras.optimizers.SGD(learning_rate=.1))


model = build('linear')
model.train(input_fn)
RESULT = dict(model.evaluate(input_fn, steps=2),
              devices=len(tf.config.list_physical_devices('CPU')))
""",
}
