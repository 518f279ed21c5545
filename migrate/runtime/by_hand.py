"""Programs that build graphs and run sessions of their own, around their models."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import tensorflow as tf


class GraphsByHand:
    """What a program is in that builds a graph wherever it says nothing else."""

    entered: contextlib.ExitStack | None = None


def build_graphs_by_hand() -> None:
    """From here on the program builds a default graph, as all did in TensorFlow 1.

    Its sessions run that graph. Training loops go on outside of it.
    """
    if GraphsByHand.entered is None:
        GraphsByHand.entered = contextlib.ExitStack()
        GraphsByHand.entered.enter_context(tf.Graph().as_default())


def reset_default_graph() -> None:
    """Lets the program go on with an empty graph."""
    if GraphsByHand.entered is not None:
        GraphsByHand.entered.close()
        GraphsByHand.entered = None
    build_graphs_by_hand()


@contextlib.contextmanager
def eagerly() -> Iterator[None]:
    """Runs what is inside at once, in whatever graph the program may be.

    `tf.init_scope` leaves the graphs of functions only; for others there is no name
    but the one that Keras uses.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(tf.init_scope())
        if not tf.executing_eagerly():
            stack.enter_context(tf.__internal__.eager_context.eager_mode())
        yield
