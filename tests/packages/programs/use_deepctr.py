"""DeepFM over a number and two categories."""

import tensorflow as tf
from deepctr.estimator import DeepFMEstimator
from steps import RANDOM, train

FEATURES = {
    "price": RANDOM.rand(32, 1).astype("float32"),
    "shop": RANDOM.randint(5, size=(32, 1)).astype("int64"),
    "town": RANDOM.randint(4, size=(32, 1)).astype("int64"),
}
LABELS = RANDOM.randint(2, size=(32, 1)).astype("float32")


def input_fn():
    return tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).repeat().batch(8)


shop = tf.feature_column.categorical_column_with_identity("shop", 5)
town = tf.feature_column.categorical_column_with_identity("town", 4)
price = tf.feature_column.numeric_column("price")
deep = [tf.feature_column.embedding_column(one, 4) for one in (shop, town)]
estimator = DeepFMEstimator([shop, town, price], [*deep, price], (8, 4))
train(estimator, input_fn)
assert estimator.evaluate(input_fn, steps=2)["AUC"] >= 0
