"""Programs around canned models that real TensorFlow 1.15.5 was recorded with.

Each is the legacy program of one case of ``fixtures/oracle/canned/cases.py``; it goes on
from the checkpoint in ``MODEL_DIR`` and leaves what it saw in three names.
"""

from __future__ import annotations

__all__ = ["PROGRAMS", "program"]

_FRAME = '''\
"""{name} of the recorded canned models."""
import os

import numpy as np
import tensorflow as tf

from cases import DEEP, WIDE, _deep, _wide, table

LOSSES = []


class SeesLoss(tf.train.SessionRunHook):

  def begin(self):
    self.loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]

  def before_run(self, run_context):
    return tf.train.SessionRunArgs(self.loss)

  def after_run(self, run_context, run_values):
    LOSSES.append(float(run_values.results))


def input_fn(repeat, size=8):
  features, labels = table()
  features = {{key: features[key] for key in {keys}}}
  dataset = tf.data.Dataset.from_tensor_slices((features, labels['{label}']))
  if repeat:
    dataset = dataset.repeat()
  return dataset.batch(size)


{config}
config = config.replace(model_dir=os.environ['MODEL_DIR'])
{estimator}
estimator.train(lambda: input_fn(True), steps=20, hooks=[{hooks}])
EVALUATED = estimator.evaluate(lambda: input_fn(False))
PREDICTED = list(estimator.predict(lambda: input_fn(False)))[:6]
'''
_ONE = "config = tf.estimator.RunConfig(tf_random_seed=7)"
_TWO = """\
strategy = tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1'])
config = tf.estimator.RunConfig(tf_random_seed=7, train_distribute=strategy)"""

