"""`Estimator`: trains, evaluates, predicts with and exports a model function."""

from __future__ import annotations

import contextlib
import copy
import math
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from .asked import CLUSTERS, GRAPHS, HOOKS, LISTENERS, REPLICAS, WARM_STARTS
from .by_hand import eagerly
from .checkpoints import Checkpoints, saved_step
from .config import RunConfig
from .evaluation import (
    EvaluationModel,
    PredictionModel,
    evaluate_model,
    single_examples,
    write_evaluation,
)
from .exporting import export_model
from .hooks import saving_hooks
from .inputs import accepted
from .loop import TrainingLoop
from .places import check_alone, replicas_here
from .training import TrainingModel, initialize
from .vocabulary import (
    EstimatorSpec,
    ModeKeys,
    check_callable,
    check_no_hooks,
    check_positive,
    checked_hooks,
    logger,
)
from .warm_start import warm_start_settings, warm_start_variables
from .workers import workers_of

NO_MORE = object()
NO_CHECKPOINTS = (
    "There should be a CheckpointSaverHook to use saving_listeners. Please set one of "
    "the RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
)


def at_once() -> contextlib.AbstractContextManager[None]:
    """What is inside runs at once; `tf.init_scope` would keep tapes from recording."""
    if tf.executing_eagerly():
        return contextlib.nullcontext()
    return eagerly() if GRAPHS else tf.init_scope()


