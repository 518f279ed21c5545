"""Exporters: what `train_and_evaluate` writes after an evaluation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from .inputs import accepted
from .vocabulary import logger, v1


class Exporter:
    """One kind of export, written below `MODEL_DIR/export/NAME`."""

    name: Any = None

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports; returns the path, or None when there is nothing to export."""
        raise TypeError(f"{type(self).__name__} does not say how to export.")


class SavedModelExporter(Exporter):
    """What the exporters have in common: a receiver function, and what to keep."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = None,
    ):
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                "`exports_to_keep`, if provided, must be a positive number"
            )
        self.name = name
        self.receiver_fn = serving_input_receiver_fn
        self.assets_extra = assets_extra
        self.as_text = as_text
        self.exports_to_keep = exports_to_keep

    def write(self, estimator: Any, export_path: str, checkpoint_path: str) -> Any:
        """Exports, and deletes all but the newest exports."""
        result = estimator.export_saved_model(
            export_path,
            self.receiver_fn,
            assets_extra=self.assets_extra,
            as_text=self.as_text,
            checkpoint_path=checkpoint_path,
        )
        if self.exports_to_keep is not None:
            names = [name.rstrip("/") for name in tf.io.gfile.listdir(export_path)]
            # Ten digits: seconds since 1970. Other names were never ours to delete.
            old = sorted(name for name in names if len(name) == 10 and name.isdigit())
            for name in old[: -self.exports_to_keep]:
                tf.io.gfile.rmtree(os.path.join(export_path, name))
        return result


class FinalExporter(SavedModelExporter):
    """Exports once, at the end of training."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports when this is the end."""
        if not is_the_final_export:
            return None
        logger.info("Performing the final export in the end of training.")
        return self.write(estimator, export_path, checkpoint_path)


class LatestExporter(SavedModelExporter):
    """Exports after every evaluation."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ):
        super().__init__(
            name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep
        )

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports."""
        return self.write(estimator, export_path, checkpoint_path)


def loss_is_smaller(
    best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]
) -> bool:
    """Whether the loss of the current figures is below that of the best ones."""
    for label, result in (
        ("best_eval_result", best_eval_result),
        ("current_eval_result", current_eval_result),
    ):
        if not result or "loss" not in result:
            raise ValueError(f"{label} cannot be empty or no loss is found in it.")
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


class BestExporter(SavedModelExporter):
    """Exports what beats every evaluation so far.

    In a program that is started again, those of earlier runs are read from the event
    files that `event_file_pattern` finds below the model's directory.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = loss_is_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ):
        super().__init__(
            name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep
        )
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        for needed in ("best_eval_result", "current_eval_result"):
            if not accepted(compare_fn, **{needed: None}):
                raise ValueError(
                    f"compare_fn ({compare_fn}) must include {needed} argument."
                )
        self.compare_fn = compare_fn
        self.event_file_pattern = event_file_pattern
        self.best: Mapping[str, Any] | None = None
        self.known_dir: str | None = None

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports when `eval_result` is the best so far."""
        if self.event_file_pattern and self.known_dir != estimator.model_dir:
            logger.info("Loading best metric from event files.")
            self.known_dir = estimator.model_dir
            self.best = self.best_recorded(
                os.path.join(estimator.model_dir, self.event_file_pattern),
                int(eval_result.get("global_step", -1)),
            )
        if self.best is not None and not self.compare_fn(
            best_eval_result=self.best, current_eval_result=eval_result
        ):
            return None
        logger.info("Performing best model export.")
        self.best = eval_result
        return self.write(estimator, export_path, checkpoint_path)

    def best_recorded(self, pattern: str, step: int) -> Mapping[str, Any] | None:
        """The best figures in event files, but for those of `step`: the ones judged."""
        best: dict[str, Any] | None = None
        for event_step, figures in recorded_figures(pattern):
            if event_step != step and (
                best is None
                or self.compare_fn(best_eval_result=best, current_eval_result=figures)
            ):
                best = figures
        return best


def recorded_figures(pattern: str) -> Iterator[tuple[int, dict[str, float]]]:
    """The figures of evaluations in event files, with their steps."""
    for path in sorted(tf.io.gfile.glob(pattern)):
        try:
            for event in v1.train.summary_iterator(path):
                figures = {
                    value.tag: value.simple_value
                    for value in event.summary.value
                    if value.HasField("simple_value")
                }
                if figures:
                    yield event.step, figures
        except tf.errors.DataLossError as error:
            # A killed process leaves half a record at the end of its file.
            logger.warning("Skipping the damaged rest of %s: %s", path, error)
