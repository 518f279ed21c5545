# An experiment around an Estimator of tf.contrib.learn.
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib.learn.python.learn import learn_runner
from tensorflow.contrib.learn.python.learn.estimators import model_fn as model_fn_lib

X = np.linspace(-1., 1., 48).reshape(16, 3).astype(np.float32)
Y = (X.sum(1) > .2).astype(np.int64)


def create_model_fn(width, activation=tf.nn.relu):

    def model_fn(features, targets, mode, params):
        net = tf.contrib.layers.fully_connected(
            features['x'], width, activation,
            weights_initializer=tf.constant_initializer(.2))
        net = tf.contrib.layers.dropout(
            net, keep_prob=1., is_training=mode == tf.contrib.learn.ModeKeys.TRAIN)
        logits = tf.contrib.layers.linear(
            net, 2, weights_initializer=tf.constant_initializer([.1, -.2] * width))
        predictions = {
            'classes': tf.argmax(logits, 1),
            'probabilities': tf.nn.softmax(logits)}
        loss = train_op = None
        if mode != tf.contrib.learn.ModeKeys.INFER:
            loss = tf.losses.sparse_softmax_cross_entropy(labels=targets, logits=logits)
        if mode == tf.contrib.learn.ModeKeys.TRAIN:
            train_op = tf.contrib.layers.optimize_loss(
                loss, tf.contrib.framework.get_or_create_global_step(),
                learning_rate=params['learning_rate'], optimizer='Adam',
                clip_gradients=5.)
        return model_fn_lib.ModelFnOps(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op,
            eval_metric_ops={
                'shown': tf.metrics.mean(predictions['probabilities'][:, 1])})

    return model_fn


def input_fn(epochs=None):
    data = tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).repeat(epochs).batch(8)
    return data.make_one_shot_iterator().get_next()


def experiment_fn(output_dir):
    estimator = tf.contrib.learn.Estimator(
        model_fn=create_model_fn(4), model_dir=output_dir,
        config=tf.contrib.learn.RunConfig(save_checkpoints_steps=10),
        params={'learning_rate': .05})
    return tf.contrib.learn.Experiment(
        estimator=estimator,
        train_input_fn=input_fn,
        eval_input_fn=lambda: input_fn(1),
        train_steps=20,
        eval_steps=None,
        min_eval_frequency=10)


folder = tempfile.mkdtemp()
result, _ = learn_runner.run(
    experiment_fn=experiment_fn, output_dir=folder, schedule='train_and_evaluate')
again = tf.contrib.learn.Estimator(
    create_model_fn(width=4), folder, params={'learning_rate': .05})
scores = again.evaluate(input_fn=lambda: input_fn(1))
found = again.predict(input_fn=lambda: input_fn(1), outputs=['classes'])
RESULT = dict(result, again=scores['shown'], ones=sum(one['classes'] for one in found))
