"""Keras models that a model function makes and calls one behind the other."""
import numpy as np
import tensorflow as tf

PARAMS = {'sizes': [6, 3]}


def ramp(shape, dtype=tf.float32, partition_info=None):
    count = int(np.prod([int(n) for n in shape]))
    values = np.cos(np.arange(count, dtype=np.float32))
    return tf.constant(values.reshape([int(n) for n in shape]), tf.float32)


class Encoder(tf.keras.Model):
    def __init__(self, sizes):
        super(Encoder, self).__init__(name='encoder')
        self.dense_layers = [
            tf.keras.layers.Dense(n, activation='tanh', kernel_initializer=ramp)
            for n in sizes]
        self.norm = tf.keras.layers.BatchNormalization(momentum=.5)

    def call(self, x, training=None):
        for layer in self.dense_layers:
            x = layer(x)
        return self.norm(x, training=training)


def make_decoder(size):
    model = tf.keras.Sequential(name='decoder')
    model.add(tf.keras.layers.Dense(5, activation='tanh', kernel_initializer=ramp))
    model.add(tf.keras.layers.Dense(size, kernel_initializer=ramp))
    return model


def model_fn(features, labels, mode, params):
    x = features['x']
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    encoder = Encoder(params['sizes'])
    decoder = make_decoder(4)
    code = encoder(x, training=is_training)
    rebuilt = decoder(code)
    score = tf.reduce_mean(tf.square(rebuilt - x), axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'score': score})
    loss = tf.reduce_mean(score) + .01 * tf.nn.l2_loss(decoder.trainable_variables[0])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={'score': tf.metrics.mean(score)})
    variables = encoder.trainable_variables + decoder.trainable_variables
    gradients = tf.gradients(loss, variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 1.)
    with tf.control_dependencies(encoder.get_updates_for(x)):
        train_op = tf.train.GradientDescentOptimizer(.1).apply_gradients(
            zip(gradients, variables), global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(48, dtype=np.float32)).reshape(12, 4)


def input_fn():
    return tf.data.Dataset.from_tensor_slices({'x': X}).batch(6)