class Estimator:
    """A model function and the directory that holds what it has learned.

    Every call of `train`, `evaluate` and `predict` calls the model function and begins
    with the latest checkpoint of the directory, so each can be a program of its own.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ):
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        config = config or RunConfig()
        if model_dir is not None:
            model_dir = os.fspath(model_dir)
            if config.model_dir is not None and config.model_dir != model_dir:
                raise ValueError(
                    "`model_dir` are set both in constructor and `RunConfig`, but with "
                    f"different values. In constructor: '{model_dir}', in `RunConfig`: "
                    f"'{config.model_dir}' "
                )
        model_dir = model_dir or config.model_dir
        if not model_dir:
            model_dir = tempfile.mkdtemp()
            logger.warning("Using temporary folder as model directory: %s", model_dir)
        self._config = copy.copy(config)
        self._config.model_dir = model_dir
        self._model_fn = model_fn
        self._params = copy.deepcopy(params if params is not None else {})
        if WARM_STARTS:
            self._warm_start_settings = warm_start_settings(warm_start_from)

    # -- what it is

    @property
    def model_dir(self) -> str:
        """Where checkpoints and event files are."""
        return str(self._config.model_dir)

    @property
    def config(self) -> RunConfig:
        """How the model is run."""
        return copy.copy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the settings of the model."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function, its settings filled in."""

        def bound(
            features: Any, labels: Any, mode: str, config: Any = None
        ) -> EstimatorSpec:
            return self.call_model_fn(features, labels, mode, config)

        return bound

    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, or None."""
        path: str | None = tf.train.latest_checkpoint(self.model_dir)
        return path

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the latest checkpoint."""
        return [name for name, _ in tf.train.list_variables(self.trained_checkpoint())]

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint."""
        return tf.train.load_variable(self.trained_checkpoint(), name)

    def trained_checkpoint(self) -> str:
        """The latest checkpoint, which there has to be."""
        path = self.latest_checkpoint()
        if not path:
            raise ValueError(
                f"Could not find trained model in model_dir: {self.model_dir}."
            )
        return path

    def eval_dir(self, name: str | None = None) -> str:
        """Where the evaluation of this name writes its event file."""
        return os.path.join(self.model_dir, f"eval_{name}" if name else "eval")

    # -- calling what the program gave

    def call_model_fn(
        self, features: Any, labels: Any, mode: str, config: Any = None
    ) -> EstimatorSpec:
        """Calls the model function with those of the arguments that it names."""
        offered = {"mode": mode, "params": self.mode_params(mode)}
        given = accepted(self._model_fn, **offered, config=config or self.config)
        if accepted(self._model_fn, labels=labels):
            given["labels"] = labels
        elif labels is not None:
            raise ValueError(
                "model_fn does not take labels, but input_fn returns labels."
            )
        logger.info("Calling model_fn.")
        spec = self._model_fn(features=features, **given)
        logger.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def mode_params(self, mode: str) -> Any:
        """The settings that the functions of the program are given."""
        del mode
        return self.params

    def model_call(self, mode: str) -> Callable[[Any, Any], EstimatorSpec]:
        """The model function for one mode."""
        return lambda features, labels: self.call_model_fn(features, labels, mode)

    def bound_input_fn(
        self,
        input_fn: Callable[..., Any],
        mode: str,
        context: Any = None,
        config: RunConfig | None = None,
    ) -> Callable[[], Any]:
        """An input function with those of the arguments that it names filled in."""
        check_callable(input_fn)
        given = accepted(
            input_fn,
            mode=mode,
            params=self.mode_params(mode),
            config=config or self.config,
            input_context=context or tf.distribute.InputContext(),
        )
        return lambda: input_fn(**given)

    def warm_start(self) -> None:
        """Lets the variables of the graph begin as a trained model's."""
        if WARM_STARTS and self._warm_start_settings is not None:
            warm_start_variables(self._warm_start_settings)

    # -- training

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Iterable[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Iterable[Any] | None = None,
    ) -> Estimator:
        """Trains for `steps` more steps, up to step `max_steps`, or on all data."""
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        check_positive("steps", steps)
        check_positive("max_steps", max_steps)
        config = self._config
        if CLUSTERS:
            workers: Any = workers_of(config.train_distribute)
            workers.check_place(config)
        else:
            check_alone(config)
        if HOOKS:
            hooks = checked_hooks(hooks)
        else:
            check_no_hooks(hooks)
        if LISTENERS:
            listeners: tuple[Any, ...] = tuple(saving_listeners or ())
        if CLUSTERS and not workers.is_chief:
            listeners = ()
        if LISTENERS and listeners and config.saves_every == (None, None):
            saves = HOOKS and bool(saving_hooks(hooks))
            if not saves:
                raise ValueError(NO_CHECKPOINTS)
        with (
            at_once(),
            workers.at_work() if CLUSTERS else contextlib.nullcontext(),
        ):
            checkpoint = self.latest_checkpoint()
            if CLUSTERS:
                checkpoint = workers.same_checkpoint(self.latest_checkpoint)
            if max_steps is not None and max_steps <= saved_step(checkpoint):
                logger.info("Skipping training since max_steps has already saved.")
                return self
            if CLUSTERS:
                workers.gather(self, input_fn)
                config = workers.config_of(config)
                context = workers.input_context()
            elif REPLICAS:
                replicas = replicas_here(config.train_distribute)
                context = tf.distribute.InputContext(num_replicas_in_sync=replicas)
            else:
                context = None
            model = TrainingModel(
                self.model_call(ModeKeys.TRAIN),
                self.bound_input_fn(input_fn, ModeKeys.TRAIN, context=context),
                config=config,
                checkpoint=checkpoint,
                hooks=hooks or (),
                listeners=listeners,
                warm_start=self.warm_start,
            )
            if HOOKS:
                scaffold = model.spec.scaffold
                initialize(model.graph, checkpoint, scaffold=scaffold)
                checkpoints = Checkpoints(
                    model.graph,
                    config,
                    scaffold=scaffold,
                    listeners=listeners,
                    saved_elsewhere=bool(model.saving_hooks),
                )
            else:
                initialize(model.graph, checkpoint)
                checkpoints = Checkpoints(model.graph, config, listeners=listeners)
            loop = TrainingLoop(
                model, checkpoints, config, workers=workers if CLUSTERS else None
            )
            last = loop.step + steps if steps is not None else max_steps or math.inf
            loss = loop.run(last)
        logger.info("Loss for final step: %s.", loss)
        return self

    # -- evaluation and prediction

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates on `steps` batches, or all of them; gives the metrics."""
        check_positive("steps", steps)
        if not HOOKS:
            check_no_hooks(hooks)
        checkpoint = self.checkpoint_to_use(checkpoint_path, "evaluate")
        with at_once():
            model = EvaluationModel(
                self.model_call(ModeKeys.EVAL),
                self.bound_input_fn(input_fn, ModeKeys.EVAL),
                config=self._config,
                checkpoint=checkpoint,
                hooks=checked_hooks(hooks) if HOOKS else (),
                warm_start=self.warm_start,
            )
            results = evaluate_model(model, checkpoint, steps)
            write_evaluation(model.graph, self.eval_dir(name), results, checkpoint)
        return results

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Collection[str] | None = None,
        hooks: Iterable[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields predictions, one example (or one batch) at a time, as numpy."""
        if not HOOKS:
            check_no_hooks(hooks)
        checkpoint = self.checkpoint_to_use(checkpoint_path, "predict")
        with at_once():
            model = PredictionModel(
                self.model_call(ModeKeys.PREDICT),
                self.bound_input_fn(input_fn, ModeKeys.PREDICT),
                config=self._config,
                checkpoint=checkpoint,
                hooks=checked_hooks(hooks) if HOOKS else (),
                warm_start=self.warm_start,
            )
        batches = model.batches(predict_keys)
        while True:
            with at_once():
                batch = next(batches, NO_MORE)
            if batch is NO_MORE:
                return
            if yield_single_examples:
                yield from single_examples(batch)
            else:
                yield batch

    # -- serving

    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = True,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes the model for serving into a directory named by the time."""
        if serving_input_receiver_fn is None:
            raise ValueError("An input_receiver_fn must be defined.")
        return export_model(
            self.call_model_fn,
            {experimental_mode: serving_input_receiver_fn},
            export_dir_base,
            checkpoint_path or self.checkpoint_to_export(),
            seed=self._config.tf_random_seed,
            assets_extra=assets_extra,
            as_text=as_text,
            strip_default_attrs=strip_default_attrs,
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Writes the graphs of several modes into one model for serving."""
        return export_model(
            self.call_model_fn,
            input_receiver_fn_map,
            export_dir_base,
            checkpoint_path or self.checkpoint_to_export(),
            seed=self._config.tf_random_seed,
            assets_extra=assets_extra,
            as_text=as_text,
        )

    # The older name.
    export_savedmodel = export_saved_model

    def checkpoint_to_export(self) -> str:
        """The latest checkpoint, or what an untrained model would start from."""
        path = self.latest_checkpoint()
        if WARM_STARTS and not path and self._warm_start_settings is not None:
            path = self._warm_start_settings.ckpt_to_initialize_from
            if tf.io.gfile.isdir(path):
                path = tf.train.latest_checkpoint(path)
        if not path:
            raise ValueError(f"Couldn't find trained model at {self.model_dir}.")
        return path

    def checkpoint_to_use(self, path: str | None, verb: str) -> str | None:
        """The given checkpoint or the latest one; None for a model not yet trained."""
        path = path or self.latest_checkpoint()
        if not path:
            logger.info(
                "Could not find trained model in model_dir: %s, running "
                "initialization to %s.",
                self.model_dir,
                verb,
            )
        return path
