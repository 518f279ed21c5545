"""Callbacks of a TrainSpec."""

from __future__ import annotations

import collections

from . import callbacks, specs  # noqa: F401 both are needed

TrainSpec = collections.namedtuple(
    "TrainSpec", "input_fn max_steps hooks", defaults=(None, None)
)
