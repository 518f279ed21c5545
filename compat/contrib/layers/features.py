"""Feature columns of ``tf.contrib.layers``, on top of ``tf.feature_column``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY",
    "bucketized_column",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "embedding_column",
    "input_from_feature_columns",
    "one_hot_column",
    "parse_feature_columns_from_examples",
    "parse_feature_columns_from_sequence_examples",
    "real_valued_column",
    "sequence_input_from_feature_columns",
    "shared_embedding_columns",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "weighted_sparse_column",
    "weighted_sum_from_feature_columns",
]

_columns = tf.feature_column

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 956888297470


def _as_contrib(column: Any, kind: str, source: str) -> Any:
    """Notes where tf.contrib, which sorted columns by their texts, had this one."""
    column.contrib_order = f"_{kind}({source}"
    return column


def _named(name: str) -> str:
    return f"column_name={name!r}"


def _order(column: Any) -> str:
    found: str = getattr(column, "contrib_order", None) or str(column.name)
    return found


def real_valued_column(
    column_name: str,
    dimension: int | None = 1,
    default_value: Any = None,
    dtype: Any = tf.float32,
    normalizer: Any = None,
) -> Any:
    """A dense numeric column."""
    if dimension is None:
        raise ValueError(
            "real_valued_column with dimension=None (variable length) is not "
            "supported; give the length, or use tf.feature_column on padded data."
        )
    made = _columns.numeric_column(
        column_name, (dimension,), default_value, dtype, normalizer
    )
    return _as_contrib(made, "RealValuedColumn", _named(column_name))


def sparse_column_with_keys(
    column_name: str,
    keys: Any,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> Any:
    """A column of words from a list."""
    del combiner  # only weighted sums of several values per example used it
    made = _columns.categorical_column_with_vocabulary_list(
        column_name, tuple(keys), dtype, default_value
    )
    return _as_contrib(made, "SparseColumnKeys", _named(column_name))


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> Any:
    """A column of words from a file."""
    del combiner
    made = _columns.categorical_column_with_vocabulary_file(
        column_name,
        vocabulary_file,
        vocab_size,
        num_oov_buckets,
        None if num_oov_buckets else default_value,
        dtype,
    )
    return _as_contrib(made, "SparseColumnVocabulary", _named(column_name))


def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: Any = tf.string,
    hash_keys: Any = None,
) -> Any:
    """A column of words, hashed into buckets."""
    del combiner
    if hash_keys is not None:
        raise ValueError("hash_keys is not supported; use a vocabulary column.")
    made = _columns.categorical_column_with_hash_bucket(
        column_name, hash_bucket_size, dtype
    )
    return _as_contrib(made, "SparseColumnHashed", _named(column_name))


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = tf.int64
) -> Any:
    """A column of class numbers."""
    del combiner, dtype
    made = _columns.categorical_column_with_identity(column_name, bucket_size)
    return _as_contrib(made, "SparseColumnIntegerized", _named(column_name))


def weighted_sparse_column(
    sparse_id_column: Any, weight_column_name: str, dtype: Any = tf.float32
) -> Any:
    """A categorical column whose values carry weights."""
    made = _columns.weighted_categorical_column(
        sparse_id_column, weight_column_name, dtype
    )
    return _as_contrib(
        made, "WeightedSparseColumn", f"sparse_id_column={_order(sparse_id_column)}"
    )


def bucketized_column(source_column: Any, boundaries: Any) -> Any:
    """A numeric column cut at boundaries."""
    made = _columns.bucketized_column(source_column, sorted(boundaries))
    return _as_contrib(
        made, "BucketizedColumn", f"source_column={_order(source_column)}"
    )


def crossed_column(
    columns: Iterable[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """Combinations of categorical columns, hashed into buckets.

    The buckets are those of ``tf.feature_column.crossed_column``: the old
    cross hashed differently when ``hash_key`` was left out.
    """
    del combiner
    if ckpt_to_load_from or tensor_name_in_ckpt:
        raise ValueError("load checkpoints with tf.train.init_from_checkpoint")
    columns = sorted(columns, key=lambda column: column.name)
    sources = ", ".join(sorted(_order(column) for column in columns))
    keys = [one.key if hasattr(one, "dtype") else one for one in columns]
    made = _columns.crossed_column(keys, hash_bucket_size, hash_key)
    return _as_contrib(made, "CrossedColumn", f"columns=({sources}")


def one_hot_column(sparse_id_column: Any) -> Any:
    """A categorical column as counts."""
    made = _columns.indicator_column(sparse_id_column)
    return _as_contrib(
        made, "OneHotColumn", f"sparse_id_column={_order(sparse_id_column)}"
    )


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """A categorical column as learned vectors.

    The initial values spread by the number of ids, not by the dimension as
    those of ``tf.feature_column.embedding_column`` do.
    """
    made = _columns.embedding_column(
        sparse_id_column,
        dimension,
        combiner,
        initializer or _spread(sparse_id_column),
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )
    return _as_contrib(
        made, "EmbeddingColumn", f"sparse_id_column={_order(sparse_id_column)}"
    )


def _spread(column: Any) -> Any:
    return tf.truncated_normal_initializer(0.0, 1.0 / math.sqrt(column.num_buckets))


def shared_embedding_columns(
    sparse_id_columns: Any,
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """Several categorical columns that share one table of vectors."""
    from ...estimator.canned import feature_columns

    made = feature_columns.shared_embedding_columns(
        sparse_id_columns,
        dimension,
        combiner,
        initializer or _spread(sparse_id_columns[0]),
        shared_embedding_name,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )
    for column, source in zip(made, sparse_id_columns, strict=False):
        _as_contrib(column, "EmbeddingColumn", f"sparse_id_column={_order(source)}")
    return made


def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """What ``tf.parse_example`` needs to read these columns."""
    return dict(_columns.make_parse_example_spec(feature_columns))


def parse_feature_columns_from_examples(
    serialized: Any,
    feature_columns: Any,
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, Any]:
    """The columns' features, read from serialized examples."""
    return dict(
        tf.parse_example(
            serialized,
            create_feature_spec_for_parsing(feature_columns),
            name=name,
            example_names=example_names,
        )
    )


