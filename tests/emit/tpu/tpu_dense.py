"""A TPUEstimator program as people ran it off TPU."""

import tempfile

import numpy as np
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_bool("use_tpu", False, "Whether to run on a TPU.")
flags.DEFINE_string("tpu_name", None, "The TPU to use.")
flags.DEFINE_string("model_dir", None, "Where checkpoints go.")
flags.DEFINE_integer("train_batch_size", 12, "Total batch size for training.")
flags.DEFINE_integer("eval_batch_size", 20, "Total batch size for evaluation.")
flags.DEFINE_integer("train_steps", 40, "Steps in total.")
flags.DEFINE_integer("iterations", 10, "Steps for each call of the TPU.")


def metric_fn(labels, logits):
    predicted = tf.argmax(logits, axis=1, output_type=tf.int32)
    return {
        "accuracy": tf.metrics.accuracy(labels, predicted),
        "mean_logit": tf.metrics.mean(logits),
    }


def model_fn(features, labels, mode, params):
    """Two layers; the optimizer is wrapped for shards of a TPU."""
    net = tf.layers.dense(features, 16, activation=tf.nn.relu, name="hidden")
    logits = tf.layers.dense(net, 3, name="logits")
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"class": tf.argmax(logits, axis=1)}
        return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode, loss=loss, eval_metrics=(metric_fn, [labels, logits])
        )
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    if FLAGS.use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op)


def digits(seed, count):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 8)).astype(np.float32)
    return x, np.argmax(x[:, :3], axis=1).astype(np.int32)


def train_input_fn(params):
    data = tf.data.Dataset.from_tensor_slices(digits(1, 240))
    data = data.shuffle(240).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


def eval_input_fn(params):
    data = tf.data.Dataset.from_tensor_slices(digits(2, 100))
    return data.batch(params["batch_size"], drop_remainder=True)


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    cluster = None
    if FLAGS.use_tpu:
        cluster = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name)
    per_host = tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2
    run_config = tf.contrib.tpu.RunConfig(
        cluster=cluster,
        model_dir=FLAGS.model_dir or tempfile.mkdtemp(),
        save_checkpoints_steps=20,
        tpu_config=tf.contrib.tpu.TPUConfig(
            iterations_per_loop=FLAGS.iterations, per_host_input_for_training=per_host
        ),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn=model_fn,
        use_tpu=FLAGS.use_tpu,
        train_batch_size=FLAGS.train_batch_size,
        eval_batch_size=FLAGS.eval_batch_size,
        config=run_config,
    )
    estimator.train(input_fn=train_input_fn, max_steps=FLAGS.train_steps)
    results = estimator.evaluate(input_fn=eval_input_fn, steps=5)
    print("accuracy", results["accuracy"])


if __name__ == "__main__":
    tf.app.run()
