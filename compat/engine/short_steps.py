"""Steps that ask for the same things as earlier ones take a shorter way.

``Session.run`` takes its argument apart, looks every fetch up and asks whether the
graph has grown, each time. A training loop asks for the same things thousands of
times: after the first two times the answer is prepared once, with the public
``make_callable``, and only run. Whatever is fed, traced or asked in another way goes
through ``Session.run`` itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from . import private_api

__all__ = ["ShortStepsHook"]

# A loop has few kinds of steps: plain ones, with a log line, with summaries.
_KEPT = 16
_LEAVES = (tf.Tensor, tf.Operation, tf.Variable, tf.SparseTensor, tf.IndexedSlices)


class ShortStepsHook(tf.train.SessionRunHook):
    """Gives each session of a monitored session the shorter way."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """The session is new: also after a recovery."""
        del coord
        if type(session) is tf.Session:
            session.run = _ShortRun(session).run

    def end(self, session: Any) -> None:
        """The session is about to close: nothing shall hold it, and its graph, then."""
        vars(session).pop("run", None)


class _ShortRun:
    """``run`` of one session."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._run: Callable[..., Any] = session.run
        # What was asked for -> the prepared call, None at first sight. The fetches
        # are kept with it, for the key has ids of tensors.
        self._known: dict[tuple[Any, ...], tuple[Any, Callable[[], Any] | None]] = {}

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """What ``Session.run`` does."""
        # A monitored session always gives both options and metadata, empty ones as a
        # rule; options by themselves fill the metadata.
        plain = (
            not feed_dict
            and (options is None) == (run_metadata is None)
            and (options is None or not options.ByteSize())
        )
        parts: list[Any] = []
        if not plain or not _describe(fetches, parts):
            return self._run(fetches, feed_dict, options, run_metadata)
        key = tuple(parts)
        known = self._known.get(key)
        if known is None:
            if len(self._known) < _KEPT:
                self._known[key] = (fetches, None)
            return self._run(fetches, feed_dict, options, run_metadata)
        kept, call = known
        if call is None:
            call = private_api.prepared_run(self._session, fetches)
            self._known[key] = (kept, call)
        return call()


def _describe(fetches: Any, parts: list[Any]) -> bool:
    """Adds what tells these fetches from others; false where that is not clear."""
    if isinstance(fetches, _LEAVES):
        parts.append(id(fetches))
        return True
    if isinstance(fetches, str):
        parts.append(fetches)
        return True
    kind = type(fetches)
    if kind is dict:
        parts += [kind, len(fetches)]
        for key, value in fetches.items():
            parts.append(key)
            if not _describe(value, parts):
                return False
        return True
    if isinstance(fetches, (list, tuple)):
        parts += [kind, len(fetches)]
        return all(_describe(value, parts) for value in fetches)
    return False
