"""Differences between two checkpoints, whatever their kinds."""

from __future__ import annotations

from collections.abc import Mapping
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
    left = _by_role(a, {})
    right = _by_role(b, {new: entry.name for new, entry in weights.items()})
    for key in sorted({*left, *right}):
        if key in left and key in right:
            _compare_values(a, left[key], b, right[key], tolerance, result)
        elif key[0] != "power" or a.kind == b.kind:
            # Keras optimizers compute Adam's powers from the step.
            where, entries = (a.path, left) if key in left else (b.path, right)
            result.differs(f"only in {where}: {entries[key].name}")
    return result


def _by_role(
    checkpoint: Checkpoint, renamed: Mapping[str, str]
) -> dict[tuple[str, ...], Entry]:
    """Entries of the training state by what they are, under the names of the other."""
    found: dict[tuple[str, ...], Entry] = {}
    for entry in checkpoint.entries:
        # Learning rates and save counters are no part of it.
        name, weight = entry.name, entry.weight or ""
        keys = {
            "weight": (renamed.get(name, name),),
            "slot": (renamed.get(weight, weight), entry.slot or ""),
            "power": (name.rpartition("/")[2],),
            "step": (),
        }
        if entry.role in keys:
            found.setdefault((entry.role, *keys[entry.role]), entry)
    return found


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
