"""`model_to_estimator`: a compiled Keras model, trained by the loop."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
import tf_keras

from .asked import EXPORTS
from .config import RunConfig
from .estimator import Estimator
from .exporting import DEFAULT_SIGNATURE, PredictOutput
from .training import FIRST_WEIGHTS
from .vocabulary import EstimatorSpec, ModeKeys, v1


class KerasFigures(dict[str, Any]):
    """Figures of an evaluation; those with two names are found under both."""

    def __missing__(self, key: str) -> Any:
        other = {"acc": "accuracy", "accuracy": "acc"}.get(key, at_length(key))
        if other != key and other in self:
            return self[other]
        raise KeyError(key)


class KerasEstimator(Estimator):
    """An Estimator of a compiled Keras model."""

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """As for any model."""
        return KerasFigures(super().evaluate(*args, **kwargs))


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: Any = None,
    config: RunConfig | None = None,
    checkpoint_format: str | None = None,
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, Any] | None = None,
) -> KerasEstimator:
    """An Estimator that trains copies of a compiled model.

    They begin with the weights that the model has now; the model keeps them.
    """
    del checkpoint_format
    if keras_model is None and not keras_model_path:
        raise ValueError(
            "Either `keras_model` or `keras_model_path` needs to be provided."
        )
    if keras_model is None:
        keras_model = tf_keras.models.load_model(
            str(keras_model_path), custom_objects=custom_objects
        )
    if not isinstance(keras_model, tf_keras.Model):
        raise ValueError(
            "The model has to be made with tf_keras (`import tf_keras as keras`), "
            f"given: {keras_model!r}"
        )
    if not getattr(keras_model, "optimizer", None):
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the "
            "model with `model.compile()` before calling `model_to_estimator()`."
        )
    model_fn = KerasModelFn(
        keras_model, dict(metric_names_map or {}), dict(export_outputs or {})
    )
    return KerasEstimator(model_fn, model_dir, config)


class KerasModelFn:
    """The model function of a compiled Keras model."""

    # What the accuracy is called, where it was given as a word.
    accuracy = "accuracy"

    def __init__(
        self,
        model: Any,
        metric_names: dict[str, str],
        export_outputs: dict[str, Any],
    ):
        self.model = model
        self.metric_names = metric_names
        self.export_outputs = export_outputs
        self.weights = model.get_weights() if model.built else None

    def __call__(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        """One step of a fresh copy, or a prediction."""
        features, weights = without_sample_weights(features)
        step = v1.train.get_or_create_global_step()
        # Replicas share them. Keras makes such things outside of replicas only.
        replica = tf.distribute.get_replica_context()
        model, optimizer = replica.merge_call(lambda _: self.copies(mode, step))
        inputs = in_order(features, model, "input_names")
        targets = in_order(labels, model, "output_names")
        forward = forward_function(model, mode)
        outputs, loss = forward(inputs, targets, weights)
        predictions = dict(
            zip(output_names(model, outputs), tf.nest.flatten(outputs), strict=True)
        )
        if self.weights is not None:
            v1.add_to_collection(FIRST_WEIGHTS, self.start_of(model))
        if mode == ModeKeys.PREDICT:
            if EXPORTS:
                exports = {DEFAULT_SIGNATURE: PredictOutput(predictions)}
                for name, kind in self.export_outputs.items():
                    exports[name] = kind(predictions[name])
                return EstimatorSpec(mode, predictions, export_outputs=exports)
            return EstimatorSpec(mode, predictions)
        if mode == ModeKeys.EVAL:
            metrics = self.metrics(model, targets, outputs, weights)
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
        loss, train_op = updated(model, optimizer, loss, step)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def copies(self, mode: str, step: Any) -> tuple[Any, Any]:
        """A model to train or ask, and the optimizer that trains it."""
        optimizer = None
        with tf.init_scope():
            model = self.fresh_copy()
            if mode != ModeKeys.PREDICT:
                compile_as(model, self.model, self.accuracy)
            if mode == ModeKeys.TRAIN:
                optimizer = graph_optimizer(self.model.optimizer, step)
        return model, optimizer

    def fresh_copy(self) -> Any:
        """A model of the same layers, with variables of its own."""
        try:
            return tf_keras.models.clone_model(self.model)
        except (ValueError, NotImplementedError) as error:
            if self.model.built:
                raise ValueError(
                    f"{type(self.model).__name__} cannot be copied ({error}). Give "
                    "model_to_estimator a model that has not been called yet, or one "
                    "made of layers."
                ) from error
        return copy.deepcopy(self.model)

    def start_of(self, model: Any) -> Callable[[], None]:
        """What gives a model that was never trained its weights."""

        def begin() -> None:
            with tf.init_scope():
                model.set_weights(self.weights)

        return begin

    def metrics(
        self, model: Any, targets: Any, outputs: Any, weights: Any
    ) -> dict[str, Any]:
        """The metrics that the model was compiled with: values and updates."""
        compiled = model.compiled_metrics
        with tf.init_scope(), v1.variable_creator_scope(made_as_local):
            compiled.build(outputs, targets)

        def update(targets: Any, outputs: Any, weights: Any) -> Any:
            compiled.update_state(targets, outputs, sample_weight=weights)
            return tf.constant(True)

        done = tf.function(update, autograph=False)(targets, outputs, weights)
        return {
            self.metric_names.get(metric.name, metric.name): (metric.result(), done)
            for metric in compiled.metrics
        }


def without_sample_weights(features: Any) -> tuple[Any, Any]:
    """Features, and the weights of examples that may come with them."""
    if isinstance(features, dict) and set(features) == {"features", "sample_weights"}:
        return features["features"], features["sample_weights"]
    return features, None


def in_order(tensors: Any, model: Any, names: str) -> Any:
    """Tensors given by name, in the order of the model's inputs or outputs."""
    if not isinstance(tensors, dict):
        return tensors
    order = getattr(model, names, None)
    if order is None:
        return tensors
    different = set(tensors) ^ set(order)
    if different:
        raise KeyError(
            f"The names {sorted(tensors)} are not those of the Keras model: "
            f"{list(order)}"
        )
    found = [tensors[name] for name in order]
    return found[0] if len(found) == 1 else found


