"""Optimizers of TensorFlow 1 that Keras lacks, or steps otherwise with.

Gradients of looked-up rows move these rows alone, and their slots.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tf_keras


def values_of(gradient: Any) -> Any:
    """The gradient of the rows that it has, or of all."""
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def rows_of(slot: Any, gradient: Any) -> Any:
    """The rows of a variable that a gradient is for, or all."""
    if isinstance(gradient, tf.IndexedSlices):
        return tf.gather(slot, gradient.indices)
    return tf.convert_to_tensor(slot)


def assign_rows(slot: Any, gradient: Any, rows: Any) -> None:
    """Gives the rows of a variable that a gradient is for new values."""
    if isinstance(gradient, tf.IndexedSlices):
        slot.scatter_update(tf.IndexedSlices(rows, gradient.indices))
    else:
        slot.assign(rows)


def clipped_by_norm(optimizer: Any, clip_norm: Any) -> Any:
    """Returns an optimizer that clips its gradients, all together, by their norm."""
    optimizer.global_clipnorm = clip_norm
    return optimizer


class Momentum(tf_keras.optimizers.SGD):
    """Gathers gradients, which the rate of each step scales."""

    def update_step(self, gradient: Any, variable: Any) -> None:
        slot = self.momentums[self._index_dict[self._var_key(variable)]]
        gathered = self.momentum * rows_of(slot, gradient) + values_of(gradient)
        assign_rows(slot, gradient, gathered)
        ahead = values_of(gradient) + self.momentum * gathered
        step = ahead if self.nesterov else gathered
        step *= tf.cast(self.learning_rate, variable.dtype)
        assign_rows(variable, gradient, rows_of(variable, gradient) - step)


class RMSProp(tf_keras.optimizers.RMSprop):
    """Mean squares start at one."""

    def __init__(
        self,
        learning_rate: Any,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, rho, momentum, epsilon, **options)

    def add_variable_from_reference(self, variable: Any, name: str) -> Any:
        first = tf.ones(variable.shape, variable.dtype) if name == "velocity" else None
        return super().add_variable_from_reference(variable, name, initial_value=first)

    def update_step(self, gradient: Any, variable: Any) -> None:
        index = self._index_dict[self._var_key(variable)]
        values = values_of(gradient)

        def averaged(slot: Any, value: Any) -> Any:
            rows = rows_of(slot, gradient)
            rows += (value - rows) * (1 - self.rho)
            assign_rows(slot, gradient, rows)
            return rows

        square = averaged(self._velocities[index], tf.square(values)) + self.epsilon
        if self.centered:
            square -= tf.square(averaged(self._average_gradients[index], values))
        step = values * tf.math.rsqrt(square) * self.learning_rate
        if self._momentums:
            slot = self._momentums[index]
            step += self.momentum * rows_of(slot, gradient)
            assign_rows(slot, gradient, step)
        assign_rows(variable, gradient, rows_of(variable, gradient) - step)


class Adadelta(tf_keras.optimizers.Adadelta):
    """Leaves rows without a gradient as they are."""

    def update_step(self, gradient: Any, variable: Any) -> None:
        index = self._index_dict[self._var_key(variable)]
        squares, steps = (
            self._accumulated_grads[index],
            self._accumulated_delta_vars[index],
        )
        values = values_of(gradient)
        square = self.rho * rows_of(squares, gradient) + (1 - self.rho) * values**2
        before = rows_of(steps, gradient)
        step = (
            values
            * tf.sqrt(before + self.epsilon)
            * tf.math.rsqrt(square + self.epsilon)
        )
        assign_rows(squares, gradient, square)
        assign_rows(
            steps, gradient, self.rho * before + (1 - self.rho) * tf.square(step)
        )
        step *= tf.cast(self.learning_rate, variable.dtype)
        assign_rows(variable, gradient, rows_of(variable, gradient) - step)


class Ftrl(tf_keras.optimizers.Ftrl):
    """Leaves rows without a gradient as they are."""

    def update_step(self, gradient: Any, variable: Any) -> None:
        index = self._index_dict[self._var_key(variable)]
        rate = tf.cast(self.learning_rate, variable.dtype)
        power = -self.learning_rate_power
        l1, l2 = self.l1_regularization_strength, self.l2_regularization_strength
        values, weights = values_of(gradient), rows_of(variable, gradient)
        before = rows_of(self._accumulators[index], gradient)
        after = before + values**2
        linear = rows_of(self._linears[index], gradient) + values
        linear += 2 * self.l2_shrinkage_regularization_strength * weights
        linear -= (after**power - before**power) / rate * weights
        assign_rows(self._accumulators[index], gradient, after)
        assign_rows(self._linears[index], gradient, linear)
        weights = tf.clip_by_value(linear, -l1, l1) - linear
        weights /= after**power / rate + 2 * l2
        assign_rows(variable, gradient, weights)


class ProximalAdagrad(tf_keras.optimizers.Adagrad):
    """Pulls weights towards zero after each step of Adagrad."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value)
        self.l1, self.l2 = l1_regularization_strength, l2_regularization_strength

    def update_step(self, gradient: Any, variable: Any) -> None:
        slot = self._accumulators[self._index_dict[self._var_key(variable)]]
        values = values_of(gradient)
        gathered = rows_of(slot, gradient) + values**2
        assign_rows(slot, gradient, gathered)
        rate = tf.cast(self.learning_rate, variable.dtype) * tf.math.rsqrt(gathered)
        weights = rows_of(variable, gradient) - rate * values
        if self.l1 > 0:
            weights = tf.sign(weights) * tf.maximum(tf.abs(weights) - rate * self.l1, 0)
        assign_rows(variable, gradient, weights / (1 + self.l2 * rate))


