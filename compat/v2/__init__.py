"""TF 2.15's namespace on today's TensorFlow: ``import tfmigrate.compat.v2 as tf``.

A complete clone of ``tensorflow`` with ``tf.estimator`` as TF 2.15 had it and
``tf.keras`` from tf_keras (Keras 2). TensorFlow itself is not changed by the
import.
"""

from __future__ import annotations

import sys

from ..surface.importer import make_clone
from ..surface.namespace import attribute
from ..surface.v2_names import OVERLAY

sys.modules[__name__] = make_clone(
    __name__, base=attribute("tensorflow"), overlay=OVERLAY, doc=__doc__
)
