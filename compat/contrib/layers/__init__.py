"""``tf.contrib.layers``: layers as functions, with arg_scope and collections."""

from __future__ import annotations

from . import (
    convolutions,
    dense,
    features,
    initializers,
    normalization,
    optimization,
    regularizers,
    sparse,
    summaries,
    utils,
)
from .convolutions import *
from .dense import *
from .features import *
from .initializers import *
from .normalization import *
from .optimization import *
from .regularizers import *
from .sparse import *
from .summaries import *

_PARTS = (
    convolutions,
    dense,
    features,
    initializers,
    normalization,
    optimization,
    regularizers,
    sparse,
    summaries,
)

__all__ = sorted(name for part in _PARTS for name in part.__all__)
__all__ += ["summaries", "utils"]