def parse_feature_columns_from_sequence_examples(
    serialized: Any,
    context_feature_columns: Any,
    sequence_feature_columns: Any,
    name: str | None = None,
    example_name: Any = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Features of one sequence: of its context, and of its steps."""
    steps = create_feature_spec_for_parsing(sequence_feature_columns or [])
    for key, spec in steps.items():
        if isinstance(spec, tf.FixedLenFeature):
            steps[key] = tf.FixedLenSequenceFeature(spec.shape, spec.dtype)
    context, sequence = tf.parse_single_sequence_example(
        serialized,
        create_feature_spec_for_parsing(context_feature_columns or []),
        steps,
        example_name,
        name,
    )
    return dict(context), dict(sequence)


def _renamed(rename: Any) -> Any:
    def rename_getter(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return getter(rename(name), *args, **kwargs)

    return rename_getter


def input_from_feature_columns(
    columns_to_tensors: Any,
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Any:
    """One dense tensor made of all columns, in the order that tf.contrib had."""
    columns = list(feature_columns)
    made = cols_to_outs if cols_to_outs is not None else {}

    def rename(name: str) -> str:
        name = name.replace("/input_layer/", "/", 1)
        return name.replace("/embedding_weights", "/weights")

    with tf.variable_scope(
        scope, "input_from_feature_columns", custom_getter=_renamed(rename)
    ):
        whole = _columns.input_layer(
            columns_to_tensors,
            columns,
            weight_collections,
            trainable,
            cols_to_output_tensors=made,
        )
        if not all(hasattr(column, "contrib_order") for column in columns):
            return whole
        # TensorFlow's own order is that of their names, which is another one.
        return tf.concat([made[column] for column in sorted(made, key=_order)], 1)


_OF_SEQUENCES = ("_RealValuedColumn", "_EmbeddingColumn", "_OneHotColumn")


def sequence_input_from_feature_columns(
    columns_to_tensors: Any,
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """The columns of each step of sequences, ``[batch, steps, all columns]``."""
    columns = list(feature_columns)
    for column in columns:
        kind = _order(column).partition("(")[0]
        if hasattr(column, "contrib_order") and kind not in _OF_SEQUENCES:
            raise ValueError(
                f"FeatureColumn type {kind} is not currently supported for sequence "
                "data."
            )
    keys = create_feature_spec_for_parsing(columns)
    each = {key: _steps(columns_to_tensors[key]) for key in keys}
    with tf.variable_scope(scope, "sequence_input_from_feature_columns") as inner:
        rows = input_from_feature_columns(
            {key: rows for key, (rows, _) in each.items()},
            columns,
            weight_collections,
            trainable,
            inner,
        )
    shape = next(iter(each.values()))[1]
    found = tf.reshape(rows, tf.concat([shape, [rows.shape[-1]]], 0))
    static = next(iter(columns_to_tensors[key].shape[:2] for key in keys))
    found.set_shape([*static, rows.shape[-1]])
    return found


def _steps(values: Any) -> tuple[Any, Any]:
    """Each step as an example of its own, and the numbers of sequences and steps."""
    if isinstance(values, tf.SparseTensor):
        shape = values.dense_shape
        flat = tf.sparse.reshape(values, [shape[0] * shape[1], -1])
        return flat, tf.cast(shape[:2], tf.int32)
    shape = tf.shape(values)
    flat = tf.reshape(values, tf.concat([[shape[0] * shape[1]], shape[2:]], 0))
    flat.set_shape([None, *values.shape[2:]])
    return flat, shape[:2]


def weighted_sum_from_feature_columns(
    columns_to_tensors: Any,
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[Any, Any], Any]:
    """A linear model: its outputs, its weights by column, and its bias."""
    columns = list(feature_columns)
    numeric = {c.name for c in columns if type(c).__name__ == "NumericColumn"}

    def rename(name: str) -> str:
        head, _, last = name.rpartition("/")
        head = head.replace("/linear_model", "", 1)
        if "" in numeric and head.endswith("linear_wrapper"):
            # Of a column that was inferred: its name is empty, so that of the layer's
            # class stands in its place.
            head = head.rpartition("/")[0] + "/"
        if last == "bias_weights":
            return f"{head}/bias_weight"
        if last == "weights" and head.rpartition("/")[2] in numeric:
            return f"{head}/weight"
        return f"{head}/{last}"

    found: dict[Any, Any] = {}
    with tf.variable_scope(
        scope, "weighted_sum_from_feature_columns", custom_getter=_renamed(rename)
    ):
        outputs = _columns.linear_model(
            columns_to_tensors,
            columns,
            units=num_outputs,
            weight_collections=weight_collections,
            trainable=trainable,
            cols_to_vars=found,
        )
    bias = found.pop("bias")
    return outputs, found, bias[0] if isinstance(bias, list) else bias
