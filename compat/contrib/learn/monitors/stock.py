"""Monitors that log, keep, write, save and stop."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from .base import BaseMonitor, EveryN, name_of

__all__ = [
    "CaptureVariable",
    "CheckpointSaver",
    "LoggingTrainable",
    "NanLoss",
    "NanLossDuringTrainingError",
    "PrintTensor",
    "StepCounter",
    "StopAtStep",
    "SummarySaver",
    "get_default_monitors",
]


NanLossDuringTrainingError = tf.train.NanLossDuringTrainingError


class StopAtStep(BaseMonitor):
    """Asks training to stop after some steps, or at a step."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    @property
    def run_on_all_workers(self) -> bool:
        """Every worker has to stop."""
        return True

    def step_begin(self, step: int) -> list[Any]:
        """The first step decides where the last one is."""
        super().step_begin(step)
        if self._last_step is None and self._num_steps is not None:
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step: int, output: Any) -> bool:
        """Whether that was the last one."""
        super().step_end(step, output)
        return self._last_step is not None and step >= self._last_step


class PrintTensor(EveryN):
    """Logs tensors, by their names."""

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        if not isinstance(tensor_names, dict):
            tensor_names = {name: name for name in tensor_names}
        self._tensor_names = tensor_names

    def every_n_step_begin(self, step: int) -> list[Any]:
        """The tensors."""
        super().every_n_step_begin(step)
        return list(self._tensor_names.values())

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        """Logs them."""
        super().every_n_step_end(step, outputs)
        told = [
            f"{tag} = {outputs[name]}"
            for tag, name in self._tensor_names.items()
            if name in outputs
        ]
        tf.logging.info("Step %d: %s", step, ", ".join(told))
        return False


class LoggingTrainable(EveryN):
    """Logs the trainable variables of a scope."""

    def __init__(
        self, scope: str | None = None, every_n: int = 100, first_n: int = 1
    ) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step: int) -> list[Any]:
        """The variables."""
        super().every_n_step_begin(step)
        found = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)
        self._names = {variable.name: variable.value().name for variable in found}
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        """Logs them."""
        super().every_n_step_end(step, outputs)
        told = [
            f"{tag} = {outputs[name]}"
            for tag, name in self._names.items()
            if name in outputs
        ]
        tf.logging.info("Logging Trainable: Step %d: %s", step, ", ".join(told))
        return False


class CaptureVariable(EveryN):
    """Keeps the values of a variable, by step."""

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """Step -> value."""
        return self._var_values

    def every_n_step_begin(self, step: int) -> list[Any]:
        """The variable."""
        super().every_n_step_begin(step)
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        """Keeps its value."""
        super().every_n_step_end(step, outputs)
        self._var_values[step] = outputs[self._var_name]
        return False


class SummarySaver(EveryN):
    """Writes summaries."""

    def __init__(
        self,
        summary_op: Any,
        save_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Any = None,
    ) -> None:
        super().__init__(every_n_steps=save_steps)
        self._summary_op = summary_op
        self._writer = summary_writer
        if summary_writer is None and output_dir:
            self._writer = tf.summary.FileWriter(output_dir)
        self._scaffold = scaffold

    def set_estimator(self, estimator: Any) -> None:
        """Summaries go where the estimator's are, if nothing else was said."""
        super().set_estimator(estimator)
        if self._writer is None:
            self._writer = tf.summary.FileWriterCache.get(estimator.model_dir)

    def every_n_step_begin(self, step: int) -> list[Any]:
        """The summaries."""
        super().every_n_step_begin(step)
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [self._summary_op] if self._summary_op is not None else []

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        """Writes them."""
        super().every_n_step_end(step, outputs)
        if self._summary_op is not None and self._writer is not None:
            self._writer.add_summary(outputs[name_of(self._summary_op)], step)
        return False

    def end(self, session: Any = None) -> None:
        """Empties the buffers."""
        super().end(session=session)
        if self._writer is not None:
            self._writer.flush()


class StepCounter(EveryN):
    """Writes how many steps there are in a second."""

    def __init__(
        self,
        every_n_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._last: tuple[int, float] | None = None
        self._writer = summary_writer
        if summary_writer is None and output_dir:
            self._writer = tf.summary.FileWriterCache.get(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        """The figure goes where the estimator's are, if nothing else was said."""
        super().set_estimator(estimator)
        if self._writer is None:
            self._writer = tf.summary.FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        """Writes the figure since the last time."""
        super().every_n_step_end(step, outputs)
        now = time.time()
        if self._last is not None and self._writer is not None:
            rate = (step - self._last[0]) / max(now - self._last[1], 1e-9)
            summary = tf.Summary(
                value=[tf.Summary.Value(tag="global_step/sec", simple_value=rate)]
            )
            self._writer.add_summary(summary, step)
        self._last = (step, now)
        return False


class CheckpointSaver(BaseMonitor):
    """Saves checkpoints now and then, and at the end."""

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
    ) -> None:
        super().__init__()
        if (save_secs is None) == (save_steps is None):
            raise ValueError("Exactly one of save_secs and save_steps must be given.")
        self._path = f"{checkpoint_dir.rstrip('/')}/{checkpoint_basename}"
        self._secs, self._steps = save_secs, save_steps
        self._saver, self._scaffold = saver, scaffold
        self._last: tuple[int, float] | None = None

    def post_step(self, step: int, session: Any) -> None:
        """Saves if it is time."""
        super().post_step(step, session)
        if self._last is None or (
            step - self._last[0] >= self._steps
            if self._steps is not None
            else time.time() - self._last[1] >= (self._secs or 0)
        ):
            self._save(step, session)

    def end(self, session: Any = None) -> None:
        """Saves what was last."""
        super().end(session)
        if session is not None:
            step = int(session.run(tf.train.get_global_step()))
            if self._last is None or self._last[0] != step:
                self._save(step, session)

    def _save(self, step: int, session: Any) -> None:
        saver = self._saver or (self._scaffold.saver if self._scaffold else None)
        if saver is None:
            saver = self._saver = tf.train.Saver(sharded=True)
        saver.save(session, self._path, global_step=step)
        self._last = (step, time.time())


class NanLoss(EveryN):
    """Stops when the loss is no number."""

    def __init__(
        self, loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor = loss_tensor
        self._fail = fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> list[Any]:
        """The loss."""
        super().every_n_step_begin(step)
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        """Looks at it."""
        super().every_n_step_end(step, outputs)
        if not np.isnan(outputs[name_of(self._loss_tensor)]):
            return False
        tf.logging.error("Model diverged with loss = NaN.")
        if self._fail:
            raise NanLossDuringTrainingError
        return True


def get_default_monitors(
    loss_op: Any = None,
    summary_op: Any = None,
    save_summary_steps: int = 100,
    output_dir: str | None = None,
    summary_writer: Any = None,
) -> list[Any]:
    """A log line for the loss, and summaries."""
    found: list[Any] = []
    if loss_op is not None:
        found.append(PrintTensor({"loss": loss_op.name}))
    if summary_op is not None:
        found.append(
            SummarySaver(
                summary_op,
                save_steps=save_summary_steps,
                output_dir=output_dir,
                summary_writer=summary_writer,
            )
        )
    return found
