"""Input functions: the whole series, or random windows of it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf2
import tensorflow.compat.v1 as tf

from .keys import TrainEvalFeatures
from .readers import TimeSeriesReader, whole

__all__ = ["RandomWindowInputFn", "TimeSeriesInputFn", "WholeDatasetInputFn"]

TIMES = TrainEvalFeatures.TIMES
# Windows that are shuffled, in batches; a queue of TF 1 held up to a thousand.
_SHUFFLED = 50


class TimeSeriesInputFn:
    """An input function that is made of a reader."""

    def dataset(self) -> Any:
        """Batches of the series, without an end."""
        raise NotImplementedError

    def create_batch(self) -> tuple[dict[str, Any], None]:
        """Tensors of shape [batch, time, ...]; there are no labels."""
        return tf.data.make_one_shot_iterator(self.dataset()).get_next(), None

    def __call__(self) -> tuple[dict[str, Any], None]:
        return self.create_batch()


class WholeDatasetInputFn(TimeSeriesInputFn):
    """The whole series as a batch of one, again at each step."""

    def __init__(self, time_series_reader: TimeSeriesReader) -> None:
        self._reader = time_series_reader

    def dataset(self) -> Any:
        """The series again and again."""
        return whole(self._reader.records()).batch(1).repeat()


class RandomWindowInputFn(TimeSeriesInputFn):
    """Batches of windows that lie next to each other, from changing starts."""

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int | None = 2,
        shuffle_seed: int | None = None,
    ) -> None:
        del num_threads  # how many queue runners filled the queues
        time_series_reader.check_dataset_size(minimum_dataset_size=window_size)
        self._reader = time_series_reader
        self._window = window_size
        self._batch = batch_size
        self._shuffled = max(
            shuffle_min_after_dequeue_multiplier,
            min(_SHUFFLED, queue_capacity_multiplier),
        )
        self._discard = discard_out_of_order
        self._limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._seed = shuffle_seed

    def dataset(self) -> Any:
        """Shuffled batches of windows."""
        size = self._window * self._batch
        chunks = self._reader.records().repeat()
        chunks = chunks.batch(size + self._jitter, drop_remainder=True)
        windows = chunks.map(self._split)
        if self._discard:
            windows = windows.scan(tf.constant(0, tf.int64), self._marked)
            windows = windows.unbatch().filter(lambda _, in_order: in_order)
            windows = windows.map(lambda window, _: window)
        else:
            windows = windows.unbatch().map(_sorted)
        windows = windows.shuffle(self._shuffled * self._batch, seed=self._seed)
        return windows.batch(self._batch, drop_remainder=True)

    def _split(self, chunk: dict[str, Any]) -> dict[str, Any]:
        size = self._window * self._batch
        start = 0
        if self._jitter:
            start = tf2.random.uniform([], maxval=2, dtype=tf.int32, seed=self._seed)
        return {
            key: tf.reshape(
                value[start : start + size],
                [self._batch, self._window, *value.shape[1:]],
            )
            for key, value in chunk.items()
        }

    def _marked(self, discarded: Any, windows: dict[str, Any]) -> Any:
        """Says of each window whether its times do not fall back."""
        times = windows[TIMES]
        in_order = tf.reduce_all(times[:, 1:] >= times[:, :-1], axis=1)
        any_good = tf.reduce_any(in_order)
        discarded = tf.where(any_good, tf.zeros_like(discarded), discarded + 1)
        check = tf.debugging.assert_less(
            discarded,
            tf.constant(self._limit, tf.int64),
            message="no window of the series has its times in order",
        )
        with tf.control_dependencies([] if check is None else [check]):
            discarded = tf.identity(discarded)
        return discarded, (windows, in_order)


def _sorted(window: dict[str, Any]) -> dict[str, Any]:
    order = tf.argsort(window[TIMES], stable=True)
    return {key: tf.gather(value, order) for key, value in window.items()}
