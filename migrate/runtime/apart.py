"""Workers that each take steps of their own, on variables of parameter servers."""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf

from .hooks import HookRunner
from .inputs import accepted, dataset_of
from .loop import ManySteps, steps_per_call
from .servers import address_book, serve, tell_over
from .together import LOST, answers, waiting_for
from .variables import ModelVariables
from .vocabulary import ModeKeys
from .workers import Workers

# In one call of a worker: what it did is lost when the worker is.
SECONDS_APART = 0.2
SECONDS_BETWEEN_CHECKS = 5.0
NOBODY = np.int64(-1)
RUNS_PYTHON = ("PyFunc", "PyFuncStateless", "EagerPyFunc")


class Coordinated:
    """A cluster that this process coordinates: connected to once for all."""

    by_cluster: ClassVar[dict[str, Any]] = {}
    # Whom to tell when this process ends; nobody, when it has failed.
    told_at_end: ClassVar[dict[str, str]] = {}
    tells: ClassVar[bool] = False

    def __init__(self, resolver: Any, variable_partitioner: Any):
        strategy = tf.distribute.ParameterServerStrategy(resolver, variable_partitioner)
        self.strategy = strategy
        self.coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)


class WorkersApart(Workers):
    """The tasks of a cluster, as one of them sees it."""

    def __init__(self, resolver: Any, variable_partitioner: Any):
        super().__init__(None)
        self.resolver, self.partitioner = resolver, variable_partitioner
        self.tasks = address_book(resolver)
        self.count = sum(name.startswith("worker") for name in self.tasks)
        self.is_chief = resolver.task_type == "chief"
        self.cluster: Any = None
        self.patience = math.inf
        # How many steps may be taken beside the one that hooks see.
        self.beside = 0
        self.data: Any = None
        # Workers that have no more data.
        self.ended: set[int] = set()
        # The model that is trained, and what its workers read.
        self.reads: tuple[Any, Any] | None = None

    def input_context(self) -> Any:
        """What the first worker is told."""
        return tf.distribute.InputContext(self.count, 0, self.count)

    def check_place(self, config: Any) -> None:
        """Serves, in a task that does; goes on in the chief."""
        self.patience = config.session_creation_timeout_secs
        if not self.is_chief:
            serve(self.resolver, self.tasks, self.patience)
            raise SystemExit(0)
        if not Coordinated.tells:
            Coordinated.tells = True
            atexit.register(tell_over, Coordinated.told_at_end)

    def gather(self, estimator: Any, input_fn: Any) -> None:
        """Connects to all."""
        os.environ["GRPC_FAIL_FAST"] = "use_caller"
        key = str(self.tasks)
        if key not in Coordinated.by_cluster:
            others = {name: at for name, at in self.tasks.items() if name != "chief 0"}
            with waiting_for(others):
                self.wait_for_all(others)
                Coordinated.by_cluster[key] = Coordinated(
                    self.resolver, self.partitioner
                )
        self.cluster = Coordinated.by_cluster[key]
        servers = {"servers": self.cluster.strategy}
        self.variables = type("PlacedVariables", (PlacedVariables,), servers)
        self.many_steps = StepsApart
        self.hook_runner = lambda graph, hooks: HookedSteps(graph, hooks, self)
        self.inputs = inputs_of(estimator, input_fn, self.count)

    def wait_for_all(self, others: dict[str, str]) -> None:
        """Until each can be connected to."""
        ends = time.time() + self.patience
        while absent := [name for name, at in others.items() if not answers(at)]:
            if time.time() > ends:
                raise RuntimeError(
                    f"{', '.join(f'{one} ({others[one]})' for one in absent)} did not "
                    f"start within {self.patience:g} s "
                    "(RunConfig.session_creation_timeout_secs)."
                )
            time.sleep(0.2)

    def next_feeds(self, data: Any, left: float) -> dict[Any, Any] | None:
        """Each worker takes its batch itself."""
        if data.iterator is None:
            raise ValueError(NO_DATA_SET)
        self.data = data
        self.beside = int(min(left, self.count)) - 1
        return {}

    def iterator_over(self, graph: Any, data: Any) -> Any:
        """The batches of each worker, who begins anew when it was lost."""
        if self.reads is None or self.reads[0] is not graph:
            self.reads = graph, self.new_iterator(graph, data)
        return self.reads[1]

    def new_iterator(self, graph: Any, data: Any) -> Any:
        """The same, from the beginning."""
        descriptions = [described(dataset_of(make)) for make in self.inputs]
        structure = data.dataset.element_spec
        tables = graph.graph.get_collection(tf.compat.v1.GraphKeys.TABLE_INITIALIZERS)
        tables = [one for one in tables if not is_iterator(one)]
        initialize = graph.call(tables, []) if tables else None
        self.ended = set()

        def batches() -> Any:
            which = this_worker()
            # Where the model looks things up, it does so in tables of the worker.
            ready = [initialize()[-1]] if initialize is not None else []
            with tf.control_dependencies(ready):
                one = tf.gather(tf.stack(descriptions), which % len(descriptions))
                variant = tf.raw_ops.DatasetFromGraph(graph_def=one)
            return tf.data.experimental.from_variant(variant, structure)

        coordinator = self.cluster.coordinator
        return iter(coordinator.create_per_worker_dataset(batches))

    def run(self, closures: list[tuple[Any, tuple[Any, ...]]]) -> list[Any]:
        """The results of functions, each run by a worker that is free."""
        coordinator = self.cluster.coordinator
        found = [coordinator.schedule(function, args) for function, args in closures]
        pause, seen, now = 5e-4, time.time(), time.time()
        next_check = seen + SECONDS_BETWEEN_CHECKS
        workers = [at for name, at in self.tasks.items() if name.startswith("worker")]
        with contextlib.ExitStack() as stack:
            while not coordinator.done():
                time.sleep(pause)
                pause = min(pause * 1.5, 0.05)
                now = time.time()
                if now < next_check:
                    continue
                if next_check - seen <= SECONDS_BETWEEN_CHECKS:
                    stack.enter_context(waiting_for(self.tasks))
                next_check = now + SECONDS_BETWEEN_CHECKS
                if any(map(answers, workers)):
                    seen = now
                elif now > seen + self.patience:
                    raise RuntimeError(f"No worker for {self.patience:g} s.")
        coordinator.join()
        return [one.fetch() for one in found]

    def all_have_ended(self, results: list[tuple[Any, Any, Any]]) -> bool:
        """Notes which workers have no more data; says whether that is all."""
        self.ended |= {int(which) for _, _, which in results if which >= 0}
        return len(self.ended) >= self.count

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Names a parameter server that is lost; workers may come and go."""
        Coordinated.told_at_end.clear()
        try:
            yield
        except LOST as error:
            lost = [name for name, at in self.tasks.items() if not answers(at)]
            if not lost:
                raise
            raise RuntimeError(
                f"Lost {', '.join(f'{name} ({self.tasks[name]})' for name in lost)}, "
                "and with it variables. Start it and the chief again: training goes "
                "on from the latest checkpoint."
            ) from error
        Coordinated.told_at_end.update(self.tasks)


class PlacedVariables(ModelVariables):
    """Variables on parameter servers."""

    servers: Any = None

    def created(self, create: Any, plain: str, /, **kwargs: Any) -> Any:
        """A variable on the next server, in parts where the strategy wants that.

        Slots are where the variable is that they belong to.
        """
        owner = plain
        while "/" in owner and "colocate_with" not in kwargs:
            owner = owner.rpartition("/")[0]
            if owner in self.by_name:
                kwargs["colocate_with"] = self.by_name[owner]

        def named(name: str, **kwargs: Any) -> Any:
            # The slash at the end keeps a name as it is, also that of a part.
            return create(name=f"{name.replace('//', '/').rstrip('/')}/", **kwargs)

        with tf.init_scope():
            made = self.servers.extended._create_variable(named, **kwargs)
        if not hasattr(made, "variables"):
            return made.get()
        offset = 0
        made._variables[:] = [part.get() for part in made.variables]
        for part in made.variables:
            start = [offset] + [0] * (part.shape.rank - 1)
            info = tf.Variable.SaveSliceInfo(plain, made.shape, start, part.shape)
            part._set_save_slice_info(info)
            offset += part.shape[0]
        return made

    def register(
        self, variable: Any, name: str, value: Any, collections: list[str]
    ) -> None:
        """Notes a variable, or the parts of it."""
        parts = getattr(variable, "variables", None)
        if parts is None:
            super().register(variable, name, value, collections)
            return
        for number, part in enumerate(parts):
            super().register(part, f"{name}/part_{number}", value, collections)


NO_DATA_SET = (
    "input_fn must return a tf.data.Dataset where workers read the data. Return the "
    "Dataset itself instead of the tensors of its iterator."
)


def this_worker() -> Any:
    """The number of the worker that computes it."""
    index = tf.distribute.coordinator.experimental_get_current_worker_index()
    return tf.cast(index, tf.int64)


def inputs_of(
    estimator: Any, input_fn: Callable[..., Any], count: int
) -> list[Callable[[], Any]]:
    """An input function as each of some workers would call it."""
    if not accepted(input_fn, input_context=None, config=None):
        count = 1  # It makes no difference.
    return [
        estimator.bound_input_fn(
            input_fn,
            ModeKeys.TRAIN,
            tf.distribute.InputContext(count, index, count),
            estimator.config.replace(
                task_type="worker",
                task_id=index,
                global_id_in_cluster=index,
                num_worker_replicas=count,
                is_chief=False,
            ),
        )
        for index in range(count)
    ]


def is_iterator(operation: Any) -> bool:
    """Whether an initializer is that of an iterator over data."""
    return str(operation.type) == "MakeIterator"


def described(dataset: Any) -> Any:
    """A data set as text, from which any process makes it."""
    if dataset is None:
        raise ValueError(NO_DATA_SET)
    text = tf.raw_ops.DatasetToGraphV2(
        input_dataset=tf.data.experimental.to_variant(dataset), external_state_policy=1
    )
    graph = tf.compat.v1.GraphDef.FromString(text.numpy())
    bodies = [graph.node, *(function.node_def for function in graph.library.function)]
    if any(node.op in RUNS_PYTHON for nodes in bodies for node in nodes):
        raise ValueError(
            "The data set runs Python (tf.py_function, from_generator), which is in "
            "this process only, and workers read the data. Write it with tf.data's "
            "own operations, or train workers in step: MultiWorkerMirroredStrategy."
        )
    return text


class StepsApart(ManySteps):
    """Steps that are taken by whichever worker is free."""

    def __init__(
        self, graph: Any, data: Any, operation: Any, loss: Any, workers: WorkersApart
    ):
        super().__init__(graph, data, operation, loss, workers=workers)
        self.apart, self.graph = workers, graph
        self.batches = workers.iterator_over(graph, data)
        inner = self.run

        def run(limit: Any, batches: Any) -> Any:
            last, done, ended = inner(tf.int64.max, limit, batches)
            which = this_worker()
            return last, done, tf.where(ended, which, NOBODY)

        self.part = tf.function(run, autograph=False)

    def closure(self, limit: int) -> tuple[Any, tuple[Any, ...]]:
        """A number of steps for a worker."""
        return self.part, (tf.constant(limit, tf.int64), self.batches)

    def __call__(self, until: float, limit: float) -> tuple[Any, int, bool]:
        """Takes steps up to a global step, or a number of them, and no more."""
        with tf.init_scope():
            now = int(self.graph.global_step.numpy())
            most = min(until - now, limit, steps_per_call(self.rate))
            wanted = max(1, int(most))
            began, done, last = time.time(), 0, np.float32(0)
            while done < wanted and len(self.apart.ended) < self.apart.count:
                # The first call makes a worker ready, which is not to be timed.
                share = math.ceil((wanted - done) / self.apart.count)
                share = max(1, min(share, int(self.rate * SECONDS_APART)))
                shares = [
                    min(share, wanted - done - at)
                    for at in range(0, wanted - done, share)
                ]
                results = self.apart.run([self.closure(each) for each in shares])
                done += sum(int(count) for _, count, _ in results)
                # One that is no number is what has to be heard of.
                losses = [loss for loss, count, _ in results if count]
                last = next((x for x in losses if np.isnan(x)), [*losses, last][-1])
                if self.apart.all_have_ended(results) or np.isnan(last):
                    break
        rate = done / max(time.time() - began, 1e-6)
        self.rate = max(1.0, min(self.rate * 10, rate / self.apart.count))
        return last, done, len(self.apart.ended) >= self.apart.count


class HookedSteps(HookRunner):
    """Hooks see the step of one worker, while the others take one of theirs."""

    def __init__(self, graph: Any, hooks: Iterable[Any], workers: WorkersApart):
        super().__init__(graph, hooks)
        self.workers, self.graph = workers, graph
        self.values = self.values_of_worker
        self.functions: dict[Any, Any] = {}
        self.steps: Any = None

    def values_of_worker(
        self, flat: list[Any], feed_dict: Any, own: int = 0
    ) -> list[Any]:
        """The values of single fetches, and a step of every worker."""
        del own
        tensor_of = self.graph.session.fetches.graph_tensor
        fed = [
            (key if isinstance(key, tf.Tensor) else tensor_of(key), value)
            for key, value in feed_dict.items()
        ]
        feeds = [tensor for tensor, _ in fed]
        given = [tf.convert_to_tensor(value, tensor.dtype) for tensor, value in fed]
        function, elements = self.function(flat, feeds)
        if self.steps is None:
            # What is asked for first is the training step itself.
            data = self.workers.data
            self.steps = StepsApart(self.graph, data, flat[0], None, self.workers)
        beside = [self.steps.closure(1)] * self.workers.beside
        while len(self.workers.ended) < self.workers.count:
            hooked = function, (self.steps.batches, *given)
            (there, which, *values), *others = self.workers.run([hooked, *beside])
            now = int(self.graph.global_step.numpy())
            self.workers.all_have_ended([(0, 0, which), *others])
            if not there:
                continue
            parts = iter(values)
            results: list[Any] = []
            for element in elements:
                if element is None or isinstance(element, tf.Operation):
                    results.append(None)
                    continue
                value = next(parts)
                counts = element is self.graph.global_step
                results.append(np.int64(now) if counts else value)
            return results
        raise tf.errors.OutOfRangeError(None, None, "No worker has more data.")

    def function(self, flat: list[Any], feeds: list[Any]) -> tuple[Any, list[Any]]:
        """A step as a worker takes it: whether there was a batch, and the values."""
        key = tuple(map(id, flat)), tuple(map(id, feeds))
        if key not in self.functions:
            fetches = self.graph.session.fetches
            call, elements = fetches.plan(flat, [*feeds, *self.workers.data.tensors])
            if any(tf.nest.is_nested(one) or is_composite(one) for one in elements):
                raise ValueError(
                    "A hook fetches what is made of several tensors, which a worker "
                    "does not send: fetch the tensors."
                )

            def step(batches: Any, *given: Any) -> Any:
                (batch,) = self.workers.data.optional_batches(source=batches)

                def taken() -> list[Any]:
                    parts = tf.nest.flatten(batch.get_value(), expand_composites=True)
                    *values, done = call(*given, *parts)
                    with tf.control_dependencies([done]):
                        return [tf.identity(one) for one in values if one is not None]

                kinds = tf.Tensor, tf.Variable
                nothing = [blank(one) for one in elements if isinstance(one, kinds)]
                there = batch.has_value()
                values = tf.cond(there, taken, lambda: nothing)
                ended = tf.where(there, NOBODY, this_worker())
                return [there, ended, *values]

            made = tf.function(step, autograph=False)
            # With what is in the key, so that no other object gets its identity.
            self.functions[key] = made, elements, flat, feeds
        function, elements, *_ = self.functions[key]
        return function, elements


def is_composite(element: Any) -> bool:
    """Whether something is made of several tensors."""
    return isinstance(element, (tf.SparseTensor, tf.RaggedTensor))


def blank(like: Any) -> Any:
    """A value of the type of another, where there is none."""
    shape = [size or 0 for size in like.shape] if like.shape.rank else []
    if like.dtype == tf.string:
        return tf.fill(shape, "")
    return tf.zeros(shape, like.dtype)
