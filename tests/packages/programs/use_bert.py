"""BERT of two small layers with its optimizer, as a classifier."""

import tensorflow as tf
from bert import modeling, optimization
from steps import RANDOM, train

WORDS = RANDOM.randint(50, size=(16, 10)).astype("int32")
LABELS = RANDOM.randint(2, size=16).astype("int32")
CONFIG = modeling.BertConfig(
    vocab_size=50,
    hidden_size=8,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=16,
    max_position_embeddings=10,
)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((WORDS, LABELS)).repeat().batch(8)


def model_fn(features, labels, mode):
    # Without dropout, to know which loss to expect.
    model = modeling.BertModel(CONFIG, is_training=False, input_ids=features)
    logits = tf.layers.dense(model.get_pooled_output(), 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = optimization.create_optimizer(loss, 0.01, 10, 0, use_tpu=False)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


train(tf.estimator.Estimator(model_fn), input_fn)
