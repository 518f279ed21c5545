"""Estimators and optimizers made from other ones.

``add_metrics``, ``forward_features`` and ``clip_gradients_by_norm`` wrap what
they are given; the wrapped model keeps its variables and its directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from ..engine.callables import argument_names
from .export import PredictOutput
from .mode_keys import ModeKeys

__all__ = ["add_metrics", "clip_gradients_by_norm", "forward_features"]

_METRIC_ARGUMENTS = ("features", "labels", "predictions", "config")


def add_metrics(estimator: Any, metric_fn: Callable[..., Mapping[str, Any]]) -> Any:
    """A new Estimator that also computes the metrics of ``metric_fn``.

    ``metric_fn`` names those of ``features``, ``labels``, ``predictions`` and
    ``config`` that it wants. Its metrics win over equal names.
    """
    from .estimator import Estimator

    names = argument_names(metric_fn)
    unexpected = [n for n in names if n not in _METRIC_ARGUMENTS]
    if unexpected:
        raise ValueError(
            f"metric_fn ({metric_fn}) has following not expected args: {unexpected}"
        )

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        offered = {
            "features": features,
            "labels": labels,
            "predictions": spec.predictions,
            "config": config,
        }
        extra = metric_fn(**{n: offered[n] for n in names})
        metrics = {**(spec.eval_metric_ops or {}), **extra}
        return spec._replace(eval_metric_ops=metrics)

    return Estimator(
        model_fn=model_fn,
        model_dir=estimator.model_dir,
        config=estimator.config,
        warm_start_from=estimator._warm_start_settings,
    )


def clip_gradients_by_norm(optimizer: Any, clip_norm: Any) -> tf.train.Optimizer:
    """An optimizer that clips gradients by their global norm, then applies them."""

    def clip(grads_and_vars: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, clip_norm)
        return list(zip(clipped, variables, strict=True))

    return _TransformGradients(optimizer, clip, "ClipByNorm" + optimizer.get_name())


class _TransformGradients(tf.train.Optimizer):
    """Hands transformed gradients to another optimizer, which does the rest."""

    def __init__(
        self,
        optimizer: Any,
        transform: Callable[[Any], list[tuple[Any, Any]]],
        name: str,
    ) -> None:
        super().__init__(use_locking=False, name=name)
        self._optimizer = optimizer
        self._transform = transform

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Gradients as the wrapped optimizer computes them."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Applies the transformed gradients."""
        return self._optimizer.apply_gradients(
            self._transform(grads_and_vars), global_step, name
        )

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the wrapped optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Names of the wrapped optimizer's slots."""
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """Variables of the wrapped optimizer."""
        return self._optimizer.variables()


def forward_features(
    estimator: Any,
    keys: str | Iterable[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Any:
    """A new Estimator whose predictions also hold features, for instance ids.

    ``keys`` None forwards all. Sparse features are made dense with the values
    of ``sparse_default_values``.
    """
    from .estimator import Estimator

    wanted = _checked_keys(keys)
    defaults = dict(sparse_default_values or {})

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        predictions = spec.predictions
        if predictions is None or (mode != ModeKeys.PREDICT and predictions == {}):
            return spec
        names = list(features) if wanted is None else wanted
        _check_forwarding(names, features, predictions)
        forwarded = {n: _dense(n, features[n], defaults) for n in names}
        predictions.update(forwarded)
        spec = spec._replace(predictions=predictions)
        for key in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(key)
            if isinstance(output, PredictOutput):
                output.outputs.update(forwarded)
        return spec

    return Estimator(
        model_fn=model_fn, model_dir=estimator.model_dir, config=estimator.config
    )


def _checked_keys(keys: Any) -> list[str] | None:
    if keys is None:
        return None
    if isinstance(keys, str):
        return [keys]
    if not isinstance(keys, (list, tuple)):
        raise TypeError(
            f"keys should be either a string or a list of strings. Given: {type(keys)}"
        )
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(
                "All items in the given keys list should be a string. "
                f"There exist an item with type: {type(key)}"
            )
    return list(keys)


def _check_forwarding(names: list[str], features: Any, predictions: Any) -> None:
    if not isinstance(predictions, dict):
        raise ValueError(
            "Predictions should be a dict to be able to forward features. "
            f"Given: {type(predictions)}"
        )
    for name in names:
        if name not in features:
            raise ValueError(
                f'keys should be exist in features. Key "{name}" is not in features '
                f"dict. features dict has following keys: {list(features)}. Please "
                "check arguments of forward_features."
            )
        if name in predictions:
            raise ValueError(
                f"Cannot forward feature key ({name}). Since it does exist in "
                f"predictions. Existing prediction keys: {list(predictions)}. Please "
                "check arguments of forward_features."
            )


def _dense(name: str, feature: Any, defaults: Mapping[str, Any]) -> Any:
    if not isinstance(feature, tf.SparseTensor):
        feature = tf.convert_to_tensor_or_sparse_tensor(feature)
    if name in defaults:
        if not isinstance(feature, tf.SparseTensor):
            raise ValueError(f"Feature ({name}) is expected to be a `SparseTensor`.")
        feature = tf.sparse.to_dense(feature, default_value=defaults[name])
    if not isinstance(feature, tf.Tensor):
        raise ValueError(
            f"Feature ({name}) should be a Tensor. Please use `keys` argument of "
            "forward_features to filter unwanted features, or add key to argument "
            f"`sparse_default_values`. Type of features[{name}] is {type(feature)}."
        )
    return feature
