"""What `two_estimators.py` says, migrated: two tasks, of which the second is exported."""

import os
import time

import numpy as np
import tensorflow as tf
import tf_keras

from .training import Callback, Task, Trainer

DRAW = np.random.RandomState(7)
X = DRAW.normal(size=(96, 4)).astype(np.float32)
Y = (X @ np.array([[1.0], [-2.0], [0.5], [0.25]])).astype(np.float32)


class Wide(Task):
    def __init__(self):
        self.model = tf_keras.Sequential(
            [tf_keras.layers.Dense(8, activation=tf.nn.tanh), tf_keras.layers.Dense(1)]
        )
        self.optimizer = tf_keras.optimizers.SGD(0.05, momentum=0.9)
        self.metrics = [tf_keras.metrics.Mean("mae")]

    def forward(self, features, training):
        return self.model(features["x"])

    def loss(self, features, labels, outputs):
        return tf.reduce_mean(tf.math.squared_difference(labels, outputs))

    def update_metrics(self, features, labels, outputs):
        self.metrics[0].update_state(tf.abs(labels - outputs))

    def predictions(self, features, outputs):
        return {"y": outputs}


class Small(Wide):
    def __init__(self):
        self.model = tf_keras.Sequential([tf_keras.layers.Dense(1)])
        self.optimizer = tf_keras.optimizers.Adam(0.01, epsilon=1e-8)
        self.metrics = [tf_keras.metrics.Mean("mse")]

    def update_metrics(self, features, labels, outputs):
        self.metrics[0].update_state(tf.math.squared_difference(labels, outputs))


class Counter(Callback):
    """Looks at every step, which is then a call of its own."""

    def after_step(self, step, values):
        self.steps = step


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    return data.shuffle(96).repeat(2).batch(8)


def test_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X[:40]}, Y[:40])).batch(8)


def export(trainer, folder):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "examples")])
    def serve(examples):
        features = tf.io.parse_example(
            examples, {"x": tf.io.FixedLenFeature([4], tf.float32)}
        )
        return trainer.task.predictions(
            features, trainer.task.forward(features, training=False)
        )

    module = tf.Module()
    module.model = trainer.task.model
    place = os.path.join(folder, str(int(time.time())))
    tf.saved_model.save(module, place, signatures={"serving_default": serve})


def main():
    wide = Trainer(Wide, model_dir="out/wide")
    wide.train(input_fn)
    open("out/wide/trained", "w").close()
    small = Trainer(Small, model_dir="out/small")
    small.train(input_fn, hooks=[Counter()])
    print("wide", wide.evaluate(test_fn))
    print("small", small.evaluate(test_fn))
    export(small, os.path.join(small.model_dir, "export"))


if __name__ == "__main__":
    main()
