"""Classes that came out of lifting, called by code of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf
from tfmigrate.runtime.scoped_layers import ScopedLayer, ScopedModel


@pytest.mark.parametrize("base", [ScopedLayer, ScopedModel])
@pytest.mark.parametrize("given", [3, (3,), True])
def test_numbers_of_python_are_given_as_they_are(base: Any, given: Any) -> None:
    class Weights(base):  # type: ignore[misc]
        def call(self, size: Any, net: Any = None) -> Any:
            self.seen = size
            return self.get_variable("weight", [3])

    with tf.Graph().as_default():
        model = Weights()
        weight = model(given, net=tf.zeros([3]))
        assert model.seen is given
        assert model.weights[0] is weight
