"""Checks that every head makes on labels, logits, weights and its arguments.

They work in graphs (unknown dimensions are asserted at run time) and eagerly,
where everything is known at once and a ``ValueError`` names the mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf2
import tensorflow.compat.v1 as tf

from ...engine.callables import argument_names

__all__ = [
    "check_loss_fn",
    "check_thresholds",
    "check_vocabulary",
    "checked_logits",
    "dense_labels",
    "example_weights",
    "is_numeric_column",
    "labels_in_range",
    "loss_of",
    "weight_key",
]

NO_LABELS = (
    "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: "
    "Check that your data contain your label feature. Check that your input_fn "
    "properly parses and returns labels."
)


def is_numeric_column(column: Any) -> bool:
    """Whether this is what ``tf.feature_column.numeric_column`` makes."""
    # The class has no public name, and calling its factory here would print
    # TensorFlow's deprecation notice on import.
    return type(column).__name__ == "NumericColumn" and hasattr(column, "key")


def weight_key(weight_column: Any) -> str | None:
    """The feature that a ``weight_column`` argument names."""
    if weight_column is None or isinstance(weight_column, str):
        return weight_column
    if not is_numeric_column(weight_column):
        raise TypeError(
            "Weight column must be either a string or NumericColumn. Given type: "
            f"{type(weight_column)}."
        )
    return str(weight_column.key)


def check_vocabulary(
    vocabulary: Any,
    *,
    n_classes: int | None = None,
    error: type[Exception],
    rule: str = "should be a list or a tuple",
) -> None:
    """A label vocabulary is a list or tuple, of the right length where known."""
    if vocabulary is None:
        return
    if not isinstance(vocabulary, (list, tuple)):
        raise error(f"label_vocabulary {rule}. Given type: {type(vocabulary)}")
    if n_classes is not None and len(vocabulary) != n_classes:
        raise ValueError(
            f"Length of label_vocabulary must be n_classes ({n_classes}). "
            f"Given: {len(vocabulary)}"
        )


def check_thresholds(thresholds: Sequence[float] | None) -> tuple[float, ...]:
    """Decision thresholds lie strictly between 0 and 1."""
    found = tuple(thresholds) if thresholds else ()
    for threshold in found:
        if not 0.0 < threshold < 1.0:
            raise ValueError(
                f"thresholds not in (0, 1): {(found,)}: thresholds must be in (0, 1) "
                f"range. Given: {threshold}"
            )
    return found


def check_loss_fn(
    loss_fn: Callable[..., Any] | None, *, optional: Sequence[str] = ("features",)
) -> None:
    """A user's loss takes ``labels`` and ``logits``, and nothing unknown."""
    if loss_fn is None:
        return
    names = tuple(argument_names(loss_fn))
    for required in ("labels", "logits"):
        if required not in names:
            raise ValueError(
                f"loss_fn must contain argument: {required}. Given arguments: {names}"
            )
    unexpected = sorted(set(names) - {"labels", "logits", *optional})
    if unexpected:
        raise ValueError(f"loss_fn has unexpected args: {unexpected}")


def checked_logits(logits: Any, dimension: Any) -> Any:
    """`logits` as float32 of shape [D0, ... DN, dimension]."""
    message = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with tf.name_scope(None, "logits", (logits,)) as scope:
        logits = tf.cast(tf.convert_to_tensor(logits), tf.float32)
        shape = logits.shape
        if shape.ndims is not None and shape.ndims < 2:
            raise ValueError(f"{message}, got {shape}.")
        # What TF 1's shapes do not know is a Dimension, which is unlike no number.
        last = shape[-1] if shape.ndims is not None else None
        if last is not None:
            if isinstance(dimension, int) and last != dimension:
                raise ValueError(f"{message}, got {shape}.")
            return logits
        found = tf.shape(logits)
        data = [message, found]
        checks = [
            tf.assert_rank_at_least(logits, 2, data=data),
            tf.assert_equal(dimension, found[-1], data=data),
        ]
        with tf.control_dependencies(checks):
            return tf.identity(logits, name=scope)


def dense_labels(labels: Any, logits: Any, dimension: int) -> Any:
    """`labels` with the shape of the logits, but `dimension` values per example."""
    if labels is None:
        raise ValueError(NO_LABELS)
    with tf.name_scope(None, "labels", (labels, logits)) as scope:
        labels = tf.convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, tf.SparseTensor):
            raise ValueError(
                "SparseTensor labels are not supported. labels must be a Tensor of "
                f"shape [D0, D1, ..., DN, {dimension}], e.g. [batch_size, "
                f"{dimension}]. Suggested Fix (1): Check the label feature in your "
                f"data. Each example must contain {dimension} value(s). If not, your "
                "choice of label was probably incorrect. Suggested Fix (2): In your "
                "input_fn, use tf.sparse_tensor_to_dense() to turn labels into a "
                "Tensor."
            )
        if (
            labels.shape.ndims is not None
            and logits.shape.ndims is not None
            and labels.shape.ndims == logits.shape.ndims - 1
        ):
            labels = tf.expand_dims(labels, -1)
        message = (
            f"labels shape must be [D0, D1, ... DN, {dimension}]. Suggested Fix: check "
            "your n_classes argument to the estimator and/or the shape of your label."
        )
        if labels.shape.ndims is not None:
            last = tf.dimension_value(labels.shape[-1]) if labels.shape.ndims else None
            if last is not None and last != dimension:
                raise ValueError(
                    f"Mismatched label shape. Expected labels dimension={dimension}.  "
                    f"Received {last}. Suggested Fix:If your classifier expects "
                    "one-hot encoding label,check your n_classes argument to the "
                    "estimator and/or the shape of your label. Otherwise, check the "
                    "shape of your label."
                )
        checks = [tf.assert_rank_at_least(labels, 2, message=message)]
        if not tf.executing_eagerly():
            expected = tf.concat([tf.shape(logits)[:-1], [dimension]], axis=0)
            shape = tf.shape(labels)
            shapes = [message, "expected_labels_shape: ", expected]
            shapes += ["labels_shape: ", shape]
            checks.append(tf.assert_equal(expected, shape, data=shapes))
        else:
            wanted = tf.TensorShape([*logits.shape[:-1], dimension])
            if labels.shape != wanted:
                raise ValueError(
                    f"{message}, expected_labels_shape: {wanted}. "
                    f"labels_shape: {labels.shape}."
                )
        with tf.control_dependencies([c for c in checks if c is not None]):
            return tf.identity(labels, name=scope)


