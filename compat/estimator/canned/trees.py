"""``tf.estimator.BoostedTrees*``: the public classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..estimator import Estimator
from ..heads import checks
from ..heads import legacy as heads
from ..heads.tasks import BinaryTask, MultiClassTask
from ..mode_keys import ModeKeys
from . import trees_insight
from .trees_input import TreeColumns
from .trees_model import TreeSettings, check_kernels, tree_logits, tree_spec

__all__ = [
    "BoostedTreesClassifier",
    "BoostedTreesEstimator",
    "BoostedTreesRegressor",
    "boosted_trees_classifier_train_in_memory",
    "boosted_trees_regressor_train_in_memory",
]

_REPORT_KEY = "_serialized_debug_outputs_proto"
_BINARY = object()
_SCALAR = object()


class _BoostedTrees(Estimator):
    """What all boosted-trees estimators share."""

    def __init__(
        self,
        head: Any,
        feature_columns: Sequence[Any],
        settings: TreeSettings,
        *,
        n_batches_per_layer: int,
        model_dir: Any,
        config: Any,
        weight_column: Any,
        is_classification: bool,
        closed_form: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        in_memory: bool = False,
    ) -> None:
        check_kernels()
        columns = TreeColumns.of(feature_columns)
        _ = settings.pruning  # says now, not at the first step, what is wrong

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return tree_spec(
                features,
                labels,
                mode,
                head=head,
                columns=columns,
                settings=settings,
                n_batches_per_layer=n_batches_per_layer,
                config=config,
                weight_column=weight_column,
                closed_form=closed_form,
                in_memory=in_memory,
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)
        self._head = head
        self._columns = columns
        self._settings = settings
        self._is_classification = is_classification

    def experimental_feature_importances(
        self, normalize: bool = False
    ) -> dict[str, float]:
        """Gain by column over all splits, the most important column first."""
        reader = tf.train.load_checkpoint(self.model_dir)
        serialized = reader.get_tensor("boosted_trees:0_serialized")
        return trees_insight.feature_importances(
            serialized, self._columns.names, normalize=normalize
        )

    def experimental_predict_with_explanations(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Predictions with a ``bias`` and the contribution of each column."""
        if not self._settings.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        link = getattr(self._head._task, "inverse_link_fn", None)
        if not self._is_classification and link not in (None, tf.identity):
            raise ValueError(
                "For now only identity inverse_link_fn in regression_head is supported "
                "for experimental_predict_with_explanations."
            )
        explaining = Estimator(
            model_fn=self._explaining_model_fn,
            model_dir=self.model_dir,
            config=self.config,
        )
        keys = None if predict_keys is None else {*predict_keys, _REPORT_KEY}
        for prediction in explaining.predict(
            input_fn, predict_keys=keys, hooks=hooks, checkpoint_path=checkpoint_path
        ):
            bias, parts = trees_insight.contributions(
                prediction.pop(_REPORT_KEY),
                self._columns.names,
                is_classification=self._is_classification,
            )
            yield {**prediction, "bias": bias, "dfc": parts}

    def _explaining_model_fn(self, features: Any, labels: Any, mode: str) -> Any:
        del labels, mode
        with tf.name_scope("boosted_trees") as name:
            logits, handle, buckets = tree_logits(
                features, self._columns, self._settings, name=name
            )
            spec = self._head.create_estimator_spec(
                features=features, mode=ModeKeys.PREDICT, logits=logits
            )
            report = tf.raw_ops.BoostedTreesExampleDebugOutputs(
                tree_ensemble_handle=handle,
                bucketized_features=buckets,
                logits_dimension=1,
            )
        return spec._replace(predictions={**spec.predictions, _REPORT_KEY: report})


def _settings(
    n_trees: int,
    max_depth: int,
    learning_rate: float,
    l1: float,
    l2: float,
    tree_complexity: float,
    min_node_weight: float,
    center_bias: bool,
    pruning_mode: str,
    quantile_sketch_epsilon: float,
) -> TreeSettings:
    return TreeSettings(
        n_trees=n_trees,
        max_depth=max_depth,
        learning_rate=learning_rate,
        l1=l1,
        l2=l2,
        tree_complexity=tree_complexity,
        min_node_weight=min_node_weight,
        center_bias=center_bias,
        pruning_mode=pruning_mode,
        quantile_sketch_epsilon=quantile_sketch_epsilon,
    )


