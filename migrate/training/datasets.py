"""MNIST as the tutorials of TensorFlow 1 read it."""

from __future__ import annotations

import gzip
import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import tf_keras


class ImagesAndLabels:
    """Images and their labels."""

    def __init__(self, images: Any, labels: Any, seed: int | None) -> None:
        self.images, self.labels, self.num_examples = images, labels, len(images)


def read_data_sets(
    folder: str,
    one_hot: bool = False,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
) -> Any:
    """Reads the files of MNIST in a folder, or those that Keras downloads.

    Pixels are from 0 to 1; the first images for training are for validation.
    """
    parts = [
        _read(os.path.join(folder, f"{kind}-{what}-ubyte"))
        for kind in ("train", "t10k")
        for what in ("images-idx3", "labels-idx1")
    ]
    if any(part is None for part in parts):
        parts = [part for pair in tf_keras.datasets.mnist.load_data() for part in pair]
    images, labels, test_images, test_labels = parts

    def made(images: Any, labels: Any) -> ImagesAndLabels:
        shape = (-1, 784) if reshape else (-1, 28, 28, 1)
        images = images.reshape(shape).astype("float32") * np.float32(1 / 255)
        return ImagesAndLabels(images, np.eye(10)[labels] if one_hot else labels, seed)

    return SimpleNamespace(
        train=made(images[validation_size:], labels[validation_size:]),
        validation=made(images[:validation_size], labels[:validation_size]),
        test=made(test_images, test_labels),
    )


def _read(path: str) -> Any:
    for opener, file in ((open, path), (gzip.open, f"{path}.gz")):
        if os.path.exists(file):
            with opener(file, "rb") as stream:
                data = np.frombuffer(stream.read(), np.uint8)
            return data[16:].reshape(-1, 784) if "idx3" in path else data[8:]
    return None
