"""Two embeddings and recurrent layers of one shape, on data that NumPy shuffles."""

import numpy as np
import tensorflow.compat.v1 as tf

rng = np.random.RandomState(0)
order = np.random.permutation(64)
story = rng.randint(9, size=(64, 5))[order]
question = rng.randint(9, size=(64, 3))[order]
answer = rng.randint(4, size=64)[order]


def input_fn():
    features = {"story": story, "question": question}
    return tf.data.Dataset.from_tensor_slices((features, answer)).repeat().batch(8)


def network():
    layers = tf.keras.layers
    told = layers.Input([5])
    said = layers.Embedding(9, 6)(told)
    asked = layers.Input([3])
    wanted = layers.LSTM(6)(layers.Embedding(9, 6)(asked))
    merged = layers.LSTM(6)(layers.add([said, layers.RepeatVector(5)(wanted)]))
    return tf.keras.Model([told, asked], layers.Dense(4)(merged))


def model_fn(features, labels, mode):
    model = network()
    logits = model([features["story"], features["question"]])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


tf.estimator.Estimator(model_fn).train(input_fn, steps=6)
