"""An ensemble over two canned candidates, for more than one iteration."""

import adanet
import tensorflow as tf
from steps import RANDOM

INPUTS = RANDOM.rand(32, 4).astype("float32")
LABELS = INPUTS.sum(axis=1, keepdims=True)
COLUMNS = [tf.feature_column.numeric_column("x", shape=(4,))]


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"x": INPUTS}, LABELS))
    return data.repeat().batch(8)


head = tf.contrib.estimator.regression_head()
estimator = adanet.AutoEnsembleEstimator(
    head=head,
    candidate_pool=lambda config: {
        "linear": tf.estimator.LinearEstimator(
            head=head,
            feature_columns=COLUMNS,
            config=config,
            optimizer=tf.train.GradientDescentOptimizer(0.01),
        ),
        "dnn": tf.estimator.DNNEstimator(
            head=head,
            feature_columns=COLUMNS,
            hidden_units=[4],
            config=config,
            optimizer=tf.train.GradientDescentOptimizer(0.01),
        ),
    },
    max_iteration_steps=4,
)
estimator.train(input_fn, max_steps=8)
result = estimator.evaluate(input_fn, steps=2)
assert result["global_step"] == 8, result
print("TRAINED 8 {:.6f}".format(result["average_loss"]))
