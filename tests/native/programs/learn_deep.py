"""A deep regressor of tf.contrib.learn, fitted on arrays."""

import os

import numpy as np
import tensorflow as tf

learn = tf.contrib.learn
draw = np.random.RandomState(0)
X = draw.normal(size=(50, 3))
Y = X.sum(1) ** 2

feature_columns = learn.infer_real_valued_columns_from_input(X)
regressor = learn.DNNRegressor(
    hidden_units=[5, 4],
    feature_columns=feature_columns,
    model_dir=os.environ["MODEL_DIR"],
    activation_fn=tf.nn.tanh,
    optimizer=tf.train.ProximalAdagradOptimizer(
        learning_rate=0.1, l1_regularization_strength=0.001
    ),
)
regressor.fit(X, Y, batch_size=20, steps=8)
RESULT = regressor.evaluate(x=X[:30], y=Y[:30])
print(sum(regressor.predict(X[:4])))
