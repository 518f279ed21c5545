"""Names of private modules of ``tf.contrib.rnn`` that published cells are made of."""

from __future__ import annotations

from .cells import _Linear, _linear

__all__ = ["_Linear", "_linear"]
