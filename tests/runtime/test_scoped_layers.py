"""Classes that came out of lifting, called by code of TensorFlow 1."""

from __future__ import annotations

import enum
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


class Task(enum.Enum):
    """Keys that have no order among each other."""

    CLICK = "click"
    BUY = "buy"


@pytest.mark.parametrize("base", [ScopedLayer, ScopedModel])
def test_dictionaries_may_have_keys_without_an_order(base: Any) -> None:
    class Heads(base):  # type: ignore[misc]
        def call(self, given: Any) -> Any:
            weight = self.get_variable("weight", [3])
            if isinstance(given, dict):
                return given[Task.CLICK] + weight
            return dict.fromkeys(Task, given + weight)

    with tf.Graph().as_default():
        first, second = Heads(), Heads()
        with tf.compat.v1.variable_scope("second"):
            outputs = first(tf.zeros([2, 3]))
        assert list(outputs) == list(Task)
        joined = second(outputs)
        assert joined.shape == (2, 3)
        assert len(first.weights) == len(second.weights) == 1
