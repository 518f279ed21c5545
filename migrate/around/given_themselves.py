"""Layers and cells whose initializers are given the object once more.

``super().__init__(self)`` says `trainable=self`, which TensorFlow 1 took for true and
today's layers refuse: only a bool will do.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m

from ..symbols.nodes import walk
from ..symbols.resolver import Resolver

__all__ = ["given_themselves"]

# Bases whose initializers take `trainable` first.
_BASES = frozenset(
    {
        *(f"{home}.RNNCell" for home in ("tf.nn.rnn_cell", "tf.contrib.rnn")),
        "tf.contrib.rnn.LayerRNNCell",
        *("tf.layers.Layer", "tf.keras.layers.Layer"),
    }
)
_BASE_INITIALIZER = m.Call(
    func=m.Attribute(value=m.Call(func=m.Name("super")), attr=m.Name("__init__"))
)


def given_themselves(module: cst.Module, resolver: Resolver) -> Iterator[cst.Name]:
    """The `self` of each such call."""
    for made in walk(module):
        if isinstance(made, cst.ClassDef) and any(
            resolver.resolve(base.value) in _BASES for base in made.bases
        ):
            for method in made.body.body:
                if (
                    isinstance(method, cst.FunctionDef)
                    and method.name.value == "__init__"
                    and method.params.params
                ):
                    yield from _in(method, method.params.params[0].name.value)


def _in(method: cst.FunctionDef, own: str) -> Iterator[cst.Name]:
    given = m.Arg(m.Name(own), keyword=None, star="")
    for call in walk(method):
        if not m.matches(call, _BASE_INITIALIZER):
            continue
        call = cst.ensure_type(call, cst.Call)
        if call.args and m.matches(call.args[0], given):
            yield cst.ensure_type(call.args[0].value, cst.Name)
