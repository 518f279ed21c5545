"""What hooks and savers are given as a session: parts of the graph, run on request."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .asked import TIMES
from .fetching import Fetches
from .step_stats import is_traced, with_stats
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
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """The values of tensors, by tensor, variable or name."""
        if not TIMES:
            # A library may give them; nothing in the project reads what they tell.
            del options, run_metadata
        with tf.init_scope():
            if TIMES and run_metadata is not None and is_traced(options):
                values, metadata = with_stats(
                    self.graph, lambda: self.fetches.run(fetches, feed_dict)
                )
                run_metadata.CopyFrom(metadata)
                return values
            return self.fetches.run(fetches, feed_dict)

    def should_stop(self) -> bool:
        """As a monitored session has it."""
        return False

    def close(self) -> None:
        """Nothing is held that would have to be given back."""

    def __del__(self) -> None:
        """The class's own would ask for a session to delete."""
