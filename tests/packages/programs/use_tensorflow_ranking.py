"""A groupwise scoring function with its head, loss and metrics."""

import tensorflow as tf
import tensorflow_ranking as tfr
from steps import RANDOM, train

LISTS, ITEMS = 8, 5
SCORES = RANDOM.rand(LISTS, ITEMS, 1).astype("float32")
LABELS = RANDOM.randint(4, size=(LISTS, ITEMS)).astype("float32")


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"score": SCORES}, LABELS))
    return data.repeat().batch(4)


def transform(features, mode):
    columns = {"score": tf.feature_column.numeric_column("score", shape=(1,))}
    context, items = tfr.feature.encode_listwise_features(
        features,
        input_size=ITEMS,
        context_feature_columns={},
        example_feature_columns=columns,
        mode=mode,
    )
    return context, items


def score(context, group, mode, params, config):
    net = tf.compat.v1.layers.flatten(group["score"])
    net = tf.compat.v1.layers.dense(net, 4, activation=tf.nn.relu)
    return tf.compat.v1.layers.dense(net, 2)


head = tfr.head.create_ranking_head(
    loss_fn=tfr.losses.make_loss_fn("pairwise_logistic_loss"),
    eval_metric_fns={"ndcg": tfr.metrics.make_ranking_metric_fn("ndcg")},
    optimizer=tf.compat.v1.train.AdagradOptimizer(0.1),
)
model_fn = tfr.model.make_groupwise_ranking_fn(score, 2, head, transform)
estimator = tf.estimator.Estimator(model_fn)
train(estimator, input_fn)
assert 0 < estimator.evaluate(input_fn, steps=2)["ndcg"] <= 1
