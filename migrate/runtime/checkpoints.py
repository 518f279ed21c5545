"""Checkpoints under the names of TensorFlow 1, which reads them and whose it reads."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from .asked import HOOKS, LISTENERS, PARTITIONS, REPLICAS
from .partitions import parts_together, restore_part
from .replicas import saved_of_replicas
from .variables import name_in_tensorflow_1, number_name
from .vocabulary import logger, v1


def saver_of(model: Any, config: Any) -> Any:
    """What saves the variables of a model by name."""
    saved, kind = model.variables.by_name, v1.train.Saver
    if REPLICAS:
        saved, kind = saved_of_replicas(saved, model.strategy)
    if PARTITIONS:
        saved = parts_together(saved.items())
    saver = kind(
        saved,
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
    if PARTITIONS:
        saved = parts_together(saved.items())
    return v1.train.Saver(saved, **options)


def restore(model: Any, checkpoint: str, scaffold: Any = None) -> None:
    """Gives variables the values of a checkpoint, except those that have them."""
    logger.info("Restoring parameters from %s", checkpoint)
    if HOOKS and scaffold.saver is not None:
        with model.inside():
            scaffold.saver.restore(model.session, checkpoint)
        return
    variables = model.variables
    missing = []
    for name, variable in variables.by_name.items():
        if PARTITIONS and restore_part(variable, variables):
            continue
        saved = variables.name_in_checkpoint(name) if REPLICAS else name
        if saved not in variables.saved:
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
        *,
        scaffold: Any = None,
        listeners: Iterable[Any] = (),
        saved_elsewhere: bool = False,
    ):
        self.model = model
        self.steps: int | None = config.saves_every[0]
        self.seconds: float | None = config.saves_every[1]
        # With neither, or where a hook saves, there are no checkpoints of the loop.
        self.active = config.saves_every != (None, None)
        self.directory = config.model_dir
        self.path = os.path.join(self.directory, "model.ckpt")
        self.saver: Any = None
        if LISTENERS:
            self.listeners = list(listeners)
        if HOOKS:
            self.active = self.active and not saved_elsewhere
            self.saver = self.own_saver = scaffold.saver
        if self.saver is None and self.active:
            self.saver = saver_of(model, config)
        self.saved_step: int | None = None
        self.saved_at = 0.0
        self.written: str | None = None
        self.others = False

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
        if LISTENERS:
            self.tell("end", step)

    def save(self, step: int) -> bool:
        """Saves a step; gives whether a listener wants training to stop."""
        self.saved_step, self.saved_at = step, time.time()
        logger.info("Saving checkpoints for %d into %s.", step, self.path)
        if LISTENERS:
            self.tell("before_save", step)
        self.look_for_others()
        if HOOKS and self.own_saver is not None:
            with self.model.inside():
                session = self.model.session
                self.saver.save(session, self.path, step, write_meta_graph=False)
        else:
            with tf.init_scope():
                self.saver.save(None, self.path, step, write_meta_graph=False)
        self.written = tf.train.latest_checkpoint(self.directory)
        writer = event_writer(self.directory, self.model)
        status = v1.SessionLog(
            status=v1.SessionLog.CHECKPOINT, checkpoint_path=self.path
        )
        writer.add_session_log(status, step)
        return self.tell("after_save", step) if LISTENERS else False

    def look_for_others(self) -> None:
        """Warns, once, where the latest checkpoint is not that of this loop."""
        found = tf.train.latest_checkpoint(self.directory)
        if self.written in (None, found) or self.others:
            return
        self.others = True
        logger.warning(
            "Another process trains into %s as well. Each replaces the other's "
            "checkpoints: give each a model_dir of its own.",
            self.directory,
        )

    def tell(self, what: str, step: int) -> bool:
        """Tells the listeners; gives whether one of them wants training to stop."""
        stop = False
        for listener in self.listeners:
            with self.model.inside():
                session = self.model.session if HOOKS else None
                wants_end = getattr(listener, what)(session, step)
            if wants_end and what == "after_save":
                logger.info(
                    "A CheckpointSaverListener requested that training be stopped. "
                    "listener: %s",
                    listener,
                )
                stop = True
        return stop


def event_writer(directory: str, model: Any) -> Any:
    """The writer of a directory's event file, one for all that write there."""
    level = logger.level
    # The graph is written with it, and each collection that holds variables of today
    # would be warned of; nothing reads them there.
    logger.setLevel("ERROR")
    try:
        with model.inside():
            return v1.summary.FileWriterCache.get(directory)
    finally:
        logger.setLevel(level)
