"""Where each public name of ``tf.estimator`` lives, for both generations.

``ESTIMATOR_V1`` is TF 1.15's ``tf.estimator`` (with the few names that only
1.12 had), ``ESTIMATOR_V2`` is TF 2.15's. Names that both share and that mean
the same appear once, in the common part.
"""

from __future__ import annotations

from ..contrib._homes import TREES
from .namespace import Base, Entry, attribute
from .unavailable import Unavailable

__all__ = ["ESTIMATOR_PATHS_V1", "ESTIMATOR_V1", "ESTIMATOR_V2"]

_HERE = "tfmigrate.compat.estimator"

# module -> names that it gives to tf.estimator, under the same name.
_COMMON_NAMES: dict[str, str] = {
    # TensorFlow still ships the session hooks of the Estimator era.
    "tensorflow.compat.v1:train": """
        CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook
        GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError
        NanTensorHook ProfilerHook SecondOrStepTimer SessionRunArgs
        SessionRunContext SessionRunHook SessionRunValues StepCounterHook
        StopAtStepHook SummarySaverHook
    """,
    f"{_HERE}.mode_keys": "ModeKeys",
    f"{_HERE}.run_config": "RunConfig",
    f"{_HERE}.spec": "EstimatorSpec",
    f"{_HERE}.exporters": "BestExporter Exporter FinalExporter LatestExporter",
    f"{_HERE}.extenders": "add_metrics",
    f"{_HERE}.train_specs": "EvalSpec TrainSpec",
    f"{_HERE}.training": "train_and_evaluate",
    f"{_HERE}.warm_start": "VocabInfo WarmStartSettings",
    f"{_HERE}.heads": """
        BinaryClassHead Head LogisticRegressionHead MultiClassHead MultiHead
        MultiLabelHead PoissonRegressionHead RegressionHead
    """,
}

_COMMON_EXPERIMENTAL: dict[str, str] = {
    f"{_HERE}.early_stopping": """
        make_early_stopping_hook stop_if_higher_hook stop_if_lower_hook
        stop_if_no_decrease_hook stop_if_no_increase_hook
    """,
    f"{_HERE}.memory_evaluator": "InMemoryEvaluatorHook",
    f"{_HERE}.spec": "call_logit_fn",
    f"{_HERE}.stop_hooks": "make_stop_at_checkpoint_step_hook",
    f"{_HERE}.export": "build_raw_supervised_input_receiver_fn",
}

# Classes that both generations have, with different semantics.
_CANNED = """
    BaselineClassifier BaselineEstimator BaselineRegressor DNNClassifier DNNEstimator
    DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor
    DNNRegressor LinearClassifier LinearEstimator LinearRegressor
    classifier_parse_example_spec regressor_parse_example_spec
"""
_TREES = "BoostedTreesClassifier BoostedTreesEstimator BoostedTreesRegressor"
_EXPERIMENTAL_V1 = "KMeans LinearSDCA dnn_logit_fn_builder linear_logit_fn_builder"

_EXPERIMENTAL_V2 = "LinearSDCA RNNClassifier RNNEstimator"


def _paths(prefix: str, table: dict[str, str]) -> dict[str, str]:
    paths: dict[str, str] = {}
    for source, names in table.items():
        join = "." if ":" in source else ":"
        for name in names.split():
            paths[f"{prefix}.{name}"] = f"{source}{join}{name}"
    return paths


def _rows(prefix: str, table: dict[str, str]) -> dict[str, Entry]:
    return {name: attribute(path) for name, path in _paths(prefix, table).items()}


# Where TF 1's classes and functions live that are more than the Estimator itself.
ESTIMATOR_PATHS_V1: dict[str, str] = {
    **_paths("tf.estimator", _COMMON_NAMES),
    **_paths("tf.estimator.experimental", _COMMON_EXPERIMENTAL),
    **_paths("tf.estimator", {f"{_HERE}.canned.v1": _CANNED}),
    **_paths("tf.estimator.experimental", {f"{_HERE}.canned.v1": _EXPERIMENTAL_V1}),
    "tf.feature_column.shared_embedding_columns": (
        f"{_HERE}.canned.feature_columns:shared_embedding_columns"
    ),
}

_COMMON: dict[str, Entry] = {
    "tf.estimator": Base(lambda: None),
    "tf.estimator.experimental": Base(lambda: None),
    "tf.estimator.export": Base(attribute(f"{_HERE}.export")),
    **_rows("tf.estimator", _COMMON_NAMES),
    **_rows("tf.estimator.experimental", _COMMON_EXPERIMENTAL),
}

ESTIMATOR_V1: dict[str, Entry] = {
    **_COMMON,
    "tf.estimator.Estimator": attribute(f"{_HERE}.estimator:Estimator"),
    "tf.estimator.inputs": Base(lambda: None),
    **_rows(
        "tf.estimator.inputs", {f"{_HERE}.inputs": "numpy_input_fn pandas_input_fn"}
    ),
    "tf.estimator.tpu": Base(attribute(f"{_HERE}.tpu")),
    **{name: attribute(path) for name, path in ESTIMATOR_PATHS_V1.items()},
    **{
        f"tf.estimator.{name}": Unavailable(f"tf.estimator.{name}", TREES)
        for name in _TREES.split()
    },
    **{
        f"tf.contrib.estimator.{name}": Unavailable(
            f"tf.contrib.estimator.{name}", TREES
        )
        for name in (
            "boosted_trees_classifier_train_in_memory",
            "boosted_trees_regressor_train_in_memory",
        )
    },
    "tf.estimator.tpu.experimental": Base(lambda: None),
    "tf.estimator.tpu.experimental.EmbeddingConfigSpec": Unavailable(
        "tf.estimator.tpu.experimental.EmbeddingConfigSpec",
        "It describes tables on TPU hardware: use tf.feature_column.embedding_column "
        "here, and tf.tpu.experimental.embedding in a TF2 loop.",
    ),
}

ESTIMATOR_V2: dict[str, Entry] = {
    **_COMMON,
    "tf.estimator.BestExporter": attribute(f"{_HERE}.exporters:BestExporterV2"),
    "tf.estimator.Estimator": attribute(f"{_HERE}.estimator:EstimatorV2"),
    **_rows("tf.estimator", {f"{_HERE}.canned.v2": _CANNED}),
    **_rows("tf.estimator.experimental", {f"{_HERE}.canned.v2": _EXPERIMENTAL_V2}),
}
