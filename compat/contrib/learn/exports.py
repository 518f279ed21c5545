"""Export strategies of ``tf.contrib.learn``."""

from __future__ import annotations

import collections
import os
from typing import Any

import tensorflow.compat.v1 as tf

from ...estimator import export
from .keys import PredictionKey, ProblemType

__all__ = [
    "ExportStrategy",
    "InputFnOps",
    "Served",
    "as_receiver_fn",
    "build_default_serving_input_fn",
    "build_parsing_serving_input_fn",
    "make_export_strategy",
]

InputFnOps = collections.namedtuple("InputFnOps", "features labels default_inputs")


class Served(export.PredictOutput):
    """What a head is served with: in a form of its own where there is one input."""

    def __init__(self, problem: int, outputs: Any) -> None:
        super().__init__(outputs)
        self._problem = problem
        self._own = outputs

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """The signature for these inputs."""
        output = self._of_problem() if len(receiver_tensors) == 1 else None
        if output is None:
            return super().as_signature_def(receiver_tensors)
        return output.as_signature_def(receiver_tensors)

    def _of_problem(self) -> Any:
        own = self._own
        if self._problem == ProblemType.LINEAR_REGRESSION and len(own) == 1:
            return export.RegressionOutput(*own.values())
        kinds = (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION)
        scores = own.get(PredictionKey.SCORES)
        if scores is None:
            scores = own.get(PredictionKey.PROBABILITIES)
        classes = own.get(PredictionKey.CLASSES)
        if classes is not None and classes.dtype != tf.string:
            classes = None
        if self._problem not in kinds or (scores is None and classes is None):
            return None
        return export.ClassificationOutput(scores=scores, classes=classes)


class ExportStrategy(
    collections.namedtuple("ExportStrategy", "name export_fn strip_default_attrs")
):
    """A name and a function that exports an estimator."""

    __slots__ = ()

    def __new__(
        cls, name: str, export_fn: Any, strip_default_attrs: Any = None
    ) -> ExportStrategy:
        """Keep the third field optional."""
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str | None = None,
        eval_result: Any = None,
    ) -> Any:
        """Export the given checkpoint below ``export_path``."""
        code = getattr(self.export_fn, "__code__", None)
        names = code.co_varnames[: code.co_argcount] if code is not None else ()
        kwargs: dict[str, Any] = {}
        if "checkpoint_path" in names:
            kwargs["checkpoint_path"] = checkpoint_path
        if "eval_result" in names:
            kwargs["eval_result"] = eval_result
        return self.export_fn(estimator, export_path, **kwargs)


def as_receiver_fn(serving_input_fn: Any) -> Any:
    """A serving function whose result the Estimator's export understands."""

    def receiver() -> Any:
        found = serving_input_fn()
        if isinstance(found, InputFnOps):
            inputs = {
                name: tensor
                for name, tensor in found.default_inputs.items()
                if tensor is not None
            }
            return export.ServingInputReceiver(found.features, inputs)
        return found

    return receiver


def build_parsing_serving_input_fn(
    feature_spec: Any, default_batch_size: int | None = None
) -> Any:
    """A serving input that parses tf.Example."""

    def serving_input() -> Any:
        serialized = tf.placeholder(
            tf.string, [default_batch_size], name="input_example_tensor"
        )
        features = tf.parse_example(serialized, feature_spec)
        return InputFnOps(features, None, {"examples": serialized})

    return serving_input


def build_default_serving_input_fn(
    features: Any, default_batch_size: int | None = None
) -> Any:
    """A serving input with one placeholder per feature."""

    def serving_input() -> Any:
        holders = {}
        for name, tensor in features.items():
            shape = tensor.get_shape().as_list()
            shape[0] = default_batch_size
            holders[name] = tf.placeholder(tensor.dtype, shape, name=tensor.op.name)
        return InputFnOps(holders, None, holders)

    return serving_input


def make_export_strategy(
    serving_input_fn: Any,
    default_output_alternative_key: Any = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: Any = None,
) -> ExportStrategy:
    """The strategy called "Servo": export, and keep the newest few."""
    del default_output_alternative_key

    def export_fn(
        estimator: Any, export_dir_base: str, checkpoint_path: str | None = None
    ) -> Any:
        exporter = getattr(estimator, "_core", estimator)
        result = exporter.export_saved_model(
            export_dir_base,
            as_receiver_fn(serving_input_fn),
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )
        if exports_to_keep is not None:
            numbered = list(tf.gfile.ListDirectory(export_dir_base))
            stamps = sorted(
                (name.strip("/") for name in numbered if name.strip("/").isdigit()),
                key=int,
            )
            for old in stamps[:-exports_to_keep]:
                tf.gfile.DeleteRecursively(os.path.join(export_dir_base, old))
        return result

    return ExportStrategy("Servo", export_fn, strip_default_attrs)
