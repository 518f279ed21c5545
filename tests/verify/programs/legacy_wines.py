"""An Estimator program with much that can go wrong on the way to TF 2.

Batch normalization, dropout, weight decay, class weights, a learning rate that decays,
clipped gradients, weighted metrics, a last batch that is short, and an export.
"""

import numpy as np
import tensorflow as tf

CLASS_WEIGHTS = [1.0, 2.0, 0.5]


def data(size, seed):
    rng = np.random.RandomState(seed)
    x = rng.normal(size=(size, 6)).astype(np.float32)
    y = np.argmax(x[:, :3] + 0.5 * rng.normal(size=(size, 3)), axis=1)
    return x, y.astype(np.int32)


def input_fn(size, seed, epochs):
    dataset = tf.data.Dataset.from_tensor_slices(data(size, seed))
    return dataset.map(lambda x, y: ({"x": x}, y)).repeat(epochs).batch(8)


def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    regularizer = tf.contrib.layers.l2_regularizer(1e-2)
    net = tf.layers.dense(features["x"], 12, kernel_regularizer=regularizer)
    net = tf.layers.batch_normalization(net, momentum=0.9, training=training)
    net = tf.layers.dropout(tf.nn.relu(net), 0.2, training=training)
    logits = tf.layers.dense(net, 3, kernel_regularizer=regularizer)
    classes = tf.argmax(logits, axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {"serving_default": tf.estimator.export.PredictOutput(classes)}
        return tf.estimator.EstimatorSpec(
            mode, predictions={"classes": classes}, export_outputs=outputs
        )
    weights = tf.gather(CLASS_WEIGHTS, labels)
    # With the examples' own weights, not divided by their sum.
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits
    )
    loss = tf.reduce_mean(losses * weights) + tf.losses.get_regularization_loss()
    metrics = {
        "accuracy": tf.metrics.accuracy(labels, classes),
        "weighted_accuracy": tf.metrics.accuracy(labels, classes, weights=weights),
    }
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 5, 0.7, staircase=True)
    optimizer = tf.train.MomentumOptimizer(rate, 0.9)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.apply_gradients(zip(gradients, variables), step)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


def receiver():
    x = tf.placeholder(tf.float32, [None, 6])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


if __name__ == "__main__":
    estimator = tf.estimator.Estimator(
        model_fn, config=tf.estimator.RunConfig(tf_random_seed=1)
    )
    # 58 examples in batches of 8, twice: one batch runs over the epoch's end, and
    # the last is short.
    estimator.train(lambda: input_fn(58, 0, 2))
    print(estimator.evaluate(lambda: input_fn(45, 1, 1)))
    estimator.export_saved_model("exports/wines", receiver)
