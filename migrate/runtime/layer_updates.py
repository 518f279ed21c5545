"""The updates of layers (moving averages), where model functions look for them."""

from __future__ import annotations

from typing import Any

from .vocabulary import v1

# What the normalization layers of Keras call the operations that update averages.
MOVING_AVERAGE_NAMES = ("AssignMovingAvg", "AssignNewValue")


def show_layer_updates(graph: Any) -> None:
    """Lets the collection UPDATE_OPS of a graph have the updates of its layers.

    Layers add them there in a program of TensorFlow 1 only. Elsewhere they count on
    being in a function that runs whatever has an effect, which a kept model function,
    run in parts, is not.
    """
    collected = graph.get_collection

    def get_collection(name: str, scope: str | None = None) -> list[Any]:
        found: list[Any] = collected(name, scope)
        if name == v1.GraphKeys.UPDATE_OPS:
            known = {id(getattr(one, "op", one)) for one in found}
            found += [
                op
                for op in moving_average_updates(graph)
                if id(op) not in known and op.name.startswith(scope or "")
            ]
        return found

    graph.get_collection = get_collection


def moving_average_updates(graph: Any) -> list[Any]:
    """The operations by which layers update their moving averages."""
    return [
        op
        for op in graph.get_operations()
        if op.type.startswith("Assign")
        and any(part.startswith(MOVING_AVERAGE_NAMES) for part in op.name.split("/"))
    ]
