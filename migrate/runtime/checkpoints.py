"""Checkpoints under the names of TensorFlow 1, which reads them and whose it reads."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from .variables import name_in_tensorflow_1, number_name
from .vocabulary import logger, v1
from .workers import Workers, workers_of


class ModelSaver(v1.train.Saver):
    """A saver that takes several values of a variable together when it saves."""

    def __init__(
        self,
        *args: Any,
        merged: list[tuple[Any, Any]],
        workers: Workers,
        **kwargs: Any,
    ):
        self.merged, self.workers = merged, workers
        super().__init__(*args, **kwargs)

    def save(self, *args: Any, **kwargs: Any) -> Any:
        """Saves the values that variables have now."""
        with tf.init_scope():
            for saved, variable in self.merged:
                saved.assign(value_of_all(variable, self.workers))
        return super().save(*args, **kwargs)


def value_of_all(variable: Any, workers: Workers) -> Any:
    """One value of a variable that each replica has updated on its own."""
    total = workers.total(tf.add_n([one.read_value() for one in variable.values]))
    if variable.aggregation == tf.VariableAggregation.SUM:
        return total
    replicas = workers.strategy.num_replicas_in_sync
    return tf.cast(total / replicas, total.dtype)


def has_own_values(variable: Any) -> bool:
    """Each replica updates it on its own, such as a moving average of its batches."""
    strategy = getattr(variable, "distribute_strategy", None)
    return (
        strategy is not None
        and strategy.num_replicas_in_sync > 1
        and hasattr(variable, "values")
        and variable.synchronization == tf.VariableSynchronization.ON_READ
        and variable.aggregation
        in (tf.VariableAggregation.SUM, tf.VariableAggregation.MEAN)
    )


def saver_of(model: Any, config: Any) -> Any:
    """What saves the variables of a model by name."""
    saved, merged = [], []
    for name, variable in model.variables.by_name.items():
        first = model.strategy.experimental_local_results(variable)[0]
        if has_own_values(variable):
            with tf.init_scope():
                first = tf.Variable(first, trainable=False)
            merged.append((first, variable))
        saved.append((name, first))
    saver = ModelSaver(
        parts_together(saved),
        merged=merged,
        workers=workers_of(model.strategy),
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        save_relative_paths=True,
    )
    state = tf.train.get_checkpoint_state(config.model_dir)
    paths = list(state.all_model_checkpoint_paths) if state else []
    present = [path for path in paths if tf.io.gfile.exists(f"{path}.index")]
    times = [tf.io.gfile.stat(f"{path}.index").mtime_nsec / 1e9 for path in present]
    # Of them, too, only so many are kept.
    saver.set_last_checkpoints_with_time(list(zip(present, times, strict=True)))
    return saver


def parts_together(named: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """What a saver takes: parts of a partitioned variable as slices of the whole."""
    saved: dict[str, Any] = {}
    for name, variable in named:
        part = getattr(variable, "_save_slice_info", None)
        if part is None:
            saved[name] = variable
        else:
            saved.setdefault(part.full_name, []).append(variable)
    return saved


def saver_of_graph(checkpoint: str, **options: Any) -> Any:
    """What restores the variables of the default graph from a checkpoint."""
    known = tf.train.load_checkpoint(checkpoint).get_variable_to_shape_map()
    saved: dict[str, Any] = {}
    for variable in v1.global_variables():
        name = variable.op.name
        if name not in known:
            name = number_name(name_in_tensorflow_1(name), saved)
        saved[name] = variable
    if all(name == variable.op.name for name, variable in saved.items()):
        return v1.train.Saver(**options)  # It knows of more than variables.
    return v1.train.Saver(parts_together(saved.items()), **options)


def restore(model: Any, checkpoint: str, scaffold: Any) -> None:
    """Gives variables the values of a checkpoint, except those that have them."""
    logger.info("Restoring parameters from %s", checkpoint)
    saver = getattr(scaffold, "saver", None)
    if saver is not None:
        with model.inside():
            saver.restore(model.session, checkpoint)
        return
    variables = model.variables
    missing = []
    for name, variable in variables.by_name.items():
        part = getattr(variable, "_save_slice_info", None)
        if part is not None and part.full_name in variables.saved:
            whole = variables.reader.get_tensor(part.full_name)
            slices = zip(part.var_offset, part.var_shape, strict=True)
            variable.assign(whole[tuple(slice(at, at + n) for at, n in slices)])
        elif variables.name_in_checkpoint(name) not in variables.saved:
            missing.append(name)
    if missing:
        raise ValueError(
            f"{checkpoint} has no values for {', '.join(sorted(missing))}. Was it "
            "written by another model? Choose another model_dir to start afresh."
        )


def saved_step(checkpoint: str | None) -> int:
    """The step of a checkpoint; 0 where there is none."""
    if not checkpoint:
        return 0
    try:
        return int(tf.train.load_variable(checkpoint, "global_step"))
    except (tf.errors.OpError, ValueError):
        # A damaged or foreign checkpoint is reported where it is restored.
        return 0


class Checkpoints:
    """Saves while training runs: at its start, every so often, and at its end."""

    def __init__(
        self,
        model: Any,
        config: Any,
        scaffold: Any,
        listeners: Iterable[Any],
        *,
        saved_elsewhere: bool = False,
    ):
        self.model = model
        self.steps: int | None = config.saves_every[0]
        self.seconds: float | None = config.saves_every[1]
        # With neither, or where a hook saves, there are no checkpoints of the loop.
        self.active = not saved_elsewhere and config.saves_every != (None, None)
        self.listeners = list(listeners)
        self.directory = config.model_dir
        self.path = os.path.join(self.directory, "model.ckpt")
        self.saver: Any = getattr(scaffold, "saver", None)
        if self.saver is None and self.active:
            with model.inside():
                self.saver = saver_of(model, config)
        self.saved_step: int | None = None
        self.saved_at = 0.0

    def next_step(self) -> int | None:
        """The step after which a checkpoint is due, where steps decide."""
        if self.steps is None or self.saved_step is None:
            return None
        return self.saved_step + self.steps

    def start(self, step: int) -> None:
        """Saves what training starts from."""
        tf.io.gfile.makedirs(self.directory)
        if self.active:
            self.save(step)

    def after_step(self, step: int) -> bool:
        """Saves if it is time; gives whether a listener wants training to stop."""
        if not self.active:
            return False
        due = self.next_step()
        if due is not None:
            return step >= due and self.save(step)
        if self.seconds is None or time.time() < self.saved_at + self.seconds:
            return False
        return self.save(step)

    def end(self, step: int) -> None:
        """Saves the last step."""
        if not self.active:
            return
        if step != self.saved_step:
            self.save(step)
        for listener in self.listeners:
            with self.model.inside():
                listener.end(self.model.session, step)

    def save(self, step: int) -> bool:
        """Saves a step; gives whether a listener wants training to stop."""
        self.saved_step, self.saved_at = step, time.time()
        logger.info("Saving checkpoints for %d into %s.", step, self.path)
        session, stop = self.model.session, False
        for listener in self.listeners:
            with self.model.inside():
                listener.before_save(session, step)
        with self.model.inside():
            self.saver.save(session, self.path, step, write_meta_graph=False)
        writer = event_writer(self.directory, self.model)
        status = v1.SessionLog(
            status=v1.SessionLog.CHECKPOINT, checkpoint_path=self.path
        )
        writer.add_session_log(status, step)
        for listener in self.listeners:
            with self.model.inside():
                if listener.after_save(session, step):
                    logger.info(
                        "A CheckpointSaverListener requested that training be stopped. "
                        "listener: %s",
                        listener,
                    )
                    stop = True
        return stop


def event_writer(directory: str, model: Any) -> Any:
    """The writer of a directory's event file, one for all that write there."""
    with model.inside():
        return v1.summary.FileWriterCache.get(directory)
