"""A share of helpers by the mode, a pair of cells, states that begin other networks."""
import numpy as np
import tensorflow as tf

PARAMS = {'keep': 1., 'units': 3}


def cell_of(units, keep):
    cell = tf.nn.rnn_cell.GRUCell(units, kernel_initializer=ramp)
    return tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep)


def both_ways(x, units, keep):
    fw, bw = (cell_of(units, keep) for _ in range(2))
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(fw, bw, x, dtype=tf.float32)
    return tf.concat(outputs, 2)


def network(x, lengths, units, keep):
    scale = tf.get_variable('scale', [2 * units], initializer=ramp)
    net = both_ways(x, units, keep) * scale
    with tf.variable_scope('first'):
        net, state = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.LSTMCell(units, initializer=ramp), net,
            sequence_length=lengths, dtype=tf.float32)
    with tf.variable_scope('second'):
        net, last = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.LSTMCell(units, initializer=ramp), net, initial_state=state)
    with tf.variable_scope('third'):
        cells = [cell_of(units, keep) for _ in range(2)]
        net, _ = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.MultiRNNCell(cells), net, initial_state=(last.h, state.c))
    fws, bws = ([cell_of(n, keep) for n in (units, 2)] for _ in range(2))
    net, *_ = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
        fws, bws, net, dtype=tf.float32, sequence_length=lengths)
    return tf.reduce_mean(net, 1)


def model_fn(features, labels, mode, params):
    keep = params['keep'] if mode == tf.estimator.ModeKeys.TRAIN else 1.
    net = network(features['x'], features['length'], params['units'], keep)
    guess = tf.layers.dense(net, 1, kernel_initializer=ramp)[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'guess': guess})
    loss = tf.losses.mean_squared_error(labels, guess)
    train_op = tf.train.GradientDescentOptimizer(.05).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


WAVES = np.sin(np.arange(144, dtype=np.float32)).reshape(12, 4, 3)
X = {'x': WAVES, 'length': np.arange(12, dtype=np.int32) % 4 + 1}
Y = WAVES.sum((1, 2))
