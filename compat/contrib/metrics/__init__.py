"""``tf.contrib.metrics``: predictions first, labels second, prefix ``streaming_``."""

from __future__ import annotations

from . import rates, renamed, running
from .rates import *
from .renamed import *
from .running import *

_PARTS = (rates, renamed, running)

__all__ = sorted(name for part in _PARTS for name in part.__all__)
