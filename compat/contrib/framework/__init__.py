"""``tf.contrib.framework``: arg_scope, variables by name, checkpoint helpers."""

from __future__ import annotations

from . import nest, scopes, tensors, variables
from .scopes import *
from .tensors import *
from .variables import *

__all__ = ["nest", *scopes.__all__, *tensors.__all__, *variables.__all__]
