"""An Experiment on records in files, read as data sets were before TensorFlow 2."""

import numpy as np
import tensorflow as tf
from tensorflow.contrib.learn import learn_runner

FEATURES = {
    "x": tf.FixedLenFeature([3], tf.float32),
    "y": tf.FixedLenFeature([], tf.float32),
}


def write(path):
    with tf.python_io.TFRecordWriter(path) as writer:
        for x in np.random.RandomState(0).normal(size=(64, 3)):
            values = {"x": x, "y": [x.sum()]}
            feature = {
                name: tf.train.Feature(float_list=tf.train.FloatList(value=value))
                for name, value in values.items()
            }
            features = tf.train.Features(feature=feature)
            writer.write(tf.train.Example(features=features).SerializeToString())


def input_fn():
    return tf.contrib.data.make_batched_features_dataset(
        "data.tfrecord", 8, FEATURES, num_epochs=None, label_key="y"
    )


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features["x"], 1)[:, 0]
    loss = tf.losses.mean_squared_error(labels, outputs)
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def experiment_fn(run_config, hparams):
    return tf.contrib.learn.Experiment(
        tf.estimator.Estimator(model_fn, config=run_config),
        train_input_fn=input_fn,
        eval_input_fn=input_fn,
        train_steps=20,
        eval_steps=2,
        eval_delay_secs=0,
    )


if __name__ == "__main__":
    write("data.tfrecord")
    config = tf.contrib.learn.RunConfig(model_dir="model")
    learn_runner.run(experiment_fn, run_config=config, schedule="train_and_evaluate")
