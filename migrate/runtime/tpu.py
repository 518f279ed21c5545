"""TPUEstimator, as it is where there is no TPU."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, cast

import tensorflow as tf

from .asked import HOOKS
from .config import RunConfig
from .estimator import Estimator
from .hooks import SessionRunHook
from .vocabulary import EstimatorSpec, ModeKeys


@dataclasses.dataclass
class TPUConfig:
    """Settings of a TPU; none has an effect here."""

    iterations_per_loop: int = 2
    num_shards: int | None = None
    num_cores_per_replica: int | None = None
    per_host_input_for_training: Any = True
    tpu_job_name: str | None = None
    initial_infeed_sleep_secs: int | None = None
    input_partition_dims: Any = None
    eval_training_input_configuration: Any = None
    experimental_host_call_every_n_steps: int = 1


class InputPipelineConfig:
    """How hosts of a TPU are fed; it has no effect here."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class CrossShardOptimizer:
    """The optimizer itself: off the TPU there is nothing to sum over."""

    def __new__(cls, opt: Any, *_: Any, **__: Any) -> Any:
        """Gives the optimizer back."""
        return opt


class TPUEstimatorSpec(EstimatorSpec):
    """What the model function of a TPUEstimator hands back.

    Its functions are called at once, in the graph of the model.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Callable[[], Any] | None = None,
        host_call: Any = None,
        training_hooks: Iterable[Any] | None = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> TPUEstimatorSpec:
        """Makes it."""
        metrics = None
        if eval_metrics is not None and mode == ModeKeys.EVAL:
            metrics = called_with_tensors(eval_metrics)
        if host_call is not None and mode == ModeKeys.TRAIN:
            # Off the TPU it is run with each step.
            ops = tf.nest.flatten(called_with_tensors(host_call))
            train_op = tf.group(train_op, *(op for op in ops if op is not None))
            if HOOKS:
                writers = tf.compat.v1.get_collection("_SUMMARY_WRITER_V2")
                if writers:
                    training_hooks = (*(training_hooks or ()), _WritersHook(writers))
        made = super().__new__(
            cls,
            mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            export_outputs=export_outputs,
            scaffold=scaffold_fn() if scaffold_fn else None,
            training_hooks=training_hooks,
            evaluation_hooks=evaluation_hooks,
            prediction_hooks=prediction_hooks,
        )
        return cast(TPUEstimatorSpec, made)


class _WritersHook(SessionRunHook):
    """Opens the writers of `tf.contrib.summary` that a host call made; flushes them."""

    def __init__(self, writers: Iterable[Any]):
        self._opens = list(writers)

    def begin(self) -> None:
        """Finds what flushes them."""
        self._flushes = [
            tf.raw_ops.FlushSummaryWriter(writer=one.inputs[0]) for one in self._opens
        ]

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens them."""
        session.run(self._opens)

    def end(self, session: Any) -> None:
        """Writes what they hold."""
        session.run(self._flushes)


def called_with_tensors(call: Any) -> Any:
    """What a pair of a function and its tensors gives."""
    function, tensors = call
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


class TPUEstimator(Estimator):
    """An Estimator whose functions find their batch size in `params`."""

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        **_: Any,
    ):
        del use_tpu, batch_axis, eval_on_tpu, export_to_tpu, export_to_cpu
        if params is not None and "batch_size" in params:
            raise ValueError("batch_size is given by TPUEstimator, not by params.")
        super().__init__(
            model_fn, model_dir, config, params, warm_start_from=warm_start_from
        )
        self.batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }

    def mode_params(self, mode: str) -> Any:
        """The settings of the program, with the size of a batch."""
        params = self.params
        added = {"batch_size": self.batch_sizes[mode], "use_tpu": False}
        if hasattr(params, "add_hparam"):
            for name, value in added.items():
                if value is not None:
                    params.add_hparam(name, value)
            return params
        return {**params, **{n: v for n, v in added.items() if v is not None}}
