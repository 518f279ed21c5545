"""``Estimator``: the class that legacy programs train, evaluate and predict with."""

from __future__ import annotations

import contextlib
import copy
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..engine.short_steps import ShortStepsHook
from .checks import (
    check_model_fn_arguments,
    check_overrides,
    check_trains_here,
    checked_hooks,
    checked_listeners,
)
from .graphs import EstimatorGraphs
from .mode_keys import ModeKeys
from .run_config import RunConfig, TaskType, get_default_session_config

__all__ = ["Estimator", "EstimatorV2", "maybe_overwrite_model_dir_and_session_config"]


class Estimator(EstimatorGraphs):
    """Trains and evaluates a model that ``model_fn`` builds.

    Every call of ``train``, ``evaluate`` and ``predict`` builds a graph of its
    own from ``input_fn`` and ``model_fn`` and runs it in a monitored session;
    checkpoints in ``model_dir`` carry the state from one to the next.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Mapping[str, Any] | None = None,
        warm_start_from: Any = None,
    ) -> None:
        self.__class__._assert_members_are_not_overridden(self)
        self._config = maybe_overwrite_model_dir_and_session_config(config, model_dir)
        self._train_distribution = self._config.train_distribute
        self._eval_distribution = self._config.eval_distribute
        self._model_dir: str = self._config.model_dir or ""
        self._session_config = self._config.session_config
        tf.logging.info("Using config: %s", str(vars(self._config)))
        self._device_fn = self._config.device_fn or _replica_device_setter(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        check_model_fn_arguments(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = _warm_start_settings(warm_start_from)

    # -- what it is ------------------------------------------------------

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The model function, bound to ``params``."""

        def public_model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint."""
        self._check_checkpoint_available()
        return tf.train.load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the latest checkpoint."""
        self._check_checkpoint_available()
        return [name for name, _ in tf.train.list_variables(self.model_dir)]

    # -- train -----------------------------------------------------------

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> Estimator:
        """Trains for ``steps`` more steps, up to step ``max_steps``, or all data."""
        if self.config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(
                "Train has been called wrong configuration. Please use "
                "tf.estimator.train_and_evaluate which calls proper API according to "
                f"given configuration. Current configuration: {self.config}."
            )
        check_trains_here(self._config)
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        if max_steps is not None and max_steps <= self._global_step_of_checkpoint():
            tf.logging.info("Skipping training since max_steps has already saved.")
            return self
        all_hooks = checked_hooks(hooks)
        all_hooks.extend(self._convert_train_steps_to_hooks(steps, max_steps))
        listeners = checked_listeners(saving_listeners)
        with self._building():
            loss = self._train_model(input_fn, all_hooks, listeners)
        tf.logging.info("Loss for final step: %s.", loss)
        return self

    # -- evaluate --------------------------------------------------------

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates on ``steps`` batches, or all of them; gives the metrics."""
        return self._actual_eval(
            input_fn,
            strategy=self._eval_distribution,
            steps=steps,
            hooks=hooks,
            checkpoint_path=checkpoint_path,
            name=name,
        )

    # -- predict ---------------------------------------------------------

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Collection[str] | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields predictions, one example (or one batch) at a time, as numpy."""
        all_hooks = checked_hooks(hooks)
        path = self._checkpoint_to_use(checkpoint_path, "predict")
        # The graph is entered for the time of each step only: between two
        # examples the caller's own code runs, and it must find its own graph.
        graph = tf.Graph()
        with self._building(), graph.as_default():
            self._set_random_seed()
            self._create_and_assert_global_step(graph)
            features, input_hooks = self._get_features_from_input_fn(
                input_fn, ModeKeys.PREDICT
            )
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._maybe_warm_start(path)
            predictions = self._extract_keys(spec.predictions, predict_keys)
            session = tf.train.MonitoredSession(
                session_creator=tf.train.ChiefSessionCreator(
                    checkpoint_filename_with_path=path,
                    master=self._config.master,
                    scaffold=spec.scaffold,
                    config=self._session_config,
                ),
                hooks=[
                    *input_hooks,
                    *all_hooks,
                    *spec.prediction_hooks,
                    ShortStepsHook(),
                ],
            )

        def close(*error: Any) -> Any:
            # Hooks look for their graph when they end.
            with graph.as_default():
                return session.__exit__(*error)

        with contextlib.ExitStack() as stack:
            stack.push(close)
            while not session.should_stop():
                with graph.as_default():
                    batch = session.run(predictions)
                if not yield_single_examples:
                    yield batch
                elif not isinstance(batch, Mapping):
                    yield from batch
                else:
                    for index in range(self._extract_batch_length(batch)):
                        yield {name: value[index] for name, value in batch.items()}

    # -- export ----------------------------------------------------------

    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> Any:
        """Exports the model for serving below ``export_dir_base``."""
        if serving_input_receiver_fn is None:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base,
            {experimental_mode: serving_input_receiver_fn},
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=True,
        )

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> Any:
        """The older name of :meth:`export_saved_model`."""
        if serving_input_receiver_fn is None:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(
            export_dir_base,
            {ModeKeys.PREDICT: serving_input_receiver_fn},
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=strip_default_attrs,
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> Any:
        """Exports one graph per mode into a single SavedModel."""
        return self._export_all_saved_models(
            export_dir_base,
            input_receiver_fn_map,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=True,
        )

    def _export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = True,
    ) -> Any:
        from .export import saved_model

        with self._building():
            return saved_model.export_all_saved_models(
                self,
                export_dir_base,
                input_receiver_fn_map,
                assets_extra=assets_extra,
                as_text=as_text,
                checkpoint_path=checkpoint_path,
                strip_default_attrs=strip_default_attrs,
            )

    def _in_place(self) -> Estimator:
        """Where the cluster trains: a copy that knows which task this process is."""
        config = self._config._in_place()
        if config is self._config:
            return self
        here = copy.copy(self)
        here._config = config
        here._session_config = config.session_config or get_default_session_config()
        here._device_fn = config.device_fn or _replica_device_setter(config)
        return here

    def _check_checkpoint_available(self) -> None:
        if not self.latest_checkpoint():
            raise ValueError(
                f"Could not find trained model in model_dir: {self.model_dir}."
            )

    def _global_step_of_checkpoint(self) -> int:
        path = self.latest_checkpoint()
        if not path:
            return 0
        try:
            return int(tf.train.load_variable(path, tf.GraphKeys.GLOBAL_STEP))
        except (tf.errors.OpError, ValueError):
            # A damaged or foreign checkpoint is reported where it is restored.
            return 0

    def _assert_members_are_not_overridden(self) -> None:
        check_overrides(Estimator, self)


