"""Differences between two checkpoints, whatever their kinds."""

from __future__ import annotations

from dataclasses import dataclass, field

from .contents import Checkpoint, Entry
from .convert import match_weights


@dataclass
class Comparison:
    """The outcome: ``lines`` name every difference."""

    equal: bool = True
    compared: int = 0
    largest: float = 0.0
    lines: list[str] = field(default_factory=list)

    def differs(self, line: str) -> None:
        """Notes a difference."""
        self.equal = False
        self.lines.append(line)


def compare(a: Checkpoint, b: Checkpoint, *, tolerance: float = 0.0) -> Comparison:
    """Compares weights, slots and step of ``a`` with those of ``b``."""
    result = Comparison()
    weights = match_weights(a, b, {})
    for left, right in _pairs(a, b, {new: e.name for new, e in weights.items()}):
        if left is None or right is None:
            entry = left or right
            assert entry is not None
            where = a.path if right is None else b.path
            result.differs(f"only in {where}: {entry.name}")
            continue
        _compare_values(a, left, b, right, tolerance, result)
    return result


def _pairs(
    a: Checkpoint, b: Checkpoint, renamed: dict[str, str]
) -> list[tuple[Entry | None, Entry | None]]:
    """Entries that are the same thing in both, by role."""

    def identity(entry: Entry, *, translate: bool) -> tuple[str, ...]:
        def name_of(name: str | None) -> str:
            name = name or ""
            return renamed.get(name, name) if translate else name

        if entry.role == "weight":
            return ("weight", name_of(entry.name))
        if entry.role == "slot":
            return ("slot", name_of(entry.weight), entry.slot or "")
        if entry.role == "power":
            return ("power", entry.name.rpartition("/")[2])
        return (entry.role,)

    # Learning rates and save counters are no part of the training state.
    compared = ("weight", "slot", "step", "power")
    left: dict[tuple[str, ...], Entry] = {}
    right: dict[tuple[str, ...], Entry] = {}
    for entry in a.entries:
        if entry.role in compared:
            left.setdefault(identity(entry, translate=False), entry)
    for entry in b.entries:
        if entry.role in compared:
            right.setdefault(identity(entry, translate=True), entry)
    keys = sorted(set(left) | set(right))
    if a.kind != b.kind:
        # Keras optimizers compute Adam's powers from the step.
        keys = [k for k in keys if k[0] != "power" or (k in left and k in right)]
    return [(left.get(k), right.get(k)) for k in keys]


def _compare_values(
    a: Checkpoint,
    left: Entry,
    b: Checkpoint,
    right: Entry,
    tolerance: float,
    result: Comparison,
) -> None:
    import numpy as np

    label = left.name if left.name == right.name else f"{left.name} / {right.name}"
    if left.shape != right.shape:
        result.differs(f"{label}: shape {list(left.shape)} against {list(right.shape)}")
        return
    x, y = a.value(left), b.value(right)
    result.compared += 1
    if getattr(x, "dtype", None) is not None and x.dtype.kind not in "fiubc":
        if not np.array_equal(x, y):
            result.differs(f"{label}: differs")
        return
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if not np.array_equal(np.isnan(x), np.isnan(y)):
        result.differs(f"{label}: NaN in one of them")
        return
    distance = float(np.nanmax(np.abs(x - y), initial=0.0))
    result.largest = max(result.largest, distance)
    if distance > tolerance:
        result.differs(f"{label}: differs by up to {distance:.3g}")
