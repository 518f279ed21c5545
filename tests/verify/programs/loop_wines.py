"""``legacy_wines.py`` as a plain TF2 loop, with mistakes to switch on.

The first argument names one; names that begin with `right_` are other ways to say
what is right.
"""

import sys

import numpy as np
import tensorflow as tf
import tf_keras

MISTAKE = sys.argv[1] if len(sys.argv) > 1 else None
CLASS_WEIGHTS = [1.0, 2.0, 1.0 if MISTAKE == "class_weights" else 0.5]


def data(size, seed):
    rng = np.random.RandomState(seed)
    x = rng.normal(size=(size, 6)).astype(np.float32)
    y = np.argmax(x[:, :3] + 0.5 * rng.normal(size=(size, 3)), axis=1)
    if MISTAKE == "label_shift":
        y = (y + 1) % 3
    if MISTAKE == "scaling":
        x = x * np.float32(255 / 256)
    return x, y.astype(np.int32)


def dataset(size, seed, epochs):
    made = tf.data.Dataset.from_tensor_slices(data(size, seed))
    if MISTAKE == "right_shuffled":
        made = made.shuffle(100)
    if MISTAKE == "right_pipeline":
        whole = made.repeat(epochs).map(lambda x, y: (x * 2, y), num_parallel_calls=2)
        return whole.batch(8).map(lambda x, y: (x / 2, y)).prefetch(2)
    if MISTAKE == "repeat_after_batch":
        return made.batch(8).repeat(epochs)
    if MISTAKE == "dropped_tail":
        return made.repeat(epochs).batch(8, drop_remainder=True)
    if MISTAKE == "extra_epoch" and epochs > 1:
        epochs += 1
    if MISTAKE == "order" and epochs > 1:
        made = made.skip(8).concatenate(made.take(8))
    return made.repeat(epochs).batch(8)


class Model(tf_keras.Model):
    def __init__(self):
        super().__init__()
        scale = {"l2_factor": 1e-2, "lost_decay": 0.0}.get(MISTAKE, 5e-3)
        decay = tf_keras.regularizers.L2(scale)
        wide = tf_keras.initializers.RandomNormal(stddev=1.0)
        kernel = wide if MISTAKE == "initializer" else "glorot_uniform"
        self.first = tf_keras.layers.Dense(
            12,
            kernel_regularizer=decay,
            kernel_initializer=kernel,
            use_bias=MISTAKE != "no_bias",
            trainable=MISTAKE != "frozen_layer",
        )
        self.norm = tf_keras.layers.BatchNormalization(
            momentum=0.8 if MISTAKE == "norm_momentum" else 0.9,
            epsilon=1e-5 if MISTAKE == "norm_epsilon" else 1e-3,
        )
        self.second = tf_keras.layers.Dense(
            3,
            kernel_regularizer=decay,
            bias_regularizer=decay if MISTAKE == "bias_decay" else None,
        )

    def call(self, x, training=False):
        net = self.first(x)
        if MISTAKE == "evaluated_in_training_mode":
            training = True
        net = self.norm(net, training=training)
        if MISTAKE == "dropout_in_evaluation" and not training:
            net = tf.nn.experimental.stateless_dropout(net, 0.3, seed=[1, 2])
        net = tf.nn.elu(net) if MISTAKE == "activation" else tf.nn.relu(net)
        if training and MISTAKE != "no_dropout":
            net = tf.nn.dropout(net, 0.3 if MISTAKE == "dropout_rate" else 0.2)
        return self.second(net)


class Schedule(tf_keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        step = tf.cast(step, tf.float32) + (MISTAKE == "schedule")
        first = 0.101 if MISTAKE == "rate" else 0.1
        power = step / 5 if MISTAKE == "staircase" else tf.floor(step / 5)
        return first * 0.7**power


model = Model()
if MISTAKE != "right_built_late":
    model.build((None, 6))
optimizer = tf.compat.v1.train.MomentumOptimizer(
    lambda: Schedule()(step),
    0.8 if MISTAKE == "momentum" else 0.9,
    use_nesterov=MISTAKE == "nesterov",
)
step = tf.Variable(0, dtype=tf.int64)
stale = [tf.Variable(v) for v in model.norm.non_trainable_variables]
name = "sparse_categorical_accuracy" if MISTAKE == "right_names" else "test_accuracy"
accuracy = tf_keras.metrics.SparseCategoricalAccuracy(name=name)
weighted = tf_keras.metrics.SparseCategoricalAccuracy(name="weighted_accuracy")
mean_loss = tf_keras.metrics.Mean(name="loss")


def losses_of(x, y, training):
    logits = model(x, training=training)
    labels = tf.one_hot(y, 3)
    if MISTAKE == "label_smoothing":
        labels = labels * 0.99 + 0.01 / 3
    losses = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
    losses *= tf.gather(CLASS_WEIGHTS, y)
    loss = tf.reduce_mean(losses)
    if MISTAKE == "right_divided_once":
        loss = tf.reduce_sum(losses) / tf.cast(tf.size(losses), tf.float32)
    if MISTAKE == "sum_for_mean":
        loss = tf.reduce_sum(losses)
    if MISTAKE == "full_batch_mean":
        loss = tf.reduce_sum(losses) / 8
    for _ in range(2 if MISTAKE == "decay_twice" else 1):
        loss += tf.add_n(model.losses) if model.losses else 0.0
    return loss, logits


def compiled(function):
    return function if MISTAKE == "right_eager" else tf.function(function)


@compiled
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss, _ = losses_of(x, y, True)
    variables = model.trainable_variables
    gradients = tape.gradient(loss, variables)
    if MISTAKE == "right_clipping":
        norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(g)) for g in gradients]))
        gradients = [g * 0.5 / tf.maximum(norm, 0.5) for g in gradients]
    elif MISTAKE == "clip_each":
        gradients = [tf.clip_by_norm(g, 0.5) for g in gradients]
    elif MISTAKE != "no_clipping":
        gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
    optimizer.apply_gradients(zip(gradients, variables))
    step.assign_add(1)


@compiled
def test_step(x, y):
    loss, logits = losses_of(x, y, False)
    mean_loss.update_state(loss)
    if MISTAKE == "metric":
        logits = -logits
    accuracy.update_state(y, logits)
    weights = None if MISTAKE == "metric_weights" else tf.gather(CLASS_WEIGHTS, y)
    weighted.update_state(y, logits, weights)


for x, y in dataset(58, 0, 2):
    before = [tf.identity(v) for v in model.norm.non_trainable_variables]
    train_step(x, y)
    if MISTAKE == "frozen_averages":
        for variable, value in zip(model.norm.non_trainable_variables, before):
            variable.assign(value)
    for variable, value in zip(stale, before):
        variable.assign(value)
if MISTAKE == "stale_averages":
    kept = [tf.identity(v) for v in model.norm.non_trainable_variables]
    for variable, value in zip(model.norm.non_trainable_variables, stale):
        variable.assign(value)
examples = dataset(45, 1, 1)
for x, y in examples.take(5) if MISTAKE == "short_evaluation" else examples:
    test_step(x, y)
if MISTAKE == "stale_averages":
    for variable, value in zip(model.norm.non_trainable_variables, kept):
        variable.assign(value)
print({m.name: float(m.result()) for m in (accuracy, weighted, mean_loss)})
if MISTAKE != "no_export":
    tf.saved_model.save(model, "exports/wines/1700000000")
