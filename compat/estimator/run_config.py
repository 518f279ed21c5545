"""``RunConfig``: how an Estimator runs, and where in a cluster.

Signature, checks and error texts follow TF 1.15; ``checkpoint_save_graph_def``
is the one argument that TF 2.15 has more.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Collection, Mapping
from typing import Any

import tensorflow.compat.v1 as tf
import tensorflow.compat.v2 as tf2

from ..engine.callables import argument_names
from . import cluster
from .task_types import TaskType

__all__ = ["RunConfig", "TaskType", "get_default_session_config"]

_USE_DEFAULT = object()

_REPLACEABLE = (
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
    "checkpoint_save_graph_def",
)

_BOTH_SAVE_RULES = (
    "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
)


def get_default_session_config() -> Any:
    """The session configuration of an Estimator that was given none."""
    return tf.ConfigProto(
        allow_soft_placement=True, graph_options=cluster.one_pass_graph_options()
    )


class RunConfig:
    """The configuration of an ``Estimator`` run.

    What concerns a cluster (``cluster_spec``, ``task_type``, ``is_chief`` ...)
    comes from the environment variable ``TF_CONFIG``.
    """

    # Set by name in _replace, where a type checker does not see them.
    _model_dir: str | None
    _tf_random_seed: int | None
    _save_summary_steps: int | None
    _save_checkpoints_steps: int | None
    _save_checkpoints_secs: float | None
    _session_config: Any
    _keep_checkpoint_max: int | None
    _keep_checkpoint_every_n_hours: float
    _log_step_count_steps: int | None
    _train_distribute: Any
    _device_fn: Callable[[Any], str] | None
    _protocol: str | None
    _eval_distribute: Any
    _experimental_distribute: Any
    _experimental_max_worker_delay_secs: int | None
    _session_creation_timeout_secs: int
    _checkpoint_save_graph_def: bool

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: Any = _USE_DEFAULT,
        save_checkpoints_secs: Any = _USE_DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Callable[[Any], str] | None = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: int = 7200,
        checkpoint_save_graph_def: bool = True,
    ) -> None:
        if (
            save_checkpoints_steps is _USE_DEFAULT
            and save_checkpoints_secs is _USE_DEFAULT
        ):
            save_checkpoints_steps, save_checkpoints_secs = None, 600
        elif save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _USE_DEFAULT:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError(_BOTH_SAVE_RULES)

        tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        if tf_config:
            tf.logging.info("TF_CONFIG environment variable: %s", tf_config)

        _replace(
            self,
            _REPLACEABLE,
            model_dir=_agreed_model_dir(tf_config, model_dir),
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute,
            device_fn=device_fn,
            protocol=protocol,
            eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
            checkpoint_save_graph_def=checkpoint_save_graph_def,
        )
        self._adopt_experimental_distribute()
        self._check_strategies()
        self._remote_cluster = self._cluster_of_servers(tf_config)
        self._awaiting: dict[str, Any] = {}
        members = self._remote_cluster or tf_config.get("cluster") or {}
        if self._train_distribute is not None and members and "master" not in members:
            self._await_place(tf_config, members)
            return
        self._init_distributed_setting_from_environment_var(tf_config)
        self._maybe_overwrite_session_config_for_distributed_training()

    # -- the cluster -----------------------------------------------------

    def _adopt_experimental_distribute(self) -> None:
        """Takes the strategies of a ``DistributeConfig`` as if given directly."""
        extra = self._experimental_distribute
        if not extra:
            return
        for name in ("train_distribute", "eval_distribute"):
            value = getattr(extra, name, None)
            if value is None:
                continue
            if getattr(self, "_" + name):
                raise ValueError(
                    f"Either `{name}` or `experimental_distribute.{name}` can be set."
                )
            setattr(self, "_" + name, value)

    def _cluster_of_servers(self, tf_config: Mapping[str, Any]) -> dict[str, Any]:
        """The cluster that this process tells what to do, without being in it."""
        remote = getattr(self._experimental_distribute, "remote_cluster", None)
        strategy = self._train_distribute
        if not remote or strategy is None:
            return {}
        if tf_config.get("cluster"):
            raise ValueError(
                'Cannot set both "cluster_spec" of TF_CONFIG and '
                "`experimental_distribute.remote_cluster`"
            )
        # Alone, what such a strategy is depends on whether there is a cluster.
        strategy = getattr(strategy, "for_cluster", lambda: strategy)()
        if not cluster.is_collective(strategy):
            raise ValueError(
                "`remote_cluster` is supported with CollectiveAllReduceStrategy and "
                f"MultiWorkerMirroredStrategy, not {type(strategy).__name__}: leave "
                "it out and start this program as each task of the cluster, with its "
                "TF_CONFIG (`tfmigrate launch` does on one machine)."
            )
        self._train_distribute = strategy
        members: dict[str, Any] = tf.train.ClusterSpec(remote).as_dict()
        return members

    def _await_place(self, tf_config: dict[str, Any], members: Any) -> None:
        """Tells the cluster, and of this process no more than of one alone.

        So it is where a strategy trains in a cluster: which task this is, a
        configuration says where the cluster trains (the model function's, and that
        of hooks and input functions), not before.
        """
        self._init_distributed_setting_from_environment_var({})
        self._cluster_spec = tf.train.ClusterSpec(members)
        self._awaiting = {} if self._remote_cluster else tf_config

    def _in_place(self) -> RunConfig:
        """The configuration where the cluster trains."""
        if not self._awaiting:
            return self
        here = copy.copy(self)
        here._awaiting = {}
        if here._session_config == get_default_session_config():
            here._session_config = None  # the program gave none
        here._init_distributed_setting_from_environment_var(self._awaiting)
        here._maybe_overwrite_session_config_for_distributed_training()
        return here

    def _as_task(self, task_type: str, task_id: int) -> RunConfig:
        """The configuration of one task of the remote cluster."""
        here = copy.copy(self)
        here._remote_cluster = {}
        task = {"type": task_type, "index": task_id}
        here._init_distributed_setting_from_environment_var(
            {"cluster": self._remote_cluster, "task": task}
        )
        return here

    def _check_strategies(self) -> None:
        """Estimators place variables by the parameter servers of TF 1 only."""
        wrong = tf2.distribute.experimental.ParameterServerStrategy
        for strategy in (self._train_distribute, self._eval_distribute):
            if type(strategy) is wrong:
                raise ValueError(
                    "Please use `tf.compat.v1.distribute.experimental.Parameter"
                    "ServerStrategy` for parameter server strategy with estimator."
                )

    def _init_distributed_setting_from_environment_var(
        self, tf_config: dict[str, Any]
    ) -> None:
        """Sets everything that ``TF_CONFIG`` decides.

        Programs subclass RunConfig and override this name to keep one process
        out of the cluster (the usual recipe for a local evaluation), so the
        name is part of the contract.
        """
        place = cluster.parse_tf_config(
            tf_config,
            has_strategy=self._train_distribute is not None,
        )
        self._service = place.service
        self._cluster_spec = place.cluster_spec
        self._task_type = place.task_type
        self._task_id = place.task_id
        self._master = place.master
        self._evaluation_master = place.evaluation_master
        self._is_chief = place.is_chief
        self._num_ps_replicas = place.num_ps_replicas
        self._num_worker_replicas = place.num_worker_replicas
        self._global_id_in_cluster = place.global_id_in_cluster

    def _maybe_overwrite_session_config_for_distributed_training(self) -> None:
        """Limits whom a process of a parameter-server cluster talks to."""
        if self._session_config or not self._cluster_spec:
            return
        if cluster.is_collective(self._train_distribute):
            return
        _replace(
            self,
            _REPLACEABLE,
            session_config=self._get_default_session_config_distributed(),
        )

    def _get_default_session_config_distributed(self) -> Any:
        return cluster.session_config_for_task(self._task_type, self._task_id)

    # -- properties ------------------------------------------------------

    @property
    def cluster_spec(self) -> Any:
        """The training cluster; empty when the program runs alone."""
        return self._cluster_spec

    @property
    def device_fn(self) -> Callable[[Any], str] | None:
        """Places operations instead of the default device function."""
        return self._device_fn

    @property
    def evaluation_master(self) -> str:
        """Session target of evaluations."""
        return self._evaluation_master

    @property
    def is_chief(self) -> bool:
        """Whether this process saves checkpoints and summaries."""
        return self._is_chief

    @property
    def master(self) -> str:
        """Session target of training and prediction."""
        return self._master

    @property
    def num_ps_replicas(self) -> int:
        """Number of parameter servers."""
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """Number of workers, the chief included."""
        return self._num_worker_replicas

    @property
    def task_id(self) -> int:
        """Index among the tasks of the same type."""
        return self._task_id

    @property
    def global_id_in_cluster(self) -> int | None:
        """Index among all tasks: chief first, parameter servers last."""
        return self._global_id_in_cluster

    @property
    def experimental_max_worker_delay_secs(self) -> int | None:
        """Longest time a worker waits before it starts."""
        return self._experimental_max_worker_delay_secs

    @property
    def task_type(self) -> str:
        """What this process is in the cluster."""
        return self._task_type

    @property
    def tf_random_seed(self) -> int | None:
        """Graph-level seed."""
        return self._tf_random_seed

    @property
    def save_summary_steps(self) -> int | None:
        """Summaries are saved every so many steps."""
        return self._save_summary_steps

    @property
    def save_checkpoints_secs(self) -> float | None:
        """Checkpoints are saved every so many seconds."""
        return self._save_checkpoints_secs

    @property
    def session_config(self) -> Any:
        """The ConfigProto of sessions."""
        return self._session_config

    @property
    def save_checkpoints_steps(self) -> int | None:
        """Checkpoints are saved every so many steps."""
        return self._save_checkpoints_steps

    @property
    def checkpoint_save_graph_def(self) -> bool:
        """Whether the graph is written next to the checkpoints."""
        return self._checkpoint_save_graph_def

    @property
    def keep_checkpoint_max(self) -> int | None:
        """Number of checkpoints kept; None or 0 keeps all."""
        return self._keep_checkpoint_max

    @property
    def session_creation_timeout_secs(self) -> int:
        """How long a worker waits for its session."""
        return self._session_creation_timeout_secs

    @property
    def keep_checkpoint_every_n_hours(self) -> float:
        """Keeps one checkpoint for good every so many hours."""
        return self._keep_checkpoint_every_n_hours

    @property
    def log_step_count_steps(self) -> int | None:
        """Steps between two log lines of loss and steps per second."""
        return self._log_step_count_steps

    @property
    def model_dir(self) -> str | None:
        """Where checkpoints and summaries go."""
        return self._model_dir

    @property
    def service(self) -> dict[str, Any] | None:
        """The ``service`` entry of ``TF_CONFIG``."""
        return self._service

    @property
    def train_distribute(self) -> Any:
        """The strategy of training, or None."""
        return self._train_distribute

    @property
    def eval_distribute(self) -> Any:
        """The strategy of evaluation, or None."""
        return self._eval_distribute

    @property
    def protocol(self) -> str | None:
        """The protocol of servers; None means grpc."""
        return self._protocol

    # -- copies ----------------------------------------------------------

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with some properties replaced."""
        clone = copy.deepcopy(self)
        _replace(clone, _REPLACEABLE, **kwargs)
        return clone

    def __deepcopy__(self, memo: dict[int, Any]) -> RunConfig:
        """Copies everything but strategies.

        A strategy stands for devices and collective state of this process: two
        copies of one would not be the same strategy any more.
        """
        clone = self.__class__.__new__(self.__class__)
        memo[id(self)] = clone
        for name, value in self.__dict__.items():
            shared = name in (
                "_train_distribute",
                "_eval_distribute",
                "_experimental_distribute",
            )
            clone.__dict__[name] = value if shared else copy.deepcopy(value, memo)
        return clone


