"""The profiler, for some steps of training or whenever a client asks."""

from __future__ import annotations

import math
import os
from typing import Any

import tensorflow as tf

from .config import RunConfig
from .loop import StepReports
from .vocabulary import logger

# Of each training: the first steps make things ready, and tell nothing.
FIRST_STEP = 10
LAST_STEP = 20


class ProfiledSteps(StepReports):
    """Looks at some steps; TensorBoard's Profile tab shows them."""

    def __init__(self, graph: Any, config: Any, start: int, *, summaries: bool):
        super().__init__(graph, config, start, summaries=summaries)
        self.directory = os.path.join(config.model_dir, "profile")
        self.edges = [start + FIRST_STEP, start + LAST_STEP]
        self.looks = False

    def next_step(self) -> float:
        """The step at which it has something to do, too."""
        return min(super().next_step(), *self.edges[:1], math.inf)

    def after_step(self, step: int, done: int, loss: Any, summary: Any) -> None:
        """Begins or ends, where it is time."""
        super().after_step(step, done, loss, summary)
        while self.edges and step >= self.edges[0]:
            self.edges.pop(0)
            if self.edges:
                tf.profiler.experimental.start(self.directory)
                self.looks = True
            else:
                self.end()

    def end(self) -> None:
        """Writes what was seen."""
        if self.looks:
            self.looks = False
            tf.profiler.experimental.stop()
            logger.info("Profiled steps are in %s.", self.directory)


def profile(reports: Any) -> Any:
    """Lets every training be looked at, and clients ask where PROFILER_PORT says."""
    RunConfig.reports = reports
    port = os.environ.get("PROFILER_PORT")
    if port:
        tf.profiler.experimental.server.start(int(port))
        logger.info("The profiler can be asked at port %s.", port)
    return reports


# From here on, in all of the program.
profiled = profile(ProfiledSteps)