class EstimatorV2(Estimator):
    """The Estimator of TF 2.x: without the deprecated ``export_savedmodel``."""

    @property
    def export_savedmodel(self) -> Any:
        """Gone in TF 2.x."""
        raise AttributeError(
            "`Estimator.export_savedmodel` has been deprecated. Please use "
            "`export_saved_model` instead."
        )

    def _assert_members_are_not_overridden(self) -> None:
        check_overrides(EstimatorV2, self, also=("latest_checkpoint",))


def _warm_start_settings(warm_start_from: Any) -> Any:
    if warm_start_from is None:
        return None
    from . import warm_start

    return warm_start.settings_from(warm_start_from)


def _replica_device_setter(config: RunConfig) -> Any:
    """Spreads variables over parameter servers where there are any."""
    if config.num_ps_replicas <= 0:
        return None
    job = f"/job:{config.task_type}/task:{config.task_id}"
    return tf.train.replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=job if config.task_type else "/job:worker",
        merge_devices=True,
        cluster=config.cluster_spec,
    )


def maybe_overwrite_model_dir_and_session_config(
    config: RunConfig | None, model_dir: Any
) -> RunConfig:
    """The configuration with the directory and session settings filled in."""
    if config is None:
        config = RunConfig()
        tf.logging.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(
            f"config must be an instance of `RunConfig`, but provided {config}."
        )
    if config.session_config is None:
        config = RunConfig.replace(config, session_config=get_default_session_config())
    if model_dir is not None:
        model_dir = os.fspath(model_dir)
        if config.model_dir is not None and config.model_dir != model_dir:
            raise ValueError(
                "`model_dir` are set both in constructor and `RunConfig`, but with "
                f"different values. In constructor: '{model_dir}', in `RunConfig`: "
                f"'{config.model_dir}' "
            )
    if model_dir:
        return RunConfig.replace(config, model_dir=model_dir)
    if config.model_dir is None:
        model_dir = tempfile.mkdtemp()
        tf.logging.warning("Using temporary folder as model directory: %s", model_dir)
        return RunConfig.replace(config, model_dir=model_dir)
    return config
