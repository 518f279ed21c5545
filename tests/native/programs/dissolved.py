"""An object whose methods make the layers, the loss and the update, some inherited."""

import tensorflow as tf

PARAMS = {"units": [6, 4], "rate": 0.05, "keep": 1.0}


class Base(object):
    def __init__(self, features, labels, mode, config):
        self.features = features
        self.labels = labels
        self.mode = mode
        self.config = config
        self.training = mode == tf.estimator.ModeKeys.TRAIN

    def build(self):
        """The specification."""
        self.output = self.infer(self.features)
        if self.mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(self.mode, predictions=self.output)
        self.loss = tf.losses.mean_squared_error(self.labels, self.output)
        if self.training:
            return tf.estimator.EstimatorSpec(
                self.mode, loss=self.loss, train_op=self.update()
            )
        return tf.estimator.EstimatorSpec(
            self.mode, loss=self.loss, eval_metric_ops=self.metrics(self.output)
        )

    def infer(self, x):
        raise NotImplementedError

    def metrics(self, output):
        return {"mae": tf.metrics.mean_absolute_error(self.labels, output)}

    def update(self):
        optimizer = tf.train.AdamOptimizer(self.config["rate"])
        return optimizer.minimize(self.loss, tf.train.get_global_step())


class Steps(Base):
    def __init__(self, features, labels, mode, params):
        super().__init__(features, labels, mode, params)
        self.keep = params["keep"] if self.training else 1.0
        self.width = params["units"][0]

    def infer(self, x):
        steps, _ = tf.nn.dynamic_rnn(self.cell(self.width), x, dtype=tf.float32)
        net = tf.nn.dropout(steps[:, -1], self.keep)
        for number, units in enumerate(self.config["units"]):
            net = self.block(net, units, "block%d" % number)
        return tf.layers.dense(net, 1, name="out")

    def cell(self, units):
        cell = tf.nn.rnn_cell.GRUCell(units)
        if self.training and self.config["keep"] < 1:
            cell = tf.nn.rnn_cell.DropoutWrapper(
                cell, output_keep_prob=self.config["keep"]
            )
        return cell

    @staticmethod
    def block(net, units, name):
        with tf.variable_scope(name):
            return tf.nn.tanh(tf.layers.dense(net, units))


def model_fn(features, labels, mode, params):
    return Steps(features, labels, mode, params).build()
