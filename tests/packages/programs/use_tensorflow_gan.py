"""GANEstimator: training, evaluation and generated samples."""

import tensorflow as tf
import tensorflow_gan as tfgan
from steps import RANDOM, train

NOISE = RANDOM.rand(16, 3).astype("float32")
REAL = RANDOM.rand(16, 4).astype("float32")


def input_fn():
    return tf.data.Dataset.from_tensor_slices((NOISE, REAL)).repeat().batch(8)


def generator(noise, mode):
    return tf.compat.v1.layers.dense(noise, 4, name="made")


def discriminator(data, conditioning, mode):
    net = tf.compat.v1.layers.dense(data, 5, activation=tf.tanh, name="hidden")
    return tf.compat.v1.layers.dense(net, 1, name="judged")


estimator = tfgan.estimator.GANEstimator(
    generator_fn=generator,
    discriminator_fn=discriminator,
    generator_loss_fn=tfgan.losses.modified_generator_loss,
    discriminator_loss_fn=tfgan.losses.modified_discriminator_loss,
    generator_optimizer=tf.compat.v1.train.GradientDescentOptimizer(0.1),
    discriminator_optimizer=tf.compat.v1.train.GradientDescentOptimizer(0.1),
)
train(estimator, input_fn)
