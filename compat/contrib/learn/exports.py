"""Export strategies of ``tf.contrib.learn``."""

from __future__ import annotations

import collections
import os
from typing import Any

import tensorflow.compat.v1 as tf

from ...estimator import export

__all__ = [
    "ExportStrategy",
    "InputFnOps",
    "as_receiver_fn",
    "build_default_serving_input_fn",
    "build_parsing_serving_input_fn",
    "make_export_strategy",
]

InputFnOps = collections.namedtuple("InputFnOps", "features labels default_inputs")


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
