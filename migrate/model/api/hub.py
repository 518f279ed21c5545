"""``tensorflow_hub``: modules that are loaded with their weights, which stay."""

from __future__ import annotations

from ..values import Const, Layer, Tensor, Time, Value, time_of
from . import Call, handles

MODULE = "tensorflow_hub.Module"
# What it is called once it is evaluated.
LAYER = "tf.keras.layers.KerasLayer"
# What a layer of Keras is told as well.
NAMES = ("spec", "trainable", "name")


@handles(MODULE, "tensorflow_hub.KerasLayer")
def module(call: Call) -> Value:
    """``hub.Module(url)``, or the layer of TensorFlow 2 that loads it."""
    given = call.by_name(NAMES)
    if given.pop("trainable", Const(False)) != Const(False):
        return call.unknown("a module of tensorflow_hub that may train")
    others = sorted(set(given) - set(NAMES))
    if others or time_of(given.get("spec", Tensor())) is Time.GRAPH:
        shown = ", ".join(others or ("spec",))
        return call.unknown(f"a module of tensorflow_hub by `{shown}`")
    lifted = call.evaluator.in_lifted(call.env)
    if not lifted:
        call.evaluator.notes.make(call, "object")
    layer = Layer(LAYER, keras=False, stays=not lifted)
    return call.evaluator.made(layer, call, given, legacy=True)
