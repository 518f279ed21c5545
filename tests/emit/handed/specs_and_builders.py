"""Specs come from functions, the RunConfig is made by the caller of the builder."""

import argparse
import os

import numpy as np
import tensorflow as tf


def input_fn(seed, num_epochs=None, batch_size=16):
    rng = np.random.RandomState(seed)
    x = rng.rand(64, 6).astype(np.float32)
    y = (x[:, :2].sum(axis=1) > 1).astype(np.int64)
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    return dataset.repeat(num_epochs).batch(batch_size)


def generate_model_fn(layer_sizes, learning_rate):
    def _model_fn(mode, features, labels):
        curr = features
        for size in layer_sizes:
            curr = tf.layers.dense(curr, size, activation=tf.nn.relu)
        logits = tf.layers.dense(curr, 2)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(
                mode,
                loss=loss,
                eval_metric_ops={
                    "accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))
                },
            )
        train_op = tf.train.GradientDescentOptimizer(learning_rate).minimize(
            loss, global_step=tf.train.get_global_step()
        )
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return _model_fn


def build_estimator(run_config, layer_sizes, learning_rate):
    """The classifier."""
    with tf.device("/cpu:0"):
        return tf.estimator.Estimator(
            model_fn=generate_model_fn(layer_sizes, learning_rate), config=run_config)


def get_train_spec(args):
    train_input = lambda: input_fn(0, batch_size=args.batch_size)
    return tf.estimator.TrainSpec(train_input, max_steps=args.train_steps)


def get_eval_spec(args):
    def eval_input():
        return input_fn(1, num_epochs=1, batch_size=args.batch_size)

    return tf.estimator.EvalSpec(
        eval_input,
        steps=args.eval_steps,
        name="test",
        throttle_secs=0,
        start_delay_secs=0,
    )


def train_and_evaluate(args):
    run_config = tf.estimator.RunConfig(tf_random_seed=7, log_step_count_steps=1)
    run_config = run_config.replace(model_dir=args.job_dir, save_checkpoints_steps=4)
    print("Model dir %s" % run_config.model_dir)
    estimator = build_estimator(
        run_config,
        [max(2, 16 // 2**i) for i in range(args.num_layers)],
        args.learning_rate,
    )
    return tf.estimator.train_and_evaluate(
        estimator, get_train_spec(args), get_eval_spec(args)
    )


parser = argparse.ArgumentParser()
parser.add_argument("--job-dir", default=os.environ["MODEL_DIR"])
parser.add_argument("--train-steps", type=int, default=8)
parser.add_argument("--eval-steps", type=int, default=None)
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--num-layers", type=int, default=2)
parser.add_argument("--learning-rate", type=float, default=0.01)
arguments = parser.parse_args([])
RESULT = train_and_evaluate(arguments)[0]
