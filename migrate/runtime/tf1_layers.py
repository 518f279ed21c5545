"""What layers of Keras could do in TensorFlow 1."""

from __future__ import annotations

from typing import Any

import tf_keras


def applied_by_name(base: Any) -> Any:
    """Lets `layer.apply(x)` be another way to say `layer(x)`."""

    def apply(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """As `__call__`."""
        return self(inputs, *args, **kwargs)

    if not hasattr(base, "apply"):
        base.apply = apply
    return base


# From here on, in all of the program.
tf1_layers = applied_by_name(tf_keras.layers.Layer)