def _logloss_derivatives(logits: Any, labels: Any) -> tuple[Any, Any]:
    """Gradient and hessian of the mean log loss, without differentiating."""
    probability = 1.0 / (tf.exp(-logits) + 1.0)
    share = 1.0 / tf.cast(tf.size(probability), tf.float32)
    targets = checks.dense_labels(tf.cast(labels, tf.float32), logits, 1)
    return (
        (probability - targets) * share,
        probability * (1.0 - probability) * share,
    )


class BoostedTreesClassifier(_BoostedTrees):
    """Boosted trees for two classes."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        n_batches_per_layer: int,
        model_dir: Any = None,
        n_classes: Any = _BINARY,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        if n_classes is not _BINARY and n_classes != 2:
            raise ValueError(
                "For now only binary classification is supported."
                f"n_classes given as {n_classes}"
            )
        plain = weight_column is None and label_vocabulary is None
        super().__init__(
            heads.binary_classification_head(
                weight_column=weight_column, label_vocabulary=label_vocabulary
            ),
            feature_columns,
            _settings(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            n_batches_per_layer=n_batches_per_layer,
            model_dir=model_dir,
            config=config,
            weight_column=weight_column,
            is_classification=True,
            closed_form=_logloss_derivatives if plain else None,
            in_memory=train_in_memory,
        )


class BoostedTreesRegressor(_BoostedTrees):
    """Boosted trees for one real value."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        n_batches_per_layer: int,
        model_dir: Any = None,
        label_dimension: Any = _SCALAR,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        if label_dimension is not _SCALAR and label_dimension != 1:
            raise ValueError(
                "For now only 1 dimension regression is supported."
                f"label_dimension given as {label_dimension}"
            )
        super().__init__(
            heads.regression_head(weight_column=weight_column),
            feature_columns,
            _settings(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            n_batches_per_layer=n_batches_per_layer,
            model_dir=model_dir,
            config=config,
            weight_column=weight_column,
            is_classification=False,
            in_memory=train_in_memory,
        )


class BoostedTreesEstimator(_BoostedTrees):
    """Boosted trees under a head with one logit."""

    def __init__(
        self,
        feature_columns: Sequence[Any],
        n_batches_per_layer: int,
        head: Any,
        model_dir: Any = None,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ) -> None:
        if head.logits_dimension != 1:
            raise ValueError(
                "Boosted trees grow one logit; the head wants "
                f"{head.logits_dimension}. Train one estimator per logit."
            )
        # Legacy took the weights from the head only; here the name is accepted
        # and, as there, only the head's column counts.
        del weight_column
        task = getattr(head, "_task", None)
        super().__init__(
            head,
            feature_columns,
            _settings(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            n_batches_per_layer=n_batches_per_layer,
            model_dir=model_dir,
            config=config,
            weight_column=None,
            is_classification=isinstance(task, (BinaryTask, MultiClassTask)),
        )


def _repeated(input_fn: Callable[..., Any]) -> Callable[[], Any]:
    def repeating_input_fn() -> Any:
        result = input_fn()
        return result.repeat() if isinstance(result, tf.data.Dataset) else result

    return repeating_input_fn


def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[..., Any],
    feature_columns: Sequence[Any],
    *args: Any,
    train_hooks: Sequence[Any] | None = None,
    **kwargs: Any,
) -> BoostedTreesClassifier:
    """Trains a classifier on a data set that is one batch, and returns it."""
    trained = BoostedTreesClassifier(
        feature_columns, 1, *args, train_in_memory=True, **kwargs
    )
    trained.train(_repeated(train_input_fn), hooks=train_hooks)
    return trained


def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[..., Any],
    feature_columns: Sequence[Any],
    *args: Any,
    train_hooks: Sequence[Any] | None = None,
    **kwargs: Any,
) -> BoostedTreesRegressor:
    """Trains a regressor on a data set that is one batch, and returns it."""
    trained = BoostedTreesRegressor(
        feature_columns, 1, *args, train_in_memory=True, **kwargs
    )
    trained.train(_repeated(train_input_fn), hooks=train_hooks)
    return trained
