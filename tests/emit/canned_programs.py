"""Programs around the canned models that real TF 1.15.5 was recorded with.

Each is the legacy program of one case of ``fixtures/oracle/canned/cases.py``.
"""

from __future__ import annotations

__all__ = ["PROGRAMS", "program"]

_FRAME = '''\
"""{name} of the recorded canned models."""
import numpy as np
import tensorflow as tf

from cases import DEEP, WIDE, _deep, _wide, table


def input_fn(repeat, size=8):
  features, labels = table()
  features = {{key: features[key] for key in {keys}}}
  dataset = tf.data.Dataset.from_tensor_slices((features, labels['{label}']))
  if repeat:
    dataset = dataset.repeat()
  return dataset.batch(size)


{config}
estimator = {estimator}
estimator.train(lambda: input_fn(True, {batch}), steps=20)
RESULTS = estimator.evaluate(lambda: input_fn(False))
PREDICTIONS = list(estimator.predict(lambda: input_fn(False)))[:6]
'''

_ONE = "config = tf.estimator.RunConfig(tf_random_seed=7, log_step_count_steps=1)"
_TWO = """\
strategy = tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1'])
config = tf.estimator.RunConfig(
    tf_random_seed=7, log_step_count_steps=1, train_distribute=strategy)"""

_NUMBERS = "[tf.feature_column.numeric_column('x', shape=(3,))]"

# name -> keys of the features, label, estimator
PROGRAMS: dict[str, tuple[str, str, str]] = {
    "dnn_classifier_binary": (
        "DEEP + ('weight',)",
        "binary",
        """tf.estimator.DNNClassifier(
    [8, 4], _deep(tf), weight_column='weight', config=config)""",
    ),
    "dnn_classifier_multi": (
        "DEEP",
        "multi_name",
        """tf.estimator.DNNClassifier(
    hidden_units=[6],
    feature_columns=_deep(tf),
    n_classes=3,
    label_vocabulary=['low', 'mid', 'high'],
    optimizer='Adam',
    activation_fn=tf.nn.tanh,
    batch_norm=True,
    config=config)""",
    ),
    "dnn_regressor_mean": (
        "('x', 'weight')",
        "real",
        f"""tf.estimator.DNNRegressor(
    [5],
    {_NUMBERS},
    weight_column=tf.feature_column.numeric_column('weight'),
    optimizer=tf.train.GradientDescentOptimizer(0.1),
    loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
    config=config)""",
    ),
    "linear_classifier_binary": (
        "WIDE",
        "binary_name",
        """tf.estimator.LinearClassifier(
    _wide(tf), label_vocabulary=['no', 'yes'], config=config)""",
    ),
    "linear_classifier_multi": (
        "WIDE",
        "multi",
        """tf.estimator.LinearClassifier(
    feature_columns=_wide(tf),
    n_classes=3,
    optimizer=tf.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    sparse_combiner='mean',
    weight_column='weight',
    config=config)""",
    ),
    "linear_regressor": (
        "WIDE",
        "two",
        """tf.estimator.LinearRegressor(
    _wide(tf), label_dimension=2, optimizer='SGD', config=config,
    loss_reduction=tf.losses.Reduction.MEAN)""",
    ),
    "combined_classifier": (
        "WIDE",
        "binary",
        """tf.estimator.DNNLinearCombinedClassifier(
    linear_feature_columns=_wide(tf),
    dnn_feature_columns=_deep(tf),
    dnn_hidden_units=[6, 4],
    config=config)""",
    ),
    "combined_regressor": (
        "WIDE",
        "real",
        """tf.estimator.DNNLinearCombinedRegressor(
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
        """tf.estimator.DNNLinearCombinedClassifier(
    linear_feature_columns=_wide(tf), n_classes=3, config=config)""",
    ),
    "baseline_classifier": (
        "('x', 'weight')",
        "multi",
        """tf.estimator.BaselineClassifier(
    n_classes=3, weight_column='weight', config=config)""",
    ),
    "baseline_regressor": (
        "('x',)",
        "real",
        """tf.estimator.BaselineRegressor(
    optimizer=tf.train.GradientDescentOptimizer(0.01), config=config)""",
    ),
}


def program(request: str) -> str:
    """The legacy program of CASE.1, of CASE.2 for two replicas, or of CASE.1x.

    The last is one replica that gets what two would share.
    """
    name, _, replicas = request.partition(".")
    keys, label, estimator = PROGRAMS[name]
    return _FRAME.format(
        name=name,
        keys=keys,
        label=label,
        estimator=estimator,
        config=_TWO if replicas == "2" else _ONE,
        batch=16 if replicas == "1x" else 8,
    )
