"""What one check found, and what a program's own noise is."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

Key = TypeVar("Key")

# Distance of a weight from its counterpart, as a share of the way that training
# moved it. Real TF 1.15.5 with other threads moves dense weights apart by less than
# 1e-6 of it over 50 steps; what goes beyond is measured on the program itself.
WEIGHT_TOLERANCE = 1e-4


class Outcome(enum.Enum):
    """What a check found."""

    SAME = "same"
    DIFFERS = "differs"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True)
class Check:
    """One thing that both sides have, or should have, and how far it agrees."""

    what: str
    outcome: Outcome
    first: str = ""
    second: str = ""
    difference: float | None = None
    limit: float | None = None
    # Where the worst difference is, or why nothing was compared.
    note: str = ""
    causes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """The check for a report that programs read."""
        found = dataclasses.asdict(self)
        del found["causes"]
        return {**found, "outcome": self.outcome.value}

    @property
    def judged(self) -> str:
        """What was found, in a cell of a table."""
        if self.outcome is Outcome.NOT_COMPARED:
            return f"not compared: {self.note}"
        told = str(self.outcome.value)
        if self.difference is not None and self.limit is not None:
            told += f" ({self.difference:.2g}, limit {self.limit:.2g})"
        return told + (f", {self.note}" if self.note else "")

    @property
    def told(self) -> str:
        """The check in a few words."""
        if self.outcome is not Outcome.DIFFERS:
            return f"{self.what}: {self.outcome.value}"
        many = self.what.endswith("s") and not self.what.endswith("ss")
        told = f"{self.what} differ{'' if many else 's'}"
        if self.difference is not None and self.limit is not None:
            told += f" by {self.difference:.2g} (limit {self.limit:.2g})"
        return told + (f", {self.note}" if self.note else "")


def compared(
    what: str,
    same: bool,
    first: str = "",
    second: str = "",
    *,
    note: str = "",
    causes: Sequence[str] = (),
) -> Check:
    """A check of something that is the same or is not; ``causes`` are of the latter."""
    outcome = Outcome.SAME if same else Outcome.DIFFERS
    told = () if same else causes
    return Check(what, outcome, first, second, note=note, causes=told)


def measured(
    what: str,
    difference: float,
    limit: float,
    first: str = "",
    second: str = "",
    *,
    note: str = "",
    causes: Sequence[str] = (),
) -> Check:
    """A check of something that may differ by as much as a limit."""
    found = compared(what, difference <= limit, first, second, note=note, causes=causes)
    return replace(found, difference=difference, limit=limit)


def worst_of(
    apart: Mapping[Key, float], limit: Callable[[Key], float]
) -> tuple[Key, list[Key], str]:
    """What is furthest beyond its limit, all that is beyond, and how many that are."""
    wrong = [key for key, far in apart.items() if not far <= limit(key)]
    worst = max(wrong or apart, key=lambda key: apart[key] / limit(key))
    return worst, wrong, f"; {len(wrong)} of {len(apart)} differ" if wrong else ""


def skipped(what: str, why: str) -> Check:
    """A check that could not be made."""
    return Check(what, Outcome.NOT_COMPARED, note=why)


@dataclass(frozen=True)
class Noise:
    """How far a program is from itself when only its rounding changes."""

    losses: Sequence[float]
    # By name, in the second program of a comparison: as a share of the way it moved.
    weights: Mapping[str, float] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    predictions: Mapping[str, float] = field(default_factory=dict)
    # By the name of the weight and the kind of the slot.
    slots: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def filled(self, other: Noise) -> Noise:
        """This noise, and the other's of what this one knows nothing of."""
        return Noise(
            self.losses,
            {**other.weights, **self.weights},
            {**other.figures, **self.figures},
            {**other.predictions, **self.predictions},
            {**other.slots, **self.slots},
        )
