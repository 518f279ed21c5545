"""``Estimator``: the class that legacy programs train, evaluate and predict with."""

from __future__ import annotations

import contextlib
import copy
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..engine import evaluation, event_files, prediction, replication, training
from ..engine.callables import argument_names
from ..engine.inputs import InputRequest, make_input
from ..engine.short_steps import ShortStepsHook
from .checks import (
    check_model_fn_arguments,
    check_overrides,
    check_trains_here,
    checked_hooks,
    checked_listeners,
)
from .mode_keys import ModeKeys
from .run_config import RunConfig, TaskType, get_default_session_config
from .spec import EstimatorSpec

__all__ = ["Estimator", "EstimatorV2", "maybe_overwrite_model_dir_and_session_config"]


class Estimator:
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
    def model_dir(self) -> str:
        """Where checkpoints and event files are."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the configuration."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the hyper-parameters."""
        return copy.deepcopy(self._params)

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

    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, or None."""
        found: str | None = tf.train.latest_checkpoint(self.model_dir)
        return found

    def eval_dir(self, name: str | None = None) -> str:
        """Where the evaluation called ``name`` writes its event file."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

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
        if steps is not None or max_steps is not None:
            all_hooks.append(tf.train.StopAtStepHook(steps, max_steps))
        listeners = checked_listeners(saving_listeners)
        loss = self._train_model(input_fn, all_hooks, listeners)
        tf.logging.info("Loss for final step: %s.", loss)
        return self

    def _train_model(
        self,
        input_fn: Callable[..., Any],
        hooks: list[Any],
        saving_listeners: list[Any],
    ) -> Any:
        with self._building():
            return training.build_and_train(
                self,
                self._input_request(input_fn, ModeKeys.TRAIN),
                self._model_call(ModeKeys.TRAIN),
                hooks,
                saving_listeners,
            )

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
        all_hooks = self._evaluation_hooks(hooks, steps)
        path = self._checkpoint_to_use(checkpoint_path, "evaluate")
        with self._building(), tf.Graph().as_default():
            graph = self._evaluate_build_graph(input_fn, all_hooks, path)
            return self._evaluate_run(graph, path, self.eval_dir(name))

    def _evaluation_hooks(
        self, hooks: Sequence[Any] | None, steps: int | None
    ) -> list[Any]:
        all_hooks = checked_hooks(hooks)
        if steps is not None:
            if steps <= 0:
                raise ValueError(f"Must specify steps > 0, given: {steps}")
            all_hooks.append(evaluation.StopAfterNEvalsHook(steps))
        return all_hooks

    def _evaluation_scope(self) -> Any:
        """The strategy that variables of an evaluation graph belong to."""
        if self._eval_distribution is None:
            return contextlib.nullcontext()
        return replication.graph_strategy(self._eval_distribution)

    def _evaluate_build_graph(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any],
        checkpoint_path: str | None,
    ) -> evaluation.EvaluationGraph:
        graph = evaluation.build(
            self,
            self._input_request(input_fn, ModeKeys.EVAL),
            self._model_call(ModeKeys.EVAL),
            hooks,
            self._eval_distribution,
        )
        self._maybe_warm_start(checkpoint_path)
        return graph

    def _evaluate_run(
        self,
        graph: evaluation.EvaluationGraph,
        checkpoint_path: str | None,
        output_dir: str,
    ) -> dict[str, Any]:
        results = evaluation.run(
            graph,
            checkpoint_path=checkpoint_path,
            master=self._config.evaluation_master,
            session_config=replication.session_config_for(
                self._eval_distribution, self._session_config
            ),
        )
        present = getattr(self._model_fn, "present_results", None)
        if present is not None:
            results = present(results)
        step = int(results[tf.GraphKeys.GLOBAL_STEP])
        event_files.write_evaluation(output_dir, results, step)
        if checkpoint_path:
            event_files.write_checkpoint_path(output_dir, checkpoint_path, step)
        return results

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
            source = make_input(self._input_request(input_fn, ModeKeys.PREDICT))
            if not prediction.has_data_source(source.raw):
                tf.logging.warning(
                    "Input graph does not use tf.data.Dataset or contain a "
                    "QueueRunner. That means predict yields forever. This is probably "
                    "a mistake."
                )
            spec = self._call_model_fn(
                source.features, None, ModeKeys.PREDICT, self.config
            )
            self._maybe_warm_start(path)
            predictions = prediction.filtered(spec.predictions, predict_keys)
            session = tf.train.MonitoredSession(
                session_creator=tf.train.ChiefSessionCreator(
                    checkpoint_filename_with_path=path,
                    master=self._config.master,
                    scaffold=spec.scaffold,
                    config=self._session_config,
                ),
                hooks=[
                    *source.hooks,
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
                if yield_single_examples:
                    yield from prediction.single_examples(batch)
                else:
                    yield batch

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

    # -- parts that the engine and other modules call --------------------

    def _building(self) -> contextlib.AbstractContextManager[None]:
        """What the model function needs around the building of a graph."""
        building = getattr(self._model_fn, "building", None)
        return building() if building else contextlib.nullcontext()

    def _optimizer_scales_loss(self, strategy: Any) -> bool:
        """Whether v1 optimizers divide the loss by the number of replicas."""
        decide = getattr(self._model_fn, "optimizer_scales_loss", None)
        return bool(decide(strategy)) if decide else True

    def _set_random_seed(self) -> None:
        tf.set_random_seed(self._config.tf_random_seed)

    def _create_global_step(self, graph: Any) -> Any:
        return tf.train.create_global_step(graph)

    def _create_and_assert_global_step(self, graph: Any) -> Any:
        step = self._create_global_step(graph)
        if step is not tf.train.get_global_step() or not step.dtype.is_integer:
            raise ValueError("The global step must be the integer step of its graph.")
        return step

    def _input_request(self, input_fn: Callable[..., Any], mode: str) -> InputRequest:
        return InputRequest(
            input_fn=input_fn, mode=mode, params=self.params, config=self.config
        )

    def _call_input_fn(
        self, input_fn: Callable[..., Any], mode: str, input_context: Any = None
    ) -> Any:
        return self._input_request(input_fn, mode).call(input_context)

    def _get_features_and_labels_from_input_fn(
        self, input_fn: Callable[..., Any], mode: str
    ) -> tuple[Any, Any, list[Any]]:
        """For libraries that build graphs of their own on an Estimator."""
        found = make_input(self._input_request(input_fn, mode))
        return found.features, found.labels, list(found.hooks)

    def _model_call(self, mode: str) -> Callable[[Any, Any], Any]:
        config = self.config

        def call(features: Any, labels: Any) -> Any:
            return self._call_model_fn(features, labels, mode, config)

        return call

    def _call_model_fn(
        self, features: Any, labels: Any, mode: str, config: RunConfig
    ) -> EstimatorSpec:
        names = argument_names(self._model_fn)
        kwargs: dict[str, Any] = {}
        if "labels" in names:
            kwargs["labels"] = labels
        elif labels is not None:
            raise ValueError(
                "model_fn does not take labels, but input_fn returns labels."
            )
        offered = {"mode": mode, "params": self.params, "config": config}
        kwargs.update({n: value for n, value in offered.items() if n in names})
        tf.logging.info("Calling model_fn.")
        spec = self._model_fn(features=features, **kwargs)
        tf.logging.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def _warm_start_for_training(self) -> None:
        if self._warm_start_settings is not None:
            _warm_start(self._warm_start_settings)

    def _maybe_warm_start(self, checkpoint_path: str | None) -> None:
        """Without a checkpoint, an untrained model is what it was started from."""
        if not checkpoint_path and self._warm_start_settings is not None:
            _warm_start(self._warm_start_settings)

    def _checkpoint_to_use(self, checkpoint_path: str | None, verb: str) -> str | None:
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            tf.logging.info(
                "Could not find trained model in model_dir: %s, running "
                "initialization to %s.",
                self._model_dir,
                verb,
            )
        return path

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
        check_overrides(EstimatorV2, self)


def _warm_start_settings(warm_start_from: Any) -> Any:
    if warm_start_from is None:
        return None
    from . import warm_start

    return warm_start.settings_from(warm_start_from)


def _warm_start(settings: Any) -> None:
    from . import warm_start

    warm_start.apply(settings)


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
