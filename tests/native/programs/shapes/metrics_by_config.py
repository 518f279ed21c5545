"""Metrics made in loops over what the parameters say, and by helpers in them."""
import numpy as np
import tensorflow as tf

PARAMS = {'classes': 3, 'top': [1, 2], 'limits': {'low': 0.2, 'high': 0.7}, 'skip': 0}
NAMES = ['red', 'green', 'blue']


def hits(labels, logits, k):
    found = tf.nn.in_top_k(logits, labels, k)
    certain = tf.reduce_max(tf.nn.softmax(logits), axis=1)
    return tf.metrics.mean(tf.to_float(found), weights=certain)


def f1_score(labels, predictions, positive):
    is_label = tf.equal(labels, positive)
    is_prediction = tf.equal(predictions, positive)
    precision, precision_op = tf.metrics.precision(is_label, is_prediction)
    recall, recall_op = tf.metrics.recall(is_label, is_prediction)
    value = 2 * precision * recall / (precision + recall + 1e-8)
    return value, tf.group(precision_op, recall_op)


def model_fn(features, labels, mode, params):
    hp = params
    logits = tf.layers.dense(
        features['x'], hp['classes'], kernel_initializer=tf.constant_initializer(0.3))
    predicted = tf.argmax(logits, 1, output_type=tf.int32)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        ops = {'hits_%d' % k: hits(labels, logits, k) for k in hp['top']}
        ops['accuracy'] = tf.metrics.accuracy(labels, predicted)
        for i, name in enumerate(NAMES):
            if i == hp['skip']:
                continue
            mine, found = tf.equal(labels, i), tf.equal(predicted, i)
            ops['recall/' + name] = tf.metrics.recall(mine, found)
            ops['precision/{}'.format(name)] = tf.metrics.precision(mine, found)
        for name, limit in sorted(hp['limits'].items()):
            score = tf.nn.softmax(logits)[:, -1]
            ops[name] = tf.metrics.mean(tf.to_float(score > limit))
            if limit > 0.5:
                ops['auc_' + name] = tf.metrics.auc(
                    tf.equal(labels, 2), score, num_thresholds=int(limit * 100))
        for c in range(hp['classes']):
            ops['f1/%d' % c] = f1_score(labels, predicted, c)
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=ops)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(3).normal(size=(48, 3)).astype(np.float32)
    y = x.argmax(1).astype(np.int32)
    return tf.data.Dataset.from_tensor_slices(({'x': x}, y)).repeat(2).batch(6)