def _replace(config: RunConfig, allowed: Collection[str], **values: Any) -> None:
    for name, value in values.items():
        if name not in allowed:
            raise ValueError(
                f"Replacing {name} is not supported. "
                f"Allowed properties are {list(allowed)}."
            )
        setattr(config, "_" + name, value)
    _settle_save_rules(config, values)
    _check_values(config)


def _settle_save_rules(config: RunConfig, replaced: Collection[str]) -> None:
    """Setting one of the two save rules unsets the other."""
    steps, secs = config.save_checkpoints_steps, config.save_checkpoints_secs
    by_steps = "save_checkpoints_steps" in replaced
    by_secs = "save_checkpoints_secs" in replaced
    if by_steps and by_secs:
        if steps is not None and secs is not None:
            raise ValueError(_BOTH_SAVE_RULES)
    elif by_steps and steps is not None:
        config._save_checkpoints_secs = None
    elif by_secs and secs is not None:
        config._save_checkpoints_steps = None


def _is_device_fn(value: Any) -> bool:
    return callable(value) and set(argument_names(value)) == {"op"}


_CHECKS: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("model_dir", bool, "model_dir should be non-empty"),
    ("save_summary_steps", lambda v: v >= 0, "save_summary_steps should be >= 0"),
    (
        "save_checkpoints_steps",
        lambda v: v >= 0,
        "save_checkpoints_steps should be >= 0",
    ),
    (
        "save_checkpoints_secs",
        lambda v: v >= 0,
        "save_checkpoints_secs should be >= 0",
    ),
    (
        "session_config",
        lambda v: isinstance(v, tf.ConfigProto),
        "session_config must be instance of ConfigProto",
    ),
    ("keep_checkpoint_max", lambda v: v >= 0, "keep_checkpoint_max should be >= 0"),
    (
        "keep_checkpoint_every_n_hours",
        lambda v: v > 0,
        "keep_checkpoint_every_n_hours should be > 0",
    ),
    (
        "log_step_count_steps",
        lambda v: v > 0,
        "log_step_count_steps should be > 0",
    ),
    (
        "tf_random_seed",
        lambda v: isinstance(v, int),
        "tf_random_seed must be integer.",
    ),
    (
        "experimental_max_worker_delay_secs",
        lambda v: isinstance(v, int),
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    (
        "session_creation_timeout_secs",
        lambda v: v > 0,
        "session_creation_timeout_secs should be > 0",
    ),
    (
        "device_fn",
        _is_device_fn,
        'device_fn must be callable with exactly one argument "op".',
    ),
    (
        "protocol",
        lambda v: v in ("grpc", "grpc+verbs"),
        "protocol should be grpc or grpc+verbs",
    ),
)


def _check_values(config: RunConfig) -> None:
    for name, is_good, message in _CHECKS:
        value = getattr(config, name)
        if value is not None and not is_good(value):
            raise ValueError(message)


def _agreed_model_dir(tf_config: dict[str, Any], model_dir: Any) -> str | None:
    """The directory that the program and ``TF_CONFIG`` agree on."""
    if model_dir is not None:
        model_dir = os.fspath(model_dir)
    if model_dir == "":
        raise ValueError("model_dir should be non-empty.")
    from_environment: str | None = tf_config.get("model_dir")
    if from_environment == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if from_environment:
        if model_dir and from_environment != model_dir:
            raise ValueError(
                "`model_dir` provided in RunConfig construct, if set, must have the "
                "same value as the model_dir in TF_CONFIG. "
                f'model_dir: {model_dir}\nTF_CONFIG["model_dir"]: {from_environment}.\n'
            )
        tf.logging.info("Using model_dir in TF_CONFIG: %s", from_environment)
    return model_dir or from_environment
