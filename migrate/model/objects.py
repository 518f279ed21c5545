"""Objects of classes that are made of TensorFlow's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .api import Call
from .values import Cell, Instance, Layer, Tensor, Value

# Cells of the project's own are called by what they are given to.
_CELLS = ("tf.contrib.rnn.", "tf.nn.rnn_cell.")
_TRAINING = ("tf.train.", "tf.contrib.opt.", "tf.keras.optimizers.")


def of_tensorflow(call: Call, callee: Instance, symbols: Sequence[str]) -> Value | None:
    """What a call of a class gives that is made of ``symbols``, if these tell."""
    call = replace(call, symbol=symbols[0]) if symbols else call
    notes = call.evaluator.notes
    if any(symbol.startswith("tf.keras.") for symbol in symbols):
        notes.keras.append(call)
        return Layer(call.symbol, keras=True, stays=True)
    if any(symbol.startswith(_CELLS) for symbol in symbols):
        return Cell(call.symbol)
    if any(symbol.startswith("tf.layers.") for symbol in symbols):
        # Its variables are named by the scope that calls it.
        if callee.made:
            return call.unknown(f"an object of `{callee.node.name.value}`")
        return Cell(call.symbol)
    if any(symbol.startswith("tf.contrib.seq2seq.") for symbol in symbols):
        # An attention: it makes variables for the memory that it is given.
        notes.make(call, "called")
        return Cell(call.symbol)
    if any(symbol.startswith(_TRAINING) for symbol in symbols):
        # Optimizers, hooks: what they make is no part of the model.
        return Tensor()
    return None
