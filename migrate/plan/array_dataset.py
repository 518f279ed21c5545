"""The Dataset that stands for ``numpy_input_fn`` or ``pandas_input_fn``."""

from __future__ import annotations

from dataclasses import dataclass

from .program import TF

__all__ = ["ArrayDataset", "rows_of"]


@dataclass(frozen=True)
class ArrayDataset:
    """Source text in parts: features and labels, shuffling, epochs and batches.

    ``shuffles_if`` is the program's own condition for shuffling.
    """

    features: str
    labels: str | None
    shuffle: str
    shuffles_if: str | None
    batches: str

    @property
    def rows(self) -> str:
        """The Dataset of rows."""
        elements = self.features
        if self.labels is not None:
            elements = f"({self.features}, {self.labels})"
        return rows_of(elements)


def rows_of(elements: str) -> str:
    """Source text of the Dataset of some arrays' rows."""
    return f"{TF}.data.Dataset.from_tensor_slices({elements})"
