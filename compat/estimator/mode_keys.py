"""The three modes a model function is called in."""

from __future__ import annotations

__all__ = ["ModeKeys"]


class ModeKeys:
    """Mode names as legacy programs compare and print them.

    The values are those of every TF 1.x release: programs store them in
    files and event directories, so they are part of the contract.
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
