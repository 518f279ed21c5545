"""``tf.Variable`` as TF 1.15 had it: the class of every variable.

In TF 1.15 a resource variable (those of Keras layers, of ``use_resource=True``)
was a ``tf.Variable`` like any other. Today ``tf.compat.v1.Variable`` is the base of
reference variables alone, so ``isinstance(v, tf.Variable)`` would quietly say no.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["Variable"]

_V1: Any = tf.compat.v1.Variable


class _VariableType(type(_V1)):  # type: ignore[misc]
    """Makes TF 1's variables, and knows all of them."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Variable:
            return _V1(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Variable:
            return tf.Variable in type(instance).__mro__
        return bool(super().__instancecheck__(instance))

    def __subclasscheck__(cls, subclass: type) -> bool:
        if cls is Variable:
            # Not issubclass: TensorFlow's class asks all below it, this one too.
            return tf.Variable in subclass.__mro__
        return bool(super().__subclasscheck__(subclass))


class Variable(_V1, metaclass=_VariableType):
    """TF 1's variable: ``Variable(...)`` makes one, every variable is one."""


# What signatures, help and pickles show is TensorFlow's own.
Variable.__doc__ = _V1.__doc__
