"""Two estimators in one program, of which the second is exported."""

import os

import numpy as np
import tensorflow as tf

DRAW = np.random.RandomState(7)
X = DRAW.normal(size=(96, 4)).astype(np.float32)
Y = (X @ np.array([[1.0], [-2.0], [0.5], [0.25]])).astype(np.float32)


def wide_fn(features, labels, mode):
    hidden = tf.layers.dense(features["x"], 8, activation=tf.nn.tanh)
    out = tf.layers.dense(hidden, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": out})
    loss = tf.losses.mean_squared_error(labels, out)
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, out)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def small_fn(features, labels, mode):
    out = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {
            "serving_default": tf.estimator.export.PredictOutput({"y": out}),
        }
        return tf.estimator.EstimatorSpec(
            mode, predictions={"y": out}, export_outputs=outputs
        )
    loss = tf.losses.mean_squared_error(labels, out)
    metrics = {"mse": tf.metrics.mean_squared_error(labels, out)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.AdamOptimizer(0.01)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    return data.shuffle(96).repeat(2).batch(8)


def test_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X[:40]}, Y[:40])).batch(8)


def serving_fn():
    serialized = tf.placeholder(tf.string, [None], name="examples")
    features = tf.parse_example(serialized, {"x": tf.FixedLenFeature([4], tf.float32)})
    return tf.estimator.export.ServingInputReceiver(features, {"examples": serialized})


def main():
    wide = tf.estimator.Estimator(wide_fn, model_dir="out/wide")
    wide.train(input_fn)
    small = tf.estimator.Estimator(small_fn, model_dir="out/small")
    small.train(input_fn)
    print("wide", wide.evaluate(test_fn))
    print("small", small.evaluate(test_fn))
    small.export_savedmodel(os.path.join(small.model_dir, "export"), serving_fn)


if __name__ == "__main__":
    main()
