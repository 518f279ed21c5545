"""``learn.Estimator`` and what its model functions give and take."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from ...engine.callables import accepts_any_keyword, argument_names
from ...estimator import estimator as core
from ...estimator.mode_keys import ModeKeys as CoreModeKeys
from ...estimator.spec import EstimatorSpec
from .keys import PredictionKey, ProblemType
from .metric_spec import MetricSpec, metric_ops
from .monitors import replace_monitors_with_hooks
from .trainable import Evaluable, Trainable

__all__ = ["Estimator", "MetricSpec", "ModeKeys", "ModelFnOps", "SKCompat"]


class ModeKeys:
    """The modes, under the names that tf.contrib.learn used."""

    TRAIN = CoreModeKeys.TRAIN
    EVAL = CoreModeKeys.EVAL
    INFER = CoreModeKeys.PREDICT


_Ops = collections.namedtuple(
    "_Ops",
    "predictions loss train_op eval_metric_ops output_alternatives "
    "training_chief_hooks training_hooks scaffold mode",
)


class ModelFnOps(_Ops):
    """What a model function of tf.contrib.learn returns."""

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        """Check what the mode needs."""
        if mode == ModeKeys.TRAIN and train_op is None:
            raise ValueError("Missing train_op.")
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL) and loss is None:
            raise ValueError("Missing loss.")
        if mode == ModeKeys.INFER and predictions is None:
            raise ValueError("Missing predictions.")
        return super().__new__(
            cls,
            predictions,
            loss,
            train_op,
            eval_metric_ops or {},
            output_alternatives,
            training_chief_hooks or [],
            training_hooks or [],
            scaffold,
            mode,
        )

    def estimator_spec(self, default_serving_output_alternative_key: Any = None) -> Any:
        """The same as a ``tf.estimator.EstimatorSpec``."""
        del default_serving_output_alternative_key
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=_pairs(self.eval_metric_ops),
            export_outputs=_exports(self) if self.mode == ModeKeys.INFER else None,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def _pairs(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Metrics with what updates them; a tensor alone is looked at once, at the end."""
    return {
        name: metric if isinstance(metric, tuple) else (metric, tf.no_op())
        for name, metric in metrics.items()
    }


def _exports(ops: ModelFnOps) -> Any:
    from .exports import Served

    heads = ops.output_alternatives
    if not heads:
        found = ops.predictions
        outputs = found if isinstance(found, dict) else {PredictionKey.GENERIC: found}
        heads = {"default_output_alternative": (ProblemType.UNSPECIFIED, outputs)}
    served = {
        f"default_input_alternative:{name}": Served(problem, outputs)
        for name, (problem, outputs) in heads.items()
    }
    default = next(iter(served.values()))
    if len(served) > 1:
        default = Served(ProblemType.UNSPECIFIED, ops.predictions)
    key = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    return {key: default, **served}


class Estimator(Evaluable, Trainable):
    """``fit`` / ``evaluate`` / ``predict`` over a model function."""

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        self._user_model_fn = model_fn
        self._engineer = feature_engineering_fn
        self._metrics: Any = None
        # Kind and shape of the labels of the last call that had some.
        self._labels_seen: Any = None
        self._core = core.Estimator(
            self._core_model_fn, model_dir=model_dir, config=config, params=params
        )

    def _core_model_fn(
        self, features: Any, labels: Any, mode: str, params: Any, config: Any
    ) -> Any:
        if labels is not None:
            self._labels_seen = _kinds(labels)
        elif self._labels_seen is not None:
            # Functions without modes read labels that nobody will feed.
            labels = _stand_ins(self._labels_seen)
        if self._engineer is not None:
            features, labels = self._engineer(features, labels)
        offered = {
            "mode": mode,
            "params": params,
            "config": config,
            "model_dir": self.model_dir,
        }
        if not accepts_any_keyword(self._user_model_fn):
            taken = argument_names(self._user_model_fn)
            offered = {k: v for k, v in offered.items() if k in taken}
        ops = self._user_model_fn(features, labels, **offered)
        if not isinstance(ops, ModelFnOps):
            predictions, loss, train_op = ops
            ops = ModelFnOps(mode, predictions, loss, train_op)
        if mode == ModeKeys.EVAL and self._metrics:
            added = metric_ops(self._metrics, features, labels, ops.predictions)
            ops = ops._replace(eval_metric_ops={**ops.eval_metric_ops, **added})
        return ops.estimator_spec()

    @property
    def config(self) -> Any:
        """The run configuration."""
        return self._core.config

    @property
    def model_dir(self) -> Any:
        """Where checkpoints are."""
        return self._core.model_dir if hasattr(self, "_core") else None

    @property
    def params(self) -> Any:
        """The hyper-parameters."""
        return self._core.params

    def get_variable_names(self) -> Any:
        """Names in the latest checkpoint."""
        return self._core.get_variable_names()

    def get_variable_value(self, name: str) -> Any:
        """One value in the latest checkpoint."""
        return self._core.get_variable_value(name)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Any = None,
        max_steps: int | None = None,
    ) -> Estimator:
        """Train."""
        input_fn = _input_fn(x, y, input_fn, batch_size, shuffle=True, epochs=None)
        hooks = replace_monitors_with_hooks(monitors, self)
        self._core.train(input_fn, hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Any = None,
    ) -> Estimator:
        """Train some more, by one step if nothing else is said."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> Any:
        """Metrics over the data, as a dict."""
        del log_progress
        if feed_fn is not None:
            raise ValueError("feed_fn is not supported; give an input_fn.")
        input_fn = _input_fn(x, y, input_fn, batch_size, shuffle=False, epochs=1)
        self._metrics = metrics
        try:
            return self._core.evaluate(
                input_fn,
                steps=steps,
                hooks=hooks,
                checkpoint_path=checkpoint_path,
                name=name,
            )
        finally:
            self._metrics = None

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """Predictions, one example at a time."""
        hooks = [_OneBatch(as_iterable)] if x is None else []
        input_fn = _input_fn(x, None, input_fn, batch_size, shuffle=False, epochs=1)
        found = self._core.predict(
            input_fn,
            predict_keys=outputs,
            hooks=hooks,
            yield_single_examples=not iterate_batches,
        )
        found = _unpacked(found)
        return found if as_iterable else _together(found)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The hyper-parameters, in the way of scikit-learn."""
        del deep
        return {"params": self.params}

    def set_params(self, **params: Any) -> Estimator:
        """Replaces the hyper-parameters, in the way of scikit-learn."""
        for name, value in params.items():
            if name != "params":
                raise ValueError(f"Invalid parameter {name} for {type(self).__name__}.")
            self._core._params = value
        return self

    def export_savedmodel(
        self, export_dir_base: str, serving_input_fn: Any, **kwargs: Any
    ) -> Any:
        """Export for serving; takes an InputFnOps or a receiver function."""
        from .exports import as_receiver_fn

        kwargs.pop("default_output_alternative_key", None)
        return self._core.export_saved_model(
            export_dir_base,
            as_receiver_fn(serving_input_fn),
            assets_extra=kwargs.get("assets_extra"),
            as_text=kwargs.get("as_text", False),
            checkpoint_path=kwargs.get("checkpoint_path"),
        )


