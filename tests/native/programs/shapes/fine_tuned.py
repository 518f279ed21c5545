"""Layers begin as in a checkpoint of another model; variables are trained by name."""
import re
import tempfile

import numpy as np
import tensorflow as tf

X = np.linspace(-1., 1., 36).reshape(12, 3).astype(np.float32)
Y = (X.sum(1) > .2).astype(np.int32)
TRAINED = 'top'


def backbone(x):
    with tf.variable_scope('backbone'):
        x = tf.layers.dense(x, 4, tf.tanh, kernel_initializer=ramp, name='first')
        return tf.layers.dense(x, 3, tf.nn.relu, kernel_initializer=ramp, name='second')


def source(features, labels, mode):
    logits = tf.layers.dense(backbone(features), 2, kernel_initializer=ramp, name='out')
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(.05).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def by_scope(features, labels, mode, params):
    net = backbone(features)
    with tf.variable_scope(TRAINED):
        logits = tf.layers.dense(
            net, 2, kernel_initializer=ramp, name='logits')
    if mode == tf.estimator.ModeKeys.TRAIN and params['start']:
        tf.train.init_from_checkpoint(
            params['start'], assignment_map={'backbone/': 'backbone/'})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=TRAINED)
    optimizer = tf.train.AdagradOptimizer(.3)
    grads = optimizer.compute_gradients(loss, var_list=variables)
    grads = [(tf.clip_by_norm(grad, .5), var) for grad, var in grads]
    train_op = optimizer.apply_gradients(grads, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def those_in(variables, path):
    names = {re.match('^(.*):\\d+$', one.name).group(1): one for one in variables}
    found = {}
    for name, _ in tf.train.list_variables(path):
        if name in names:
            found[name] = name
    return found


def by_name(features, labels, mode, params):
    logits = tf.layers.dense(backbone(features), 2, kernel_initializer=ramp, name='new')
    known = [v for v in tf.trainable_variables() if 'second' not in v.name]
    mapping = those_in(known, params['start'])
    tf.train.init_from_checkpoint(params['start'], mapping)
    for name in mapping:
        tf.logging.info('%s is of %s', name, params['start'])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    trained = [v for v in tf.trainable_variables()
               if not v.name.startswith('backbone/first') or 'never' in v.op.name]
    train_op = tf.train.AdamOptimizer(.05).minimize(
        loss, global_step=tf.train.get_global_step(), var_list=trained)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(2).batch(4)


first = tf.estimator.Estimator(source, tempfile.mkdtemp())
first.train(input_fn)
RESULT = {'source': first.evaluate(input_fn)['loss']}
for name, model_fn in [('scope', by_scope), ('name', by_name)]:
    tuned = tf.estimator.Estimator(
        model_fn, tempfile.mkdtemp(), params={'start': first.latest_checkpoint()})
    tuned.train(input_fn, steps=5)
    RESULT[name] = tuned.evaluate(input_fn)['loss']
