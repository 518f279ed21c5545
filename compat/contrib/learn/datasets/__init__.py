"""``tf.contrib.learn.datasets``: MNIST, and CSV files."""

from __future__ import annotations

from . import base, mnist

__all__ = ["DATASETS", "base", "load_dataset", "mnist"]

# The loaders by name, which programs also call with a folder of theirs.
DATASETS = {"iris": base.load_iris, "mnist": mnist.load_mnist}


def load_dataset(
    name: str, size: str = "small", test_with_fake_data: bool = False
) -> object:
    """A data set by name; the ones that were downloads raise."""
    del size, test_with_fake_data
    if name in DATASETS:
        return DATASETS[name]()
    raise ValueError(
        f"the data set {name} was a download that is gone; scikit-learn or "
        "tensorflow_datasets may have it"
    )
