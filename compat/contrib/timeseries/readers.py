"""Where series come from: arrays, CSV files, files of tf.Examples."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from .keys import TrainEvalFeatures

__all__ = ["CSVReader", "NumpyReader", "TFExampleReader", "TimeSeriesReader"]

TIMES, VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class TimeSeriesReader(abc.ABC):
    """One series, record by record."""

    @abc.abstractmethod
    def records(self) -> Any:
        """A ``tf.data.Dataset`` of the records, a dict each, in order, once."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises where it is known that there are too few records."""
        del minimum_dataset_size

    def read(self) -> dict[str, Any]:
        """Tensors with some records of the endless repetition of the series."""
        return _next(self.records().repeat().batch(4096))

    def read_full(self) -> dict[str, Any]:
        """Tensors with the whole series, again at each step."""
        return _next(whole(self.records()).repeat())


def whole(records: Any) -> Any:
    """One element with all records."""
    # A batch right behind a map becomes one op with it, which would call the map for
    # all elements of the batch before it looks whether there are as many.
    return records.prefetch(1).batch(np.iinfo(np.int64).max)


def _next(dataset: Any) -> dict[str, Any]:
    found: dict[str, Any] = tf.data.make_one_shot_iterator(dataset).get_next()
    return found


class NumpyReader(TimeSeriesReader):
    """A series in memory: arrays of times, values and other features."""

    def __init__(
        self, data: Mapping[str, Any], read_num_records_hint: int = 4096
    ) -> None:
        del read_num_records_hint
        self._features = _series(data)

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises for a series that is shorter than a window."""
        size = len(self._features[TIMES])
        if size < minimum_dataset_size:
            raise ValueError(
                f"A TimeSeriesInputFn is configured to create windows of size "
                f"{minimum_dataset_size}, but only {size} records were available in "
                "the dataset. Either decrease the window size or provide more records."
            )

    def records(self) -> Any:
        """The rows of the arrays."""
        return tf2.data.Dataset.from_tensor_slices(self._features)


def _series(data: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays of shape [time, ...]; values have a dimension of their own."""
    features = {key: np.array(value) for key, value in data.items()}
    if TIMES not in features or VALUES not in features:
        raise ValueError(f"{TIMES} and {VALUES} are required features.")
    times = features[TIMES]
    for key, value in features.items():
        if value.shape[: times.ndim] != times.shape:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the "
                f"times feature. Got shape {value.shape} for feature '{key}', but "
                f"shape {times.shape} for '{TIMES}'"
            )
    if times.ndim > 2:
        raise ValueError(
            "Got an unexpected number of dimensions for times. Was expecting at most "
            f"two ([batch size, series length]), but got shape {times.shape}."
        )
    if times.ndim == 2:
        if len(times) != 1:
            raise ValueError("Got batch input, was expecting unbatched input.")
        features = {key: value[0] for key, value in features.items()}
    elif times.ndim == 0:
        features = {key: value[np.newaxis] for key, value in features.items()}
    if features[VALUES].ndim == 1:
        features[VALUES] = features[VALUES][:, np.newaxis]
    if features[VALUES].ndim != 2:
        raise ValueError(
            f"Got an unexpected number of dimensions for the '{VALUES}' feature: after "
            f"those of '{TIMES}' it has at most one, the number of features."
        )
    return features


class _FileReader(TimeSeriesReader):
    def __init__(self, filenames: Any) -> None:
        self._filenames = np.reshape(np.array(filenames), [-1]).tolist()


class CSVReader(_FileReader):
    """A series in CSV files; a name may be that of several columns."""

    def __init__(
        self,
        filenames: Any,
        column_names: Sequence[str] = (TIMES, VALUES),
        column_dtypes: Sequence[Any] | None = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ) -> None:
        del read_num_records_hint
        for required in (TIMES, VALUES):
            if required not in column_names:
                raise ValueError(f"'{required}' is a required column.")
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of "
                f"column_names (got column_dtypes={column_dtypes} and column_names="
                f"{column_names})."
            )
        if list(column_names).count(TIMES) != 1:
            raise ValueError(
                f"Got more than one times column ('{TIMES}'), but exactly one is "
                "required."
            )
        super().__init__(filenames)
        self._names = tuple(column_names)
        self._dtypes = column_dtypes
        self._skipped = skip_header_lines or 0

    def records(self) -> Any:
        """The rows of the files."""
        dtypes = self._dtypes or [
            tf.int64 if name == TIMES else tf.float32 for name in self._names
        ]
        # Without given types a missing value is an error, but for a time.
        defaults = [
            tf.zeros([1 if self._dtypes or name == TIMES else 0], dtype)
            for name, dtype in zip(self._names, dtypes, strict=True)
        ]

        def parse(line: Any) -> dict[str, Any]:
            columns: dict[str, list[Any]] = {}
            for name, value in zip(
                self._names, tf2.io.decode_csv(line, defaults), strict=True
            ):
                columns.setdefault(name, []).append(value)
            return {
                name: values[0] if name == TIMES else tf.stack(values)
                for name, values in columns.items()
            }

        def lines(filename: Any) -> Any:
            return tf2.data.TextLineDataset(filename).skip(self._skipped)

        files = tf2.data.Dataset.from_tensor_slices(self._filenames)
        return files.flat_map(lines).map(parse)


class TFExampleReader(_FileReader):
    """A series in files of tf.Examples, one record each."""

    def __init__(self, filenames: Any, features: Mapping[str, Any]) -> None:
        for required in (TIMES, VALUES):
            if required not in features:
                raise ValueError(f"'{required}' is a required column.")
        super().__init__(filenames)
        self._features = dict(features)

    def records(self) -> Any:
        """The parsed examples."""
        return tf2.data.TFRecordDataset(self._filenames).map(
            lambda example: tf2.io.parse_single_example(example, self._features)
        )
