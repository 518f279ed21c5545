"""Every private TensorFlow import of the compat engine, with its reason.

Public paths are used wherever they exist. What is here has none: if a future
TensorFlow moves one of these names, this is the only file to mend.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

# Savers of object-based checkpoints for a model inside of a session graph.
from tensorflow.python.checkpoint import checkpoint as checkpoint_lib
from tensorflow.python.checkpoint import graph_view

# How processes of a cluster train under one strategy: the server, session settings
# and start lines of each. Only Estimators used it; without them it has no public name.
# The class of the default cross-device operations of MirroredStrategy is not
# public, and has to be recognised: it cannot run in a session on CPUs. step_fn
# and UpdateContext are the stepping helpers of tf.contrib.distribute. Values of which
# each replica finds its own can be made in no public way in a graph.
from tensorflow.python.distribute import (
    cross_device_ops,
    distribute_coordinator,
    distribute_coordinator_context,
    distribute_utils,
    step_fn,
)
from tensorflow.python.distribute.distribute_lib import UpdateContext

# The extended part of the central-storage strategy, which is what a
# parameter-server strategy is on one machine.
from tensorflow.python.distribute.parameter_server_strategy import (
    ParameterServerStrategyExtended,
)

# Constants are made in one place; large arrays of an input function are kept
# out of the graph there (see arrays.py).
from tensorflow.python.framework import ops

# The graph of Lloyd's algorithm, public only through the KMeans estimator.
# Tables of tf.contrib.lookup: the classes and from-file helpers have no public
# name any more, tables themselves have.
# tf.contrib.summary's functions, which write without a merge; the public
# tf.summary of TF 2 takes other arguments.
from tensorflow.python.ops import (
    clustering_ops,
    lookup_ops,
    summary_ops_v2,
)

# Loading one graph of a SavedModel into the current graph, with inputs replaced.
# The public loaders need a session and restore the variables at once.
from tensorflow.python.saved_model import loader_impl

# ExportOutput classes and the default-signature rules. The public names lived
# in tf.estimator.export, which went away with the Estimator; the classes are
# still what SavedModel building inside TensorFlow expects.
from tensorflow.python.saved_model.model_utils import export_output, export_utils

# One evaluation of a checkpoint, as tf.contrib.training offered it publicly.
# The collection key under which stock hooks look for one shared read of the
# global step. The main thread has to create it before replica threads start.
from tensorflow.python.training import evaluation, training_util

__all__ = [
    "GLOBAL_STEP_READ_KEY",
    "UpdateContext",
    "cluster_context",
    "clustering_ops",
    "distributed_initializer",
    "evaluation",
    "export_output",
    "export_utils",
    "get_next_as_optional",
    "get_or_create_global_step_read",
    "init_central_storage",
    "is_in_graph_collective",
    "lookup_ops",
    "make_input_fn_iterator",
    "object_saver",
    "ops",
    "place_on_servers",
    "prepared_run",
    "quiet_iterators",
    "run_after",
    "run_in_cluster",
    "run_on_servers",
    "saved_model_loader",
    "step_fn",
    "summary_ops_v2",
    "value_per_replica",
]

GLOBAL_STEP_READ_KEY = training_util.GLOBAL_STEP_READ_KEY


def get_or_create_global_step_read(graph: Any) -> Any:
    """The read of the global step that all stock hooks of a graph share."""
    return training_util._get_or_create_global_step_read(graph)


def run_after(op: Any, others: list[Any]) -> None:
    """Lets an operation that stands in a graph already wait for others.

    Those of a branch or a loop are left out: where it is not taken they never end.
    """
    context = op._get_control_flow_context()
    op._add_control_inputs(
        [one for one in others if one._get_control_flow_context() is context]
    )


def get_next_as_optional(iterator: Any) -> Any:
    """The next element of a graph iterator, or an empty optional at the end.

    The public function is the only one that takes a graph iterator, and says
    on every first use that it is deprecated in favour of an eager method.
    """
    public = tf.data.experimental.get_next_as_optional
    return getattr(public, "__wrapped__", public)(iterator)


def init_central_storage(strategy: Any, compute_devices: list[str]) -> None:
    """Initialises ``strategy`` with variables on the CPU, copies on devices."""
    extended = ParameterServerStrategyExtended(
        strategy, compute_devices=compute_devices, parameter_device="/device:CPU:0"
    )
    tf.distribute.Strategy.__init__(strategy, extended)


def place_on_servers(
    strategy: Any, cluster_spec: Any, task_type: str, task_id: int
) -> None:
    """Initialises ``strategy`` anew, unless it was made for a cluster."""
    extended = strategy.extended
    if extended._cluster_spec is None:
        # How many compute here beside the processor; it asks itself otherwise.
        extended._num_gpus_per_worker = len(tf.config.list_logical_devices("GPU"))
        strategy.configure(
            cluster_spec=cluster_spec, task_type=task_type, task_id=task_id
        )


def object_saver(root: Any) -> Any:
    """A saver that writes object-based checkpoints of ``root``'s graph.

    It maps the variables to their places in the object graph, and restores
    from name-based checkpoints through the frozen graph it keeps.
    """
    variables = graph_view.ObjectGraphView(root).frozen_saveable_objects()
    saver = tf.train.Saver(var_list=variables, sharded=True)
    saver._object_restore_saver = checkpoint_lib.frozen_saver(root)
    return saver


def make_input_fn_iterator(strategy: Any, dataset_fn: Any) -> Any:
    """A distributed iterator that calls ``dataset_fn`` once per input pipeline.

    The public way (distribute_datasets_from_function) gives an iterator that
    only an eager program can start.
    """
    with quiet_iterators():
        return strategy.extended._make_input_fn_iterator(dataset_fn)


@contextlib.contextmanager
def quiet_iterators() -> Iterator[None]:
    """Nobody asked for reading tf.data options in graph mode, of which it warns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*preserve tf.data options.*")
        yield


