"""``numpy_input_fn`` and ``pandas_input_fn`` as Datasets of the same batches."""

from __future__ import annotations

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Tree
from ..sites import ArrayDataset, Blocked

__all__ = ["ARRAY_INPUTS", "array_dataset"]

_NUMPY = (
    "x",
    "y",
    "batch_size",
    "num_epochs",
    "shuffle",
    "queue_capacity",
    "num_threads",
)
_PANDAS = (*_NUMPY, "target_column")
ARRAY_INPUTS = {
    "tf.estimator.inputs.numpy_input_fn": _NUMPY,
    "tf.estimator.inputs.pandas_input_fn": _PANDAS,
    "tf.contrib.learn.io.numpy_input_fn": _NUMPY,
    "tf.contrib.learn.io.pandas_input_fn": _PANDAS,
}


def array_dataset(tree: Tree, call: cst.Call) -> ArrayDataset:
    """The Dataset of a call of one of ``ARRAY_INPUTS``.

    Epochs follow each other before batches are cut, as they did in the queue, so
    that batches run across the ends of epochs.
    """
    symbol = tree.symbol(call.func)
    assert symbol is not None
    line = tree.line(call)
    try:
        given = match_arguments(call, ARRAY_INPUTS[symbol])
    except UnknownArguments as problem:
        raise Blocked("TFM115", line, f"an input function with {problem}") from None
    if "x" not in given:
        raise Blocked("TFM115", line, "an input function without x")

    def text(name: str, default: str) -> str:
        node = given.get(name)
        return default if node is None else tree.code(node)

    features, labels = text("x", ""), text("y", "None")
    if "pandas" in symbol:
        # A frame's columns are the features.
        features = f"dict({features})"
    epochs = given.get("num_epochs")
    repeat = ""
    if epochs is not None and is_none(epochs):
        repeat = ".repeat()"
    elif epochs is not None and tree.code(epochs) != "1":
        repeat = f".repeat({tree.code(epochs)})"
    shuffle = text("shuffle", "None")
    if shuffle == "None":
        raise Blocked("TFM115", line, "whether the input shuffles is not seen")
    return ArrayDataset(
        features=features,
        labels=None if labels == "None" else labels,
        shuffles=shuffle,
        shuffle=f".shuffle({text('queue_capacity', '1000')})",
        batches=f"{repeat}.batch({text('batch_size', '128')})",
    )
