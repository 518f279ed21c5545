# A linear model of tf.contrib.learn in an Experiment that exports.
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers
from tensorflow.contrib.learn.python.learn import learn_runner
from tensorflow.contrib.learn.python.learn.utils import input_fn_utils
from tensorflow.contrib.learn.python.learn.utils import saved_model_export_utils

X = np.sin(np.arange(40.)).astype(np.float32)
WORDS = np.array(["a", "b", "c", "b"] * 10)
Y = (X > .2).astype(np.int32)
x = layers.real_valued_column("x")
word = layers.sparse_column_with_keys("word", ["a", "b", "c"])


def input_fn():
    return {"x": tf.constant(X), "word": tf.constant(WORDS[:, None])}, tf.constant(Y)


def serving_input_fn():
    inputs = {"x": tf.placeholder(tf.float32, [None]),
              "word": tf.placeholder(tf.string, [None])}
    features = {name: tf.expand_dims(tensor, -1) for name, tensor in inputs.items()}
    return input_fn_utils.InputFnOps(features, None, inputs)


def experiment_fn(output_dir):
    return tf.contrib.learn.Experiment(
        tf.contrib.learn.LinearClassifier(
            feature_columns=[x, word], model_dir=output_dir,
            config=tf.contrib.learn.RunConfig(save_checkpoints_steps=10)),
        train_input_fn=input_fn,
        eval_input_fn=input_fn,
        train_steps=30,
        eval_steps=1,
        export_strategies=[saved_model_export_utils.make_export_strategy(
            serving_input_fn, default_output_alternative_key=None,
            exports_to_keep=1)])


folder = tempfile.mkdtemp()
results, _ = learn_runner.run(experiment_fn, folder)
RESULT = dict(results)
exports = os.path.join(folder, "export", "Servo")
RESULT["exports"] = len(os.listdir(exports))
serve = tf.contrib.predictor.from_saved_model(
    os.path.join(exports, os.listdir(exports)[0]))
served = serve({"x": X[:3], "word": WORDS[:3]})
RESULT["ones"] = served["probabilities"][:, 1].sum()
RESULT["classes"] = sum(map(int, served["classes"][0]))
