"""Moving averages, also of tensors: losses and statistics."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .vocabulary import v1


class ExponentialMovingAverage(v1.train.ExponentialMovingAverage):
    """As `tf.train.ExponentialMovingAverage` of TensorFlow 1.

    That of today refuses tensors in programs that are eager around their graphs.
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ):
        super().__init__(decay, num_updates, zero_debias, name)
        self.settings = decay, num_updates, zero_debias
        self.of_tensors: dict[Any, Any] = {}

    def apply(self, var_list: Any = None) -> Any:
        """Updates the averages of variables, and of tensors."""
        given = v1.trainable_variables() if var_list is None else list(var_list)
        tensors = [one for one in given if tf.is_symbolic_tensor(one)]
        if not tensors:
            return super().apply(given)
        others = [one for one in given if not tf.is_symbolic_tensor(one)]
        updates = [super().apply(others)] if others else []
        for tensor in tensors:
            if tensor.ref() not in self.of_tensors:
                with v1.variable_scope(None, f"{tensor.op.name}/{self.name}"):
                    self.of_tensors[tensor.ref()] = zeros_like(tensor, "")
        with tf.name_scope(self.name):
            rate = self.rate()
            for tensor in tensors:
                average = self.of_tensors[tensor.ref()]
                updates += self.updates_of(average, tensor, tf.cast(rate, tensor.dtype))
            return tf.group(*updates)

    def rate(self) -> Any:
        """The share of a new value."""
        decay, num_updates, _ = self.settings
        decay = tf.convert_to_tensor(decay, tf.float32)
        if num_updates is not None:
            done = tf.cast(num_updates, tf.float32)
            decay = tf.minimum(decay, (1.0 + done) / (10.0 + done))
        return 1.0 - decay

    def updates_of(self, average: Any, value: Any, rate: Any) -> list[Any]:
        """Moves an average towards a value; it began with zeros, which are told off."""
        if not self.settings[2]:
            return [average.assign_sub((average - value) * rate, read_value=False)]
        with v1.variable_scope(average.op.name):
            biased, steps = zeros_like(value, "biased"), zeros_like(rate, "local_step")
        moved = [
            biased.assign_sub((biased - value) * rate, read_value=False),
            steps.assign_add(tf.ones_like(rate), read_value=False),
        ]
        with tf.control_dependencies(moved):
            weight = 1.0 - tf.pow(1.0 - rate, steps.read_value())
            behind = average - biased.read_value() / weight
            return [average.assign_sub(behind, read_value=False)]

    def average(self, var: Any) -> Any:
        """The variable that holds the average."""
        found = self.of_tensors.get(var.ref())
        return super().average(var) if found is None else found

    def average_name(self, var: Any) -> str:
        """The name of that variable."""
        found = self.of_tensors.get(var.ref())
        return str(super().average_name(var) if found is None else found.op.name)


def zeros_like(tensor: Any, name: str) -> Any:
    """A variable that replicas keep together, and which holds zeros at first."""
    return v1.get_variable(
        name,
        tensor.shape,
        tensor.dtype,
        initializer=v1.zeros_initializer(),
        trainable=False,
        aggregation=v1.VariableAggregation.MEAN,
    )
