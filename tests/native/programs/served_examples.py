"""Serves tf.Example requests; keeps the best and the latest models."""

import os

import numpy as np
import tensorflow as tf

SPEC = {"x": tf.FixedLenFeature([4], tf.float32)}
OUT = os.environ["EXPORTS"]


def model_fn(features, labels, mode):
    logits = tf.layers.dense(
        features["x"], 3, kernel_initializer=tf.constant_initializer(0.1)
    )
    predictions = {"class": tf.argmax(logits, 1), "logits": logits}
    outputs = {
        "scores": tf.estimator.export.PredictOutput(tf.nn.softmax(logits)),
        "odds": tf.estimator.export.ClassificationOutput(tf.nn.softmax(logits)),
        "heights": tf.estimator.export.RegressionOutput(value=logits),
        tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: (
            tf.estimator.export.PredictOutput(predictions)
        ),
    }
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions, export_outputs=outputs
        )
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def serving_fn():
    """Requests come in units of one half."""
    serialized = tf.placeholder(tf.string, [None], name="requests")
    parsed = tf.parse_example(serialized, SPEC)
    doubled = tf.multiply(parsed["x"], 2.0)
    return tf.estimator.export.ServingInputReceiver(
        {"x": doubled}, {"examples": serialized}
    )


def nearer(best_eval_result, current_eval_result):
    """The model of step 20 is the best one here."""
    distances = [
        abs(result["global_step"] - 20)
        for result in (best_eval_result, current_eval_result)
    ]
    return distances[1] < distances[0]


def main():
    config = tf.estimator.RunConfig(save_checkpoints_steps=10)
    estimator = tf.estimator.Estimator(model_fn, os.path.join(OUT, "model"), config)
    exporters = [
        tf.estimator.BestExporter("best", serving_fn, compare_fn=nearer),
        tf.estimator.LatestExporter("latest", serving_fn, exports_to_keep=2),
        tf.estimator.FinalExporter("final", serving_fn),
    ]
    train_spec = tf.estimator.TrainSpec(lambda: input_fn().repeat(), max_steps=40)
    eval_spec = tf.estimator.EvalSpec(
        input_fn, exporters=exporters, start_delay_secs=0, throttle_secs=0
    )
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    rows = list(estimator.predict(input_fn))
    np.savez(
        os.path.join(OUT, "predictions.npz"),
        **{key: np.stack([row[key] for row in rows]) for key in rows[0]},
    )


main()
