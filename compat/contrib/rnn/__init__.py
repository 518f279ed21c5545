"""``tf.contrib.rnn``: cells, wrappers, unrolled and fused recurrences."""

from __future__ import annotations

from . import cells, fused, loops, searched
from .cells import *

# Private there too, but published cells are written with them.
from .cells import _Linear as _Linear
from .cells import _linear as _linear
from .fused import *
from .loops import *
from .searched import *

__all__ = [*cells.__all__, *fused.__all__, *loops.__all__, *searched.__all__]
