"""Estimators of series, and what goes on from their evaluations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from ...estimator.estimator import Estimator
from ...estimator.mode_keys import ModeKeys
from ...estimator.spec import EstimatorSpec
from .autoregressive import ARModel, FlatPredictionModel
from .keys import FilteringResults, PredictionFeatures, TrainEvalFeatures
from .models import ModelOutputs
from .statistics import InputStatisticsFromMiniBatch

__all__ = [
    "ARRegressor",
    "FilteringOnlyStateManager",
    "PassthroughStateManager",
    "TimeSeriesRegressionHead",
    "TimeSeriesRegressor",
    "predict_continuation_input_fn",
]

TIMES, VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
STATE = PredictionFeatures.STATE_TUPLE


class PassthroughStateManager:
    """Every window starts from the model's start state."""

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """Called for each graph."""
        del model, input_statistics

    def define_loss(self, model: Any, features: Any, mode: str) -> ModelOutputs:
        """The loss of a batch."""
        if STATE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        found: ModelOutputs = model.define_loss(features, mode)
        return found


class FilteringOnlyStateManager(PassthroughStateManager):
    """An evaluation may start from a state that is among the features."""

    def define_loss(self, model: Any, features: Any, mode: str) -> ModelOutputs:
        """The loss of a batch."""
        if STATE not in features:
            return super().define_loss(model, features, mode)
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for "
                f"feature {STATE} was specified)."
            )
        others = {key: value for key, value in features.items() if key != STATE}
        found: ModelOutputs = model.get_batch_loss(
            features=others, mode=mode, state=features[STATE]
        )
        return found


class TimeSeriesRegressionHead:
    """The model function of a model of series."""

    def __init__(
        self,
        model: Any,
        state_manager: Any,
        optimizer: Any,
        input_statistics_generator: Any = None,
        name: str | None = None,
    ) -> None:
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self.name = name

    def create_estimator_spec(
        self, features: Any, mode: str, labels: Any = None
    ) -> EstimatorSpec:
        """Features are times and values; there are no labels."""
        with tf.name_scope(self.name, "head"):
            if labels:
                raise ValueError(
                    "The model received a `labels`, which is not supported. Pass "
                    f"'{TIMES}' and '{VALUES}' as features."
                )
            features = {name: self._tensor(name, v) for name, v in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(
                    features, update_statistics=mode == ModeKeys.TRAIN
                )
            self.model.initialize_graph(input_statistics=statistics)
            _check(features, mode, self.model.num_features)
            self.state_manager.initialize_graph(
                model=self.model, input_statistics=statistics
            )
            if mode == ModeKeys.PREDICT:
                with tf.variable_scope("model", use_resource=True):
                    predictions = self.model.predict(features=features)
                return EstimatorSpec(
                    mode, predictions={**predictions, TIMES: features[TIMES]}
                )
            with tf.variable_scope("model", use_resource=True):
                outputs = self._loss(features, mode)
            if mode == ModeKeys.TRAIN:
                step = tf.train.get_global_step()
                train_op = self.optimizer.minimize(outputs.loss, global_step=step)
                return EstimatorSpec(mode, loss=outputs.loss, train_op=train_op)
            return EstimatorSpec(
                mode,
                loss=outputs.loss,
                eval_metric_ops=_last_values(outputs),
                predictions=outputs.predictions,
            )

    def _loss(self, features: Any, mode: str) -> ModelOutputs:
        outputs: ModelOutputs = self.state_manager.define_loss(
            self.model, features, mode
        )
        tf.summary.scalar(f"loss/{self.name}" if self.name else "loss", outputs.loss)
        return outputs

    def _tensor(self, name: str, value: Any) -> Any:
        if name == TIMES:
            return tf.cast(value, tf.int64)
        if name == VALUES:
            return tf.cast(value, self.model.dtype)
        if name == STATE:
            return value
        return tf.convert_to_tensor_or_sparse_tensor(value)


def _check(features: dict[str, Any], mode: str, num_features: int) -> None:
    """Raises for features that are missing or do not fit the times."""
    predicting = mode == ModeKeys.PREDICT
    for name in (TIMES, STATE if predicting else VALUES):
        if name not in features:
            purpose = "prediction" if predicting else "training/evaluation"
            raise ValueError(f"Expected a '{name}' feature for {purpose}.")
    times = features[TIMES]
    if not times.shape.is_compatible_with([None, None]):
        raise ValueError(
            f"Expected shape (batch dimension, window size) for feature '{TIMES}' "
            f"(got shape {times.shape})"
        )
    if not predicting:
        values = features[VALUES]
        if not values.shape.is_compatible_with([None, None, num_features]):
            raise ValueError(
                "Expected shape (batch dimension, window size, "
                f"{num_features}) for feature '{VALUES}', since the model was "
                f"configured with num_features={num_features} (got shape "
                f"{values.shape})"
            )
    for name, value in features.items():
        if name == STATE or value.shape.ndims is None:
            continue
        if value.shape.ndims < 2 or not value.shape[:2].is_compatible_with(times.shape):
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) where "
                f"batch dimension and window size match the '{TIMES}' feature (got "
                f"shape {value.shape} for feature '{name}' but shape {times.shape} for "
                f"feature '{TIMES}')"
            )


