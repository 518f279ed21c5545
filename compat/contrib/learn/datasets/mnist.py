"""MNIST as the tutorials of TF 1 read it."""

from __future__ import annotations

import collections
import gzip
import os
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["DataSet", "Datasets", "load_mnist", "read_data_sets"]

Datasets = collections.namedtuple("Datasets", "train validation test")

_FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


class DataSet:
    """Images and labels that are handed out in shuffled batches."""

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = tf.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        del fake_data, one_hot
        graph_seed, op_seed = tf.get_seed(seed)
        # The same draw order as numpy's global generator, but of our own.
        self._random = np.random.RandomState(graph_seed if seed is None else op_seed)
        dtype = tf.as_dtype(dtype)
        if reshape:
            images = images.reshape(images.shape[0], -1)
        if dtype == tf.float32:
            images = images.astype(np.float32) * np.float32(1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = 0
        self._index = 0

    @property
    def images(self) -> Any:
        """All images."""
        return self._images

    @property
    def labels(self) -> Any:
        """All labels."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """How many there are."""
        return int(self._images.shape[0])

    @property
    def epochs_completed(self) -> int:
        """How often all have been handed out."""
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """The next images and labels, across the end of an epoch if need be."""
        del fake_data
        if self._index == 0 and self._epochs_completed == 0 and shuffle:
            self._shuffle()
        end = self._index + batch_size
        if end <= self.num_examples:
            part = slice(self._index, end)
            self._index = end
            return self._images[part], self._labels[part]
        rest = (self._images[self._index :], self._labels[self._index :])
        missing = end - self.num_examples
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._index = missing
        new = (self._images[:missing], self._labels[:missing])
        return (
            np.concatenate([rest[0], new[0]]),
            np.concatenate([rest[1], new[1]]),
        )

    def _shuffle(self) -> None:
        order = self._random.permutation(self.num_examples)
        self._images, self._labels = self._images[order], self._labels[order]


def _read(path: str) -> Any:
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as stream:
        data = stream.read()
    rank = data[3]
    shape = np.frombuffer(data, ">i4", rank, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def _load(folder: str) -> list[Any]:
    found = []
    for name in _FILES:
        for path in (os.path.join(folder, name), os.path.join(folder, name + ".gz")):
            if os.path.isfile(path):
                found.append(_read(path))
                break
    if len(found) == len(_FILES):
        return found
    from tf_keras.datasets import mnist

    (train_x, train_y), (test_x, test_y) = mnist.load_data()
    return [train_x, train_y, test_x, test_y]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = tf.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = "",
) -> Datasets:
    """MNIST from the idx files in ``train_dir``, or else from Keras' cache."""
    del fake_data, source_url
    train_x, train_y, test_x, test_y = _load(train_dir)
    if not 0 <= validation_size <= len(train_x):
        raise ValueError(
            f"Validation size should be between 0 and {len(train_x)}. "
            f"Received: {validation_size}."
        )

    def make(images: Any, labels: Any) -> DataSet:
        labels = np.eye(10)[labels] if one_hot else labels
        shaped = images.reshape(images.shape[0], 28, 28, 1)
        return DataSet(shaped, labels, dtype=dtype, reshape=reshape, seed=seed)

    cut = validation_size
    return Datasets(
        train=make(train_x[cut:], train_y[cut:]),
        validation=make(train_x[:cut], train_y[:cut]),
        test=make(test_x, test_y),
    )


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """MNIST with class numbers as labels."""
    return read_data_sets(train_dir)
