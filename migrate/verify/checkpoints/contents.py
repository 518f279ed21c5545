"""One view of name-based (TF1) and object-based (TF2) checkpoints.

Either kind is read into entries that say what a value is: a weight, a slot of
a weight, the step. TensorFlow is imported when a file is opened, not before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...errors import UserError

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"

_AVERAGE = "/ExponentialMovingAverage"  # behind the name of a weight
# TF1 numbers an optimizer's slots in the order it makes them.
_V1_SLOTS: dict[str, tuple[str, ...]] = {
    "Adam": ("m", "v"),
    "Momentum": ("momentum",),
    "Adagrad": ("accumulator",),
    "Adadelta": ("accum", "accum_update"),
    "Ftrl": ("accum", "linear"),
    "RMSProp": ("rms", "momentum"),
}
# Centered RMSProp has a third slot between the two.
_V1_CENTERED_RMSPROP = ("rms", "mg", "momentum")

# What the optimizers of tf.keras in TF 1 call the same.
_KERAS_IN_V1 = {"accum_grad": "accum", "accum_var": "accum_update"}

# The lists in which Keras optimizers keep their slots, by the slot's TF1 name.
# SGD's is another quantity than TF1's momentum (see convert.py), so it has a
# name of its own.
_KERAS_LISTS: dict[str, dict[str, str]] = {
    "Adam": {"_momentums": "m", "_velocities": "v"},
    "RMSprop": {
        "_velocities": "rms",
        "_momentums": "momentum",
        "_average_gradients": "mg",
    },
    "SGD": {"momentums": "velocity", "_momentums": "velocity"},
    "Adagrad": {"_accumulators": "accumulator"},
    "Adadelta": {
        "_accumulated_grads": "accum",
        "_accumulated_delta_vars": "accum_update",
    },
    "Ftrl": {"_accumulators": "accum", "_linears": "linear"},
}


@dataclass(frozen=True)
class Entry:
    """One value: where it lies, what it is called, what it is.

    ``role`` is ``weight``, ``slot``, ``step``, ``power`` (Adam's running
    products) or ``other``; ``weight`` and ``slot`` say which slot of which.
    """

    key: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str
    weight: str | None = None
    slot: str | None = None


@dataclass(frozen=True)
class Checkpoint:
    """An open checkpoint."""

    path: str
    kind: str
    entries: tuple[Entry, ...]
    reader: Any

    def value(self, entry: Entry) -> Any:
        """The value of an entry as a numpy array."""
        with _told(self.path):
            return self.reader.get_tensor(entry.key)

    @property
    def learning_rate(self) -> float | None:
        """The learning rate that a Keras optimizer saves along."""
        for entry in self.entries:
            rate = entry.name.rpartition("/")[2].removeprefix("_")
            if entry.role == "other" and rate == "learning_rate":
                return float(self.value(entry))
        return None

    @property
    def step(self) -> int | None:
        """The global step, if the checkpoint has one."""
        for entry in self.entries:
            if entry.role == "step":
                return int(self.value(entry))
        return None


def open_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Opens a checkpoint: a prefix, a directory of checkpoints, or a SavedModel."""
    import tensorflow as tf

    with _told(os.fspath(path)):
        prefix = _prefix(os.fspath(path), tf)
    with _told(prefix):
        return _opened(prefix, tf)


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Files that are truncated, missing or something else are the user's to mend."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # TensorFlow and protobuf have many words for it
        why = " ".join(str(getattr(error, "message", error)).split())
        raise UserError(f"{path}: cannot be read: {why}") from None


def _opened(prefix: str, tf: Any) -> Checkpoint:
    reader = tf.train.load_checkpoint(prefix)
    shapes = reader.get_variable_to_shape_map()
    dtypes = reader.get_variable_to_dtype_map()
    stored = {
        key: (dtypes[key].name, tuple(shapes[key]))
        for key in sorted(shapes)
        if key != OBJECT_GRAPH_KEY
    }
    if OBJECT_GRAPH_KEY in shapes:
        graph = _object_graph(reader.get_tensor(OBJECT_GRAPH_KEY))
        kind, entries = "object-based", _object_entries(graph, stored)
    else:
        kind, entries = "name-based", _name_entries(stored)
    return Checkpoint(prefix, kind, entries, reader)


def _prefix(path: str, tf: Any) -> str:
    inside = os.path.join(path, "variables", "variables")
    if os.path.isdir(path):
        if os.path.exists(inside + ".index"):
            return inside
        latest = tf.train.latest_checkpoint(path)
        if latest is None:
            raise UserError(
                f"{path}: no checkpoint in this directory",
                hint="give the prefix of one, such as DIR/model.ckpt-1000",
            )
        return str(latest)
    path = re.sub(r"\.(index|meta|data-\d{5}-of-\d{5})$", "", path)
    if not os.path.exists(path + ".index"):
        raise UserError(
            f"{path}: there is no checkpoint of this name",
            hint="give the folder, or the prefix of one, such as DIR/model.ckpt-1000",
        )
    return path


Stored = Mapping[str, tuple[str, tuple[int, ...]]]


_POWER = re.compile(r"(.*/)?beta[12]_power(_\d+)?")


def _name_entries(stored: Stored) -> tuple[Entry, ...]:
    entries = []
    for key, (dtype, shape) in stored.items():
        role, weight, slot = "weight", None, None
        if key == "global_step":
            role = "step"
        elif _POWER.fullmatch(key):
            role = "power"
        elif found := slot_of(key, stored):
            role, (weight, slot) = "slot", found
        entries.append(Entry(key, key, dtype, shape, role, weight, slot))
    return tuple(entries)


