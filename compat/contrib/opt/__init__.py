"""``tf.contrib.opt``: optimizers with weight decay, lazy updates, averages."""

from __future__ import annotations

from . import adam, lars, weight_decay, wrappers
from .adam import *
from .lars import *
from .weight_decay import *
from .wrappers import *

_PARTS = (adam, lars, weight_decay, wrappers)

__all__ = sorted(name for part in _PARTS for name in part.__all__)
