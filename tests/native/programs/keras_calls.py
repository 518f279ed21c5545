"""Calls of a Keras model's Estimator: array inputs, two rounds, predictions."""

import functools
import json

import numpy as np
import tensorflow as tf

draw = np.random.RandomState(3)
data = draw.uniform(-1, 1, size=(50, 6)).astype("float32")
target = (2 * data[:, :1] - data[:, 1:2]).astype("float32")

inputs = tf.keras.Input((6,), name="x")
hidden = tf.keras.layers.Dense(
    5, activation="tanh", kernel_initializer=tf.keras.initializers.Constant(0.2)
)(inputs)
price = tf.keras.layers.Dense(1, kernel_initializer="zeros", name="price")(hidden)
model = tf.keras.Model(inputs, price)
model.compile(
    tf.train.MomentumOptimizer(0.05, 0.9), "mse", metrics=["mean_absolute_error"]
)
estimator = tf.keras.estimator.model_to_estimator(
    model, config=tf.estimator.RunConfig().replace(log_step_count_steps=7)
)

train_input_fn = tf.estimator.inputs.numpy_input_fn(
    {"x": data}, target, batch_size=8, num_epochs=3, shuffle=False
)


def make_input_fn(rows, count):
    def serve():
        dataset = tf.data.Dataset.from_tensor_slices(
            ({"x": data[:rows]}, target[:rows])
        )
        return dataset.batch(count).make_one_shot_iterator().get_next()

    return serve


def unlabelled(rows, mode):
    assert mode == "infer"
    return tf.data.Dataset.from_tensor_slices({"x": data[:rows]}).batch(4)


for _ in range(2):
    estimator.train(train_input_fn)
    scores = estimator.evaluate(make_input_fn(30, 9))
    print(json.dumps(float(scores["mean_absolute_error"])))
results = estimator.evaluate(make_input_fn(50, 10), steps=2)
print(json.dumps({key: float(value) for key, value in sorted(results.items())}))
print(
    json.dumps(
        [
            p["price"].tolist()
            for p in estimator.predict(functools.partial(unlabelled, 5))
        ]
    )
)
