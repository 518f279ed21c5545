"""``tf.contrib.estimator``: heads, canned models and helpers of TF 1.x."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..estimator.canned.annotated import (
    DNNClassifierWithLayerAnnotations,
    DNNRegressorWithLayerAnnotations,
)
from ..estimator.canned.rnn import RNNClassifier, RNNEstimator
from ..estimator.canned.v1 import (
    BaselineEstimator,
    DNNEstimator,
    DNNLinearCombinedEstimator,
    LinearEstimator,
    dnn_logit_fn_builder,
    linear_logit_fn_builder,
)
from ..estimator.early_stopping import (
    make_early_stopping_hook,
    read_eval_metrics,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from ..estimator.export import (
    build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,
)
from ..estimator.extenders import (
    add_metrics,
    clip_gradients_by_norm,
    forward_features,
)
from ..estimator.heads.legacy import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
)
from ..estimator.heads.legacy_multi import multi_head
from ..estimator.memory_evaluator import InMemoryEvaluatorHook
from ..estimator.mode_keys import ModeKeys
from ..estimator.saved_model_estimator import SavedModelEstimator
from ..estimator.spec import call_logit_fn
from ..estimator.stop_hooks import make_stop_at_checkpoint_step_hook
from ..estimator.towers import TowerOptimizer, replicate_model_fn

__all__ = [
    "BaselineEstimator",
    "DNNClassifierWithLayerAnnotations",
    "DNNEstimator",
    "DNNLinearCombinedEstimator",
    "DNNRegressorWithLayerAnnotations",
    "InMemoryEvaluatorHook",
    "LinearEstimator",
    "RNNClassifier",
    "RNNEstimator",
    "SavedModelEstimator",
    "TowerOptimizer",
    "add_metrics",
    "binary_classification_head",
    "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
    "call_logit_fn",
    "clip_gradients_by_norm",
    "dnn_logit_fn_builder",
    "export_all_saved_models",
    "export_saved_model_for_mode",
    "forward_features",
    "linear_logit_fn_builder",
    "logistic_regression_head",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "read_eval_metrics",
    "regression_head",
    "replicate_model_fn",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]


def export_saved_model_for_mode(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = ModeKeys.PREDICT,
) -> Any:
    """Exports the graph of one mode as a SavedModel."""
    return estimator.export_saved_model(
        export_dir_base,
        input_receiver_fn,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=checkpoint_path,
        experimental_mode=mode,
    )


def export_all_saved_models(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn_map: Mapping[str, Callable[[], Any]],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> Any:
    """Exports the graphs of several modes into one SavedModel."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base,
        input_receiver_fn_map,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=checkpoint_path,
    )
