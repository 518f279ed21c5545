"""``tf.contrib.slim``: the layer part; all of it when tf_slim is installed.

With tf_slim installed, ``tf.contrib.slim`` is that package (see the name table
in surface/v1_names.py). Without it, the names that slim only passed on from
``tf.contrib.layers`` and ``tf.contrib.framework`` are here, and the rest (its
training loop, its networks, its data sets) asks for tf_slim on use.
"""

from __future__ import annotations

from typing import Any

from . import framework, layers, losses, metrics

_SOURCES: tuple[Any, ...] = (layers, framework)

_PASSED_ON = {
    name: getattr(source, name) for source in _SOURCES for name in source.__all__
}
globals().update(_PASSED_ON)

__all__ = [*sorted(_PASSED_ON), "losses", "metrics"]
