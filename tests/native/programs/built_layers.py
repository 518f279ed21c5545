"""Layers and weights whose sizes follow from the input that they are called on."""

import tensorflow as tf

PARAMS = {"blocks": 2, "inner": 4, "kind": "each"}


def residual(inputs, inner, index):
    width = int(inputs.get_shape()[-1])
    net = tf.layers.dense(inputs, inner, tf.nn.relu, name=f"inner_{index}")
    net = tf.layers.dense(net, width, activation=None, name=f"outer_{index}")
    return tf.nn.relu(inputs + net)


def attention(queries, keys, position):
    width = queries.get_shape().as_list()[-1]
    if position:
        table = tf.get_variable("position", shape=(7, width))
        steps = tf.expand_dims(tf.range(tf.shape(queries)[1]), 0)
        shift = tf.nn.embedding_lookup(table, steps)
        queries += shift
        keys += shift
    query = tf.layers.dense(queries, width, use_bias=False)
    weights = tf.nn.softmax(tf.matmul(query, keys, transpose_b=True) / width**0.5)
    return tf.contrib.layers.layer_norm(tf.matmul(weights, keys) + queries)


def gate(x, name):
    alpha = tf.get_variable(
        f"alpha_{name}",
        shape=x.shape[-1],
        initializer=tf.constant_initializer(0.5),
        dtype=x.dtype,
    )
    return tf.maximum(0.0, x) + alpha * tf.minimum(0.0, x)


def pairs(x, kind, name):
    count = x.get_shape()[1]
    if kind == "all":
        w = tf.get_variable(f"{name}_all", shape=(x.shape[-1], 3))
        found = tf.einsum("bfk,kd->bfd", x, w)
    elif kind == "each":
        w = tf.get_variable(f"{name}_each", shape=(count, 3, 3))
        found = tf.einsum("bfk,fkd->bfd", x, w)
    else:
        raise ValueError(kind)
    return found


def narrowed(inputs, started=tf.constant_initializer(0.1)):
    options = {"use_bias": True, "bias_initializer": started}
    layer = tf.layers.dense
    net = layer(inputs, 2, bias_initializer=options["bias_initializer"])
    sizes = net.get_shape().as_list()[1:]
    flat = tf.reshape(net, [-1, sizes[0] * sizes[1]])
    net = tf.contrib.layers.fully_connected(flat, inputs.shape[-1] * sizes[0])
    net = layer(net, inputs.shape[-1] * sizes[0], **options)
    return tf.reshape(net, [-1, sizes[0], inputs.shape[-1]])


def model_fn(features, labels, mode, params):
    net = attention(features, features, True)
    with tf.variable_scope("again"):
        net = attention(net, features, False)
    net = narrowed(net)
    net = tf.reshape(gate(pairs(net, params["kind"], "pair"), "flat"), [-1, 21])
    for i in range(params["blocks"]):
        net = residual(net, params["inner"], i)
    output = tf.layers.dense(net, 1, name="output")
