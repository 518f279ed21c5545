"""What hooks and savers are given as a session: parts of the graph, run on request."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .fetching import Fetches
from .vocabulary import v1


class ModelSession(v1.Session):
    """Runs parts of a model's graph.

    It is a Session by class, because savers and hooks ask for one, and has nothing of
    the sessions of TensorFlow 1: there is no second copy of the variables.
    """

    def __init__(self, model: Any):
        # What the destructor of the class looks at.
        self._session, self._closed = None, False
        self.model = model
        self.fetches = Fetches(model)

    @property
    def graph(self) -> Any:
        """The graph of the model."""
        return self.model.graph

    @property
    def graph_def(self) -> Any:
        """The graph of the model as a message."""
        return self.model.graph.as_graph_def()

    @property
    def sess_str(self) -> str:
        """The address of a server: there is none."""
        return ""

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, **_: Any
    ) -> Any:
        """The values of tensors, by tensor, variable or name."""
        del options
        with tf.init_scope():
            return self.fetches.run(fetches, feed_dict)

    def should_stop(self) -> bool:
        """As a monitored session has it."""
        return False

    def close(self) -> None:
        """Nothing is held that would have to be given back."""

    def __del__(self) -> None:
        """The class's own would ask for a session to delete."""
