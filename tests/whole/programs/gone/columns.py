"""Columns of the trees."""
import tensorflow as tf

NUMBER = tf.to_float


def make_columns():
    column = tf.feature_column.numeric_column('x')
    return [tf.feature_column.bucketized_column(column, [0.0, 1.0])]
