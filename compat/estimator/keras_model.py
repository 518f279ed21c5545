"""``model_to_estimator``: a compiled Keras model as an Estimator."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf
import tf_keras

from ..engine import keras_private, private_api
from .estimator import (
    Estimator,
    EstimatorV2,
    maybe_overwrite_model_dir_and_session_config,
)
from .mode_keys import ModeKeys
from .run_config import RunConfig
from .spec import EstimatorSpec

__all__ = ["KerasModelFn", "model_to_estimator", "model_to_estimator_v2"]

_SERVING_KEY = "serving_default"


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: Any = None,
    config: RunConfig | None = None,
    checkpoint_format: str | None = "saver",
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, Any] | None = None,
) -> Estimator:
    """An Estimator that trains, evaluates and exports a compiled Keras model.

    The model's present weights are the Estimator's initial weights. The model
    object itself is not trained: it is cloned into the graph of each call.
    """
    return _model_to_estimator(
        Estimator,
        keras_model,
        keras_model_path,
        custom_objects,
        model_dir,
        config,
        checkpoint_format or "saver",
        metric_names_map,
        export_outputs,
    )


def model_to_estimator_v2(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: Any = None,
    config: RunConfig | None = None,
    checkpoint_format: str | None = "checkpoint",
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, Any] | None = None,
) -> Estimator:
    """:func:`model_to_estimator` of TF 2.x: object-based checkpoints."""
    return _model_to_estimator(
        EstimatorV2,
        keras_model,
        keras_model_path,
        custom_objects,
        model_dir,
        config,
        checkpoint_format or "checkpoint",
        metric_names_map,
        export_outputs,
    )


def _model_to_estimator(
    estimator_class: type[Estimator],
    keras_model: Any,
    keras_model_path: str | None,
    custom_objects: Mapping[str, Any] | None,
    model_dir: Any,
    config: RunConfig | None,
    checkpoint_format: str,
    metric_names_map: Mapping[str, str] | None,
    export_outputs: Mapping[str, Any] | None,
) -> Estimator:
    if keras_model is None and not keras_model_path:
        raise ValueError(
            "Either `keras_model` or `keras_model_path` needs to be provided."
        )
    if keras_model is not None and keras_model_path:
        raise ValueError(
            "Please specity either `keras_model` or `keras_model_path`, but not both."
        )
    if checkpoint_format not in ("saver", "checkpoint"):
        raise ValueError(
            "checkpoint_format must be one of 'saver' or 'checkpoint', "
            f"given: {checkpoint_format!r}"
        )
    config = maybe_overwrite_model_dir_and_session_config(config, model_dir)
    if keras_model is None:
        tf.logging.info("Loading models from %s", keras_model_path)
        keras_model = tf_keras.models.load_model(
            os.fspath(keras_model_path or ""), custom_objects=custom_objects
        )
    else:
        tf.logging.info("Using the Keras model provided.")
    _check_is_tf_keras(keras_model)
    if not getattr(keras_model, "optimizer", None):
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the "
            "model with `model.compile()` before calling `model_to_estimator()`."
        )
    if metric_names_map is not None:
        metric_names_map = dict(metric_names_map)
    model_fn = KerasModelFn(
        keras_model,
        custom_objects=custom_objects,
        object_checkpoint=checkpoint_format == "checkpoint",
        metric_names_map=metric_names_map,
        export_outputs=export_outputs,
        config=config,
    )
    return estimator_class(model_fn, config=config)


def _check_is_tf_keras(model: Any) -> None:
    if isinstance(model, tf_keras.Model):
        return
    module = type(model).__module__
    if module.split(".", 1)[0] == "keras" or "keras" in str(type(model).__mro__):
        raise ValueError(
            "The given model is a Keras 3 model, which cannot be built into a session "
            "graph. Build it with tf_keras (`import tf_keras as keras`, or "
            "tfmigrate.compat.v1's tf.keras)."
        )
    raise ValueError(f"keras_model must be a compiled Keras model, given: {model!r}")


class KerasModelFn:
    """The model function of a compiled Keras model."""

    def __init__(
        self,
        keras_model: Any,
        *,
        custom_objects: Mapping[str, Any] | None,
        object_checkpoint: bool,
        metric_names_map: Mapping[str, str] | None,
        export_outputs: Mapping[str, Any] | None,
        config: RunConfig,
    ) -> None:
        self._model = keras_model
        self._custom_objects = dict(custom_objects or {})
        self._object_checkpoint = object_checkpoint
        self._metric_names_map = metric_names_map
        self._export_outputs = export_outputs
        self._settle_optimizer()
        # Read now: in a session graph the class of the model is another one,
        # which looks for its compile arguments in another place.
        self._compile_args = keras_model._get_compile_args()
        with self.building():
            self._initial = _InitialWeights(self, keras_model, config)

    def _settle_optimizer(self) -> None:
        """Keeps what a clone in another graph needs of the optimizer.

        Only the older Keras optimizers can be built into a graph; the newer
        ones have the same update rules and are converted.
        """
        optimizer = self._model.optimizer
        if isinstance(optimizer, tf_keras.optimizers.Optimizer) and not isinstance(
            optimizer, tf_keras.optimizers.legacy.Optimizer
        ):
            optimizer = keras_private.convert_to_legacy_optimizer(optimizer)
            self._model.optimizer = optimizer
        self._optimizer_config: Any
        try:
            self._optimizer_config = optimizer.get_config()
        except (NotImplementedError, AttributeError):
            # tf.train optimizers have none: the object itself is used.
            self._optimizer_config = None

    @property
    def has_initial_weights(self) -> bool:
        """Whether variables of a new graph start with the given model's weights."""
        return self._initial.path is not None

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """Held by the Estimator while it builds a graph with this function."""
        attributes = self._model.__dict__
        with keras_private.class_bases_kept(self._model):
            attributes["_get_compile_args"] = lambda *_, **__: dict(self._compile_args)
            try:
                yield
            finally:
                # Cloning puts a method of its own there, too; with either of
                # them the user's model could not be saved any more.
                attributes.pop("_get_compile_args", None)

    def __call__(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        model = self.clone(mode, features, labels)
        names = model.output_names
        if tf.distribute.has_strategy():
            # A clone per replica must give the same names for regrouping.
            names = [re.sub(r"_\d$", "", name) for name in names]
        outputs = model.outputs
        predictions = dict(zip(names, tf.nest.flatten(outputs), strict=True))
        loss = train_op = metrics = None
        if mode != ModeKeys.PREDICT:
            if mode == ModeKeys.TRAIN:
                model._make_train_function()
                train_op = model.train_function.updates_op
            else:
                with warnings.catch_warnings():
                    # About Model.state_updates, which Keras itself reads here.
                    warnings.filterwarnings("ignore", message=".*state_updates.*")
                    model._make_test_function()
            loss = model.total_loss
            if mode == ModeKeys.EVAL and _gives_true_mean(tf.distribute.get_strategy()):
                # Keras divided it by the number of replicas; evaluation takes
                # the mean over them again.
                loss *= tf.distribute.get_strategy().num_replicas_in_sync
            metrics = self._metrics(model)
        self._restore_subclassed()
        scaffold = self._scaffold(model) if self._object_checkpoint else None
        self._initial.assign_in_graph(model, mode)
        return EstimatorSpec(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            export_outputs=self._exports(model, predictions),
            scaffold=scaffold,
        )

    def optimizer_scales_loss(self, strategy: Any) -> bool:
        """Whether the optimizer divides by the number of replicas once more.

        Keras does so itself when it computes the loss. TF 1.15 and later
        divided twice with several replicas, TF 1.12 once.
        """
        if strategy.num_replicas_in_sync > 1 and not _gives_true_mean(strategy):
            _say_twice_scaled(strategy)
        return not _gives_true_mean(strategy)

    @staticmethod
    def present_results(results: dict[str, Any]) -> dict[str, Any]:
        """Metrics under the names of all generations."""
        return _KerasResults(results)

    # -- building --------------------------------------------------------

    def clone(self, mode: str, features: Any = None, labels: Any = None) -> Any:
        """A clone of the model in the current graph, on the given tensors."""
        with warnings.catch_warnings():
            # Deprecated for loops; in a session graph it is still the only way.
            warnings.filterwarnings("ignore", message=".*set_learning_phase.*")
            tf_keras.backend.set_learning_phase(mode == ModeKeys.TRAIN)
        features, sample_weights = _split_sample_weights(features)
        inputs = _ordered_inputs(self._model, features)
        targets = _ordered_targets(self._model, labels)
        compile_clone = mode != ModeKeys.PREDICT
        global_step = None
        if compile_clone:
            global_step = tf.train.get_or_create_global_step()
            keras_private.track_variable(global_step)
        clone = keras_private.clone_and_build_model(
            self._model,
            inputs,
            targets,
            self._custom_objects,
            compile_clone=compile_clone,
            in_place_reset=not self._model._is_graph_network,
            optimizer_iterations=global_step,
            optimizer_config=self._optimizer_config,
        )
        if sample_weights is not None and compile_clone:
            weights = keras_private.standardize_sample_weights(
                sample_weights, clone.output_names
            )
            clone._compile_weights_loss_and_weighted_metrics(weights)
        return clone

    def _restore_subclassed(self) -> None:
        """A model that had to be reset in place gets its own state back."""
        model = self._model
        if not model._is_graph_network and getattr(
            model, "_original_attributes_cache", None
        ):
            keras_private.restore_subclassed_model(model)

    def _metrics(self, model: Any) -> dict[str, Any] | None:
        if not getattr(model, "_compile_metrics", None):
            return None
        # Metrics that layers added themselves were never reported.
        compiled = model._compile_metric_functions
        renamed = self._metric_names_map
        if not renamed:
            return {m.name: m for m in compiled}
        names = {m.name for m in compiled}
        unknown = sorted(names - set(renamed))
        if unknown:
            raise ValueError(
                "Invalid `metric_names_map`. The following keras model metric names:"
                f'"{unknown}" do not exist in the `metric_names_map` dictionary'
            )
        extra = sorted(set(renamed) - names)
        if extra:
            raise ValueError(
                "Invalid `metric_names_map`. There are unexpected keys in the "
                f"`metric_names_map` dictionary. Expected keys: {sorted(names)}, "
                f"Received: {extra}"
            )
        return {renamed[m.name]: m for m in compiled}

    def _exports(self, model: Any, predictions: Mapping[str, Any]) -> dict[str, Any]:
        output = private_api.export_output
        exports: dict[str, Any] = {_SERVING_KEY: output.PredictOutput(predictions)}
        wanted = self._export_outputs or {}
        missing = sorted(set(wanted) - set(model.output_names))
        if missing:
            raise KeyError(
                "export_outputs names outputs that the keras model does not have: "
                f"{missing}. The model's outputs are {sorted(model.output_names)}."
            )
        exports.update({key: kind(predictions[key]) for key, kind in wanted.items()})
        return exports

    def _scaffold(self, model: Any) -> Any:
        model._track_trackable(tf.train.get_global_step(), "estimator_global_step")
        return tf.train.Scaffold(saver=private_api.object_saver(model))


def _gives_true_mean(strategy: Any) -> bool:
    """The contrib strategies are those of TF 1.12, which had no double scaling."""
    return getattr(strategy, "_tfmigrate_contrib", False) is True


_said_twice_scaled = False


def _say_twice_scaled(strategy: Any) -> None:
    global _said_twice_scaled
    if _said_twice_scaled:
        return
    _said_twice_scaled = True
    count = strategy.num_replicas_in_sync
    tf.logging.warning(
        "model_to_estimator under tf.distribute.%s divides the loss by the number of "
        "replicas twice, as TF 1.15 to 2.15 do: the reported loss, and gradients given "
        "to tf.train optimizers, are 1/%d of the mean over replicas. The strategies of "
        "tf.contrib.distribute give the true mean, as TF 1.12 did.",
        type(strategy).__name__,
        count,
    )


class _KerasResults(dict[str, Any]):
    """Evaluation results; metrics are found under all their names.

    The accuracy was called ``accuracy`` by TF 1.12 and 2.x and ``acc`` by TF 1.15.
    """

    # Functions of metrics that Keras has renamed since, and the accuracy.
    _RENAMED = (
        ("acc", "accuracy"),
        ("cosine_proximity", "cosine_similarity"),
        ("kullback_leibler_divergence", "kl_divergence"),
        ("logcosh", "log_cosh"),
    )
    _OTHER = dict((*_RENAMED, *((new, old) for old, new in _RENAMED)))  # noqa: RUF012

    def __missing__(self, key: str) -> Any:
        other = self._OTHER.get(key)
        if other is not None and other in self:
            return self[other]
        raise KeyError(key)


class _InitialWeights:
    """The weights the Keras model has now, for graphs without a checkpoint.

    They are written to ``model_dir/keras`` like every Estimator of a Keras
    model did, and read from there by the variables' initial values. Real
    Estimators read the trainable variables only; moving averages of a trained
    model are kept here, too.
    """

    def __init__(self, owner: KerasModelFn, model: Any, config: RunConfig) -> None:
        self._owner = owner
        self._config = config
        self.path = self._save(model)

    def _save(self, model: Any) -> str | None:
        if not model.built or not (
            model._is_graph_network or isinstance(model, tf_keras.Sequential)
        ):
            if model.built:
                tf.logging.warning(
                    "The Estimator of a subclassed Keras model starts from freshly "
                    "initialised weights; the model object keeps its own."
                )
            return None
        if not model.weights:
            return None
        directory = os.path.join(self._config.model_dir or "", "keras")
        found: str | None = tf.train.latest_checkpoint(directory)
        if found:
            return found
        if not tf.executing_eagerly() and not _has_values(model):
            # The first session of Keras is made with the Estimator's settings.
            keras_private.set_session(tf.Session(config=self._config.session_config))
        weights = model.get_weights()
        tf.gfile.MakeDirs(directory)
        path = os.path.join(directory, "keras_model.ckpt")
        with tf.Graph().as_default():
            tf.set_random_seed(self._config.tf_random_seed)
            tf.train.create_global_step()
            clone = self._owner.clone(ModeKeys.PREDICT)
            saver = tf.train.Saver(clone.weights)
            with tf.Session(config=self._config.session_config) as session:
                for variable, value in zip(clone.weights, weights, strict=True):
                    initializer = variable.initializer
                    session.run(initializer, {initializer.inputs[1]: value})
                saver.save(session, path, write_meta_graph=False)
        return path

    def assign_in_graph(self, model: Any, mode: str) -> None:
        """Makes the saved weights the initial values of the clone's variables."""
        del mode
        if self.path is None or tf.train.latest_checkpoint(self._config.model_dir):
            return
        names = {name for name, _ in tf.train.list_variables(self.path)}
        wanted = {
            _checkpoint_name(v): v
            for v in model.weights
            if _checkpoint_name(v) in names
        }
        if wanted:
            tf.train.init_from_checkpoint(self.path, wanted)


def _has_values(model: Any) -> bool:
    """Whether Keras has initialised any weight of a model in a session."""
    return any(getattr(weight, "_keras_initialized", False) for weight in model.weights)


def _checkpoint_name(variable: Any) -> str:
    name = variable.name.split(":")[0]
    return re.sub(r"/replica_\d+$", "", name)


# -- features and labels ---------------------------------------------------


def _split_sample_weights(features: Any) -> tuple[Any, Any]:
    if isinstance(features, dict) and set(features) == {"features", "sample_weights"}:
        return features["features"], features["sample_weights"]
    return features, None


def _as_tensor(value: Any) -> Any:
    if tf.is_tensor(value):
        return value
    return tf.convert_to_tensor(value)


def _in_order(value: Any, order: list[str], what: str, of_what: str) -> Any:
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return [_as_tensor(v) for v in value]
    if isinstance(value, dict):
        different = set(value) ^ set(order)
        if different:
            raise KeyError(
                f"The dictionary passed into {what} does not have the expected "
                f"{of_what} keys defined in the keras model.\n\tExpected keys: "
                f"{set(order)}\n\t{what} keys: {set(value)}\n\tDifference: {different}"
            )
        return [_as_tensor(value[key]) for key in order]
    return [_as_tensor(value)]


def _names(model: Any, value: Any, kind: str) -> list[str]:
    if model._is_graph_network:
        return list(getattr(model, f"{kind}_names"))
    return [f"{kind}_{i}" for i in range(1, len(value) + 1)]


def _ordered_inputs(model: Any, features: Any) -> Any:
    if features is None:
        return None
    if isinstance(features, dict):
        if isinstance(model.inputs, dict):
            return {key: _as_tensor(features[key]) for key in model.inputs}
        if model.inputs is None:
            return {key: _as_tensor(value) for key, value in features.items()}
        return _in_order(
            features, _names(model, features, "input"), "features", "inputs"
        )
    return _in_order(features, [], "features", "inputs")


def _ordered_targets(model: Any, labels: Any) -> Any:
    order = _names(model, labels, "output") if isinstance(labels, dict) else []
    return _in_order(labels, order, "labels", "outputs")
