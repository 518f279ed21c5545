"""``TPUEstimator`` as programs run it off TPU: with ``use_tpu=False``.

Most code written for TPUs takes ``--use_tpu`` as a flag and is run without one
as well. Everything of that path is here: batch sizes by mode handed over in
``params``, ``TPUEstimatorSpec`` with metrics as functions, host calls.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ...engine.callables import argument_names
from ...engine.inputs import call_input_fn
from ..estimator import Estimator
from ..mode_keys import ModeKeys
from .config import InputPipelineConfig, RunConfig, check_positive, iterations_of
from .spec import TPUEstimatorSpec

__all__ = ["ExamplesPerSecondHook", "TPUEstimator"]

_RESERVED = ("batch_size", "context")

_NO_TPU = (
    "TPUEstimator was made with use_tpu=True, but there is no TPU system that this "
    "TensorFlow could reach through an Estimator. Pass use_tpu=False (most programs "
    "have a flag --use_tpu=false for it) to {verb} on this machine's CPUs and GPUs."
)


class ExamplesPerSecondHook(tf.train.StepCounterHook):
    """Reports ``global_step/sec`` and ``examples/sec``."""

    def __init__(
        self,
        batch_size: int | None,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:
        self._batch_size = batch_size
        super().__init__(
            every_n_steps=every_n_steps,
            every_n_secs=every_n_secs,
            output_dir=output_dir,
            summary_writer=summary_writer,
        )

    def _log_and_record(
        self, elapsed_steps: int, elapsed_time: float, global_step: int
    ) -> None:
        steps = elapsed_steps / elapsed_time
        rates = {"global_step/sec": steps}
        if self._batch_size is not None:
            rates["examples/sec"] = steps * self._batch_size
        for tag, value in rates.items():
            if self._summary_writer is not None:
                summary = tf.Summary(
                    value=[tf.Summary.Value(tag=tag, simple_value=value)]
                )
                self._summary_writer.add_summary(summary, global_step)
            tf.logging.info("%s: %g", tag, value)


class TPUEstimator(Estimator):
    """An Estimator whose batch sizes are set once, by mode.

    ``input_fn`` must take ``params`` and finds its batch size in
    ``params["batch_size"]``.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Mapping[str, Any] | None = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = None,
    ) -> None:
        if not isinstance(config, RunConfig):
            raise ValueError(
                "`config` must be provided with type `tpu_config.RunConfig`"
            )
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(
                f"{list(_RESERVED)} are reserved keys but existed in params {params}."
            )
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        if embedding_config_spec is not None:
            raise ValueError(
                "embedding_config_spec needs a TPU system; use tf.feature_column."
                "embedding_column without it off TPU."
            )
        self._use_tpu = bool(use_tpu)
        self._eval_on_tpu = bool(eval_on_tpu)
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        if use_tpu:
            if train_batch_size is None:
                raise ValueError("`train_batch_size` cannot be `None`")
            for mode, size in self._batch_sizes.items():
                if size is not None:
                    check_positive(size, f"{mode}_batch_size")
        # These choose how a TPU export is written; a CPU export is always made.
        del batch_axis, export_to_tpu, export_saved_model_api_version
        if not export_to_cpu:
            tf.logging.warning(
                "export_to_cpu=False is ignored: there is no TPU export."
            )
        self._log_every_n_steps = config.log_step_count_steps
        iterations = iterations_of(config.tpu_config.iterations_per_loop)
        if self._log_every_n_steps is not None and iterations is not None:
            # Counted in loops, as on TPU: the log of both looks the same.
            self._log_every_n_steps = math.ceil(self._log_every_n_steps / iterations)
        self._user_model_fn = model_fn
        self._input_seen = False
        super().__init__(
            model_fn=self._augmented(model_fn, params),
            model_dir=model_dir,
            config=config.replace(log_step_count_steps=None),
            params=params or {},
            warm_start_from=warm_start_from,
        )

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> TPUEstimator:
        """Trains for ``steps`` more steps, up to step ``max_steps``, or all data."""
        self._check_device(ModeKeys.TRAIN, "train")
        super().train(input_fn, hooks, steps, max_steps, saving_listeners)
        return self

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates on ``steps`` batches, or all of them; gives the metrics."""
        self._check_device(ModeKeys.EVAL, "evaluate")
        return super().evaluate(input_fn, steps, hooks, checkpoint_path, name)

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields predictions, one example (or one batch) at a time, as numpy."""
        self._check_device(ModeKeys.PREDICT, "predict")
        return super().predict(
            input_fn, predict_keys, hooks, checkpoint_path, yield_single_examples
        )

    # -- what differs from an ordinary Estimator ---------------------------

    def _check_device(self, mode: str, verb: str) -> None:
        if self._use_tpu and (mode != ModeKeys.EVAL or self._eval_on_tpu):
            raise RuntimeError(_NO_TPU.format(verb=verb))

    def _call_input_fn(
        self, input_fn: Callable[..., Any], mode: str, input_context: Any = None
    ) -> Any:
        if callable(input_fn) and "params" not in argument_names(input_fn):
            raise ValueError(
                f"input_fn ({input_fn}) does not include params argument, required by "
                'TPUEstimator to pass batch size as params["batch_size"]'
            )
        sliced = InputPipelineConfig.SLICED
        if self._config.tpu_config.eval_training_input_configuration == sliced:  # type: ignore[attr-defined]
            raise ValueError(
                "Invalid TPUConfig `eval_training_input_configuration` value. SLICED "
                "mode only works on use_tpu = True."
            )
        # The next call of the model function belongs to this input; one without
        # comes from an export and knows no batch size.
        self._input_seen = True
        params = self.params
        size = self._batch_sizes[mode]
        if size is not None:
            _set(params, "batch_size", size)
        offered = {"mode": mode, "params": params, "config": self.config}
        if input_context is not None:
            offered["input_context"] = input_context
        return call_input_fn(input_fn, offered)

    def _augmented(
        self, model_fn: Callable[..., Any], params: Mapping[str, Any] | None
    ) -> Callable[..., Any]:
        names = argument_names(model_fn)
        if params is not None and "params" not in names:
            raise ValueError(
                f"model_fn ({model_fn}) does not include params argument, but params "
                f"({params}) is passed to Estimator."
            )

        def augmented(
            features: Any, labels: Any, mode: str, config: Any, params: Any
        ) -> Any:
            exporting, self._input_seen = not self._input_seen, False
            return self._call_user(features, labels, mode, config, params, exporting)

        return augmented

    def _call_user(
        self,
        features: Any,
        labels: Any,
        mode: str,
        config: Any,
        params: Any,
        exporting: bool,
    ) -> Any:
        model_fn = self._user_model_fn
        names = argument_names(model_fn)
        params = copy.deepcopy(params)
        kwargs: dict[str, Any] = {}
        if "labels" in names:
            kwargs["labels"] = labels
        elif labels is not None:
            raise ValueError(
                "model_fn does not take labels, but input_fn returns labels."
            )
        if "params" not in names:
            raise ValueError(
                f"model_fn ({model_fn}) does not include params argument, required by "
                "TPUEstimator to pass batch size as params['batch_size']"
            )
        size = None if exporting else self._batch_sizes[mode]
        if size is not None:
            _set(params, "batch_size", size)
        _set(params, "use_tpu", False)
        offered = {"mode": mode, "config": copy.deepcopy(config), "params": params}
        kwargs.update({n: value for n, value in offered.items() if n in names})
        spec = model_fn(features=features, **kwargs)
        if isinstance(spec, TPUEstimatorSpec):
            spec = spec.as_estimator_spec()
        if mode == ModeKeys.TRAIN and self._log_every_n_steps is not None:
            hook = ExamplesPerSecondHook(
                size,
                every_n_steps=self._log_every_n_steps,
                output_dir=self.model_dir if config.save_summary_steps else None,
            )
            spec = spec._replace(training_hooks=(*spec.training_hooks, hook))
        return spec


def _set(params: Any, key: str, value: Any) -> None:
    """Sets `key` in a dict or in an ``HParams``."""
    if not hasattr(params, "set_hparam"):
        params[key] = value
    elif key in params:
        params.set_hparam(key, value)
    else:
        params.add_hparam(key, value)
