"""SavedModels: a model function, a checkpoint and a receiver, written for serving."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from .asked import HOOKS
from .checkpoints import saver_of_graph
from .vocabulary import EstimatorSpec, ModeKeys, logger, v1

DEFAULT_SIGNATURE = "serving_default"


class ExportOutput:
    """What a model gives to its clients."""

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature; ValueError where the inputs do not fit."""
        raise TypeError(f"{type(self).__name__} has no signature.")


class PredictOutput(ExportOutput):
    """Any tensors by name."""

    def __init__(self, outputs: Any):
        if not isinstance(outputs, dict):
            outputs = {"output": outputs}
        for name in outputs:
            if not isinstance(name, str):
                raise ValueError(f"Prediction output key must be a string; got {name}.")
        self.outputs = outputs

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature."""
        return v1.saved_model.predict_signature_def(receiver_tensors, self.outputs)


class ClassificationOutput(ExportOutput):
    """Scores, classes as text, or both, for each example."""

    def __init__(self, scores: Any = None, classes: Any = None):
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        if scores is not None and not scores.dtype.is_floating:
            raise ValueError(f"Classification scores must be a float; got {scores}")
        if classes is not None and classes.dtype != tf.string:
            raise ValueError(f"Classification classes must be a string; got {classes}")
        self.scores, self.classes = scores, classes

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature."""
        examples = lone_string_input(receiver_tensors)
        return v1.saved_model.classification_signature_def(
            examples, self.classes, self.scores
        )