class LazyAdam(tf_keras.optimizers.Adam):
    """Moves only the rows that have a gradient."""

    def update_step(self, gradient: Any, variable: Any) -> None:
        index = self._index_dict[self._var_key(variable)]
        values = values_of(gradient)
        count = tf.cast(self.iterations + 1, variable.dtype)
        mean = rows_of(self._momentums[index], gradient)
        mean = self.beta_1 * mean + (1 - self.beta_1) * values
        square = rows_of(self._velocities[index], gradient)
        square = self.beta_2 * square + (1 - self.beta_2) * values**2
        assign_rows(self._momentums[index], gradient, mean)
        assign_rows(self._velocities[index], gradient, square)
        rate = tf.sqrt(1 - self.beta_2**count) / (1 - self.beta_1**count)
        rate *= tf.cast(self.learning_rate, variable.dtype)
        step = rate * mean / (tf.sqrt(square) + self.epsilon)
        assign_rows(variable, gradient, rows_of(variable, gradient) - step)


class DecayedAdam(tf_keras.optimizers.Adam):
    """Takes a share off the weights before each step, whatever its learning rate."""

    def __init__(
        self, learning_rate: Any = 0.001, weight_decay: float = 0.0, **options: Any
    ) -> None:
        super().__init__(learning_rate, **options)
        self.share = weight_decay

    def update_step(self, gradient: Any, variable: Any) -> None:
        kept = rows_of(variable, gradient) * (1 - self.share)
        assign_rows(variable, gradient, kept)
        super().update_step(gradient, variable)


class RMSprop(tf_keras.optimizers.RMSprop):
    """Adds epsilon to the root of the mean square, not to the mean square."""

    def update_step(self, gradient: Any, variable: Any) -> None:
        index = self._index_dict[self._var_key(variable)]
        gradient = tf.convert_to_tensor(gradient)
        velocity = self._velocities[index]
        velocity.assign(self.rho * velocity + (1 - self.rho) * gradient**2)
        square = tf.convert_to_tensor(velocity)
        if self.centered:
            average = self._average_gradients[index]
            average.assign(self.rho * average + (1 - self.rho) * gradient)
            square -= tf.square(average)
        rate = tf.cast(self.learning_rate, variable.dtype)
        variable.assign_sub(rate * gradient / (tf.sqrt(square) + self.epsilon))


def optimizer_named(name: Any, learning_rate: Any, rated: bool = False) -> Any:
    """The optimizer that TensorFlow 1 called so; one that is made stays itself.

    A function makes it, of the learning rate where it is `rated`.
    """
    if callable(name):
        return name(learning_rate) if rated else name()
    if not isinstance(name, str):
        return name
    makers: dict[str, Any] = {
        "Adagrad": lambda: tf_keras.optimizers.Adagrad(learning_rate, epsilon=0.0),
        "Adam": lambda: tf_keras.optimizers.Adam(learning_rate, epsilon=1e-8),
        "Ftrl": lambda: Ftrl(learning_rate),
        "Momentum": lambda: Momentum(learning_rate, 0.9),
        "RMSProp": lambda: RMSProp(learning_rate),
        "SGD": lambda: tf_keras.optimizers.SGD(learning_rate),
    }
    if name not in makers:
        raise ValueError(f"no optimizer is called {name}, but {', '.join(makers)} are")
    return makers[name]()
