"""``tf.contrib.training``: HParams, train ops, training loops, placement."""

from __future__ import annotations

from . import hparams, loops, placement
from .hparams import *
from .loops import *
from .placement import *

__all__ = [*hparams.__all__, *loops.__all__, *placement.__all__]