def _last_values(outputs: ModelOutputs) -> dict[str, Any]:
    """Metrics that give predictions, times and state as the last batch had them."""
    metrics = {key: _last_value(key, v) for key, v in outputs.predictions.items()}
    metrics[FilteringResults.TIMES] = _last_value(
        FilteringResults.TIMES, outputs.prediction_times
    )
    key = FilteringResults.STATE_TUPLE
    parts = [
        _last_value(f"{key}_{number}", tensor)
        for number, tensor in enumerate(tf.nest.flatten(outputs.end_state))
    ]
    state = tf.nest.pack_sequence_as(outputs.end_state, [value for value, _ in parts])
    metrics[key] = (state, tf.group(*[update for _, update in parts]))
    metrics["average_loss"] = tf.metrics.mean(outputs.loss, name="average_loss")
    return metrics


def _last_value(name: str, tensor: Any) -> tuple[Any, Any]:
    variable = tf.Variable(
        tf.zeros([], tensor.dtype),
        name=f"{name}_identity_metric",
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
        use_resource=False,
    )
    update = tf.assign(variable, tensor, validate_shape=False)
    value = tf.identity(variable)
    value.set_shape(tensor.shape)
    return value, update


class TimeSeriesRegressor(Estimator):
    """Trains, evaluates and predicts with a model of series."""

    def __init__(
        self,
        model: Any,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: Any = None,
        config: Any = None,
        head_type: Callable[..., Any] = TimeSeriesRegressionHead,
    ) -> None:
        if state_manager is None:
            kind = (
                FilteringOnlyStateManager
                if isinstance(model, ARModel)
                else PassthroughStateManager
            )
            state_manager = kind()
        self._model = model
        head = head_type(
            model=model,
            state_manager=state_manager,
            optimizer=optimizer or tf.train.AdamOptimizer(0.02),
            input_statistics_generator=InputStatisticsFromMiniBatch(
                dtype=model.dtype, num_features=model.num_features
            ),
        )
        super().__init__(
            model_fn=head.create_estimator_spec, model_dir=model_dir, config=config
        )


class ARRegressor(TimeSeriesRegressor):
    """An Estimator of an `ARModel`."""

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: Any = None,
        optimizer: Any = None,
        model_dir: Any = None,
        config: Any = None,
    ) -> None:
        if anomaly_prior_probability is None and anomaly_distribution is not None:
            raise ValueError(
                "anomaly_prior_probability is required if anomaly_distribution is "
                "specified."
            )
        if anomaly_prior_probability is not None:
            raise NotImplementedError(
                "ARRegressor with anomaly_prior_probability is not available on this "
                "TensorFlow: leave the argument out, or model the anomalies in a "
                "SequentialTimeSeriesModel of your own."
            )
        super().__init__(
            model=ARModel(
                periodicities=periodicities,
                num_features=num_features,
                prediction_model_factory=functools.partial(
                    FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes
                ),
                exogenous_feature_columns=exogenous_feature_columns,
                num_time_buckets=num_time_buckets,
                input_window_size=input_window_size,
                output_window_size=output_window_size,
                loss=loss,
            ),
            optimizer=optimizer or tf.train.AdagradOptimizer(0.1),
            model_dir=model_dir,
            config=config,
        )


def predict_continuation_input_fn(
    evaluation: dict[str, Any],
    steps: int | None = None,
    times: Any = None,
    exogenous_features: dict[str, Any] | None = None,
) -> Callable[[], Any]:
    """An input function of the times after an evaluation, with its end state."""
    if (steps is None) == (times is None):
        raise ValueError("Exactly one of `steps` and `times` must be specified.")
    before = np.asarray(evaluation[FilteringResults.TIMES])
    if steps is not None:
        wanted = before[:, -1:] + 1 + np.arange(steps)[np.newaxis]
    else:
        wanted = np.array(times)
        wanted = wanted if wanted.ndim == 2 else wanted[np.newaxis]
        if len(before) != len(wanted):
            raise ValueError(
                "`times` must have a batch dimension matching the previous model "
                f"output (got a batch dimension of {len(wanted)} for `times` and "
                f"{len(before)} for the previous model output)."
            )
        if not (before[:, -1] < wanted[:, 0]).all():
            raise ValueError(
                "Prediction times must be after the corresponding previous model "
                "output."
            )
    features = {
        STATE: evaluation[FilteringResults.STATE_TUPLE],
        TIMES: wanted,
        **(exogenous_features or {}),
    }
    state = features.pop(STATE)
    flat = [np.asarray(part) for part in tf.nest.flatten(state)]

    def input_fn() -> tuple[dict[str, Any], None]:
        data = tf2.data.Dataset.from_tensors((features, tuple(flat)))
        found, parts = tf.data.make_one_shot_iterator(data).get_next()
        packed = tf.nest.pack_sequence_as(state, list(parts))
        return {**found, STATE: packed}, None

    return input_fn
