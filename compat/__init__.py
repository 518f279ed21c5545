"""tfmigrate.compat: the legacy Estimator runtime on today's TensorFlow.

``import tfmigrate.compat.v1 as tf`` gives a program the TF 1.15 namespace,
Estimators and ``tf.contrib`` included. Importing this package changes nothing
in TensorFlow itself.
"""

from __future__ import annotations
