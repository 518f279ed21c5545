"""Embedding look-ups for sparse ids."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "bow_encoder",
    "dense_to_sparse",
    "embedding_lookup_unique",
    "safe_embedding_lookup_sparse",
]


def embedding_lookup_unique(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> Any:
    """``tf.nn.embedding_lookup`` that looks each different id up once."""
    with tf.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        shape = tf.shape(ids)
        unique, place = tf.unique(tf.reshape(ids, [-1]))
        rows = tf.nn.embedding_lookup(params, unique, partition_strategy)
        flat = tf.gather(rows, place)
        width = tf.shape(rows)[1:]
        found = tf.reshape(flat, tf.concat([shape, width], axis=0))
        found.set_shape(ids.get_shape().concatenate(rows.get_shape()[1:]))
        return found


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Any:
    """Combined embeddings; rows without a valid id give zeros or ``default_id``."""
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights,
        combiner or "mean",
        default_id,
        name,
        partition_strategy,
        max_norm,
    )


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The mean embedding of a bag of words."""
    from . import common

    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with tf.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = common.layer_variable(
            "embeddings",
            [vocab_size, embed_dim],
            tf.float32,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if not sparse_lookup:
            if isinstance(ids, tf.SparseTensor):
                raise TypeError("ids are expected to be dense Tensor")
            return tf.reduce_mean(tf.nn.embedding_lookup(embeddings, ids), axis=1)
        if not isinstance(ids, tf.SparseTensor):
            ids = dense_to_sparse(ids)
        return tf.nn.embedding_lookup_sparse(embeddings, ids, None, combiner="mean")


def dense_to_sparse(
    tensor: Any, eos_token: Any = 0, outputs_collections: Any = None, scope: Any = None
) -> Any:
    """A sparse tensor of everything that is not ``eos_token``."""
    with tf.variable_scope(scope, "dense_to_sparse", [tensor]):
        tensor = tf.convert_to_tensor(tensor)
        indices = tf.where(tf.not_equal(tensor, tf.constant(eos_token, tensor.dtype)))
        sparse = tf.SparseTensor(
            indices, tf.gather_nd(tensor, indices), tf.shape(tensor, out_type=tf.int64)
        )
        if outputs_collections:
            tf.add_to_collections(outputs_collections, sparse)
        return sparse
