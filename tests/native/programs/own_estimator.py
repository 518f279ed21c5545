"""A class of Estimators whose model function, with a head, reads its own object."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.python.estimator.canned import optimizers

MODEL_DIR = os.environ["MODEL_DIR"]


class Attentive(tf.estimator.Estimator):
    def __init__(self, params, model_dir=None, config=None, start=None):
        self.optimizer = optimizers.get_optimizer_instance("Adam", params["rate"])

        def _model_fn(features, labels, mode, params):
            pooled, chosen = self.pool(features["seen"], features["item"], "item")
            net = tf.concat([pooled, chosen], axis=1)
            for units in params["hidden"]:
                net = tf.layers.dense(net, units, activation=tf.nn.tanh)
            head = tf.contrib.estimator.binary_classification_head(thresholds=[0.5])
            logits = tf.layers.dense(net, units=head.logits_dimension)
            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                logits=logits,
                train_op_fn=lambda loss: self.optimizer.minimize(
                    loss, global_step=tf.train.get_global_step()
                ),
            )

        super(Attentive, self).__init__(
            model_fn=_model_fn,
            model_dir=model_dir,
            config=config,
            params=params,
            warm_start_from=start,
        )

    def pool(self, seen, item, kind):
        with tf.variable_scope("pool_" + kind):
            width = self._params["widths"][kind]
            table = tf.get_variable("table", [self._params["sizes"][kind], width])
            rows = tf.nn.embedding_lookup(table, seen)
            row = tf.nn.embedding_lookup(table, item)
            weights = tf.layers.dense(rows * row[:, None], 1, activation=tf.sigmoid)
            return tf.reduce_sum(rows * weights, 1), row


def data(count=80, seed=0):
    draw = np.random.RandomState(seed)
    seen = draw.randint(0, 9, size=(count, 4))
    item = draw.randint(0, 9, size=count)
    y = (seen == item[:, None]).any(axis=1).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(
        ({"seen": seen, "item": item}, y[:, None])
    ).batch(10)


estimator = Attentive(
    {
        "widths": {"item": 5},
        "sizes": {"item": 9},
        "hidden": [6, 4],
        "rate": 0.05,
    },
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
