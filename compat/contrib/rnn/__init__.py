"""``tf.contrib.rnn``: cells, wrappers, unrolled and fused recurrences."""

from __future__ import annotations

from . import cells, fused, loops, searched
from .cells import *
from .fused import *
from .loops import *

# Private there too, but written into many a program.
from .private import *
from .searched import *

__all__ = [*cells.__all__, *fused.__all__, *loops.__all__, *searched.__all__]
