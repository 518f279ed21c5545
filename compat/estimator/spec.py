"""``EstimatorSpec``: what a model function hands back, checked.

The checks and the wording of their errors are those of TF 1.15, because that
is what programs and their tests recognise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from ..engine import private_api
from .mode_keys import ModeKeys

__all__ = ["EstimatorSpec", "call_logit_fn"]

_WRONG_GRAPH = (
    '{0} with "{1}" must be from the default graph. Possible causes: {0} was '
    "created outside the context of the default graph, or the object passed to "
    "EstimatorSpec was not created in the most recent call of model_fn."
)


class _SpecFields(NamedTuple):
    mode: Any
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    export_outputs: Any
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any
    evaluation_hooks: Any
    prediction_hooks: Any


class EstimatorSpec(_SpecFields):
    """Ops and objects returned from a ``model_fn``.

    ``TRAIN`` needs ``loss`` and ``train_op``, ``EVAL`` needs ``loss`` and
    ``PREDICT`` needs ``predictions``; whatever else is given is kept and
    ignored where the mode has no use for it.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        training_chief_hooks: Iterable[Any] | None = None,
        training_hooks: Iterable[Any] | None = None,
        scaffold: Any = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> EstimatorSpec:
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = private_api.export_utils.get_export_outputs(
                export_outputs, predictions
            )
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=_checked_eval_metric_ops(eval_metric_ops),
            export_outputs=export_outputs,
            training_chief_hooks=_checked_hooks(training_chief_hooks),
            training_hooks=_checked_hooks(training_hooks),
            scaffold=_checked_scaffold(scaffold),
            evaluation_hooks=_checked_hooks(evaluation_hooks),
            prediction_hooks=_checked_hooks(prediction_hooks),
        )

    def _replace(self, **fields: Any) -> EstimatorSpec:
        """A new spec with some fields replaced; the mode stays as it is."""
        if fields.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        unknown = sorted(set(fields) - set(self._fields))
        if unknown:
            raise ValueError(f"EstimatorSpec has no field named {unknown}")
        values = {name: fields.get(name, getattr(self, name)) for name in self._fields}
        return EstimatorSpec(**values)


def _is_dense(value: Any) -> bool:
    """A tensor or variable, not a sparse, ragged or otherwise composite one."""
    if isinstance(value, (tf.SparseTensor, tf.RaggedTensor, tf.IndexedSlices)):
        return False
    return bool(tf.is_tensor(value)) or isinstance(value, tf.Variable)


def _check_graph(value: Any, what: str, key: str | None = None) -> None:
    if tf.executing_eagerly():
        return  # such tensors have neither graph nor name
    if value.graph is not tf.get_default_graph():
        name = value.name if key is None else f"{key}: {value.name}"
        raise ValueError(_WRONG_GRAPH.format(what, name))


def _checked_train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not (isinstance(train_op, tf.Operation) or _is_dense(train_op)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    if isinstance(train_op, tf.Variable) and hasattr(train_op, "op"):
        train_op = train_op.op
    _check_graph(train_op, "train_op")
    return train_op


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    if not _is_dense(loss):
        raise TypeError(f"loss must be Tensor, given: {loss}")
    shape = loss.shape
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not shape.is_compatible_with(tf.TensorShape([])):
        loss = tf.reshape(loss, [])
    _check_graph(loss, "loss")
    return loss


def _checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    named = (
        predictions if isinstance(predictions, dict) else {"predictions": predictions}
    )
    for key, value in named.items():
        what = f"predictions[{key}]" if named is predictions else "predictions"
        if not _is_dense(value):
            raise TypeError(f"{what} must be Tensor, given: {value}")
        _check_graph(value, "prediction values", key)
    return dict(predictions) if named is predictions else predictions


def _checked_hooks(hooks: Iterable[Any] | None) -> tuple[Any, ...]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, tf.train.SessionRunHook):
            raise TypeError(
                f"All hooks must be SessionRunHook instances, given: {hook}"
            )
    return found


def _checked_scaffold(scaffold: Any) -> Any:
    if scaffold is None:
        return tf.train.Scaffold()
    if not isinstance(scaffold, tf.train.Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    saver = scaffold.saver
    if isinstance(saver, tf.train.Checkpoint):
        # Scaffolds take TF 2's class of that name alone.
        parts = tf.compat.v2.train.TrackableView(saver).children(saver)
        scaffold._saver = tf.compat.v2.train.Checkpoint(**parts)
    return scaffold


def _is_metric_object(value: Any) -> bool:
    """A Keras metric, of tf_keras or of any other Keras with the v1 contract."""
    return all(hasattr(value, name) for name in ("result", "update_state", "updates"))


def _checked_eval_metric_ops(metrics: Mapping[str, Any] | None) -> dict[str, Any]:
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    checked: dict[str, Any] = {}
    metric_variables: list[Any] = []
    for key, value in metrics.items():
        if _is_metric_object(value):
            updates = list(value.updates)
            if not updates:
                raise ValueError(
                    f'Please call update_state(...) on the "{value.name}" metric'
                )
            metric_variables.extend(value.variables)
            # Several updates are one step's work: legacy ran only the first,
            # which loses data when update_state was called more than once.
            update = updates[0] if len(updates) == 1 else tf.group(*updates)
            value = (value.result(), update)
        elif not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) "
                f"tuples, given: {value} for key: {key}"
            )
        for part in tf.nest.flatten(value):
            _check_graph(part, "eval_metric_ops", key)
        checked[key] = value
    for collection in (
        tf.GraphKeys.LOCAL_VARIABLES,
        tf.GraphKeys.METRIC_VARIABLES,
    ):
        known = {id(v) for v in tf.get_collection(collection)}
        for variable in metric_variables:
            if id(variable) not in known:
                known.add(id(variable))
                tf.add_to_collection(collection, variable)
    return checked


def call_logit_fn(
    logit_fn: Callable[..., Any],
    features: Any,
    mode: str,
    params: Mapping[str, Any] | None,
    config: Any,
) -> Any:
    """Calls ``logit_fn`` with those of the arguments that it names."""
    from ..engine.callables import argument_names

    names = argument_names(logit_fn)
    offered = {"mode": mode, "params": params, "config": config}
    kwargs = {name: value for name, value in offered.items() if name in names}
    logits = logit_fn(features=features, **kwargs)
    is_dict_of_tensors = isinstance(logits, dict) and all(
        isinstance(key, str) and tf.is_tensor(value) for key, value in logits.items()
    )
    if not (is_dict_of_tensors or tf.is_tensor(logits)):
        raise ValueError(
            "logit_fn should return a Tensor or a dictionary mapping strings to "
            f"Tensors.  logit_fn returned: {logits}"
        )
    return logits
