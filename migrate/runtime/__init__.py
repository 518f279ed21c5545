"""The loop module: what a rewritten project trains, evaluates and serves with.

These parts are real Python, linted and tested where they stand. The bundler puts those
that a project uses into one file of that project, which is its owner's from then on. So
they import nothing but the standard library, numpy, TensorFlow and tf_keras, and each
other as ``from .part import name``.
"""

from __future__ import annotations
