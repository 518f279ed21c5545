# Linear models and networks of tf.contrib.learn on arrays, by scikit-learn's words.
import numpy as np
import tensorflow as tf
from tensorflow.contrib import learn
from tensorflow.contrib.layers import real_valued_column

X = np.sin(np.arange(160.)).reshape(40, 4)
KIND = np.argmax(X[:, :3], 1)
PRICE = (X.sum(1, keepdims=True) * 2. + 1.).astype(np.float32)

classifier = learn.LinearClassifier(
    n_classes=3, feature_columns=learn.infer_real_valued_columns_from_input(X),
    optimizer=tf.train.GradientDescentOptimizer(learning_rate=0.1))
classifier.fit(X[:30], KIND[:30], batch_size=8, steps=50)
RESULT = {"accuracy": classifier.evaluate(X[30:], KIND[30:])["accuracy"]}
RESULT["right"] = np.mean(KIND == list(classifier.predict(X)))
logits = classifier.predict(X[:9], outputs=["logits"], as_iterable=True)
RESULT["highest"] = max(one["logits"].max() for one in logits)

columns = [real_valued_column("", dimension=4)]
regressor = learn.LinearRegressor(columns, gradient_clip_norm=2.)
regressor.fit(x=X, y=PRICE, steps=20)
RESULT["loss"] = regressor.evaluate(x=X, y=PRICE)["loss"]
RESULT["scores"] = regressor.predict(X, as_iterable=False).sum()

network = learn.DNNClassifier(
    feature_columns=columns, hidden_units=[6, 5], n_classes=3, dropout=0.2)
network.fit(x=X, y=KIND, steps=4)
RESULT["steps"] = network.evaluate(x=X, y=KIND, steps=1)["global_step"]
RESULT["classes"] = len(list(network.predict(X)))
