"""Exports of tables that helpers make, and of shares that the mode decides."""
import os
import tempfile

import numpy as np
import tensorflow as tf

FOLDER = tempfile.mkdtemp()
with open(os.path.join(FOLDER, 'names.txt'), 'w') as file:
    file.write('no\nyes\n')


def encode(words, keep_prob):
    ids = tf.contrib.lookup.index_table_from_tensor(
        tf.constant(['a', 'b', 'c']), num_oov_buckets=1).lookup(words)
    table = tf.get_variable('table', [4, 3], initializer=ramp)
    rows = tf.nn.embedding_lookup(table, ids)
    return tf.nn.dropout(tf.reduce_mean(rows, 1), keep_prob)


def model_fn(features, labels, mode):
    keep_prob = .999999 if mode == tf.estimator.ModeKeys.TRAIN else 1.
    logits = tf.layers.dense(
        encode(features['words'], keep_prob), 2, kernel_initializer=ramp)
    ids = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        names = tf.contrib.lookup.index_to_string_table_from_file(
            os.path.join(FOLDER, 'names.txt'))
        predictions = {'logits': logits, 'name': names.lookup(ids)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs={
            'serving_default': tf.estimator.export.PredictOutput(predictions)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


WORDS = np.array([['a', 'b'], ['c', 'x'], ['b', 'b'], ['a', 'c']])


def input_fn():
    features = {'words': WORDS}
    return tf.data.Dataset.from_tensor_slices((features, [0, 1, 1, 0])).batch(2)


def receiver():
    features = {'words': tf.placeholder(tf.string, [None, None], name='words')}
    return tf.estimator.export.ServingInputReceiver(features, features)


estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
estimator.train(input_fn)
path = estimator.export_savedmodel(tempfile.mkdtemp(), receiver)
path = path.decode() if isinstance(path, bytes) else path
ask = tf.contrib.predictor.from_saved_model(path)
answer = ask({'words': WORDS})
RESULT = estimator.evaluate(input_fn)
RESULT['sum'] = sum(one['logits'].sum() for one in estimator.predict(input_fn))
RESULT['served'] = answer['logits'].sum()
RESULT['yes'] = sum(one == b'yes' for one in answer['name'])
