"""``ARModel``: the next window of a series from the last one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
import tf_keras

from ...estimator.mode_keys import ModeKeys
from .keys import PredictionFeatures, TrainEvalFeatures
from .models import ModelOutputs, TimeSeriesModel
from .statistics import InputStatistics

__all__ = ["ARModel", "FlatPredictionModel"]

TIMES, VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
STATE = PredictionFeatures.STATE_TUPLE
_SMALLEST_VARIANCE = 1e-5


class FlatPredictionModel(tf_keras.Model):
    """Dense layers over everything in both windows."""

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        hidden_layer_sizes: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        del input_window_size
        layers = tf_keras.layers
        self._hidden_layers = None
        if hidden_layer_sizes:
            self._hidden_layers = tf_keras.Sequential(
                [
                    layers.Dense(size, activation=tf.nn.relu)
                    for size in hidden_layer_sizes
                ]
            )
        width = num_features * output_window_size
        self._mean = layers.Dense(width, name="predicted_mean")
        self._log_variance = layers.Dense(width, name="log_sigma_square")
        self._shape = [-1, output_window_size, num_features]

    def call(self, input_window_features: Any, output_window_features: Any) -> Any:
        """Mean and variance of every value of the output window."""
        flat = []
        for features in (input_window_features, output_window_features):
            size = features.shape[1:].num_elements()
            if size:
                flat.append(tf.reshape(features, [-1, size]))
        joined = tf.concat(flat, axis=1)
        if self._hidden_layers is not None:
            joined = self._hidden_layers(joined)
        return {
            "mean": tf.reshape(self._mean(joined), self._shape),
            "covariance": tf.reshape(tf.exp(self._log_variance(joined)), self._shape),
        }


class ARModel(TimeSeriesModel):
    """Predicts `output_window_size` values from `input_window_size` values before.

    `periodicities` add where in each period a time lies.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(num_features, exogenous_feature_columns)
        if loss not in (self.SQUARED_LOSS, self.NORMAL_LIKELIHOOD_LOSS):
            raise ValueError(f"unknown loss {loss!r} of an ARModel")
        listed = periodicities or []
        listed = list(listed) if isinstance(listed, (list, tuple)) else [listed]
        self._periodicities = [int(period) for period in listed]
        if any(period <= 0 for period in self._periodicities):
            raise ValueError(f"periodicities must be positive, given: {listed}")
        if not self._periodicities and not input_window_size:
            raise ValueError("An ARModel needs periodicities or an input window.")
        if output_window_size <= 0 or num_time_buckets <= 0:
            raise ValueError(
                "output_window_size and num_time_buckets must be positive."
            )
        self._factory = prediction_model_factory
        self._buckets = int(num_time_buckets)
        self.loss = loss
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.exogenous_size = self._exogenous_width()

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Makes the network of the current graph."""
        super().initialize_graph(input_statistics)
        self._network = self._factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> Any:
        """Times, scaled values and exogenous values of the input window."""
        size = self.input_window_size
        return (
            tf.zeros([size], tf.int64),
            tf.zeros([size, self.num_features], self.dtype),
            tf.zeros([size, self.exogenous_size], self.dtype),
        )

    # -- one window -------------------------------------------------------

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> Any:
        """Mean and covariance, scaled, of the output window."""
        split = [self.input_window_size, self.output_window_size]
        before: list[Any] = []
        after: list[Any] = []
        if self._periodicities:
            early, late = tf.split(self._time_features(times), split, axis=1)
            before.append(early)
            after.append(late)
        if self.input_window_size:
            before.append(values[:, : self.input_window_size, :])
        if self.exogenous_size:
            early, late = tf.split(exogenous_regressors, split, axis=1)
            before.append(early)
            after.append(late)
        # The name scope that variables of the network have in checkpoints.
        with tf.variable_scope("model/", use_resource=True):
            return self._network(
                self._joined(before, times, self.input_window_size),
                self._joined(after, times, self.output_window_size),
            )

    def _joined(self, parts: list[Any], times: Any, size: int) -> Any:
        if not parts:
            return tf.zeros([tf.shape(times)[0], size, 0], self.dtype)
        joined = tf.concat(parts, axis=2)
        joined.set_shape([times.shape[0], size, joined.shape[-1]])
        return joined

    def _time_features(self, times: Any) -> Any:
        """Where each time lies in the buckets of each period, [batch, time, n]."""
        periods = tf.constant(self._periodicities, times.dtype)
        place = times[:, :, tf.newaxis] % periods
        place = (
            tf.cast(place, self.dtype) * self._buckets / tf.cast(periods, self.dtype)
        )
        inside = place[..., tf.newaxis] - tf.range(self._buckets, dtype=self.dtype)
        inside = tf.nn.relu(inside)
        inside = tf.where(inside < 1.0, inside, tf.zeros_like(inside))
        width = self._buckets * len(self._periodicities)
        return tf.reshape(inside, [tf.shape(times)[0], self.window_size, width])

    def loss_op(self, targets: Any, prediction_ops: Mapping[str, Any]) -> Any:
        """The mean loss of all values."""
        mean = prediction_ops["mean"]
        if self.loss == self.SQUARED_LOSS:
            total = tf.reduce_sum(tf.squared_difference(mean, targets))
        else:
            # TF 1.x took the logarithm of the deviation once where the density of
            # a normal distribution has it twice; models are trained on that.
            sigma = tf.sqrt(
                tf.maximum(prediction_ops["covariance"], _SMALLEST_VARIANCE)
            )
            scaled = (mean - targets) / sigma
            density = tf.square(scaled) + math.log(2 * math.pi) + tf.log(sigma)
            total = tf.reduce_sum(0.5 * density)
        return total / tf.cast(tf.reduce_prod(tf.shape(targets)), total.dtype)

    def _window(self, features: Any, mode: str, exogenous: Any) -> ModelOutputs:
        times = tf.cast(features[TIMES], tf.int64)
        observed = tf.cast(features[VALUES], self.dtype)
        if not times.shape.is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and "
                f"output_window_size={self.output_window_size} expects feature "
                f"'{TIMES}' to have shape (batch_size, {self.window_size}) (for any "
                f"batch_size), but got shape {times.shape}. If you are using "
                f"RandomWindowInputFn, set window_size={self.window_size} or adjust "
                "the input_window_size and output_window_size arguments to ARModel."
            )
        values = self._scale_data(observed)
        found = self.prediction_ops(times, values, exogenous)
        targets = values[:, self.input_window_size :, :]
        if mode == ModeKeys.EVAL and self.loss == self.SQUARED_LOSS:
            loss = self.loss_op(
                self._scale_back_data(targets),
                {"mean": self._scale_back_data(found["mean"])},
            )
        else:
            loss = self.loss_op(targets, found)
        last, end = -self.output_window_size, -self.input_window_size or times.shape[1]
        return ModelOutputs(
            loss=loss,
            end_state=(times[:, end:], values[:, end:, :], exogenous[:, end:, :]),
            predictions={
                "mean": self._scale_back_data(found["mean"]),
                "covariance": self._scale_back_variance(found["covariance"]),
                "observed": observed[:, last:],
            },
            prediction_times=times[:, last:],
        )

    def _exogenous(self, times: Any, features: Mapping[str, Any]) -> Any:
        others = {k: v for k, v in features.items() if k not in (TIMES, VALUES, STATE)}
        found = self._process_exogenous_features(times, others)
        if found is None:
            return tf.zeros(tf.concat([tf.shape(times), [0]], 0), self.dtype)
        return found

    # -- a batch ----------------------------------------------------------

    def get_batch_loss(self, features: Any, mode: str, state: Any) -> ModelOutputs:
        """Training takes one window; evaluation goes over all that fit."""
        features = {key: tf.convert_to_tensor(v) for key, v in features.items()}
        exogenous = self._exogenous(features[TIMES], features)
        if mode == ModeKeys.TRAIN:
            return self._window(features, mode, exogenous)
        if mode == ModeKeys.EVAL:
            return self._windows(features, state, exogenous)
        raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")

    def _windows(self, features: Any, state: Any, exogenous: Any) -> ModelOutputs:
        times = features[TIMES]
        static = times.shape[1].value if times.shape.ndims == 2 else None
        if static is not None and static < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + "
                "output_window_size to evaluate on (input_window_size="
                f"{self.input_window_size}, output_window_size="
                f"{self.output_window_size}, and got shape {times.shape} for feature "
                f"'{TIMES}' (batch size, window size))."
            )
        out = self.output_window_size
        count = (tf.shape(times)[1] - self.input_window_size) // out
        length = count * out + self.input_window_size
        features = {key: value[:, -length:] for key, value in features.items()}

        def body(number: Any, losses: Any, means: Any, variances: Any) -> Any:
            window = slice(number * out, number * out + self.window_size)
            part = {key: value[:, window] for key, value in features.items()}
            # The exogenous values were never cut to the windows that fit.
            made = self._window(part, ModeKeys.EVAL, exogenous[:, window])
            return (
                number + 1,
                losses.write(number, made.loss),
                means.write(number, made.predictions["mean"]),
                variances.write(number, made.predictions["covariance"]),
            )

        arrays = [tf.TensorArray(self.dtype, size=count) for _ in range(3)]
        _, losses, means, variances = tf.while_loop(
            lambda number, *_: number < count, body, [tf.constant(0), *arrays]
        )
        values = tf.cast(features[VALUES], self.dtype)
        shape = [tf.shape(times)[0], out * count, self.num_features]

        def series(array: Any) -> Any:
            return tf.reshape(tf.transpose(array.stack(), [1, 0, 2, 3]), shape)

        now = (
            tf.cast(features[TIMES], tf.int64),
            self._scale_data(values),
            exogenous,
        )
        return ModelOutputs(
            loss=tf.reduce_mean(losses.stack(), axis=0),
            end_state=self._end_state(state, now),
            predictions={
                "mean": series(means),
                "covariance": series(variances),
                "observed": values[:, -count * out :],
            },
            prediction_times=features[TIMES][:, -count * out :],
        )

    def _end_state(self, state: Any, now: Any) -> Any:
        size = self.input_window_size
        if not size:
            return state
        made = []
        for before, after in zip(state, now, strict=True):
            joined = tf.concat([before, after], axis=1)[:, -size:]
            joined.set_shape([None, size, *before.shape[2:]])
            made.append(joined)
        return tuple(made)

    # -- prediction -------------------------------------------------------

    def predict(self, features: Any) -> dict[str, Any]:
        """Window after window, each from the one predicted before."""
        if not self._graph_initialized:
            self.initialize_graph()
        size, out = self.input_window_size, self.output_window_size
        asked = tf.cast(tf.convert_to_tensor(features[TIMES]), tf.int64)
        exogenous = self._exogenous(asked, features)
        length = tf.shape(asked)[1]
        count = (length + out - 1) // out
        missing = count * out - length
        # All times and exogenous values one behind the other, those of the state
        # first: window `n` starts at n * out.
        times = tf.pad(asked, [[0, 0], [0, missing]])
        exogenous = tf.pad(exogenous, [[0, 0], [0, missing], [0, 0]])
        state_times, values, state_exogenous = features[STATE]
        values = tf.cast(tf.convert_to_tensor(values), self.dtype)
        if size:
            state_times = tf.cast(tf.convert_to_tensor(state_times), tf.int64)
            state_exogenous = tf.cast(tf.convert_to_tensor(state_exogenous), self.dtype)
            times = tf.concat([state_times[:, -size:], times], 1)
            exogenous = tf.concat([state_exogenous[:, -size:, :], exogenous], 1)
            values = values[:, -size:, :]

        def body(number: Any, values: Any, means: Any, variances: Any) -> Any:
            window = slice(number * out, number * out + self.window_size)
            known = times[:, window]
            known.set_shape([None, self.window_size])
            found = self.prediction_ops(known, values, exogenous[:, window])
            if size:
                values = tf.concat([values, found["mean"]], 1)[:, -size:, :]
            return (
                number + 1,
                values,
                means.write(number, found["mean"]),
                variances.write(number, found["covariance"]),
            )

        arrays = [tf.TensorArray(self.dtype, size=count) for _ in range(2)]
        loop = [tf.constant(0), values, *arrays]
        shapes = [tf.TensorShape([]), tf.TensorShape([None, *values.shape[1:]])]
        shapes += [tf.TensorShape(None)] * 2
        _, _, means, variances = tf.while_loop(
            lambda number, *_: number < count, body, loop, shape_invariants=shapes
        )

        def series(array: Any) -> Any:
            shape = [tf.shape(asked)[0], count * out, self.num_features]
            flat = tf.reshape(tf.transpose(array.stack(), [1, 0, 2, 3]), shape)
            return flat[:, :length, :]

        mean = series(means)
        squared = self.loss == self.SQUARED_LOSS
        variance = tf.ones_like(mean) if squared else series(variances)
        return {
            "mean": self._scale_back_data(mean),
            "covariance": self._scale_back_variance(variance),
        }
