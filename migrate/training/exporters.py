"""Exporters: what train_and_evaluate saves for serving after an evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from . import export, spec_exporters  # noqa: F401 both are needed


class LatestExporter:
    """Exports the model after each evaluation, and keeps the last exports."""

    def __init__(
        self, name: str, receiver: Any, exports_to_keep: int | None = 5
    ) -> None:
        self.name, self.receiver, self.exports_to_keep = name, receiver, exports_to_keep

    def export(self, trainer: Any, export_path: str, *evaluated: Any) -> Any:
        """Exports the model that has been evaluated; returns where, if it does."""
        path = trainer.export_saved_model(export_path, self.receiver)
        names = [name.strip("/") for name in tf.io.gfile.listdir(export_path)]
        versions = sorted((name for name in names if name.isdigit()), key=int)
        for version in versions[: -(self.exports_to_keep or len(versions))]:
            tf.io.gfile.rmtree(f"{export_path}/{version}")
        return path


class FinalExporter(LatestExporter):
    """Exports the model once, when training is over."""

    def __init__(self, name: str, receiver: Any) -> None:
        super().__init__(name, receiver, exports_to_keep=None)

    def export(self, trainer: Any, export_path: str, *evaluated: Any) -> Any:
        _, _, is_the_final_export = evaluated
        return super().export(trainer, export_path) if is_the_final_export else None


def smaller_loss(
    best_eval_result: dict[str, Any], current_eval_result: dict[str, Any]
) -> bool:
    """Tells whether a model has a smaller loss than the best one so far."""
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


class BestExporter(LatestExporter):
    """Exports the model when it is the best so far; model_dir keeps its figures."""

    def __init__(
        self,
        name: str = "best_exporter",
        receiver: Any = None,
        compare_fn: Callable[..., bool] | None = None,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, receiver, exports_to_keep)
        self.compare_fn = compare_fn or smaller_loss

    def export(self, trainer: Any, export_path: str, *evaluated: Any) -> Any:
        path, (_, results, _) = f"{trainer.model_dir}/{self.name}.json", evaluated
        if tf.io.gfile.exists(path):
            best = json.loads(tf.io.gfile.GFile(path).read())
            if not self.compare_fn(best_eval_result=best, current_eval_result=results):
                return None
        exported = super().export(trainer, export_path)
        with tf.io.gfile.GFile(path, "w") as file:
            json.dump({name: float(value) for name, value in results.items()}, file)
        return exported
