"""``tf.contrib.lookup``: tables from tensors and files."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ..engine import private_api

__all__ = [
    "FastHashSpec",
    "HashTable",
    "HasherSpec",
    "IdTableWithHashBuckets",
    "InitializableLookupTableBase",
    "KeyValueTensorInitializer",
    "LookupInterface",
    "MutableDenseHashTable",
    "MutableHashTable",
    "StrongHashSpec",
    "TableInitializerBase",
    "TextFileIdTableInitializer",
    "TextFileIndex",
    "TextFileInitializer",
    "TextFileStringTableInitializer",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
    "string_to_index",
    "string_to_index_table_from_file",
    "string_to_index_table_from_tensor",
]

_ops = private_api.lookup_ops

FastHashSpec = _ops.FastHashSpec
HasherSpec = _ops.HasherSpec
HashTable = tf.lookup.StaticHashTable
IdTableWithHashBuckets = _ops.IdTableWithHashBuckets
InitializableLookupTableBase = _ops.InitializableLookupTableBase
KeyValueTensorInitializer = tf.lookup.KeyValueTensorInitializer
LookupInterface = _ops.LookupInterface
MutableDenseHashTable = tf.lookup.experimental.DenseHashTable
StrongHashSpec = _ops.StrongHashSpec
TableInitializerBase = _ops.TableInitializerBase
TextFileIdTableInitializer = _ops.TextFileIdTableInitializer
TextFileIndex = tf.lookup.TextFileIndex
TextFileInitializer = tf.lookup.TextFileInitializer
TextFileStringTableInitializer = _ops.TextFileStringTableInitializer
index_table_from_file = _ops.index_table_from_file
MutableHashTable = tf.lookup.experimental.MutableHashTable


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = tf.string,
    name: str | None = None,
) -> Any:
    """A table from the entries of ``mapping`` to their positions."""
    return _ops.index_table_from_tensor(
        vocabulary_list=mapping,
        num_oov_buckets=num_oov_buckets,
        default_value=default_value,
        hasher_spec=hasher_spec,
        dtype=dtype,
        name=name,
    )


def index_to_string_table_from_tensor(
    mapping: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """A table from positions to the entries of ``mapping``."""
    return _ops.index_to_string_table_from_tensor(
        vocabulary_list=mapping, default_value=default_value, name=name
    )


index_to_string_table_from_file = _ops.index_to_string_table_from_file


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """Old name of `index_table_from_file`."""
    return index_table_from_file(
        vocabulary_file,
        num_oov_buckets,
        vocab_size,
        default_value,
        hasher_spec,
        key_dtype=tf.string,
        name=name,
    )


def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """Old name of `index_table_from_tensor`."""
    return index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, name=name
    )


def string_to_index(
    tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None
) -> Any:
    """Positions of strings in ``mapping``, without a table object."""
    return index_table_from_tensor(mapping, default_value=default_value).lookup(
        tensor, name=name
    )


def index_to_string(
    tensor: Any, mapping: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """Strings at positions of ``mapping``, without a table object."""
    table = index_to_string_table_from_tensor(mapping, default_value=default_value)
    return table.lookup(tensor, name=name)