def labels_in_range(labels: Any, n_classes: int, message: str | None = None) -> Any:
    """`labels` behind the assertion that they are 0 .. n_classes - 1."""
    with tf.name_scope(None, "assert_range", (labels,)):
        if tf.executing_eagerly():
            if not tf.reduce_all(labels <= tf.cast(n_classes - 1, labels.dtype)):
                raise ValueError(message or f"Labels must be <= {n_classes} - 1")
            if not tf.reduce_all(labels >= tf.cast(0, labels.dtype)):
                raise ValueError(message or "Labels must be >= 0")
            return labels
        top = tf.convert_to_tensor(n_classes - 1, dtype=labels.dtype)
        checks = (
            tf.assert_less_equal(
                labels, top, message=message or "Labels must be <= n_classes - 1"
            ),
            tf.assert_non_negative(labels, message=message or "Labels must be >= 0"),
        )
        with tf.control_dependencies(checks):
            return tf.identity(labels)


def example_weights(
    features: Mapping[str, Any] | None,
    weight_column: Any,
    logits: Any,
    *,
    per_logit: bool = False,
) -> Any:
    """Weights of shape [D0, ... DN, 1], or 1.0 where no column is given.

    With `per_logit` one weight per logit is accepted too.
    """
    if weight_column is None:
        return 1.0
    allowed = "[D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if per_logit:
        allowed = (
            "[D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, "
            "logits_dimension]"
        )
    message = f"weights shape must be {allowed}"
    with tf.name_scope(None, "weights", (logits,)) as scope:
        key = weight_key(weight_column)
        cache = tf2.__internal__.feature_column.FeatureTransformationCache(features)
        if isinstance(weight_column, str):
            weights = cache.get(key, None)
        else:
            # The column may normalise.
            weights = weight_column.get_dense_tensor(cache, None)
        if not (weights.dtype.is_floating or weights.dtype.is_integer):
            raise ValueError(
                f"Weight column should be castable to float. Given dtype: "
                f"{weights.dtype}"
            )
        weights = tf.cast(weights, tf.float32, name="weights")
        if tf.executing_eagerly():
            return _weights_now(weights, logits, per_logit=per_logit, message=message)
        logits_shape, weights_shape = tf.shape(logits), tf.shape(weights)
        shapes = [message, "logits_shape: ", logits_shape]
        shapes += ["weights_shape: ", weights_shape]
        if (
            weights.shape.ndims is not None
            and logits.shape.ndims is not None
            and weights.shape.ndims == logits.shape.ndims - 1
        ):
            check = tf.assert_equal(logits_shape[:-1], weights_shape, data=shapes)
            with tf.control_dependencies([check] if check is not None else []):
                return tf.expand_dims(weights, -1, name=scope)
        one_each = tf.concat([logits_shape[:-1], [1]], axis=0)
        if per_logit:
            # Shapes of equal rank, so both comparisons are defined.
            fits = tf.logical_or(
                tf.reduce_all(tf.equal(logits_shape, weights_shape)),
                tf.reduce_all(tf.equal(one_each, weights_shape)),
            )
            check = tf.Assert(fits, shapes)
        else:
            check = tf.assert_equal(one_each, weights_shape, data=shapes)
        with tf.control_dependencies([check] if check is not None else []):
            return tf.identity(weights, name=scope)


def _weights_now(weights: Any, logits: Any, *, per_logit: bool, message: str) -> Any:
    """Weights in eager mode, where their shape is known at once."""
    each = logits.shape[:-1]
    if weights.shape == each:
        return tf.expand_dims(weights, -1)
    fits = weights.shape == each.concatenate(1)
    if not (fits or (per_logit and weights.shape == logits.shape)):
        raise ValueError(
            f"{message}, logits_shape: {logits.shape}. weights_shape: {weights.shape}."
        )
    return weights


def loss_of(
    loss_fn: Callable[..., Any],
    *,
    labels: Any,
    logits: Any,
    features: Any,
    dimension: int,
) -> Any:
    """The user's loss, checked to hold `dimension` values per example."""
    extra = {"features": features} if "features" in argument_names(loss_fn) else {}
    with tf.name_scope(None, "call_loss_fn"):
        loss = loss_fn(labels=labels, logits=logits, **extra)
        message = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. "
        if tf.executing_eagerly():
            if loss.shape != tf.TensorShape([*logits.shape[:-1], dimension]):
                raise ValueError(
                    f"{message}logits_shape: {logits.shape}. loss_shape: {loss.shape}."
                )
            return loss
        logits_shape = tf.shape(logits)
        expected = tf.concat([logits_shape[:-1], [dimension]], axis=0)
        check = tf.Assert(
            tf.reduce_all(tf.equal(tf.shape(loss), expected)),
            [message, "logits_shape: ", logits_shape, "loss_shape: ", tf.shape(loss)],
            name="check_loss_shape",
        )
        with tf.control_dependencies([check]):
            return tf.identity(loss)
