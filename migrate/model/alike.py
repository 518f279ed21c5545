"""What is the same in TensorFlow 1 and in Keras, though it is said in other words."""

from __future__ import annotations

from collections.abc import Mapping

from .terms import Term, constant, term
from .values import Const, Value, term_of

# What layers say nothing of, because nothing else is meant.
_USUAL: dict[str, Term] = {
    "activation": constant(None),
    "activity_regularizer": constant(None),
    "data_format": constant("channels_last"),
    "rate": constant(0.5),
    "trainable": constant(True),
    "use_bias": constant(True),
}
# Arguments that say how a layer computes, or which variables it shares by their names.
_SILENT_NAMES = """
_reuse adjustment fused renorm renorm_clipping renorm_momentum reuse virtual_batch_size
"""
_SILENT = frozenset(_SILENT_NAMES.split())
# What a layer of tf.layers leaves to the scope around it, if it is not told.
STARTS = {
    **dict.fromkeys(
        ("Dense", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose"),
        ("kernel_initializer",),
    ),
    **dict.fromkeys(
        ("SeparableConv1D", "SeparableConv2D"),
        ("depthwise_initializer", "pointwise_initializer"),
    ),
}


def layer_term(kind: str, given: Mapping[str, Value]) -> Term:
    """A layer by its class of Keras, and the arguments that say something."""
    said: dict[str, Term] = {}
    for name, value in given.items():
        if name in _SILENT:
            continue
        of = _argument(name, value)
        if of is not None and of is not _USUAL.get(name):
            said[name] = of
    parts = [term(f"{name}=", of) for name, of in sorted(said.items())]
    return term(kind, *parts)


def _argument(name: str, value: Value) -> Term | None:
    """An argument; None for one that says nothing."""
    silent = name.endswith(("name", "_initializer", "_regularizer", "_constraint"))
    return None if silent and value == Const(None) else term_of(value)
