"""``SavedModelEstimator``: an Estimator made from an exported model."""

from __future__ import annotations

import os
import re
from typing import Any

import tensorflow.compat.v1 as tf

from ..engine.private_api import export_utils, saved_model_loader
from .estimator import Estimator
from .export.receivers import SINGLE_FEATURE_NAME, SINGLE_LABEL_NAME
from .export.saved_model import TRAIN_OP_COLLECTION
from .mode_keys import ModeKeys
from .spec import EstimatorSpec
from .warm_start import WarmStartSettings, saved_model_checkpoint

__all__ = ["SavedModelEstimator"]

_METHOD_NAMES = {
    ModeKeys.TRAIN: "tensorflow/supervised/training",
    ModeKeys.EVAL: "tensorflow/supervised/eval",
}

# Collections that an export fills; a graph made from an export must not hand
# them on to the next export.
_EXPORT_COLLECTIONS = (
    "saved_model_assets",
    "legacy_init_op",
    "saved_model_main_op",
    TRAIN_OP_COLLECTION,
)


class SavedModelEstimator(Estimator):
    """Trains, evaluates and predicts with the graphs of a SavedModel.

    Of an export with all modes everything is available, of an ordinary export
    only ``predict``. The model's variables are the start of training.
    """

    def __init__(self, saved_model_dir: Any, model_dir: Any = None) -> None:
        saved_model_dir = os.fsdecode(saved_model_dir)  # exports return bytes
        checkpoint = saved_model_checkpoint(saved_model_dir)
        if checkpoint is None:
            raise ValueError(
                "Directory provided has an invalid SavedModel format: "
                f"{saved_model_dir}"
            )
        # One expression per variable that matches this variable alone: "w" must
        # not stand for its slot "w/Momentum" too.
        names = [
            rf"{re.escape(name)}(:|/part_\d+:)"
            for name, _ in tf.train.list_variables(checkpoint)
        ]
        super().__init__(
            model_fn=self._model_fn_from_saved_model,
            model_dir=model_dir,
            warm_start_from=WarmStartSettings(checkpoint, names),
        )
        if self._train_distribution or self._eval_distribution:
            raise NotImplementedError(
                "SavedModelEstimator currently does not support DistributionStrategy."
            )
        self.saved_model_dir = saved_model_dir
        self.saved_model_loader = saved_model_loader(saved_model_dir)
        self._available_modes = [
            mode
            for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)
            if self._signature(mode) is not None
        ]
        tf.logging.info("Available modes for Estimator: %s", self._available_modes)

    def _meta_graph(self, mode: str) -> Any:
        tags = export_utils.EXPORT_TAG_MAP[mode]
        return self.saved_model_loader.get_meta_graph_def_from_tags(tags)

    def _signature(self, mode: str) -> Any:
        try:
            meta_graph = self._meta_graph(mode)
        except RuntimeError:
            tf.logging.warning("%s mode not found in SavedModel.", mode)
            return None
        key = export_utils.SIGNATURE_KEY_MAP[mode]
        if key not in meta_graph.signature_def:
            tf.logging.warning(
                'Metagraph for mode %s was found, but SignatureDef with key "%s" is '
                "missing.",
                mode,
                key,
            )
            return None
        return meta_graph.signature_def[key]

    def _create_and_assert_global_step(self, graph: Any) -> Any:
        # The SavedModel's graph brings the step variable.
        return None

    def _model_fn_from_saved_model(
        self, features: Any, labels: Any, mode: str
    ) -> EstimatorSpec:
        if mode not in self._available_modes:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel. Use "
                "saved_model_cli to check that the Metagraph for this mode has been "
                "exported."
            )
        graph = tf.get_default_graph()
        if tf.train.get_global_step(graph) is not None:
            raise RuntimeError(
                "Graph must not contain a global step tensor before the SavedModel "
                "is loaded. Please make sure that the input function does not create "
                "a global step."
            )
        signature = self._signature(mode)
        names = [info.name for info in signature.outputs.values()]
        # Names can change when the graph is merged into this one, so tensors
        # are taken from the import and not looked up.
        _, tensors = self.saved_model_loader.load_graph(
            graph,
            export_utils.EXPORT_TAG_MAP[mode],
            input_map=_input_map(signature, features, labels),
            return_elements=names,
        )
        by_name = dict(zip(names, tensors, strict=True))
        outputs = {key: by_name[i.name] for key, i in signature.outputs.items()}
        main_ops = tf.get_collection("saved_model_main_op")
        scaffold = tf.train.Scaffold(local_init_op=main_ops[0] if main_ops else None)
        train_ops = tf.get_collection(TRAIN_OP_COLLECTION)
        if len(train_ops) > 1:
            raise RuntimeError("Multiple ops found in the train_op collection.")
        loss, predictions, metrics = _results(mode, outputs, signature.method_name)
        for collection in _EXPORT_COLLECTIONS:
            graph.clear_collection(collection)
        return EstimatorSpec(
            mode=mode,
            loss=loss,
            predictions=predictions,
            eval_metric_ops=metrics,
            train_op=train_ops[0] if train_ops else None,
            scaffold=scaffold,
        )


def _named(value: Any, lone_name: str) -> dict[str, Any]:
    if value is None:
        return {}
    return value if isinstance(value, dict) else {lone_name: value}


def _input_map(signature: Any, features: Any, labels: Any) -> dict[str, Any]:
    """Which tensor replaces which placeholder of the exported graph."""
    given = {
        **_named(labels, SINGLE_LABEL_NAME),
        **_named(features, SINGLE_FEATURE_NAME),
    }
    replaced: dict[str, Any] = {}
    for key, info in signature.inputs.items():
        if key not in given:
            raise ValueError(
                f'Key "{key}" not found in features or labels passed in to the model '
                f"function. All required keys: {list(signature.inputs)}"
            )
        _check_input(key, given[key], info)
        name = info.name.split(":")[0]
        replaced[name] = replaced["^" + name] = given[key]
    return replaced


def _check_input(key: str, tensor: Any, info: Any) -> None:
    dtype = tf.as_dtype(info.dtype)
    shape = tf.TensorShape(info.tensor_shape)
    problems = []
    if tensor.dtype != dtype:
        problems.append(f"\n\tExpected dtype: {dtype}, Got: {tensor.dtype}")
    if not tensor.shape.is_compatible_with(shape):
        problems.append(f"\n\tExpected shape: {shape}, Got: {tensor.shape}")
    if problems:
        raise ValueError(
            f"Tensor shape and/or dtype validation failed for input {key}:"
            + "".join(problems)
        )


def _results(
    mode: str, outputs: dict[str, Any], method_name: str
) -> tuple[Any, Any, dict[str, Any] | None]:
    """Loss, predictions and metrics from a signature's outputs."""
    if mode == ModeKeys.PREDICT:
        return None, outputs, None
    expected = _METHOD_NAMES[mode]
    if method_name != expected:
        raise RuntimeError(
            f"Invalid SignatureDef method name for mode {mode}.\n\tExpected: "
            f"{expected}\n\tGot: {method_name}\nPlease ensure that the SavedModel was "
            "exported with `tf.contrib.estimator.export_all_saved_models()`."
        )
    predictions = {k: v for k, v in outputs.items() if k.split("/")[0] == "predictions"}
    metrics = {}
    for key, value in outputs.items():
        name, _, last = key.rpartition("/")
        update = outputs.get(f"{name}/update_op")
        if key.startswith("metrics/") and last == "value" and update is not None:
            metrics[name] = (value, update)
    return outputs["loss"], predictions, metrics
