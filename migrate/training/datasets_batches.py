"""Batches of MNIST."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import datasets


class ImagesAndLabels(datasets.ImagesAndLabels):
    """Images and their labels, also in batches."""

    def __init__(self, images: Any, labels: Any, seed: int | None) -> None:
        super().__init__(images, labels, seed)
        self.epochs_completed = self._next = 0
        self._random = np.random.RandomState(seed)

    def next_batch(self, batch_size: int, shuffle: bool = True) -> tuple[Any, ...]:
        """Returns the next images and labels, also of the next epoch."""
        if shuffle and self.epochs_completed == self._next == 0:
            self._shuffle()
        start, self._next = self._next, self._next + batch_size
        batch = self.images[start : self._next], self.labels[start : self._next]
        if self._next <= self.num_examples:
            return batch
        self.epochs_completed += 1
        self._next -= self.num_examples
        if shuffle:
            self._shuffle()
        more = self.images[: self._next], self.labels[: self._next]
        return tuple(np.concatenate(pair) for pair in zip(batch, more, strict=True))

    def _shuffle(self) -> None:
        order = self._random.permutation(self.num_examples)
        self.images, self.labels = self.images[order], self.labels[order]