def distributed_initializer(iterator: Any) -> Any:
    """What starts a distributed iterator; the public name logs a deprecation."""
    return iterator._initializer


def value_per_replica(values: list[Any]) -> Any:
    """One value that stands for another one on each replica."""
    return distribute_utils.regroup(tuple(values), always_wrap=True)


def run_in_cluster(
    train: Callable[[Any], Any], strategy: Any, session_config: Any
) -> None:
    """This process' part in a cluster that trains under ``strategy``.

    ``train`` is given the strategy as it stands in the cluster; a parameter server
    serves instead, for ever.
    """
    distribute_coordinator.run_distribute_coordinator(
        train,
        strategy,
        mode=distribute_coordinator.CoordinatorMode.INDEPENDENT_WORKER,
        session_config=session_config,
    )


def run_on_servers(
    train: Callable[[Any], Any],
    strategy: Any,
    evaluate: Callable[[Any], Any],
    members: Any,
    session_config: Any,
) -> None:
    """All parts of a cluster of servers, each in a thread of this process.

    ``cluster_context`` says in ``train`` which task it is.
    """
    distribute_coordinator.run_distribute_coordinator(
        train,
        strategy,
        evaluate,
        mode=distribute_coordinator.CoordinatorMode.STANDALONE_CLIENT,
        cluster_spec=members,
        session_config=session_config,
    )


def cluster_context() -> Any:
    """What is known of the cluster inside of `run_in_cluster`, else None."""
    return distribute_coordinator_context.get_current_worker_context()


def is_in_graph_collective(strategy: Any, value: Any) -> bool:
    """Whether ``value`` are single-process collectives, made by default."""
    if not isinstance(value, cross_device_ops.CollectiveAllReduce):
        return False
    # Collectives between processes are what multi-worker training is made of.
    return not strategy.extended._in_multi_worker_mode()


def prepared_run(session: Any, fetches: Any) -> Any:
    """What runs `fetches` again and again, and fails as ``Session.run`` does.

    A callable of ``make_callable`` names neither the op that failed nor where the
    program made it; what adds that has no public name.
    """
    call = session.make_callable(fetches)

    def run() -> Any:
        if session._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        return session._do_call(call)

    return run


def saved_model_loader(saved_model_dir: str) -> Any:
    """Reads a SavedModel and imports its graphs by tag."""
    return loader_impl.SavedModelLoader(saved_model_dir)
