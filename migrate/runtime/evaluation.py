"""The evaluation run, and the predictions of a model."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from .asked import HOOKS, WARM_STARTS
from .checkpoints import event_writer
from .graph import ModelGraph, global_step_in_graph
from .hooks import HookRunner, begun_hooks
from .inputs import ModelInput, features_and_labels
from .loop import ManySteps
from .training import initialize
from .vocabulary import EstimatorSpec, logger, v1


class EvaluationModel:
    """A model function traced for evaluation."""

    def __init__(
        self,
        call_model_fn: Callable[[Any, Any], EstimatorSpec],
        input_fn: Callable[[], Any],
        *,
        config: Any,
        checkpoint: str | None,
        hooks: Iterable[Any] = (),
        warm_start: Any = None,
    ):
        self.data = ModelInput(input_fn)

        def build() -> None:
            step = global_step_in_graph()
            (batch,) = self.data.next_batches()
            self.spec = call_model_fn(*features_and_labels(batch))
            metrics = dict(self.spec.eval_metric_ops)
            for name in ("loss", "global_step"):
                if name in metrics:
                    raise ValueError(
                        f'Metric with name "{name}" is not allowed, because every '
                        "evaluation has a figure of this name."
                    )
            metrics["loss"] = v1.metrics.mean(self.spec.loss)
            self.values: dict[str, Any] = {}
            updates = []
            for name in sorted(metrics):
                self.values[name], update = value_and_update(metrics[name])
                updates.append(update)
            self.update = tf.group(*tf.nest.flatten(updates, expand_composites=True))
            self.values["global_step"] = tf.identity(step)
            if WARM_STARTS and not checkpoint:
                warm_start()
            if HOOKS:
                self.hooks = [*hooks, *self.spec.evaluation_hooks]
                begun_hooks(self.hooks)

        self.graph = ModelGraph(build, checkpoint, config.tf_random_seed)


def value_and_update(metric: Any) -> tuple[Any, Any]:
    """The value of a metric and what adds a batch to it."""
    if not hasattr(metric, "result"):
        value, update = metric
        return value, update
    # A metric of Keras does not tell which operations count: they are those that
    # assign to its variables.
    graph = v1.get_default_graph()
    updates = [
        op
        for variable in metric.variables
        for op in graph.capture(variable.handle).consumers()
        if op.type.startswith("Assign")
        and op is not getattr(variable, "_initializer_op", None)
    ]
    return metric.result(), tf.group(*updates)


def evaluate_model(
    model: EvaluationModel, checkpoint: str | None, steps: int | None
) -> dict[str, Any]:
    """Runs through the data, or a number of batches; gives the metrics."""
    graph = model.graph
    began = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime())
    logger.info("Starting evaluation at %s", stamp)
    if HOOKS:
        initialize(graph, checkpoint, scaffold=model.spec.scaffold)
        runner = HookRunner(graph, model.hooks)
        runner.start()
        done = evaluate_batches(model, steps, runner=runner)
    else:
        initialize(graph, checkpoint)
        done = evaluate_batches(model, steps)
    if not done:
        raise ValueError(
            "Evaluation made no steps. Perhaps input is empty or misspecified: "
            "input_fn gave no batch."
        )
    results: dict[str, Any] = graph.run(model.values)
    if HOOKS:
        runner.end()
    logger.info("Inference Time : %.5fs", time.time() - began)
    stamp = time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime())
    logger.info("Finished evaluation at %s", stamp)
    return results


def evaluate_batches(
    model: EvaluationModel, steps: int | None, runner: Any = None
) -> int:
    """Adds batches to the metrics, and says so about ten times; gives their number."""
    last = math.inf if steps is None else steps
    every = last if steps is None else max(steps // 10, 1) if steps >= 20 else 1
    many = None
    if model.data.iterator and not (HOOKS and runner.wanted_each_step):
        many = ManySteps(model.graph, model.data, model.update)
    done, ended = 0, False
    while not ended and done < last:
        if many is not None:
            until = min(last, done - done % every + every)
            _, count, ended = many(math.inf, until - done)
        else:
            try:
                if HOOKS:
                    _, ended = runner.step(model.update)
                else:
                    model.graph.run(model.update)
            except (StopIteration, tf.errors.OutOfRangeError):
                break
            count = 1
        done += count
        if count and steps is not None and (done % every == 0 or done == steps):
            logger.info("Evaluation [%d/%d]", done, steps)
    return done


def write_evaluation(
    graph: ModelGraph,
    directory: str,
    results: Mapping[str, Any],
    checkpoint: str | None,
) -> None:
    """Logs the figures of an evaluation and writes them into an event file."""
    step = int(results["global_step"])
    said = ", ".join(
        f"{name} = {value}"
        for name, value in sorted(results.items())
        if not isinstance(value, bytes)
    )
    logger.info("Saving dict for global step %d: %s", step, said)
    summary = v1.Summary()
    for name, value in results.items():
        if name != "global_step" and value is not None:
            add_figure(summary, name, value)
    writer = event_writer(directory, graph)
    writer.add_summary(summary, step)
    if checkpoint:
        logger.info(
            "Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint
        )
        summary = v1.Summary()
        path = tf.make_tensor_proto(checkpoint, dtype=tf.string)
        summary.value.add(tag="checkpoint_path", tensor=path)
        writer.add_summary(summary, step)
    writer.flush()


def add_figure(summary: Any, name: str, value: Any) -> None:
    """Adds a figure of an evaluation: a number, an array, or a summary of its own."""
    if isinstance(value, (float, int, np.floating, np.integer)):
        summary.value.add(tag=name, simple_value=float(value))
    elif isinstance(value, bytes):
        try:
            nested = v1.Summary.FromString(value)
        except Exception:
            logger.warning("Skipping summary for %s: it is no summary.", name)
            return
        for index, entry in enumerate(nested.value):
            entry.tag = f"{name}/{index}"
        summary.value.extend(nested.value)
    elif isinstance(value, np.ndarray):
        entry = summary.value.add(tag=name, node_name=name)
        entry.tensor.CopyFrom(tf.make_tensor_proto(value))
    else:
        logger.warning("Skipping summary for %s: it is no number.", name)


class PredictionModel:
    """A model function traced for prediction."""

    def __init__(
        self,
        call_model_fn: Callable[[Any, Any], EstimatorSpec],
        input_fn: Callable[[], Any],
        *,
        config: Any,
        checkpoint: str | None,
        hooks: Iterable[Any] = (),
        warm_start: Any = None,
    ):
        data = ModelInput(input_fn, ahead=False)

        def build() -> None:
            global_step_in_graph()
            (batch,) = data.next_batches()
            features, _ = features_and_labels(batch)
            self.spec = call_model_fn(features, None)
            if WARM_STARTS and not checkpoint:
                warm_start()
            if HOOKS:
                self.hooks = [*hooks, *self.spec.prediction_hooks]
                begun_hooks(self.hooks)

        self.graph = ModelGraph(build, checkpoint, config.tf_random_seed)
        if HOOKS:
            initialize(self.graph, checkpoint, scaffold=self.spec.scaffold)
        else:
            initialize(self.graph, checkpoint)

    def batches(self, predict_keys: Collection[str] | None) -> Iterator[Any]:
        """Predictions, batch by batch."""
        wanted = wanted_predictions(self.spec.predictions, predict_keys)
        stop = False
        if HOOKS:
            runner = HookRunner(self.graph, self.hooks)
            runner.start()
        while not stop:
            try:
                if HOOKS:
                    predictions, stop = runner.step(wanted)
                else:
                    predictions = self.graph.run(wanted)
            except (StopIteration, tf.errors.OutOfRangeError):
                break
            yield predictions
        if HOOKS:
            runner.end()


def wanted_predictions(predictions: Any, keys: Collection[str] | None) -> Any:
    """The wanted entries of a dict of predictions."""
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError(
            "predict_keys argument is not valid in case of non-dict predictions."
        )
    wanted = {name: value for name, value in predictions.items() if name in keys}
    if not wanted:
        raise ValueError(
            f"Expected to run at least one output from {predictions.keys()}, "
            f"provided {keys}."
        )
    return wanted


def single_examples(batch: Any) -> Iterator[Any]:
    """The examples of a batch of predictions."""
    if not isinstance(batch, dict):
        yield from batch
        return
    lengths = {len(value) for value in batch.values()}
    if len(lengths) > 1:
        raise ValueError(
            "Batch length of predictions should be same, given: "
            f"{ {name: len(value) for name, value in batch.items()} }"
        )
    for row in range(lengths.pop() if lengths else 0):
        yield {name: value[row] for name, value in batch.items()}
