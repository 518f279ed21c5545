"""An Estimator whose model_fn is rebuilt with adversarial examples."""

import neural_structured_learning as nsl
import tensorflow as tf
from steps import RANDOM, train

INPUTS = RANDOM.rand(32, 4).astype("float32")
LABELS = RANDOM.randint(3, size=32).astype("int32")


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"x": INPUTS}, LABELS))
    return data.repeat().batch(8)


columns = [tf.feature_column.numeric_column("x", shape=[4])]
base = tf.estimator.LinearClassifier(columns, n_classes=3)
config = nsl.configs.make_adv_reg_config(multiplier=0.2, adv_step_size=0.1)
estimator = nsl.estimator.add_adversarial_regularization(
    base,
    optimizer_fn=lambda: tf.compat.v1.train.GradientDescentOptimizer(0.1),
    adv_config=config,
)
train(estimator, input_fn)
assert estimator.evaluate(input_fn, steps=2)["loss"] > 0
