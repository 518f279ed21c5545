"""Feature columns that share an embedding, and the layers that take them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf
import tf_keras

# The class of embedding columns, which TensorFlow gives no name.
EMBEDDING_COLUMN: Any = type(
    tf.feature_column.embedding_column(
        tf.feature_column.categorical_column_with_identity("id", 1), 1
    )
)


def shared_embedding_columns(
    categorical_columns: Iterable[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[Any]:
    """Returns columns that look their categories up in one table."""
    columns = list(categorical_columns)
    names = sorted(column.name for column in columns)
    table = shared_embedding_collection_name or "_".join(names)
    found = []
    for column in columns:
        own = tf.feature_column.embedding_column(
            column,
            dimension,
            combiner,
            initializer,
            max_norm=max_norm,
            trainable=trainable,
        )
        found.append(SharedColumn(*own))
        found[-1].table = table
    return found


class Tables(dict):  # type: ignore[type-arg]
    """Embeddings that columns share, by name."""


class SharedColumn(EMBEDDING_COLUMN):
    """A column whose table is that of other columns, too."""

    table = ""
    tables: Any = None

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    def within(self, tables: Tables) -> SharedColumn:
        """Returns the column for layers with these tables."""
        column = SharedColumn(*self)
        column.table, column.tables = self.table, tables
        return column

    def create_state(self, state_manager: Any) -> None:
        if self.table not in self.tables:
            super().create_state(state_manager)
            table = state_manager.get_variable(self, "embedding_weights")
            self.tables[self.table] = table

    def get_variable(self, column: Any, name: str) -> Any:
        return self.tables[self.table]

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        self.transform_feature(transformation_cache, state_manager)
        return super().get_dense_tensor(transformation_cache, self)

    def get_sequence_dense_tensor(
        self, transformation_cache: Any, state_manager: Any
    ) -> Any:
        self.transform_feature(transformation_cache, state_manager)
        return super().get_sequence_dense_tensor(transformation_cache, self)


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """Returns an embedding whose first vectors spread by the number of categories."""
    stddev = categorical_column.num_buckets**-0.5
    return tf.feature_column.embedding_column(
        categorical_column,
        dimension,
        combiner,
        initializer or tf_keras.initializers.TruncatedNormal(stddev=stddev),
        max_norm=max_norm,
        trainable=trainable,
    )


def crossed_column(
    columns: Iterable[Any], hash_bucket_size: int, hash_key: int | None = None
) -> Any:
    """Returns a cross of columns, whose features are crossed as they come."""
    ordered = sorted(columns, key=lambda column: column.name)
    keys = [one.key if hasattr(one, "dtype") else one for one in ordered]
    return tf.feature_column.crossed_column(keys, hash_bucket_size, hash_key)


class OrderedFeatures(tf_keras.layers.Layer):
    """What columns make of features, ordered by kinds as in tf.contrib.layers."""

    def __init__(self, columns: Iterable[Any]) -> None:
        super().__init__()
        ordered = sorted(columns, key=OrderedFeatures.place)
        self.parts = [tf_keras.layers.DenseFeatures(one) for one in ordered]

    @staticmethod
    def place(column: Any) -> tuple[str, str, str]:
        """Returns what columns are ordered by."""
        inner = getattr(column, "categorical_column", column)
        return type(column).__name__, type(inner).__name__, inner.name

    def call(self, features: Any) -> Any:
        return tf.concat([part(features) for part in self.parts], axis=-1)


def within(columns: Any, tables: Tables) -> list[Any]:
    """Returns columns for layers with these tables."""
    several = columns if isinstance(columns, (list, tuple)) else [columns]
    return [
        one.within(tables) if isinstance(one, SharedColumn) else one for one in several
    ]


class DenseFeatures(tf_keras.layers.DenseFeatures):
    """What columns make of features; layers with the same tables share embeddings."""

    def __init__(self, columns: Any, tables: Tables | None = None) -> None:
        super().__init__(within(columns, Tables() if tables is None else tables))


class SequenceFeatures(tf_keras.experimental.SequenceFeatures):
    """What columns make of sequences; layers with the same tables share embeddings."""

    def __init__(self, columns: Any, tables: Tables | None = None) -> None:
        super().__init__(within(columns, Tables() if tables is None else tables))
