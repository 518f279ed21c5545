"""How an Estimator builds and runs its graphs: the members that libraries replace.

Libraries that subclass Estimator put its check of overridden members out of the way,
and replace some of these. Names, arguments, what is returned and who calls whom are
those of TensorFlow 1.15 (and 2.15): a replaced member has the effect it had there.
"""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..engine import (
    evaluation,
    event_files,
    prediction,
    replication,
    staged_batches,
    training,
)
from ..engine.callables import argument_names
from ..engine.inputs import (
    IteratorInitializerHook,
    call_input_fn,
    initializable_iterator,
    input_not_ahead,
    input_of,
    make_replica_input,
)
from .checks import checked_hooks
from .mode_keys import ModeKeys
from .run_config import RunConfig
from .spec import EstimatorSpec

__all__ = ["EstimatorGraphs"]


class EstimatorGraphs:
    """What ``Estimator`` does behind its public methods."""

    _config: RunConfig
    _model_dir: str
    _model_fn: Callable[..., Any]
    _params: Any
    _session_config: Any
    _train_distribution: Any
    _eval_distribution: Any
    _warm_start_settings: Any

    # -- what it is --------------------------------------------------------

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

    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, or None."""
        found: str | None = tf.train.latest_checkpoint(self.model_dir)
        return found

    def eval_dir(self, name: str | None = None) -> str:
        """Where the evaluation called ``name`` writes its event file."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    # -- what model functions of our own ask for ---------------------------

    def _building(self) -> contextlib.AbstractContextManager[None]:
        """What the model function needs around the building of a graph."""
        building = getattr(self._model_fn, "building", None)
        return building() if building else contextlib.nullcontext()

    def _optimizer_scales_loss(self, strategy: Any) -> bool:
        """Whether v1 optimizers divide the loss by the number of replicas."""
        decide = getattr(self._model_fn, "optimizer_scales_loss", None)
        return bool(decide(strategy)) if decide else True

    # -- every graph -------------------------------------------------------

    def _set_random_seed(self) -> None:
        tf.set_random_seed(self._config.tf_random_seed)

    def _create_global_step(self, graph: Any) -> Any:
        return tf.train.create_global_step(graph)

    def _create_and_assert_global_step(self, graph: Any) -> Any:
        step = self._create_global_step(graph)
        if step is not tf.train.get_global_step() or not step.dtype.is_integer:
            raise ValueError("The global step must be the integer step of its graph.")
        return step

    def _call_input_fn(
        self, input_fn: Callable[..., Any], mode: str, input_context: Any = None
    ) -> Any:
        offered = {"mode": mode, "params": self.params, "config": self.config}
        if input_context is not None:
            offered["input_context"] = input_context
        return call_input_fn(input_fn, offered)

    def _get_features_and_labels_from_input_fn(
        self, input_fn: Callable[..., Any], mode: str
    ) -> tuple[Any, Any, list[Any]]:
        found = input_of(self._call_input_fn(input_fn, mode))
        return found.features, found.labels, list(found.hooks)

    def _get_features_from_input_fn(
        self, input_fn: Callable[..., Any], mode: str
    ) -> tuple[Any, list[Any]]:
        found = input_not_ahead(lambda: self._call_input_fn(input_fn, mode))
        self._validate_features_in_predict_input(found.features)
        return found.features, list(found.hooks)

    def _get_iterator_from_input_fn(
        self, input_fn: Callable[..., Any], mode: str, distribution: Any = None
    ) -> tuple[Any, list[Any]]:
        if distribution is None:
            iterator = initializable_iterator(self._call_input_fn(input_fn, mode))
            return iterator, [IteratorInitializerHook(lambda: iterator.initializer)]
        # An evaluation counts every batch once, which takes another iterator.
        staged = mode == ModeKeys.EVAL and staged_batches.is_wanted(distribution)
        make = staged_batches.input_of_replicas if staged else make_replica_input
        iterator, hook = make(
            lambda context: self._call_input_fn(input_fn, mode, context), distribution
        )
        return iterator, [hook]

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

    # -- training ----------------------------------------------------------

    def _convert_train_steps_to_hooks(
        self, steps: int | None, max_steps: int | None
    ) -> list[Any]:
        if steps is None and max_steps is None:
            return []
        return [tf.train.StopAtStepHook(steps, max_steps)]

    def _train_model(
        self,
        input_fn: Callable[..., Any],
        hooks: list[Any],
        saving_listeners: list[Any],
    ) -> Any:
        if self._train_distribution:
            return self._train_model_distributed(input_fn, hooks, saving_listeners)
        return self._train_model_default(input_fn, hooks, saving_listeners)

    def _train_model_default(
        self,
        input_fn: Callable[..., Any],
        hooks: list[Any],
        saving_listeners: list[Any],
    ) -> Any:
        return training.train_alone(self, input_fn, hooks, saving_listeners)

    def _train_model_distributed(
        self,
        input_fn: Callable[..., Any],
        hooks: list[Any],
        saving_listeners: list[Any],
    ) -> Any:
        return self._actual_train_model_distributed(
            self._train_distribution, input_fn, hooks, saving_listeners
        )

    def _actual_train_model_distributed(
        self,
        strategy: Any,
        input_fn: Callable[..., Any],
        hooks: list[Any],
        saving_listeners: list[Any],
    ) -> Any:
        return training.train_on_replicas(
            self, strategy, input_fn, hooks, saving_listeners
        )

    def _train_with_estimator_spec(
        self,
        estimator_spec: EstimatorSpec,
        worker_hooks: list[Any],
        hooks: Sequence[Any],
        global_step_tensor: Any,
        saving_listeners: Sequence[Any],
    ) -> Any:
        return training.train_with_spec(
            self,
            estimator_spec,
            worker_hooks,
            hooks,
            global_step_tensor,
            saving_listeners,
        )

    # -- evaluation --------------------------------------------------------

    def _convert_eval_steps_to_hooks(self, steps: int | None) -> list[Any]:
        if steps is None:
            return []
        if steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        return [evaluation.StopAfterNEvalsHook(steps)]

    def _actual_eval(
        self,
        input_fn: Callable[..., Any],
        strategy: Any = None,
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        del strategy  # `_evaluate_build_graph` finds it by itself
        all_hooks = checked_hooks(hooks)
        all_hooks.extend(self._convert_eval_steps_to_hooks(steps))
        path = self._checkpoint_to_use(checkpoint_path, "evaluate")
        with self._building(), tf.Graph().as_default():
            graph = self._evaluate_build_graph(input_fn, all_hooks, path)
            return self._evaluate_run(path, *graph, self.eval_dir(name))

    def _evaluation_scope(self) -> Any:
        """The strategy that variables of an evaluation graph belong to."""
        if self._eval_distribution is None:
            return contextlib.nullcontext()
        return replication.graph_strategy(self._eval_distribution)

    def _evaluate_build_graph(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
    ) -> evaluation.EvaluationGraph:
        graph = evaluation.build(self, input_fn, hooks or ())
        self._maybe_warm_start(checkpoint_path)
        return graph

    def _call_model_fn_eval(
        self, input_fn: Callable[..., Any], config: RunConfig
    ) -> tuple[Any, ...]:
        return evaluation.model_alone(self, input_fn, config)

    def _call_model_fn_eval_distributed(
        self, input_fn: Callable[..., Any], config: RunConfig
    ) -> tuple[Any, ...]:
        return evaluation.model_on_replicas(
            self, self._eval_distribution, input_fn, config
        )

    def _evaluate_run(
        self,
        checkpoint_path: str | None,
        scaffold: Any,
        update_op: Any,
        eval_dict: Mapping[str, Any],
        all_hooks: Sequence[Any],
        output_dir: str,
    ) -> dict[str, Any]:
        results = evaluation.run(
            scaffold,
            update_op,
            eval_dict,
            all_hooks,
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

    # -- prediction --------------------------------------------------------

    def _validate_features_in_predict_input(self, result: Any) -> None:
        if not prediction.has_data_source(result):
            tf.logging.warning(
                "Input graph does not use tf.data.Dataset or contain a "
                "QueueRunner. That means predict yields forever. This is probably "
                "a mistake."
            )

    def _extract_keys(
        self, predictions: Any, predict_keys: Collection[str] | None
    ) -> Any:
        return prediction.filtered(predictions, predict_keys)

    def _extract_batch_length(self, preds_evaluated: Mapping[str, Any]) -> int:
        return prediction.batch_length(preds_evaluated)

    # -- export ------------------------------------------------------------

    def _add_meta_graph_for_mode(
        self,
        builder: Any,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        checkpoint_path: str | None,
        save_variables: bool = True,
        mode: str = "infer",
        export_tags: Sequence[str] | None = None,
        check_variables: bool = True,
        strip_default_attrs: bool = True,
    ) -> None:
        from .export import saved_model

        saved_model.add_mode(
            builder,
            self,
            mode,
            input_receiver_fn_map[mode],
            checkpoint_path=checkpoint_path,
            save_variables=save_variables,
            check_variables=check_variables,
            tags=export_tags,
            strip_default_attrs=strip_default_attrs,
        )


def _warm_start(settings: Any) -> None:
    from . import warm_start

    warm_start.apply(settings)
