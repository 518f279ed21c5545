"""Exporters: what ``train_and_evaluate`` writes after an evaluation.

``LatestExporter`` after each, ``FinalExporter`` after the last one,
``BestExporter`` after those that beat every evaluation so far.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from ..engine.callables import argument_names

__all__ = [
    "BestExporter",
    "BestExporterV2",
    "Exporter",
    "FinalExporter",
    "LatestExporter",
]

Metrics = Mapping[str, Any]


class Exporter(abc.ABC):
    """One kind of export, written below ``MODEL_DIR/export/NAME``."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Name of the directory; unique among an ``EvalSpec``'s exporters."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Metrics,
        is_the_final_export: bool,
    ) -> Any:
        """Exports ``estimator``; returns the path, or None when skipped."""


class _SavedModelExporter(Exporter):
    """The arguments of an export, kept until it happens.

    The names of it, and of what the exporters below do with it, are those that
    subclasses in published packages call.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
    ) -> None:
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self) -> str:
        """Name of the directory."""
        return self._name

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Metrics,
        is_the_final_export: bool,
    ) -> Any:
        """Exports, whatever the result."""
        del eval_result, is_the_final_export
        # Through the method, so that a subclass's override is used.
        return estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )


def _delete_old_exports(export_path: str, keep: int | None) -> None:
    """Keeps the newest exports; anything not named by a time stays."""
    if keep is None or not tf.io.gfile.isdir(export_path):
        return
    names = [n.rstrip("/") for n in tf.io.gfile.listdir(export_path)]
    # Ten digits: seconds since 1970. Other names were never ours to delete.
    exports = sorted(n for n in names if len(n) == 10 and n.isdigit())
    for name in exports[: max(0, len(exports) - keep)]:
        path = os.path.join(os.fsdecode(export_path), name)
        try:
            tf.io.gfile.rmtree(path)
        except tf.errors.NotFoundError as error:
            tf.logging.warn("Can not delete %s recursively: %s", path, error)


def _check_exports_to_keep(exports_to_keep: int | None, detail: str) -> None:
    if exports_to_keep is not None and exports_to_keep <= 0:
        raise ValueError(f"`exports_to_keep`, if provided, must be {detail}")


def _events(pattern: str) -> Iterator[Any]:
    for path in sorted(tf.io.gfile.glob(pattern)):
        try:
            yield from tf.train.summary_iterator(path)
        except tf.errors.DataLossError as error:
            # A killed process leaves half a record at the end of its file.
            tf.logging.warning("Skipping the damaged rest of %s: %s", path, error)


class _Exports(Exporter):
    """What the exporters below have in common: where they write, and what they keep."""

    _saved_model_exporter: _SavedModelExporter
    _exports_to_keep: int | None = None

    @property
    def name(self) -> str:
        """Name of the directory."""
        return self._saved_model_exporter.name

    def _garbage_collect_exports(self, export_dir_base: str) -> None:
        _delete_old_exports(export_dir_base, self._exports_to_keep)


class FinalExporter(_Exports):
    """Exports once, at the end of training."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        self._saved_model_exporter = _SavedModelExporter(
            name, serving_input_receiver_fn, assets_extra, as_text
        )

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Metrics,
        is_the_final_export: bool,
    ) -> Any:
        """Exports when this is the end of training."""
        if not is_the_final_export:
            return None
        tf.logging.info("Performing the final export in the end of training.")
        return self._saved_model_exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )


class LatestExporter(_Exports):
    """Exports after every evaluation and deletes older exports."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        self._saved_model_exporter = _SavedModelExporter(
            name, serving_input_receiver_fn, assets_extra, as_text
        )
        _check_exports_to_keep(exports_to_keep, "positive number")
        self._exports_to_keep = exports_to_keep

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Metrics,
        is_the_final_export: bool,
    ) -> Any:
        """Exports, then deletes all but the newest exports."""
        result = self._saved_model_exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )
        self._garbage_collect_exports(export_path)
        return result


def _loss_smaller(best_eval_result: Metrics, current_eval_result: Metrics) -> bool:
    """Whether the loss of the current result is the smaller one."""
    for label, result in (
        ("best_eval_result", best_eval_result),
        ("current_eval_result", current_eval_result),
    ):
        if not result or "loss" not in result:
            raise ValueError(f"{label} cannot be empty or no loss is found in it.")
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


_COMPARE_ARGUMENTS = ("best_eval_result", "current_eval_result")


def _check_compare_fn(compare_fn: Callable[..., Any] | None) -> None:
    if compare_fn is None:
        raise ValueError("`compare_fn` must not be None.")
    names = argument_names(compare_fn)
    for needed in _COMPARE_ARGUMENTS:
        if needed not in names:
            raise ValueError(
                f"compare_fn ({compare_fn}) must include {needed} argument."
            )
    others = [n for n in names if n not in _COMPARE_ARGUMENTS]
    if others:
        raise ValueError(
            f"compare_fn ({compare_fn}) has following not expected args: {others}"
        )


class BestExporter(_Exports):
    """Exports whenever an evaluation beats every earlier one.

    After a restart the best result so far is read from the event files that
    ``event_file_pattern`` finds below the model directory. The evaluation being
    judged has just been written there too and is left out. TF 1.15 let it
    compete with itself, so the first evaluation of a run was never exported.
    """

    _exports_first = False
    _has_exported = False

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., Any] = _loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        _check_compare_fn(compare_fn)
        self._compare_fn = compare_fn
        self._saved_model_exporter = _SavedModelExporter(
            name, serving_input_receiver_fn, assets_extra, as_text
        )
        self._event_file_pattern = event_file_pattern
        self._model_dir: str | None = None
        self._best_eval_result: Metrics | None = None
        self._judged_step: Any = None
        _check_exports_to_keep(
            exports_to_keep, f"a positive number. Got {exports_to_keep}"
        )
        self._exports_to_keep = exports_to_keep

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Metrics,
        is_the_final_export: bool,
    ) -> Any:
        """Exports when ``eval_result`` is the best so far."""
        if self._event_file_pattern and self._model_dir != estimator.model_dir:
            tf.logging.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._judged_step = (eval_result or {}).get(tf.GraphKeys.GLOBAL_STEP)
            self._best_eval_result = self._get_best_eval_result(
                os.path.join(estimator.model_dir, self._event_file_pattern)
            )
        best = self._best_eval_result
        first = self._exports_first and not self._has_exported
        if (
            best is not None
            and not first
            and not self._compare_fn(
                best_eval_result=best, current_eval_result=eval_result
            )
        ):
            return None
        tf.logging.info("Performing best model export.")
        self._best_eval_result = eval_result
        result = self._saved_model_exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )
        self._garbage_collect_exports(export_path)
        self._has_exported = True
        return result

    def _get_best_eval_result(self, event_files: str) -> Metrics | None:
        best: Metrics | None = None
        step = self._judged_step
        for event in _events(event_files):
            if step is not None and event.step == int(step):
                continue
            recorded = {
                value.tag: value.simple_value
                for value in event.summary.value
                if value.HasField("simple_value")
            }
            if not recorded:
                continue
            if best is None or self._compare_fn(
                best_eval_result=best, current_eval_result=recorded
            ):
                best = recorded
        return best


class BestExporterV2(BestExporter):
    """TF 2's: the first evaluation of every run is exported, better or not."""

    _exports_first = True
