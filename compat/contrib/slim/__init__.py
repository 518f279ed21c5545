"""``tf.contrib.slim``: the layer part; all of it when tf_slim is installed.

With tf_slim installed, ``tf.contrib.slim`` is that package (see the name table
in surface/v1_names.py). Without it, the names that slim only passed on from
``tf.contrib.layers`` and ``tf.contrib.framework`` are here, with its training step,
and the rest (its training loop, its networks, its data sets) asks for tf_slim on use.
"""

from __future__ import annotations

import tensorflow as tf

from .. import framework, layers, losses, metrics
from ..framework import *
from ..layers import *
from ..layers import initializers, regularizers, utils
from . import learning, tfexample_decoder

# A module of TensorFlow that slim happened to show: the initializers, by their names.
init_ops = tf.compat.v1

__all__ = sorted({*layers.__all__, *framework.__all__})
__all__ += ["init_ops", "initializers", "learning", "losses", "metrics", "regularizers"]
__all__ += ["tfexample_decoder", "utils"]