def output_names(model: Any, outputs: Any) -> list[str]:
    """The names of a model's outputs."""
    names = getattr(model, "output_names", None)
    count = len(tf.nest.flatten(outputs))
    if names and len(names) == count:
        return list(names)
    return [f"output_{number}" for number in range(1, count + 1)]


def forward_function(model: Any, mode: str) -> Callable[..., Any]:
    """The model and its loss as a function, which runs its layers' own updates."""

    def forward(inputs: Any, targets: Any, weights: Any) -> tuple[Any, Any]:
        outputs = model(inputs, training=mode == ModeKeys.TRAIN)
        if mode == ModeKeys.PREDICT:
            return outputs, tf.constant(0.0)
        loss = model.compiled_loss(
            targets, outputs, sample_weight=weights, regularization_losses=model.losses
        )
        # Keras divides it by the number of replicas; here that is done once, below.
        return outputs, loss * tf.distribute.get_strategy().num_replicas_in_sync

    function: Callable[..., Any] = tf.function(forward, autograph=False)
    return function


def updated(model: Any, optimizer: Any, loss: Any, step: Any) -> tuple[Any, Any]:
    """The loss to report and the operation that takes a step down it."""
    trained = model.trainable_weights
    with tf.name_scope("training"):
        if isinstance(optimizer, v1.train.Optimizer):
            # It divides by the number of replicas itself.
            return loss, optimizer.minimize(loss, step, var_list=trained)
        loss = loss / tf.distribute.get_strategy().num_replicas_in_sync
        return loss, tf.group(optimizer.get_updates(loss, trained))


def graph_optimizer(optimizer: Any, step: Any) -> Any:
    """A fresh optimizer of the same settings, of the kind that makes operations.

    The newer optimizers of Keras do not; they compute the same.
    """
    optimizer = getattr(optimizer, "optimizer", optimizer)
    if isinstance(optimizer, v1.train.Optimizer):
        return copy.deepcopy(optimizer)
    legacy = tf_keras.optimizers.legacy
    settings = optimizer.get_config()
    kind = type(optimizer)
    if not isinstance(optimizer, legacy.Optimizer):
        kind = getattr(legacy, kind.__name__)
        known = inspect.signature(kind.__init__).parameters
        settings = {name: value for name, value in settings.items() if name in known}
    made = kind.from_config(settings)
    made.iterations = step  # It counts the steps, as the global step.
    return made


def compile_as(model: Any, other: Any, accuracy: str) -> None:
    """Compiles a model with the losses and metrics of another.

    Keras has no public name for what a model was compiled with.
    """
    given = other._get_compile_args()

    def named(metric: Any) -> Any:
        return accuracy if metric == "accuracy" else at_length(metric)

    with v1.variable_creator_scope(made_as_local):
        model.compile(
            tf_keras.optimizers.legacy.SGD(),  # It is never asked for a step.
            loss=copied(given["loss"]),
            metrics=tf.nest.map_structure(named, copied(given["metrics"])),
            loss_weights=given["loss_weights"],
            weighted_metrics=tf.nest.map_structure(
                named, copied(given["weighted_metrics"])
            ),
        )


def at_length(metric: Any) -> Any:
    """`mean_squared_error` for "mse": TensorFlow 1 named metrics by their functions."""
    if not isinstance(metric, str) or metric == "acc":
        return metric
    try:
        return getattr(tf_keras.metrics.get(metric), "__name__", metric)
    except ValueError:
        return metric


def copied(given: Any) -> Any:
    """Metrics and losses anew: objects of them count for one model only."""
    known = (tf_keras.metrics.Metric, tf_keras.losses.Loss)
    return tf.nest.map_structure(
        lambda one: (
            type(one).from_config(one.get_config()) if isinstance(one, known) else one
        ),
        given,
    )


def made_as_local(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
    """Makes a variable that is not saved."""
    kwargs["collections"] = [v1.GraphKeys.LOCAL_VARIABLES]
    return next_creator(**kwargs)
