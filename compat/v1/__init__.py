"""TF 1.15's namespace on today's TensorFlow: ``import tfmigrate.compat.v1 as tf``.

A complete clone of ``tensorflow.compat.v1`` with what left since: Estimators,
``tf.contrib``, ``tf.layers``, Keras 2. TensorFlow itself is not changed by the
import; in particular eager execution stays as it was. A graph-mode program
calls ``tf.disable_v2_behavior()`` itself, or is started by ``tfmigrate run``.
"""

from __future__ import annotations

import sys

from ..surface.importer import make_clone
from ..surface.namespace import attribute
from ..surface.v1_names import OVERLAY

# `import a.b as tf` binds what sys.modules holds once the import is over.
sys.modules[__name__] = make_clone(
    __name__, base=attribute("tensorflow.compat.v1"), overlay=OVERLAY, doc=__doc__
)
