"""Session hooks in a hand-written TF2 loop.

A ``SessionRunHook`` wants a graph, a session and fetches; an eager loop has
none of them. The driver keeps a small graph with one placeholder per value of
the loop (``loss``, ``accuracy`` ...) and the global step, and a real session
on it. Hooks therefore run unchanged, stock ones included: they fetch by name,
add operations in ``begin`` and use ``run_context.session``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

__all__ = ["HookDriver"]

# These act on the graph of the training step, which a TF2 loop does not have.
_UNSUITABLE: tuple[tuple[type, str], ...] = (
    (
        tf1.train.CheckpointSaverHook,
        "CheckpointSaverHook would save the driver's graph, not your model; "
        "use tf.train.CheckpointManager in the loop.",
    ),
    (
        tf1.train.ProfilerHook,
        "ProfilerHook would profile the driver's graph, not your step; "
        "use tf.profiler.experimental.start and stop in the loop.",
    ),
    (
        tf1.train.FeedFnHook,
        "FeedFnHook cannot feed a TF2 step; pass the values to your step function.",
    ),
)


class HookDriver:
    """Calls hooks around the steps of a loop, in the order of a TF1 session.

    ``values`` names what hooks may fetch, each optionally with a dtype
    (float32 otherwise). ``step`` is the variable (or a function) that holds
    the number of finished steps, usually ``optimizer.iterations``; without it
    the driver counts. ``hooks`` may be a function that makes them: it is called
    inside the driver's graph, for hooks that want tensors.

        with HookDriver(hooks, values=["loss"], step=optimizer.iterations) as driver:
            for batch in dataset:
                driver.before_step()
                loss = train_step(batch)
                driver.after_step(loss=loss)
                if driver.should_stop:
                    break

    Values are copied from the device only in steps in which a hook asks for
    them, or has ``needs_finished_step`` set (as :class:`TimingHook` has: without
    waiting for the device it would time the launch of a step).
    """

    def __init__(
        self,
        hooks: Iterable[Any] | Callable[[], Iterable[Any]],
        *,
        values: Iterable[str] | Mapping[str, Any] = ("loss",),
        step: tf.Variable | Callable[[], int] | None = None,
    ) -> None:
        self._step_source = step
        self._counted = 0
        self._graph = tf1.Graph()
        with self._graph.as_default():
            self._global_step = tf1.train.create_global_step()
            self._next_step = tf1.placeholder(tf.int64, [], name="driver/step")
            self._set_step = self._global_step.assign(self._next_step)
            self._placeholders = {}
            for name, dtype in _dtypes(values).items():
                fed = tf1.placeholder(dtype, name=f"driver/{name}")
                self._placeholders[name] = fed
                # What hooks fetch is a tensor after the fed one: a session
                # refuses to fetch the very tensor that it is fed.
                tf1.identity(fed, name=name)
            self.hooks = tuple(hooks() if callable(hooks) else hooks)
        for hook in self.hooks:
            _check_hook(hook)
        self._stop = False
        self._session: Any = None
        self._pending: list[tuple[Any, Any, Any]] | None = None

    # -- the life of a loop ----------------------------------------------

    def __enter__(self) -> HookDriver:
        self._stop = False
        with self._graph.as_default():
            for hook in self.hooks:
                hook.begin()
            initializer = tf1.group(
                tf1.global_variables_initializer(),
                tf1.local_variables_initializer(),
                tf1.tables_initializer(),
            )
        self._coordinator = tf1.train.Coordinator()
        # One thread, no devices: the session only hands values to hooks.
        config = tf1.ConfigProto(
            device_count={"GPU": 0},
            intra_op_parallelism_threads=1,
            inter_op_parallelism_threads=1,
        )
        session = tf1.Session(graph=self._graph, config=config)
        session.run(initializer)
        self._session = _StepSession(session, self._refresh_step)
        self._step_is_stale = True
        with self._graph.as_default():
            for hook in self.hooks:
                hook.after_create_session(self._session, self._coordinator)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        # As in MonitoredSession: the end of the data is a normal end, any
        # other error skips `end`, because hooks write results there.
        normal = kind is None or issubclass(
            kind, (StopIteration, tf.errors.OutOfRangeError)
        )
        try:
            if normal:
                with self._graph.as_default():
                    for hook in self.hooks:
                        hook.end(self._session)
        finally:
            self._session.close()
            self._session = None
        return kind is not None and normal

    @property
    def should_stop(self) -> bool:
        """Whether a hook has asked to stop."""
        return self._stop

    @property
    def global_step(self) -> int:
        """Number of finished steps."""
        return self._steps_done()

    def before_step(self) -> None:
        """Calls ``before_run`` of all hooks."""
        session = self._open_session()
        if self._pending is not None:
            raise RuntimeError("before_step was called twice without after_step.")
        pending = []
        with self._graph.as_default():
            for hook in self.hooks:
                context = tf1.train.SessionRunContext(
                    original_args=tf1.train.SessionRunArgs(None), session=session
                )
                request = hook.before_run(context)
                if request is not None and request.feed_dict:
                    raise ValueError(
                        f"{type(hook).__name__} feeds tensors, which a TF2 step "
                        "cannot take; pass the values to your step function."
                    )
                pending.append((hook, context, request))
        self._pending = pending

    def after_step(self, **values: Any) -> None:
        """Calls ``after_run`` of all hooks with what they asked for."""
        session = self._open_session()
        if self._pending is None:
            raise RuntimeError("after_step was called without before_step.")
        pending, self._pending = self._pending, None
        self._counted += 1
        self._step_is_stale = True
        unknown = sorted(set(values) - set(self._placeholders))
        if unknown:
            raise ValueError(
                f"The driver was not told of these values: {unknown}. "
                "Name them in HookDriver(..., values=[...])."
            )
        if any(getattr(hook, "needs_finished_step", False) for hook in self.hooks):
            self._wait_for_step(values)
        with self._graph.as_default():
            results = self._fetch(session, pending, values)
            for (hook, context, _), result in zip(pending, results, strict=True):
                hook.after_run(
                    context,
                    tf1.train.SessionRunValues(
                        results=result,
                        options=None,
                        run_metadata=tf1.RunMetadata(),
                    ),
                )
                self._stop = self._stop or context.stop_requested

    @contextlib.contextmanager
    def step(self) -> Any:
        """``with driver.step() as values:`` around one step.

        What the block puts into the dict ``values`` is what hooks can fetch.
        """
        self.before_step()
        values: dict[str, Any] = {}
        yield values
        self.after_step(**values)

    # -- inside ------------------------------------------------------------

    def _open_session(self) -> Any:
        if self._session is None:
            raise RuntimeError("Use the driver in a with statement.")
        return self._session

    def _steps_done(self) -> int:
        source = self._step_source
        if source is None:
            return self._counted
        # Hooks run with the driver's graph as default, and a hook may be what
        # asks: the loop's own variables are read outside of it.
        with tf.__internal__.eager_context.eager_mode():
            return int(source.numpy() if hasattr(source, "numpy") else source())

    def _named(self, fetches: Any) -> Any:
        """``fetches`` with the names of values made names of tensors.

        A bare name means an operation to a session, and fetches None.
        """
        if fetches is None:
            return None
        return tf.nest.map_structure(
            lambda f: f"{f}:0" if isinstance(f, str) and f in self._placeholders else f,
            fetches,
        )

    def _refresh_step(self, session: Any) -> None:
        """Puts the loop's step into the graph, if it changed since."""
        if self._step_is_stale:
            self._step_is_stale = False
            session.run(self._set_step, {self._next_step: self._steps_done()})

    def _wait_for_step(self, values: Mapping[str, Any]) -> None:
        waited = False
        for value in values.values():
            if hasattr(value, "numpy"):
                value.numpy()
                waited = True
        if not waited:
            self._steps_done()

    def _fetch(
        self, session: Any, pending: list[tuple[Any, Any, Any]], values: dict[str, Any]
    ) -> list[Any]:
        fetches = [
            None if request is None else self._named(request.fetches)
            for _, _, request in pending
        ]
        wanted = {i: f for i, f in enumerate(fetches) if f is not None}
        if not wanted:
            return [None] * len(fetches)
        feed = {
            self._placeholders[name]: _to_numpy(value) for name, value in values.items()
        }
        try:
            found = session.run(wanted, feed)
        except tf.errors.InvalidArgumentError as error:
            missing = sorted(set(self._placeholders) - set(values))
            if not missing:
                raise
            raise ValueError(
                f"A hook fetches a value that after_step was not given: one of "
                f"{missing}."
            ) from error
        return [found.get(i) for i in range(len(fetches))]


class _StepSession:
    """A session that first brings the global step up to date.

    Reading the loop's step waits for the device, so it is done when a hook
    runs something, not in every step.
    """

    def __init__(self, session: Any, refresh: Callable[[Any], None]) -> None:
        self._session = session
        self._refresh = refresh

    def run(self, *args: Any, **kwargs: Any) -> Any:
        self._refresh(self._session)
        return self._session.run(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


def _dtypes(values: Iterable[str] | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(values, Mapping):
        return {name: tf.as_dtype(dtype) for name, dtype in values.items()}
    return dict.fromkeys(values, tf.float32)


def _check_hook(hook: Any) -> None:
    if not isinstance(hook, tf1.train.SessionRunHook):
        raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    for kind, advice in _UNSUITABLE:
        if isinstance(hook, kind):
            raise ValueError(advice)


def _to_numpy(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else value
