"""Train ops and training or evaluation loops of ``tf.contrib.training``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from ...engine import private_api

__all__ = [
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "add_gradients_summaries",
    "checkpoints_iterator",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "multiply_gradients",
    "train",
    "wait_for_new_checkpoint",
]

# Marks "use the default global step", since None means "do not count".
_USE_GLOBAL_STEP = 0

StopAfterNEvalsHook = private_api.evaluation._StopAfterNEvalsHook
evaluate_once = private_api.evaluation._evaluate_once
get_or_create_eval_step = private_api.evaluation._get_or_create_eval_step
checkpoints_iterator = tf.train.checkpoints_iterator

Gradients = list[tuple[Any, Any]]


def add_gradients_summaries(grads_and_vars: Gradients) -> list[Any]:
    """Histogram and norm summaries of each gradient."""
    summaries = []
    for grad, var in grads_and_vars:
        if grad is None:
            tf.logging.info("Var %s has no gradient", var.op.name)
            continue
        values = grad.values if isinstance(grad, tf.IndexedSlices) else grad
        summaries.append(tf.summary.histogram(var.op.name + "_gradient", values))
        summaries.append(
            tf.summary.scalar(var.op.name + "_gradient_norm", tf.global_norm([values]))
        )
    return summaries


def clip_gradient_norms(
    gradients_to_variables: Gradients, max_norm: float
) -> Gradients:
    """Each gradient clipped to a norm of its own."""
    clipped: Gradients = []
    for grad, var in gradients_to_variables:
        if isinstance(grad, tf.IndexedSlices):
            values = tf.clip_by_norm(grad.values, max_norm)
            grad = tf.IndexedSlices(values, grad.indices, grad.dense_shape)
        elif grad is not None:
            grad = tf.clip_by_norm(grad, max_norm)
        clipped.append((grad, var))
    return clipped


def clip_gradient_norms_fn(max_norm: float) -> Callable[[Gradients], Gradients]:
    """A ``transform_grads_fn`` that clips."""
    return lambda gradients: clip_gradient_norms(gradients, max_norm)


def multiply_gradients(
    grads_and_vars: Gradients, gradient_multipliers: Mapping[Any, Any]
) -> Gradients:
    """Gradients scaled per variable (given by variable or by name)."""
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    factors = {
        key if isinstance(key, str) else key.op.name: value
        for key, value in gradient_multipliers.items()
    }
    result: Gradients = []
    for grad, var in grads_and_vars:
        if var.op.name in factors:
            if grad is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = tf.convert_to_tensor(factors[var.op.name], grad.dtype)
            if isinstance(grad, tf.IndexedSlices):
                grad = tf.IndexedSlices(
                    grad.values * factor, grad.indices, grad.dense_shape
                )
            else:
                grad = grad * factor
        result.append((grad, var))
    return result


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Any = None,
    transform_grads_fn: Callable[[Gradients], Gradients] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = tf.train.Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """A tensor that gives the loss and has trained one step."""
    if global_step is _USE_GLOBAL_STEP:
        global_step = tf.train.get_or_create_global_step()
    known = list(dict.fromkeys(tf.get_collection(tf.GraphKeys.UPDATE_OPS)))
    wanted = known if update_ops is None else list(dict.fromkeys(update_ops))
    if not set(known) <= set(wanted):
        tf.logging.warning(
            "update_ops in create_train_op does not contain all the update_ops in "
            "GraphKeys.UPDATE_OPS"
        )
    if wanted:
        with tf.control_dependencies(wanted):
            barrier = tf.no_op(name="update_barrier")
        with tf.control_dependencies([barrier]):
            total_loss = tf.identity(total_loss)
    if variables_to_train is None:
        variables_to_train = tf.trainable_variables()
    else:
        for var in variables_to_train:
            assert any(var is other for other in tf.trainable_variables())
    assert variables_to_train
    gradients = optimizer.compute_gradients(
        total_loss,
        variables_to_train,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        gradients = transform_grads_fn(gradients)
    if summarize_gradients:
        with tf.name_scope("summarize_grads"):
            add_gradients_summaries(gradients)
    updates = optimizer.apply_gradients(gradients, global_step=global_step)
    with tf.name_scope("train_op"):
        if check_numerics:
            total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan")
        with tf.control_dependencies([updates]):
            train_op = tf.identity(total_loss, name="control_dependency")
    collection = tf.get_collection_ref(tf.GraphKeys.TRAIN_OP)
    if not any(train_op is other for other in collection):
        collection.append(train_op)
    return train_op


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: int = 600,
    save_summaries_steps: int = 100,
    config: Any = None,
    max_wait_secs: int = 7200,
    run_metadata: Any = None,
) -> Any:
    """Run ``train_op`` in a monitored session until a hook stops it."""
    if logdir is None and is_chief and (save_summaries_steps or save_checkpoint_secs):
        raise ValueError("logdir cannot be None when save_summaries_steps is not None")
    with tf.train.MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        loss = None
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
        return loss


class SummaryAtEndHook(tf.train.SessionRunHook):
    """Writes one summary when the session ends."""

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ) -> None:
        if (log_dir is None) == (summary_writer is None):
            raise ValueError("exactly one of log_dir and summary_writer is needed")
        self._log_dir = log_dir
        self._writer = summary_writer
        self._op = summary_op
        self._feed_dict = feed_dict
        self._replace = summary_op is None

    def begin(self) -> None:
        """Find the summary and the step."""
        if self._replace:
            self._op = tf.summary.merge_all()
        self._step = tf.train.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Open the event file."""
        if self._writer is None:
            self._writer = tf.summary.FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        """Write the summary."""
        step = tf.train.global_step(session, self._step)
        text = session.run(self._op, self._feed_dict)
        if self._writer:
            self._writer.add_summary(text, step)
            self._writer.flush()


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """The next checkpoint after ``last_checkpoint``, or None at the time limit."""
    stop = None if timeout is None else time.time() + timeout
    while True:
        found = tf.train.latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            return str(found)
        if stop is not None and time.time() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Any = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluate each new checkpoint until the limit is reached."""
    result = None
    checkpoints: Iterator[str] = checkpoints_iterator(
        checkpoint_dir, eval_interval_secs, timeout=timeout, timeout_fn=timeout_fn
    )
    for done, path in enumerate(checkpoints, start=1):
        result = evaluate_once(
            path,
            master=master,
            scaffold=scaffold,
            eval_ops=eval_ops,
            feed_dict=feed_dict,
            final_ops=final_ops,
            final_ops_feed_dict=final_ops_feed_dict,
            hooks=hooks,
            config=config,
        )
        if max_number_of_evaluations is not None and done >= max_number_of_evaluations:
            break
    return result
