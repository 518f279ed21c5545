"""What TensorFlow refuses to make in an eager program, though it needs no graph."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .vocabulary import v1


class FileWriter(v1.summary.FileWriter):
    """As `tf.summary.FileWriter` of TensorFlow 1, in a graph or around one."""

    def __init__(self, *args: Any, **kwargs: Any):
        with tf.Graph().as_default():
            super().__init__(*args, **kwargs)


class ProfilerHook(v1.train.ProfilerHook):
    """As `tf.train.ProfilerHook`, whose constructor opens an event file."""

    def __init__(self, *args: Any, **kwargs: Any):
        with tf.Graph().as_default():
            super().__init__(*args, **kwargs)
