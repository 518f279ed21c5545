# Pictures of six by six in one of three kinds, with the calls of scikit-learn.
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib import learn
from tensorflow.contrib.learn.python.learn.estimators import model_fn as fns

start = tf.constant_initializer(.05)


def kinds_of_pictures(features, labels, mode):
    net = tf.layers.conv2d(
        tf.reshape(features, [-1, 6, 6, 1]), 3, 3, padding='same',
        activation=tf.nn.relu, kernel_initializer=start)
    net = tf.reshape(tf.layers.max_pooling2d(net, 2, 2), [-1, 27])
    net = tf.layers.dense(net, 5, tf.nn.relu, kernel_initializer=start)
    net = tf.layers.dropout(net, 0., training=mode == learn.ModeKeys.TRAIN)
    scores = tf.layers.dense(
        net, 3, kernel_initializer=tf.constant_initializer([.1, .2, -.1] * 5))
    found = {'kind': tf.argmax(scores, 1), 'sure': tf.nn.softmax(scores, name='sure')}
    loss = train_op = None
    if mode != learn.ModeKeys.INFER:
        loss = tf.losses.softmax_cross_entropy(
            tf.one_hot(tf.cast(labels, tf.int32), 3), scores)
    if mode == learn.ModeKeys.TRAIN:
        train_op = tf.contrib.layers.optimize_loss(
            loss, tf.contrib.framework.get_global_step(), .1, 'SGD')
    return fns.ModelFnOps(mode=mode, predictions=found, loss=loss, train_op=train_op)


pictures = np.abs(np.sin(np.arange(50. * 36))).reshape(50, 36).astype(np.float32)
kinds = np.asarray(pictures.sum(1) // 1 % 3, dtype=np.int32)
classifier = learn.SKCompat(
    learn.Estimator(model_fn=kinds_of_pictures, model_dir=tempfile.mkdtemp()))
classifier.fit(
    x=pictures, y=kinds, batch_size=20, steps=12,
    monitors=[tf.train.LoggingTensorHook({'sure': 'sure'}, every_n_iter=5)])
scored = classifier.score(x=pictures, y=kinds)
found = classifier.predict(x=pictures[:7], batch_size=3)
RESULT = dict(scored, spread=found['sure'].std(), ones=found['kind'].sum())
