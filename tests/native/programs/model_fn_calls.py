"""Calls of an Estimator(model_fn): hooks with fetches, predict, a few figures."""

import itertools
import json

import numpy as np
import tensorflow as tf

BATCH = 8


def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(
        features["x"],
        4,
        activation=tf.nn.tanh,
        kernel_initializer=tf.constant_initializer(0.1),
    )
    zeros = tf.zeros_initializer()
    logits = tf.layers.dense(hidden, 3, kernel_initializer=zeros)
    predictions = {
        "class": tf.argmax(logits, axis=1),
        "probability": tf.nn.softmax(logits),
    }
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, predictions["class"])}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.AdamOptimizer(params["rate"])
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def numbers(seed):
    draw = np.random.RandomState(seed)
    x = draw.uniform(-1, 1, size=(60, 5)).astype("float32")
    y = (x[:, 0] > 0).astype("int32") + (x[:, 1] > 0.3).astype("int32")
    return x, y


def input_fn(mode, params):
    """Tensors out of an iterator, with work after get_next."""
    x, y = numbers(1 if mode == tf.estimator.ModeKeys.TRAIN else 2)
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    if mode == tf.estimator.ModeKeys.TRAIN:
        dataset = dataset.repeat()
    dataset = dataset.batch(params["batch"])
    iterator = dataset.make_initializable_iterator()
    # The iterator is initialised with the tables.
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    x, y = iterator.get_next()
    # One more column.
    x = tf.concat([x, tf.square(x[:, :1])], axis=1)
    return {"x": x}, y


class LossHook(tf.train.SessionRunHook):
    """Collects losses; stops when there are enough."""

    def __init__(self, most):
        self.most = most
        self.losses = []

    def begin(self):
        self._step = tf.train.get_global_step()

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(
            {"step": self._step, "loss": "sparse_softmax_cross_entropy_loss/value:0"}
        )

    def after_run(self, run_context, run_values):
        loss = run_values.results["loss"]
        self.losses.append((int(run_values.results["step"]), float(loss)))
        if len(self.losses) >= self.most:
            run_context.request_stop()


def main():
    estimator = tf.estimator.Estimator(
        model_fn,
        params={"rate": 0.05, "batch": BATCH},
        config=tf.estimator.RunConfig(tf_random_seed=1),
    )
    hook = LossHook(12)
    estimator.train(input_fn, hooks=[hook, tf.train.StopAtStepHook(last_step=30)])
    print(json.dumps(hook.losses))
    figures = estimator.evaluate(input_fn, steps=3, name="some")
    print(json.dumps({key: float(value) for key, value in figures.items()}))
    print(json.dumps(int(estimator.get_variable_value("global_step"))))
    first = next(estimator.predict(input_fn))
    print(json.dumps([int(first["class"]), first["probability"].tolist()]))
    for answer in itertools.islice(
        estimator.predict(input_fn, predict_keys=["probability"]), 20, 23
    ):
        print(json.dumps({key: value.tolist() for key, value in answer.items()}))


if __name__ == "__main__":
    main()
