"""A custom loop in the shape of the distributed training tutorial."""

import os

import numpy as np
import tensorflow as tf

EPOCHS = int(os.environ.get("EPOCHS", "2"))
BATCH_PER_REPLICA = 4

rng = np.random.default_rng(0)
features = rng.normal(size=(20, 3)).astype(np.float32)
labels = (features @ np.array([[1.0], [-2.0], [0.5]], np.float32)) + 0.1

strategy = tf.distribute.MirroredStrategy()
global_batch = BATCH_PER_REPLICA * strategy.num_replicas_in_sync
train = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(20)
train = strategy.experimental_distribute_dataset(train.batch(global_batch))
test = tf.data.Dataset.from_tensor_slices((features, labels)).batch(global_batch)
test = strategy.experimental_distribute_dataset(test)

with strategy.scope():
    model = tf.keras.Sequential(
        [tf.keras.layers.Input((3,)), tf.keras.layers.Dense(1, name="only")]
    )
    optimizer = tf.keras.optimizers.SGD(0.05)
    optimizer.build(model.trainable_variables)
    loss_object = tf.keras.losses.MeanSquaredError(reduction=None)
    test_accuracy = tf.keras.metrics.MeanAbsoluteError(name="test_accuracy")
    train_error = tf.keras.metrics.MeanAbsoluteError(name="train_error")
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, "tf_checkpoints", max_to_keep=1)
if manager.latest_checkpoint:
    checkpoint.restore(manager.latest_checkpoint)


def train_step(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        prediction = model(x, training=True)
        loss = tf.nn.compute_average_loss(
            loss_object(y, prediction), global_batch_size=global_batch
        )
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=False))
    train_error.update_state(y, prediction)
    return loss


def test_step(inputs):
    x, y = inputs
    test_accuracy.update_state(y, model(x, training=False))


@tf.function
def distributed_train_step(inputs):
    losses = strategy.run(train_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


@tf.function
def distributed_test_step(inputs):
    strategy.run(test_step, args=(inputs,))


for epoch in range(EPOCHS):
    for batch in train:
        print("LOSS", float(distributed_train_step(batch)))
    for batch in test:
        distributed_test_step(batch)
    manager.save()
    print("epoch", epoch, float(test_accuracy.result()), float(train_error.result()))
    test_accuracy.reset_state()
    train_error.reset_state()

# An export as servers want it: whole or not at all, and only the last one stays.
for number in ("1", "2"):
    tf.saved_model.save(model, os.path.join("export", f"temp-{number}"))
    tf.io.gfile.rename(
        os.path.join("export", f"temp-{number}"), os.path.join("export", number)
    )
tf.io.gfile.rmtree(os.path.join("export", "1"))
assert tf.io.gfile.listdir("export") == ["2"], tf.io.gfile.listdir("export")
tf.saved_model.load(os.path.join("export", "2"))
