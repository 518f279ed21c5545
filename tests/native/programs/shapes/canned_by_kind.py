# Wide, deep, or both, of one function; tensors that another input function gives.
import functools

import numpy as np
import tensorflow as tf

X = np.linspace(0.0, 1.0, 24).astype(np.float32)
WORDS = np.array(["a", "b", "c", "b"] * 6)
Y = (X > 0.4).astype(np.int32)


def build(kind):
    x = tf.feature_column.numeric_column("x")
    word = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"])
    wide = [word, tf.feature_column.bucketized_column(x, [0.3, 0.7])]
    deep = [x, tf.feature_column.indicator_column(word)]
    weight = tf.feature_column.numeric_column("weight")
    if kind == "wide":
        return tf.estimator.LinearClassifier(wide, weight_column=weight)
    if kind == "none":
        return tf.estimator.BaselineClassifier(weight_column="weight")
    if kind == "deep":
        return tf.estimator.DNNClassifier([4], deep, weight_column=weight)
    return tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[4])


def tensors(count):
    features = {
        "x": tf.constant(X[:count]),
        "weight": tf.constant(X[:count] + 1.0),
        "word": tf.SparseTensor(
            [[i, 0] for i in range(count)], WORDS[:count], [count, 1]),
    }
    return features, tf.constant(Y[:count])


def train_input_fn():
    return tensors(24)


wide = build("wide")
wide.train(train_input_fn, steps=5)
RESULT = wide.evaluate(functools.partial(tensors, 12), steps=2)
for kind in ("deep", "both"):
    build(kind).train(train_input_fn, steps=2)
none = build("none")
none.train(train_input_fn, steps=4)
RESULT["none"] = none.evaluate(functools.partial(tensors, 12), steps=1)["average_loss"]
