"""Data, without a word of Estimators."""

import numpy as np
import tensorflow as tf


def _data(seed):
    random = np.random.RandomState(seed)
    points = random.uniform(-1, 1, (128, 3)).astype(np.float32)
    return points, (points.sum(1) > 0).astype(np.int32)


def examples():
    data = tf.data.Dataset.from_tensor_slices(_data(1)).repeat().batch(16)
    return data.make_one_shot_iterator().get_next()


def held_out():
    data = tf.data.Dataset.from_tensor_slices(_data(2)).batch(32)
    return data.make_one_shot_iterator().get_next()
