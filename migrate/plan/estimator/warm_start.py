"""Checkpoints of TF1 that a program starts from, by the names of variables."""

from __future__ import annotations

__all__ = ["BY_NAME", "INIT"]

BY_NAME = "a checkpoint is loaded by the names that TF1 gave the variables"

INIT = (
    "tf.train.init_from_checkpoint",
    "tf.contrib.framework.init_from_checkpoint",
)
