"""Where every word of an Estimator program goes when the loop module takes it over.

A table from canonical TF1 symbols to *homes*. What is not in it is a matter of the
symbol rules. The names of the loop module are those of TensorFlow 1, so that a
program reads as it did.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "GRAPH_WORDS",
    "QUEUE_WORDS",
    "STAYING_ARGUMENTS",
    "Home",
    "Installed",
    "Loop",
    "Stays",
    "home",
    "is_estimator_word",
]


@dataclass(frozen=True)
class Loop:
    """A name of the loop module; empty for the module itself."""

    name: str


@dataclass(frozen=True)
class Brought:
    """A symbol of tf.contrib that is copied into the project."""

    symbol: str


@dataclass(frozen=True)
class Installed:
    """A name of an installed package; an empty name is the package itself."""

    module: str
    name: str = ""


@dataclass(frozen=True)
class Today:
    """A symbol of today's TensorFlow, as the symbol rules spell it."""

    symbol: str


@dataclass(frozen=True)
class Stays:
    """A word that keeps its program on the Estimator, and why."""

    why: str


Home = Loop | Brought | Installed | Today | Stays

# Names that `tf.estimator` and the loop module share.
_ESTIMATOR = (
    "BestExporter",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FinalExporter",
    "LatestExporter",
    "ModeKeys",
    "RunConfig",
    "TrainSpec",
    "VocabInfo",
    "WarmStartSettings",
    "train_and_evaluate",
)
_EXPERIMENTAL = (
    "InMemoryEvaluatorHook",
    "build_raw_supervised_input_receiver_fn",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "read_eval_metrics",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
)
_EXPORT = (
    "ClassificationOutput",
    "ExportOutput",
    "PredictOutput",
    "RegressionOutput",
    "ServingInputReceiver",
    "SupervisedInputReceiver",
    "TensorServingInputReceiver",
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
)
_TPU = (
    "InputPipelineConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
)
# Hooks under `tf.estimator` that `tf.train` has as well.
_HOOKS = (
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "FeedFnHook",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LoggingTensorHook",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
)
# What `lifting` writes where layers were: no names of TensorFlow, but of its kind.
_LIFTED = (
    "ColumnsLayer",
    "FunctionLayer",
    "ScopedLayer",
    "ScopedModel",
    "named",
    "one_part",
)
_LOOP: dict[str, str] = {
    **{f"tf.estimator.{name}": name for name in _LIFTED},
    **{f"tf.estimator.{name}": name for name in _ESTIMATOR},
    **{f"tf.estimator.experimental.{name}": name for name in _EXPERIMENTAL},
    **{f"tf.contrib.estimator.{name}": name for name in _EXPERIMENTAL},
    **{f"tf.estimator.export.{name}": name for name in _EXPORT},
    **{f"tf.estimator.tpu.{name}": name for name in _TPU},
    **{f"tf.contrib.tpu.{name}": name for name in _TPU},
    "tf.estimator.tpu.RunConfig": "RunConfig",
    "tf.contrib.tpu.RunConfig": "RunConfig",
    "tf.contrib.tpu.CrossShardOptimizer": "CrossShardOptimizer",
    "tf.tpu.CrossShardOptimizer": "CrossShardOptimizer",
    "tf.estimator.inputs.numpy_input_fn": "numpy_input_fn",
    "tf.estimator.inputs.pandas_input_fn": "pandas_input_fn",
    "tf.contrib.learn.io.numpy_input_fn": "numpy_input_fn",
    "tf.contrib.learn.io.pandas_input_fn": "pandas_input_fn",
    "tf.keras.estimator.model_to_estimator": "model_to_estimator",
    "tf.contrib.predictor.from_saved_model": "from_saved_model",
    "tf.contrib.predictor.from_estimator": "from_estimator",
    "tf.contrib.distribute.DistributeConfig": "DistributeConfig",
    "tf.contrib.distribute.train_and_evaluate": "train_and_evaluate",
    "tf.contrib.distribute.MirroredStrategy": "MirroredStrategy",
    "tf.contrib.distribute.OneDeviceStrategy": "OneDeviceStrategy",
    "tf.contrib.distribute.CollectiveAllReduceStrategy": "CollectiveAllReduceStrategy",
    "tf.contrib.distribute.AllReduceCrossDeviceOps": "AllReduceCrossDeviceOps",
    "tf.contrib.distribute.AllReduceCrossTowerOps": "AllReduceCrossDeviceOps",
    "tf.distribute.MultiWorkerMirroredStrategy": "MultiWorkerMirroredStrategy",
    "tf.distribute.experimental.MultiWorkerMirroredStrategy": (
        "MultiWorkerMirroredStrategy"
    ),
    "tf.contrib.distribute.ParameterServerStrategy": "ParameterServerStrategy",
    "tf.distribute.experimental.ParameterServerStrategy": "ParameterServerStrategy",
    "tf.data.make_one_shot_iterator": "make_one_shot_iterator",
    "tf.data.make_initializable_iterator": "make_initializable_iterator",
    "tf.summary.FileWriter": "FileWriter",
    "tf.train.SummaryWriter": "FileWriter",
    "tf.train.ExponentialMovingAverage": "ExponentialMovingAverage",
    "tf.train.ProfilerHook": "ProfilerHook",
    "tf.estimator.ProfilerHook": "ProfilerHook",
}
# Arguments for which there is nothing in the loop module: their place, and why.
STAYING_ARGUMENTS: dict[str, tuple[str, int, str]] = {
    "tf.contrib.distribute.DistributeConfig": (
        "remote_cluster",
        2,
        "with `remote_cluster` lets servers compute that know nothing of the program: "
        "leave it out and start the program as each task of the cluster, with its "
        "TF_CONFIG",
    ),
}
# Strategies that a program makes, in whose place `--strategy` puts another.
STRATEGIES = tuple(
    f"tf.{package}.{name}Strategy"
    for package in ("contrib.distribute", "distribute", "distribute.experimental")
    for name in (
        "CentralStorage",
        "CollectiveAllReduce",
        "Mirrored",
        "MultiWorkerMirrored",
        "OneDevice",
        "ParameterServer",
    )
)
# The packages that these names hang in, when one is given a name of its own.
_NAMESPACES = (
    "tf.estimator",
    "tf.estimator.experimental",
    "tf.estimator.export",
    "tf.estimator.inputs",
    "tf.estimator.tpu",
    "tf.keras.estimator",
)
# Each of them, or the runner that is added, refuses to be where there is no graph.
_QUEUES = (
    "input_producer",
    "string_input_producer",
    "slice_input_producer",
    "range_input_producer",
    "batch",
    "batch_join",
    "maybe_batch",
    "maybe_batch_join",
    "maybe_shuffle_batch",
    "maybe_shuffle_batch_join",
    "shuffle_batch",
    "shuffle_batch_join",
    "add_queue_runner",
    "queue_runner.QueueRunner",
    "queue_runner.add_queue_runner",
    "QueueRunner",
)
_INPUTS_BY_HAND = (
    *_QUEUES,
    "limit_epochs",
    "start_queue_runners",
    "queue_runner.start_queue_runners",
)
_BY_HAND = "drives a session by hand"
_STAYS: dict[str, str] = {
    "tf.contrib.slim.learning": _BY_HAND,
    "tf.contrib.slim.learning.train": _BY_HAND,
    "tf.contrib.slim.evaluation": _BY_HAND,
    "tf.contrib.training.train": _BY_HAND,
}
# What only has a meaning in a graph, and why it keeps a program where an Estimator
# would call it; elsewhere a program may go on building graphs by hand.
GRAPH_WORDS: dict[str, str] = {
    "tf.Session": "runs a session by hand, on the default graph",
    "tf.InteractiveSession": "runs a session by hand, on the default graph",
    "tf.placeholder": "builds a graph outside of every function",
    "tf.placeholder_with_default": "builds a graph outside of every function",
    **{
        f"tf.train.{name}": _BY_HAND
        for name in (
            "ChiefSessionCreator",
            "MonitoredSession",
            "MonitoredTrainingSession",
            "SingularMonitoredSession",
            "Supervisor",
            "WorkerSessionCreator",
        )
    },
    **{
        f"tf.train.{name}": "reads its data through queues, which only sessions run"
        for name in _INPUTS_BY_HAND
    },
}
# What an input function may read through: the loop runs its graph with a session.
QUEUE_WORDS = frozenset(f"tf.train.{name}" for name in _QUEUES)
# Programs of TF 1 mean TF 1's; these are under the same name in TF 2 and differ.
_V1 = {
    "tf.Variable": "tf.compat.v1.Variable",
}
# Packages that live on under another name. The layers of TF 1 are in tf_keras, where
# no public path leads to them while `tf.keras` is Keras 3.
_LEGACY = "tf_keras.api._v1.keras.__internal__.legacy"
# Modules that were private to Keras, and are where `tf_keras` has its own.
_WITHIN_KERAS = {
    "engine": "engine",
    **{f"utils.{name}_utils": f"utils.{name}_utils" for name in ("conv", "tf")},
    **{
        f"saving.{name}": f"saving.legacy.{name}"
        for name in ("hdf5_format", "model_config", "saving_utils")
    },
}
_PACKAGES = {
    **{f"tf.keras.{old}": f"tf_keras.src.{new}" for old, new in _WITHIN_KERAS.items()},
    "tf.keras": "tf_keras",
    "tf.layers": f"{_LEGACY}.layers",
    "tf.nn.rnn_cell": f"{_LEGACY}.rnn_cell",
}
_CANNED = ("Classifier", "Regressor", "Estimator")
_ESTIMATOR_ROOTS = (
    "tf.estimator",
    "tf.contrib.estimator",
    "tf.keras.estimator",
    "tf.contrib.learn",
    "tf.contrib.tpu.TPUEstimator",
    "tf.contrib.tpu.RunConfig",
    "tf.contrib.tpu.TPUConfig",
    "tf.contrib.tpu.InputPipelineConfig",
    "tf.contrib.distribute.DistributeConfig",
    "tf.contrib.predictor",
)
# Below `tf.contrib.learn` there is much that has nothing to do with training.
_NOT_ESTIMATORS = ("tf.contrib.learn.datasets",)


@lru_cache(maxsize=4096)
def home(symbol: str) -> Home | None:
    """Where a canonical symbol goes; None where the symbol rules know better."""
    name = _LOOP.get(symbol)
    if name is not None:
        return Loop(name)
    if symbol in _NAMESPACES:
        return Loop("")
    if symbol in _STAYS:
        return Stays(_STAYS[symbol])
    if symbol in _V1:
        return Today(_V1[symbol])
    parent, _, last = symbol.rpartition(".")
    if parent == "tf.estimator" and last in _HOOKS:
        return Today(f"tf.compat.v1.train.{last}")
    if is_estimator_word(symbol):
        if last.endswith(_CANNED):
            return Stays("is a canned Estimator, for which there is no loop")
        return None
    for old, module in _PACKAGES.items():
        if symbol == old or symbol.startswith(old + "."):
            return Installed(module, symbol[len(old) + 1 :])
    return None


def is_estimator_word(symbol: str) -> bool:
    """Whether a symbol is part of the Estimator's own vocabulary."""
    return any(
        symbol == root or symbol.startswith(root + ".") for root in _ESTIMATOR_ROOTS
    ) and not symbol.startswith(_NOT_ESTIMATORS)