class RegressionOutput(ExportOutput):
    """A number for each example."""

    def __init__(self, value: Any):
        if not value.dtype.is_floating:
            raise ValueError(f"Regression output value must be a float; got {value}")
        self.value = value

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature."""
        examples = lone_string_input(receiver_tensors)
        return v1.saved_model.regression_signature_def(examples, self.value)


def lone_string_input(receiver_tensors: dict[str, Any]) -> Any:
    """The serialized examples that classifying and regressing servers are fed."""
    if len(receiver_tensors) != 1:
        raise ValueError(f"It takes a single input, given: {sorted(receiver_tensors)}")
    (examples,) = receiver_tensors.values()
    if examples.dtype != tf.string:
        raise ValueError(f"It takes text, given: {examples}")
    return examples


def export_outputs_of(spec: EstimatorSpec) -> dict[str, ExportOutput]:
    """The outputs of a specification, one of them as the default signature."""
    outputs = spec.export_outputs
    if not outputs:
        outputs = {DEFAULT_SIGNATURE: PredictOutput(spec.predictions)}
    if not isinstance(outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {outputs}")
    outputs = dict(outputs)
    for name, output in outputs.items():
        if not hasattr(output, "as_signature_def"):
            raise TypeError(
                "Values in export_outputs must be ExportOutput objects. "
                f"export_outputs[{name!r}]: {output}"
            )
    if len(outputs) == 1:
        outputs.setdefault(DEFAULT_SIGNATURE, next(iter(outputs.values())))
    if DEFAULT_SIGNATURE not in outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as "
            f"the default. Name one {DEFAULT_SIGNATURE!r}."
        )
    return outputs


def signatures_of(spec: EstimatorSpec, receiver: Any) -> dict[str, Any]:
    """The signatures of a model: each output with each way to feed it."""
    fed = {"": receiver.receiver_tensors}
    fed.update(getattr(receiver, "receiver_tensors_alternatives", None) or {})
    signatures = {}
    for way, tensors in fed.items():
        for name, output in export_outputs_of(spec).items():
            key = f"{way}:{name}" if way else name
            try:
                signatures[key] = output.as_signature_def(tensors)
            except ValueError as error:
                # As ever, an output that cannot be fed in this way is left out.
                logger.info("Signature %s is left out: %s", key, error)
    return signatures


def export_model(
    call_model_fn: Callable[[Any, Any, str], EstimatorSpec],
    receiver_fns: Mapping[str, Callable[[], Any]],
    directory: Any,
    checkpoint: str,
    *,
    seed: int | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    strip_default_attrs: bool = True,
) -> bytes:
    """Writes a SavedModel below `directory`; gives its path as bytes.

    It is a graph of TensorFlow 1, made in a session, as the model function is: what
    serves such models goes on doing so.
    """
    known = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)
    modes = [mode for mode in known if receiver_fns.get(mode)]
    if not modes:
        raise ValueError(
            f"No valid modes for exporting found. Got {list(receiver_fns)}."
        )
    target = timestamped(os.fsdecode(directory))
    # Written aside and renamed: who watches the directory never sees half an export.
    aside = os.path.join(os.path.dirname(target), f"temp-{os.path.basename(target)}")
    try:
        builder = v1.saved_model.Builder(aside)
        for position, mode in enumerate(modes):
            with tf.Graph().as_default(), v1.Session() as session:
                v1.set_random_seed(seed)
                v1.train.get_or_create_global_step()
                receiver = receiver_fns[mode]()
                labels = getattr(receiver, "labels", None)
                spec = call_model_fn(receiver.features, labels, mode)
                add_to_saved_model(
                    builder,
                    session,
                    spec,
                    receiver,
                    checkpoint,
                    first=position == 0,
                    strip_default_attrs=strip_default_attrs,
                )
        builder.save(as_text)
        for name, source in (assets_extra or {}).items():
            path = os.path.join(aside, "assets.extra", os.fsdecode(name))
            tf.io.gfile.makedirs(os.path.dirname(path))
            tf.io.gfile.copy(os.fsdecode(source), path)
    except BaseException:
        if tf.io.gfile.exists(aside):
            tf.io.gfile.rmtree(aside)
        raise
    tf.io.gfile.rename(aside, target)
    return os.fsencode(target)


def add_to_saved_model(
    builder: Any,
    session: Any,
    spec: EstimatorSpec,
    receiver: Any,
    checkpoint: str,
    *,
    first: bool,
    strip_default_attrs: bool,
) -> None:
    """Restores a model in its session and adds it to what is being written."""
    if spec.mode == ModeKeys.PREDICT:
        signatures = signatures_of(spec, receiver)
        tag = v1.saved_model.tag_constants.SERVING
    else:
        signatures = supervised_signature(spec, receiver)
        tag = spec.mode
    if spec.train_op is not None:
        # Where loaders look for it.
        v1.add_to_collection("saved_model_train_op", spec.train_op)
    saver = spec.scaffold.saver if HOOKS else None
    saver = saver or saver_of_graph(checkpoint, sharded=True)
    saver.restore(session, checkpoint)
    start = spec.scaffold.local_init_op if HOOKS else None
    if start is None:
        start = tf.group(v1.local_variables_initializer(), v1.tables_initializer())
    contents = {
        "tags": [tag],
        "signature_def_map": signatures,
        "assets_collection": v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
        "main_op": start,
        "saver": saver,
        "strip_default_attrs": strip_default_attrs,
    }
    if first:
        session.run(start)
        builder.add_meta_graph_and_variables(session, **contents)
    else:
        builder.add_meta_graph(**contents)


def supervised_signature(spec: EstimatorSpec, receiver: Any) -> dict[str, Any]:
    """The signature of a model exported for training or evaluation."""
    outputs: dict[str, Any] = {"loss": spec.loss}
    predictions = spec.predictions
    if not isinstance(predictions, dict):
        predictions = {"predictions": predictions}
    outputs.update({f"predictions/{n}": value for n, value in predictions.items()})
    for name, (value, update) in spec.eval_metric_ops.items():
        outputs[f"metrics/{name}/value"] = value
        outputs[f"metrics/{name}/update_op"] = update
    tensors = {name: value for name, value in outputs.items() if tf.is_tensor(value)}
    inputs = receiver.receiver_tensors
    method = "training" if spec.mode == ModeKeys.TRAIN else spec.mode
    return {
        spec.mode: v1.saved_model.build_signature_def(
            inputs={n: v1.saved_model.build_tensor_info(t) for n, t in inputs.items()},
            outputs={
                n: v1.saved_model.build_tensor_info(t) for n, t in tensors.items()
            },
            method_name=f"tensorflow/supervised/{method}",
        )
    }


def timestamped(directory: str) -> str:
    """A path below `directory` named by the time, and after every export in it.

    Never the first free name: the oldest exports are deleted, and one that took their
    name would count as older than those that it follows.
    """
    names = tf.io.gfile.listdir(directory) if tf.io.gfile.exists(directory) else []
    names = [name.rstrip("/") for name in names]
    earlier = [int(name) for name in names if len(name) == 10 and name.isdigit()]
    stamp = max([int(time.time()), *(number + 1 for number in earlier)])
    return os.path.join(directory, str(stamp))
