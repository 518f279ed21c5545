"""Base classes of models of series."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf2
import tensorflow.compat.v1 as tf

from .keys import PredictionFeatures, TrainEvalFeatures
from .statistics import InputStatistics

__all__ = ["ModelOutputs", "SequentialTimeSeriesModel", "TimeSeriesModel"]

TIMES, VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
STATE = PredictionFeatures.STATE_TUPLE


class ModelOutputs(NamedTuple):
    """What a model makes of a batch of windows."""

    loss: Any
    end_state: Any
    predictions: dict[str, Any]
    prediction_times: Any


class TimeSeriesModel(abc.ABC):
    """A model of one or several series of `num_features` values."""

    def __init__(
        self,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        dtype: Any = tf.float32,
    ) -> None:
        self.num_features = num_features
        self.dtype = dtype
        self._exogenous_feature_columns = list(exogenous_feature_columns or ())
        self._input_statistics: InputStatistics | None = None
        self._graph_initialized = False

    @property
    def exogenous_feature_columns(self) -> list[Any]:
        """Columns of what is known from outside."""
        return self._exogenous_feature_columns

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Makes what belongs to the current graph."""
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics is not None:
            mean, variance = input_statistics.overall_feature_moments
            self._stats_means, self._stats_sigmas = mean, tf.sqrt(variance)

    def _scale_data(self, data: Any) -> Any:
        if self._input_statistics is None:
            return data
        return (data - self._stats_means) / self._stats_sigmas

    def _scale_variance(self, variance: Any) -> Any:
        if self._input_statistics is None:
            return variance
        return variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_data(self, data: Any) -> Any:
        if self._input_statistics is None:
            return data
        return data * self._stats_sigmas + self._stats_means

    def _scale_back_variance(self, variance: Any) -> Any:
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError(
                "TimeSeriesModels require initialize_graph() to be called before use. "
                "This defines variables and ops in the default graph, and allows "
                "Tensor-valued input statistics to be specified."
            )

    def define_loss(self, features: dict[str, Any], mode: str) -> ModelOutputs:
        """The loss of windows that start from the model's own start state."""
        self._check_graph_initialized()
        batch = tf.shape(features[TIMES])[0]

        def repeated(state: Any) -> Any:
            state = tf.convert_to_tensor(state)
            ones = tf.ones([tf.rank(state)], tf.int32)
            return tf.tile(state[tf.newaxis], tf.concat([[batch], ones], 0))

        start = tf.nest.map_structure(repeated, self.get_start_state())
        return self.get_batch_loss(features=features, mode=mode, state=start)

    @abc.abstractmethod
    def get_start_state(self) -> Any:
        """The state before the first observation, without a batch dimension."""

    @abc.abstractmethod
    def get_batch_loss(self, features: Any, mode: str, state: Any) -> ModelOutputs:
        """The loss of a batch of windows that start from `state`."""

    @abc.abstractmethod
    def predict(self, features: Any) -> dict[str, Any]:
        """Predictions for the times of `features`, from their state on."""

    def _exogenous_width(self) -> int:
        """How many values the columns make of one record."""
        if not self._exogenous_feature_columns:
            return 0
        spec = tf.feature_column.make_parse_example_spec(
            self._exogenous_feature_columns
        )
        with tf.Graph().as_default():
            features = tf.parse_example(tf.placeholder(tf.string, [None]), spec)
            layer = tf.feature_column.input_layer(
                features, self._exogenous_feature_columns
            )
            return int(layer.shape[-1])

    def _process_exogenous_features(
        self, times: Any, features: Mapping[str, Any]
    ) -> Any:
        """[batch, time, width] of the columns; None without columns."""
        if not self._exogenous_feature_columns:
            return None
        flat = {}
        for name, tensor in features.items():
            if tensor.shape.ndims is None:
                raise ValueError(
                    "Features with unknown rank are not supported. Got shape "
                    f"{tensor.shape} for feature {name}."
                )
            shape = tf.shape(tensor)
            rows = tf.reshape(tensor, tf.concat([[shape[0] * shape[1]], shape[2:]], 0))
            if rows.shape.ndims == 1 and rows.dtype != tf.string:
                rows = rows[:, tf.newaxis]
            flat[name] = rows
        layer = tf.feature_column.input_layer(flat, self._exogenous_feature_columns)
        shape = tf.concat([tf.shape(times), tf.shape(layer)[1:]], 0)
        found = tf.reshape(layer, shape)
        found.set_shape(times.shape.concatenate(layer.shape[1:]))
        return tf.cast(found, self.dtype)


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model that goes from observation to observation with a state."""

    def __init__(
        self,
        train_output_names: Sequence[str],
        predict_output_names: Sequence[str],
        num_features: int,
        normalize_features: bool = False,
        dtype: Any = tf.float32,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        static_unrolling_window_size_threshold: int | None = None,
    ) -> None:
        super().__init__(num_features, exogenous_feature_columns, dtype)
        self._train_output_names = list(train_output_names)
        self._predict_output_names = list(predict_output_names)
        self._normalize_features = normalize_features
        self._exogenous_update_condition = exogenous_update_condition
        self._unrolled_up_to = static_unrolling_window_size_threshold

    # -- written by the user ----------------------------------------------

    def _scale_back_predictions(self, predictions: Any) -> Any:
        raise NotImplementedError(
            "SequentialTimeSeriesModel normalized input data (normalize_features="
            "True), but no method was provided to transform the predictions back to "
            "the input scale."
        )

    @abc.abstractmethod
    def _filtering_step(
        self, current_times: Any, current_values: Any, state: Any, predictions: Any
    ) -> Any:
        """The state after an observation, and the outputs, ``loss`` among them."""

    @abc.abstractmethod
    def _prediction_step(self, current_times: Any, state: Any) -> Any:
        """The state one step later, and predictions."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        """The state after a gap up to `current_times`."""

    @abc.abstractmethod
    def _exogenous_input_step(
        self, current_times: Any, current_exogenous_regressors: Any, state: Any
    ) -> Any:
        """The state after what is known from outside."""

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        del times, values, mode
        return 0.0

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Called before the steps of a window."""

    # -- the loop ---------------------------------------------------------

    def get_batch_loss(self, features: Any, mode: str, state: Any) -> ModelOutputs:
        """The mean loss of all observations, and the states at the ends."""
        loss, states, outputs = self.per_step_batch_loss(features, mode, state)
        return ModelOutputs(
            loss=loss,
            end_state=tf.nest.map_structure(lambda each: each[:, -1], states),
            predictions={**outputs, "observed": features[VALUES]},
            prediction_times=features[TIMES],
        )

    def per_step_batch_loss(self, features: Any, mode: str, state: Any) -> Any:
        """The mean loss, the states after each step, and the outputs."""
        self._check_graph_initialized()
        times = tf.cast(features[TIMES], tf.int64)
        values = tf.cast(features[VALUES], self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        others = {k: v for k, v in features.items() if k not in (TIMES, VALUES)}
        exogenous = self._process_exogenous_features(times, others)

        def step(number: Any, now: Any, state: Any) -> Any:
            state = self._with_exogenous(number, now, state, others, exogenous)
            predicted, predictions = self._prediction_step(
                current_times=now, state=state
            )
            return self._filtering_step(
                current_times=now,
                current_values=values[:, number, :],
                state=predicted,
                predictions=predictions,
            )

        states, outputs = self._loop(
            times, state, step, ["loss", *self._train_output_names]
        )
        losses = outputs.pop("loss")
        losses.set_shape(times.shape)
        count = tf.cast(tf.reduce_prod(tf.shape(times)), self.dtype)
        loss = tf.reduce_sum(losses) / count
        loss += self._loss_additions(times, values, mode)
        if self._normalize_features:
            outputs = self._scale_back_predictions(outputs)
        return loss, states, outputs

    def predict(self, features: Any) -> dict[str, Any]:
        """Predictions for the times of `features`, from their state on."""
        times = tf.cast(tf.convert_to_tensor(features[TIMES]), tf.int64)
        others = {k: v for k, v in features.items() if k not in (TIMES, STATE)}
        exogenous = self._process_exogenous_features(times, others)

        def step(number: Any, now: Any, state: Any) -> Any:
            state = self._with_exogenous(number, now, state, others, exogenous)
            return self._prediction_step(current_times=now, state=state)

        _, outputs = self._loop(
            times, features[STATE], step, self._predict_output_names
        )
        if self._normalize_features:
            outputs = self._scale_back_predictions(outputs)
        return outputs

    def _with_exogenous(
        self, number: Any, now: Any, state: Any, raw: dict[str, Any], exogenous: Any
    ) -> Any:
        if exogenous is None:
            return state
        updated = self._exogenous_input_step(
            current_times=now,
            current_exogenous_regressors=exogenous[:, number, :],
            state=state,
        )
        if self._exogenous_update_condition is None:
            return updated
        wanted = self._exogenous_update_condition(
            times=now,
            features={k: v[:, number] for k, v in raw.items() if k != STATE},
        )
        return tf.nest.map_structure(
            lambda new, old: tf.where(wanted, new, old), updated, state
        )

    def _loop(
        self,
        times: Any,
        state: Any,
        step: Callable[[Any, Any, Any], Any],
        outputs: Sequence[str],
    ) -> tuple[Any, dict[str, Any]]:
        """All states and outputs, [batch, time, ...], of a pass over `times`."""
        self._window_initializer(times, state)
        state = tf.nest.map_structure(tf.convert_to_tensor, state)
        flat = tf.nest.flatten(state)

        def one(number: Any, states: Any, *, reuse: Any) -> tuple[list[Any], list[Any]]:
            with tf.variable_scope("state_update_step", reuse=reuse):
                now = times[:, number]
                before = tf.nest.pack_sequence_as(state, states)
                before = self._imputation_step(current_times=now, state=before)
                after, found = step(number, now, before)
                if set(found) != set(outputs):
                    raise ValueError(
                        f"A step gives {sorted(found)}, expected {sorted(outputs)}."
                    )
                made = tf.nest.flatten(after)
                for new, old in zip(made, flat, strict=True):
                    new.set_shape(old.shape)
                return made, [found[name] for name in outputs]

        length = tf2.compat.dimension_value(times.shape[1])
        threshold = self._unrolled_up_to
        if threshold is not None and length is not None and length <= threshold:
            columns: list[list[Any]] = []
            states = flat
            for number in range(length):
                states, found = one(number, states, reuse=number > 0)
                columns.append([*states, *found])
            series = [tf.stack(each, axis=1) for each in zip(*columns, strict=True)]
        else:
            series = self._while_loop(times, flat, one, len(outputs))
        return (
            tf.nest.pack_sequence_as(state, series[: len(flat)]),
            dict(zip(outputs, series[len(flat) :], strict=True)),
        )

    def _while_loop(
        self, times: Any, flat: list[Any], one: Callable[..., Any], outputs: int
    ) -> list[Any]:
        size = tf.shape(times)[1]
        dtypes = [each.dtype for each in flat] + [self.dtype] * outputs
        arrays = [tf.TensorArray(dtype, size=size) for dtype in dtypes]

        def body(number: Any, states: Any, arrays: Any) -> Any:
            made, found = one(number, states, reuse=False)
            written = [
                array.write(number, value)
                for array, value in zip(arrays, [*made, *found], strict=True)
            ]
            return number + 1, made, written

        _, _, arrays = tf.while_loop(
            lambda number, *_: number < size, body, [tf.constant(0), flat, arrays]
        )
        return [_time_second(array.stack()) for array in arrays]


def _time_second(tensor: Any) -> Any:
    order = tf.concat([[1, 0], tf.range(2, tf.rank(tensor))], 0)
    return tf.transpose(tensor, order)
