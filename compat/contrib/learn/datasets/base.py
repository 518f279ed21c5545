"""CSV data sets."""

from __future__ import annotations

import collections
import csv
import os
import urllib.request
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "Dataset",
    "Datasets",
    "load_csv_with_header",
    "load_csv_without_header",
    "load_iris",
    "maybe_download",
]

Dataset = collections.namedtuple("Dataset", "data target")
Datasets = collections.namedtuple("Datasets", "train validation test")


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file of the directory, fetched if it is not there yet."""
    path = os.path.join(work_directory, filename)
    if not tf.gfile.Exists(path):
        tf.gfile.MakeDirs(work_directory)
        with urllib.request.urlopen(source_url) as answer:
            content = answer.read()
        with tf.gfile.GFile(path, "wb") as stream:
            stream.write(content)
    return path


def load_csv_with_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """A CSV file whose first line says how many rows and columns there are."""
    with tf.gfile.Open(filename) as stream:
        rows = csv.reader(stream)
        header = next(rows)
        data = np.zeros((int(header[0]), int(header[1])), dtype=features_dtype)
        target = np.zeros((int(header[0]),), dtype=target_dtype)
        for number, row in enumerate(rows):
            target[number] = np.asarray(row.pop(target_column), dtype=target_dtype)
            data[number] = np.asarray(row, dtype=features_dtype)
    return Dataset(data, target)


def load_csv_without_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """A plain CSV file."""
    data, target = [], []
    with tf.gfile.Open(filename) as stream:
        for row in csv.reader(stream):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(np.array(data), np.array(target, dtype=target_dtype))


def load_iris(data_path: str | None = None) -> Dataset:
    """Iris, from a file or from scikit-learn."""
    if data_path is not None:
        return load_csv_with_header(data_path, np.int32, np.float32)
    from sklearn.datasets import load_iris as load  # type: ignore[import-untyped]

    found = load()
    return Dataset(found.data.astype(np.float32), found.target.astype(np.int32))