def slot_of(key: str, stored: Container[str]) -> tuple[str, str] | None:
    """The weight and the slot that a name of TensorFlow 1 stands for, if any.

    ``stored`` are the names of everything that is kept beside it.
    """
    path, _, last = key.rpartition("/")
    match = re.fullmatch(r"([A-Za-z]+)(?:_(\d+))?", last)
    if match is None:
        return None
    # An optimizer that is made in a scope repeats it: OptimizeLoss/dense/kernel/Adam.
    parts = path.split("/")
    ends = ("/".join(parts[start:]) for start in range(len(parts)))
    weight = next((end for end in ends if end in stored), None)
    if weight is None:
        return None
    # Those of Keras in TF 1: training/Adam/dense/kernel/m.
    made_by = re.match(r"training(?:_\d+)?/(\w+?)(?:_\d+)?/", path)
    if made_by is not None and weight != path:
        # Its SGD keeps the way of a weight, not the sum of its gradients.
        kept = {"momentum": "velocity"} if made_by.group(1) == "SGD" else _KERAS_IN_V1
        return weight, kept.get(last, last)
    kind, number = match.group(1), int(match.group(2) or 0)
    if kind == _AVERAGE[1:]:
        return weight, "average"
    slots = _V1_SLOTS.get(kind)
    if kind == "RMSProp" and f"{path}/RMSProp_2" in stored:
        slots = _V1_CENTERED_RMSPROP
    if slots is None or number >= len(slots):
        return None
    return weight, slots[number]


# -- object-based ----------------------------------------------------------------


def _object_graph(serialized: bytes) -> Any:
    from tensorflow.core.protobuf import trackable_object_graph_pb2

    graph = trackable_object_graph_pb2.TrackableObjectGraph()
    graph.ParseFromString(serialized)
    return graph


def _object_entries(graph: Any, stored: Stored) -> tuple[Entry, ...]:
    names: dict[int, str] = {}
    keys: dict[int, str] = {}
    for index, node in enumerate(graph.nodes):
        for attribute in node.attributes:
            if attribute.checkpoint_key in stored:
                names[index] = attribute.full_name or attribute.checkpoint_key
                keys[index] = attribute.checkpoint_key
    slots: dict[int, tuple[str, str]] = {}
    others: set[int] = set()
    steps: list[int] = []
    for node in graph.nodes:
        children = {child.local_name: child.node_id for child in node.children}
        for slot in node.slot_variables:
            original = names.get(slot.original_variable_node_id)
            if original is not None:
                slots[slot.slot_variable_node_id] = (original, slot.slot_name)
        if "_iterations" in children:
            steps.append(children["_iterations"])
            # Of a schedule Keras keeps the rate of the last step, which nothing reads.
            for rate in ("_learning_rate", "_current_learning_rate"):
                if rate in children:
                    others.add(children[rate])
            slots.update(_keras_slots(graph, children, names))
    roots = {child.local_name: child.node_id for child in graph.nodes[0].children}
    counted = [roots[n] for n in ("global_step", "step") if n in roots]
    # A step that the program keeps itself wins over the optimizer's count.
    main_step = next(iter([*counted, *steps]), None)
    known = {*names.values()}
    entries = []
    for index, key in keys.items():
        role, weight, slot = "weight", None, None
        name = names[index]
        if index == main_step or index in steps:
            role = "step"
        elif _POWER.fullmatch(name):
            role = "power"
        elif index in slots:
            role, (weight, slot) = "slot", slots[index]
        elif index in others or name == "save_counter":
            role = "other"
        elif name.endswith(_AVERAGE) and name.removesuffix(_AVERAGE) in known:
            role, weight, slot = "slot", name.removesuffix(_AVERAGE), "average"
        dtype, shape = stored[key]
        entries.append(Entry(key, name, dtype, shape, role, weight, slot))
    entries.sort(key=lambda e: (e.key != keys.get(main_step or -1), e.key))
    return tuple(entries)


def _keras_slots(
    graph: Any, children: Mapping[str, int], names: Mapping[int, str]
) -> dict[int, tuple[str, str]]:
    """Slots of a Keras optimizer: by the weights it lists, else by their names."""

    def members(list_name: str) -> list[int]:
        node = graph.nodes[children[list_name]]
        numbered = [(int(c.local_name), c.node_id) for c in node.children]
        return [node_id for _, node_id in sorted(numbered)]

    weights: list[str | None] = []
    if "_trainable_variables" in children:
        weights = [names.get(i) for i in members("_trainable_variables")]
    found: dict[int, tuple[str, str]] = {}
    for list_name, kind in keras_lists(children).items():
        for position, index in enumerate(members(list_name)):
            weight: str | None = None
            if position < len(weights):
                weight = weights[position]
            elif index in names:
                # As in ``m/dense/kernel``: the longest that the slot's name ends with.
                ends = [n for n in names.values() if names[index].endswith("/" + n)]
                weight = max(ends, key=len, default=None)
            if weight is not None:
                found[index] = (weight, kind)
    return found


def keras_lists(children: Iterable[str]) -> dict[str, str]:
    """Which optimizer it is shows in the lists it has; their slots by TF1's names."""
    children = set(children)
    telling = {
        "_linears": "Ftrl",
        "_accumulators": "Adagrad",
        "_accumulated_grads": "Adadelta",
        "_average_gradients": "RMSprop",
        "_velocities": "Adam",
    }
    kind = next((kind for name, kind in telling.items() if name in children), "SGD")
    return {n: slot for n, slot in _KERAS_LISTS[kind].items() if n in children}
