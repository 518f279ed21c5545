"""Keras 2's copies of ``tf.layers`` and ``tf.nn.rnn_cell``.

TensorFlow reaches them through a loader that refuses when ``tf.keras`` is
Keras 3. They have no public path of their own; this module and the table in
``surface/keras_names.py`` are the only places that name the private one.
"""

from __future__ import annotations

from tf_keras.api._v1.keras.__internal__.legacy import layers, rnn_cell

# The base of cells that make their variables in `build`; it was public in
# tf.contrib.rnn only.
from tf_keras.src.layers.rnn.legacy_cells import LayerRNNCell

__all__ = ["LayerRNNCell", "layers", "rnn_cell"]
