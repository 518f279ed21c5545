"""Moments of a series, gathered while it is trained on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow.compat.v1 as tf

from .keys import TrainEvalFeatures

__all__ = ["InputStatistics", "InputStatisticsFromMiniBatch", "Moments"]

_LATEST, _EARLIEST = np.iinfo(np.int64).max, np.iinfo(np.int64).min


class Moments(NamedTuple):
    """Mean and variance of each feature."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """What models know of the series."""

    series_start_moments: Moments
    overall_feature_moments: Moments
    start_time: Any
    total_observation_count: Any


class InputStatisticsFromMiniBatch:
    """Estimates of all batches seen so far, in variables."""

    def __init__(
        self, num_features: int, dtype: Any, starting_variance_window_size: int = 16
    ) -> None:
        self._num_features = num_features
        self._dtype = dtype
        self._start_window = starting_variance_window_size

    def initialize_graph(
        self, features: dict[str, Any], update_statistics: bool = True
    ) -> InputStatistics:
        """The statistics; with an update they depend on it."""
        with tf.variable_scope("input_statistics", use_resource=True):
            statistics = self._statistics()
        with tf.variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        times = features.get(TrainEvalFeatures.TIMES)
        values = features.get(TrainEvalFeatures.VALUES)
        if not update_statistics or times is None or values is None:
            return statistics
        update = self._update(statistics, sums, times, tf.cast(values, self._dtype))
        with tf.control_dependencies([update]):
            now: InputStatistics = tf.nest.map_structure(tf.identity, statistics)
            start = tf.minimum(now.start_time, tf.reduce_min(times))
            return now._replace(start_time=start)

    def _variable(self, name: str, initial: Any, *, is_count: bool = False) -> Any:
        shape = [] if is_count or np.ndim(initial) == 0 else [self._num_features]
        dtype = tf.int64 if is_count else self._dtype
        value = np.array(initial).reshape(-1)[0]
        return tf.get_variable(
            name,
            shape=shape,
            dtype=dtype,
            initializer=tf.constant_initializer(value, dtype=dtype),
            trainable=False,
        )

    def _statistics(self) -> InputStatistics:
        return InputStatistics(
            series_start_moments=Moments(
                self._variable("series_start_mean", [0.0]),
                self._variable("series_start_variance", [1.0]),
            ),
            overall_feature_moments=Moments(
                self._variable("overall_feature_mean", [0.0]),
                self._variable("overall_feature_var", [1.0]),
            ),
            start_time=self._variable("start_time", _LATEST, is_count=True),
            total_observation_count=self._variable(
                "total_observation_count", 1, is_count=True
            ),
        )

    def _sums(self) -> dict[str, Any]:
        return {
            "latest": self._variable("max_time_seen", _EARLIEST, is_count=True),
            "chunks": self._variable("chunk_count", 0, is_count=True),
            "durations": self._variable("inter_observation_duration_sum", 0.0),
            "examples": self._variable("example_count", 0, is_count=True),
            "values": self._variable("overall_feature_sum", [0.0]),
            "squares": self._variable("overall_feature_sum_of_squares", [0.0]),
        }

    def _update(
        self, statistics: InputStatistics, sums: dict[str, Any], times: Any, values: Any
    ) -> Any:
        duration = tf.cast(
            tf.reduce_max(times, 1) - tf.reduce_min(times, 1), self._dtype
        ) / tf.cast(tf.shape(times)[1] - 1, self._dtype)
        latest = sums["latest"].assign(
            tf.maximum(sums["latest"], tf.reduce_max(times)), read_value=True
        )
        added = {
            "chunks": tf.shape(times, out_type=tf.int64)[0],
            "durations": tf.reduce_sum(duration),
            "examples": tf.size(times, out_type=tf.int64),
            "values": tf.reduce_sum(values, [0, 1]),
            "squares": tf.reduce_sum(values**2, [0, 1]),
        }
        first = [sums[key].assign_add(value) for key, value in added.items()]
        with tf.control_dependencies([latest, *first]):
            count = tf.cast(sums["examples"], self._dtype)
            mean = sums["values"] / count
            unbiased = count / (count - 1.0)
            moments = statistics.overall_feature_moments
            updates = [
                moments.mean.assign(mean),
                moments.variance.assign(unbiased * (sums["squares"] / count - mean**2)),
            ]
            started = self._start_update(statistics, times, values)
            with tf.control_dependencies([started]):
                start = statistics.start_time.assign(
                    tf.minimum(statistics.start_time, tf.reduce_min(times)),
                    read_value=True,
                )
            between = sums["durations"] / tf.cast(sums["chunks"], self._dtype)
            length = tf.cast(latest - start + 1, self._dtype) / between
            total = statistics.total_observation_count.assign(
                tf.cast(tf.round(length), tf.int64)
            )
            return tf.group(*updates, started, start, total)

    def _start_update(
        self, statistics: InputStatistics, times: Any, values: Any
    ) -> Any:
        """New moments of the start where a batch begins earlier than all before."""
        earliest = tf.cast(tf.argmin(times[:, 0]), tf.int32)
        moments = statistics.series_start_moments

        def update() -> Any:
            window = values[earliest, : self._start_window]
            mean, variance = tf.nn.moments(window, axes=[0])
            return tf.group(
                moments.mean.assign(mean), moments.variance.assign(variance)
            )

        is_start = tf.less_equal(times[earliest, 0], statistics.start_time)
        return tf.cond(is_start, update, tf.no_op)