# name -> keys of the features, label, what makes the estimator
PROGRAMS: dict[str, tuple[str, str, str]] = {
    "dnn_classifier_binary": (
        "DEEP + ('weight',)",
        "binary",
        """estimator = tf.estimator.DNNClassifier(
    [8, 4], _deep(tf), weight_column='weight', config=config)""",
    ),
    "dnn_classifier_multi": (
        "DEEP",
        "multi_name",
        """def make(kind, **settings):
  return kind(config=config, **settings)


estimator = make(
    tf.estimator.DNNClassifier,
    hidden_units=[6],
    feature_columns=_deep(tf),
    n_classes=3,
    label_vocabulary=['low', 'mid', 'high'],
    optimizer='Adam',
    activation_fn=tf.nn.tanh,
    batch_norm=True)""",
    ),
    "dnn_regressor_mean": (
        "('x', 'weight')",
        "real",
        """estimator = tf.estimator.DNNRegressor(
    [5],
    [tf.feature_column.numeric_column('x', shape=(3,))],
    weight_column=tf.feature_column.numeric_column('weight'),
    optimizer=tf.train.GradientDescentOptimizer(0.1),
    loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
    config=config)""",
    ),
    "linear_classifier_binary": (
        "WIDE",
        "binary_name",
        """estimator = tf.estimator.LinearClassifier(
    _wide(tf), label_vocabulary=['no', 'yes'], config=config)""",
    ),
    "linear_classifier_multi": (
        "WIDE",
        "multi",
        """settings = dict(n_classes=3, sparse_combiner='mean', weight_column='weight')
estimator = tf.estimator.LinearClassifier(
    feature_columns=_wide(tf),
    optimizer=tf.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    config=config,
    **settings)""",
    ),
    "linear_regressor": (
        "WIDE",
        "two",
        """estimator = tf.estimator.LinearRegressor(
    _wide(tf), label_dimension=2, optimizer='SGD', config=config,
    loss_reduction=tf.losses.Reduction.MEAN)""",
    ),
    "combined_classifier": (
        "WIDE",
        "binary",
        """def build(kind):
  if kind == 'wide':
    return tf.estimator.LinearClassifier(_wide(tf), config=config)
  if kind == 'deep':
    return tf.estimator.DNNClassifier([6, 4], _deep(tf), config=config)
  return tf.estimator.DNNLinearCombinedClassifier(
      linear_feature_columns=_wide(tf),
      dnn_feature_columns=_deep(tf),
      dnn_hidden_units=[6, 4],
      config=config)


estimator = build('both')""",
    ),
    "combined_regressor": (
        "WIDE",
        "real",
        """estimator = tf.estimator.DNNLinearCombinedRegressor(
    linear_feature_columns=_wide(tf),
    linear_optimizer='Adagrad',
    dnn_feature_columns=_deep(tf),
    dnn_optimizer=lambda: tf.train.MomentumOptimizer(0.01, 0.9),
    dnn_hidden_units=[6],
    batch_norm=True,
    config=config)""",
    ),
    "combined_wide_only": (
        "WIDE",
        "multi",
        """estimator = tf.estimator.DNNLinearCombinedClassifier(
    linear_feature_columns=_wide(tf), n_classes=3, config=config)""",
    ),
    "dnn_regressor": (
        "DEEP",
        "two",
        """def rms():
  return tf.train.RMSPropOptimizer(0.01, momentum=0.9)


estimator = tf.estimator.DNNRegressor(
    [5, 4], _deep(tf), label_dimension=2, optimizer=rms, config=config)""",
    ),
    "dnn_shared_embedding": (
        "('x', 'age', 'color', 'color2')",
        "binary",
        """colors = [
    tf.feature_column.categorical_column_with_vocabulary_list(
        key, ['red', 'green', 'blue'])
    for key in ('color', 'color2')]
estimator = tf.estimator.DNNClassifier(
    [4],
    _deep(tf)[:3] + tf.feature_column.shared_embedding_columns(colors, dimension=2),
    config=config)""",
    ),
    "dnn_partitioned": (
        "DEEP",
        "binary",
        """estimator = tf.estimator.DNNClassifier(
    [4],
    _deep(tf),
    optimizer='SGD',
    input_layer_partitioner=tf.fixed_size_partitioner(2),
    config=config)""",
    ),
    "baseline_classifier": (
        "('x', 'weight')",
        "multi",
        """class Frequencies(tf.estimator.BaselineClassifier):

  def __init__(self, **settings):
    super(Frequencies, self).__init__(
        n_classes=3, weight_column='weight', **settings)


estimator = Frequencies(config=config)
assert isinstance(estimator, tf.estimator.BaselineClassifier)""",
    ),
    "baseline_regressor": (
        "('x',)",
        "real",
        """from tensorflow.estimator import BaselineRegressor

estimator = BaselineRegressor(
    optimizer=tf.train.GradientDescentOptimizer(0.01), config=config)""",
    ),
    "baseline_estimator": (
        "('x', 'weight')",
        "multi",
        """estimator = tf.estimator.BaselineEstimator(
    tf.contrib.estimator.multi_class_head(3, weight_column='weight'),
    optimizer=tf.train.GradientDescentOptimizer(0.1),
    config=config)""",
    ),
    "linear_estimator": (
        "WIDE",
        "binary",
        """estimator = tf.estimator.LinearEstimator(
    tf.contrib.estimator.binary_classification_head(),
    feature_columns=_wide(tf),
    optimizer='SGD',
    config=config)""",
    ),
    "combined_estimator": (
        "WIDE",
        "real",
        """estimator = tf.contrib.estimator.DNNLinearCombinedEstimator(
    tf.contrib.estimator.regression_head(),
    linear_feature_columns=_wide(tf),
    linear_optimizer='Adagrad',
    dnn_feature_columns=_deep(tf),
    dnn_hidden_units=[6],
    dnn_optimizer='SGD',
    config=config)""",
    ),
}


def program(request: str) -> str:
    """The legacy program of CASE.1, or of CASE.2 for two replicas."""
    name, _, replicas = request.partition(".")
    keys, label, estimator = PROGRAMS[name]
    return _FRAME.format(
        name=name,
        keys=keys,
        label=label,
        estimator=estimator,
        config=_TWO if replicas == "2" else _ONE,
        # A hook sees the mean of what replicas saw, which nobody recorded.
        hooks="" if replicas == "2" else "SeesLoss()",
    )