class _OneBatch(tf.train.SessionRunHook):
    """Stops after a batch that no queue gave: it was taken for a constant.

    Who wanted an array got one batch of a queue as well.
    """

    def __init__(self, queues_go_on: bool) -> None:
        self._queues_go_on = queues_go_on

    def after_run(self, run_context: Any, run_values: Any) -> None:
        queues = run_context.session.graph.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        if not (queues and self._queues_go_on):
            run_context.request_stop()


def _kinds(labels: Any) -> Any:
    if isinstance(labels, dict):
        return {name: _kinds(one) for name, one in labels.items()}
    return labels.dtype, labels.shape


def _stand_ins(seen: Any) -> Any:
    if isinstance(seen, dict):
        return {name: _stand_ins(one) for name, one in seen.items()}
    return tf.placeholder(*seen)


def _unpacked(found: Iterator[Any]) -> Iterator[Any]:
    # A model that predicts one tensor gave that tensor, not a dict of one.
    for item in found:
        if isinstance(item, dict) and list(item) == ["predictions"]:
            yield item["predictions"]
        else:
            yield item


def _together(found: Iterator[Any]) -> Any:
    """All predictions at once: an array, or a dict of arrays."""
    items = list(found)
    if items and isinstance(items[0], dict):
        return {key: np.array([item[key] for item in items]) for key in items[0]}
    return np.array(items)


def _input_fn(
    x: Any, y: Any, input_fn: Any, batch_size: int | None, *, shuffle: bool, epochs: Any
) -> Any:
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        return input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    arrays = _each(x, _as_rows)
    labels = None if y is None else _each(y, _as_labels)
    size = batch_size or len(
        next(iter(arrays.values())) if isinstance(arrays, dict) else arrays
    )

    def from_arrays() -> Any:
        data = arrays if labels is None else (arrays, labels)
        if shuffle:
            return _in_its_order(data, size)
        return tf.data.Dataset.from_tensor_slices(data).repeat(epochs).batch(size)

    return from_arrays


def _in_its_order(data: Any, size: int) -> Any:
    """Batches without end, shuffled as tf.contrib.learn did in every run.

    Its order came from a generator that is always seeded alike, and an epoch ended
    with what was left of its examples.
    """
    count = len(tf.nest.flatten(data)[0])

    def batches() -> Iterator[Any]:
        chance = np.random.RandomState(42)
        while True:
            order = chance.permutation(count)
            for start in range(0, count, size):
                yield order[start : start + size]

    picked = tf.data.Dataset.from_generator(batches, tf.int64, tf.TensorShape([None]))
    return picked.map(
        lambda places: tf.nest.map_structure(lambda one: tf.gather(one, places), data)
    )


def _each(data: Any, shaped: Callable[[Any], Any]) -> Any:
    if isinstance(data, dict):
        return {name: shaped(np.asarray(array)) for name, array in data.items()}
    return shaped(np.asarray(data))


def _as_rows(features: Any) -> Any:
    """One number for each example is a row of one."""
    return features[:, None] if features.ndim == 1 else features


def _as_labels(labels: Any) -> Any:
    """A row of one for each example is the number alone."""
    return labels[:, 0] if labels.ndim > 1 and labels.shape[1] == 1 else labels


class SKCompat:
    """An Estimator with scikit-learn's calls."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Any = None,
    ) -> SKCompat:
        """Train on arrays."""
        self._estimator.fit(
            x,
            y,
            batch_size=batch_size,
            steps=steps,
            max_steps=max_steps,
            monitors=monitors,
        )
        return self

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
    ) -> Any:
        """Evaluate on arrays."""
        return self._estimator.evaluate(
            x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name
        )

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> Any:
        """All predictions at once."""
        # Not the default outputs of canned models, which are one of several.
        found = Estimator.predict(
            self._estimator, x, batch_size=batch_size, outputs=outputs
        )
        return _together(found)
