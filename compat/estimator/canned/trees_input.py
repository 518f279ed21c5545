"""Features of boosted trees: every column becomes one or more bucket indices."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf2
import tensorflow.compat.v1 as tf

from .columns import ColumnState

__all__ = ["TreeColumns"]

_columns = tf2.__internal__.feature_column
_BUCKETIZED, _INDICATOR, _FLOAT = "bucketized", "indicator", "float"


def _kind(column: Any) -> str:
    name = type(column).__name__.lstrip("_")
    if name == "BucketizedColumn":
        return _BUCKETIZED
    if name == "IndicatorColumn":
        return _INDICATOR
    if hasattr(column, "num_buckets"):
        raise ValueError(
            f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}"
        )
    dtype = getattr(column, "dtype", None)
    is_float = dtype is not None and dtype.is_floating
    if is_float and isinstance(column, _columns.DenseColumn):
        return _FLOAT
    raise ValueError(f"Got unexpected feature column type: {column}")


def _width(column: Any) -> int:
    """How many tree features a column makes."""
    kind = _kind(column)
    if kind == _INDICATOR:
        return int(column.categorical_column.num_buckets)
    if kind == _BUCKETIZED:
        return 1
    shape = column.variable_shape
    if shape.rank > 1:
        raise ValueError(
            "For now, we only support Dense column with rank of 1, but column "
            f"`{column.name}` got: {shape}"
        )
    return int(shape.num_elements() or 1)


@dataclasses.dataclass(frozen=True)
class TreeColumns:
    """The columns of a tree model, in the order of its feature ids: by name."""

    columns: tuple[Any, ...]

    @classmethod
    def of(cls, feature_columns: Sequence[Any]) -> TreeColumns:
        """Columns sorted by name."""
        return cls(tuple(sorted(feature_columns, key=lambda column: column.name)))

    @property
    def floats(self) -> tuple[Any, ...]:
        """Columns whose buckets are learned from the data."""
        return tuple(c for c in self.columns if _kind(c) == _FLOAT)

    @property
    def n_floats(self) -> int:
        """Float features (a column may hold several)."""
        return sum(_width(column) for column in self.floats)

    @property
    def names(self) -> list[str]:
        """The column name of every feature."""
        found: list[str] = []
        for column in self.columns:
            name = column.name
            if _kind(column) == _INDICATOR:
                name = column.categorical_column.name
            found.extend([name] * _width(column))
        return found

    def groups(self, n_quantiles: int) -> list[tuple[int, list[int]]]:
        """Feature ids by number of buckets; each group is grown on its own.

        Bucketized columns share one group, as wide as the widest of them.
        """
        grouped: dict[int, list[int]] = {}
        bucketized: list[int] = []
        widest = 2
        next_id = 0
        for column in self.columns:
            ids = list(range(next_id, next_id + _width(column)))
            next_id += len(ids)
            kind = _kind(column)
            if kind == _INDICATOR:
                grouped.setdefault(2, []).extend(ids)
            elif kind == _BUCKETIZED:
                widest = max(widest, len(column.boundaries) + 1)
                bucketized.extend(ids)
            else:
                grouped.setdefault(n_quantiles, []).extend(ids)
        if bucketized:
            grouped.setdefault(widest, []).extend(bucketized)
        return list(grouped.items())

    def buckets(
        self, features: Mapping[str, Any], boundaries: Sequence[Any]
    ) -> list[Any]:
        """One int32 vector of bucket indices per feature."""
        cache = _columns.FeatureTransformationCache(features)
        state = ColumnState()
        left = list(boundaries)
        found: list[Any] = []
        for column in self.columns:
            kind = _kind(column)
            tensor = cache.get(column, state)
            if kind == _BUCKETIZED:
                squeezed = tf.squeeze(tensor, axis=1)
                if squeezed.shape.ndims != 1:
                    raise ValueError(
                        "For now, only supports features equivalent to rank 1 but "
                        f"column `{column.source_column.name}` got: {tensor.shape}"
                    )
                found.append(tf.cast(squeezed, tf.int32))
            elif kind == _INDICATOR:
                if tensor.shape.ndims > 2:
                    raise ValueError(
                        "Rank of indicator column must be no more than 2, but column "
                        f"`{column.categorical_column.name}` got: {tensor.shape}"
                    )
                found.extend(tf.unstack(tf.cast(tensor, tf.int32), axis=1))
            else:
                width = _width(column)
                own, left = left[:width], left[width:]
                found.extend(
                    tf.raw_ops.BoostedTreesBucketize(
                        float_values=tf.unstack(tensor, axis=1), bucket_boundaries=own
                    )
                )
        return found

    def float_values(self, features: Mapping[str, Any]) -> list[Any]:
        """One float vector per float feature."""
        cache = _columns.FeatureTransformationCache(features)
        state = ColumnState()
        found: list[Any] = []
        for column in self.floats:
            found.extend(tf.unstack(cache.get(column, state), axis=1))
        return found
