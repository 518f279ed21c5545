"""Towers that are called on tensors and named in a list, gone through at once."""

import tensorflow as tf

PARAMS = {"experts": 3, "names": ["click", "buy"], "hidden": [4, 3], "drop": 0.0}


def tower(x, hidden, mode, normal, rate, name):
    """One head of the network."""
    net = x
    for i, units in enumerate(hidden):
        net = tf.layers.dense(net, units, activation=tf.nn.relu)
        if 0.0 < rate < 1.0:
            net = tf.layers.dropout(
                net, rate, training=(mode == tf.estimator.ModeKeys.TRAIN)
            )
        if normal:
            net = tf.layers.batch_normalization(
                net, training=(mode == tf.estimator.ModeKeys.TRAIN)
            )
    return tf.layers.dense(net, 1, name=f"tower_{name}_logit")


def model_fn(features, labels, mode, params):
    x = tf.reshape(features, [-1, 21])
    with tf.variable_scope("experts"):
        experts = [
            tf.layers.dense(x, 5, activation=tf.nn.relu, name=f"expert_{i}")
            for i in range(params["experts"])
        ]
        experts = tf.stack(experts, axis=1)
        # What comes before the gates.
    with tf.variable_scope("gates"):
        gates = [
            tf.layers.dense(x, params["experts"], tf.nn.softmax, use_bias=False)
            for _ in params["names"]
        ]
    with tf.variable_scope("towers"):
        mixed = []
        for gate in gates:
            mixed.append(tf.reduce_sum(experts * tf.expand_dims(gate, -1), 1))
        heads = [
            tower(one, params["hidden"], mode, True, params["drop"], name)
            for one, name in zip(mixed, params["names"])
        ]
        more = []
        for head, units, one in zip(heads, params["hidden"], mixed):
            more.append(tf.layers.dense(one, units) * head)
    output = tf.add_n(heads) + tf.reduce_sum(tf.concat(more, 1), 1, keepdims=True)
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    with tf.control_dependencies(update_ops):
        train_op = tf.train.GradientDescentOptimizer(0.02).minimize(
            loss, tf.train.get_global_step()
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
