"""Comparing two recordings step by step, and what tolerance is honest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .matching import MatchError, Places, pair_weights
from .recording import Array, Recording

# Real TF 1.15.5 with another number of threads, or TF 2.15.1, stays within 3e-7
# of itself over 50 steps of dense models and within 1e-5 over the first ten or
# so steps of convolutional ones (recordings under fixtures/oracle/).
LOSS_TOLERANCE = 1e-5
# Convolutions with ReLU and max-pooling amplify rounding until no tolerance fits.
# Beyond the one above, a difference counts as rounding only up to so many times
# what the same program drifts when its initial weights change in the last digit.
NOISE_FACTOR = 10.0
# Rounding grows by leaps, when it flips a ReLU or the choice of a max-pool, and
# two runs do not leap at the same step.
NOISE_LEAD = 2


class WeightPair(NamedTuple):
    """One weight of two programs, in double precision."""

    name: str
    # What the second program calls it.
    partner: str
    first: Array
    second: Array


@dataclass(frozen=True)
class Trajectory:
    """Two runs from the same weights on the same batches, side by side.

    ``loss_limits`` is the tolerance of each step. ``weight_difference`` is the
    largest absolute difference of any final weight; ``weight_drift`` is the
    norm of all differences relative to the distance that training moved the
    weights.
    """

    steps: Sequence[int]
    losses_first: Sequence[float]
    losses_second: Sequence[float]
    loss_limits: Sequence[float]
    same_start: bool
    weight_difference: float | None
    worst_weight: str | None
    weight_drift: float | None
    problems: Sequence[str] = field(default_factory=tuple)

    @property
    def loss_differences(self) -> list[float]:
        """Relative difference of the losses at each step."""
        return relative_differences(self.losses_first, self.losses_second)

    @property
    def loss_difference(self) -> float | None:
        """The largest of them."""
        return max(self.loss_differences, default=None)

    @property
    def first_failure(self) -> int | None:
        """The first step whose difference is over its limit."""
        for step, difference, limit in zip(
            self.steps, self.loss_differences, self.loss_limits, strict=True
        ):
            # A NaN on one side only is a difference that no comparison sees.
            if not difference <= limit:
                return step
        return None

    @property
    def parity(self) -> bool:
        """Whether both runs did the same."""
        return bool(self.steps) and not self.problems and self.first_failure is None


def relative_differences(
    first: Sequence[float], second: Sequence[float]
) -> list[float]:
    """Relative differences of successive losses; equal NaNs do not differ."""
    result = []
    for one, other in zip(first, second, strict=True):
        if one == other or (np.isnan(one) and np.isnan(other)):
            result.append(0.0)
        else:
            # Losses near zero would make a relative difference meaningless.
            result.append(abs(one - other) / max(abs(one), abs(other), 1e-12))
    return result


def compare_trajectories(
    first: Recording,
    second: Recording,
    *,
    tolerance: float = LOSS_TOLERANCE,
    noise: Sequence[float] | None = None,
) -> Trajectory:
    """Compare two recordings over the steps that both have.

    ``noise`` is what one of the programs differs from itself, step by step; a
    step's limit is then at least ``NOISE_FACTOR`` times the noise until then.
    """
    by_step = dict(zip(second.steps, second.losses, strict=True))
    common = [
        (step, loss, by_step[step])
        for step, loss in zip(first.steps, first.losses, strict=True)
        if step in by_step
    ]
    problems = []
    if not common:
        problems.append("the two runs have no step in common")
    elif first.complete and second.complete and len(first.losses) != len(second.losses):
        problems.append(
            f"one run ended by itself after {len(first.losses)} steps, "
            f"the other after {len(second.losses)}"
        )
    limits = [tolerance] * len(common)
    if noise:
        for index in range(len(common)):
            # The first loss is computed before anything can have grown.
            until = index + 1 + (NOISE_LEAD if index else 0)
            limits[index] = max(tolerance, NOISE_FACTOR * max(noise[:until]))
    start: list[WeightPair] | None = None
    difference, worst, drift = None, None, None
    try:
        start = paired_weights(first, second, final=False)
        difference, worst, drift = _weights(first, second)
    except MatchError as error:
        problems.append(str(error))
    same_start = start is not None and all(
        np.array_equal(pair.first, pair.second) for pair in start
    )
    if 0 not in (first.replicas, second.replicas) and (
        first.replicas != second.replicas
    ):
        problems.append(
            f"the first trained on {told_replicas(first.replicas)}, "
            f"the second on {told_replicas(second.replicas)}"
        )
    if not same_start and start is not None:
        problems.append("the two runs did not start from the same weights")
    return Trajectory(
        steps=[step for step, _, _ in common],
        losses_first=[one for _, one, _ in common],
        losses_second=[other for _, _, other in common],
        loss_limits=limits,
        same_start=same_start,
        weight_difference=difference,
        worst_weight=worst,
        weight_drift=drift,
        problems=tuple(problems),
    )


def told_replicas(count: int) -> str:
    """A number of replicas, in words."""
    return "1 replica" if count == 1 else f"{count} replicas"


def noise_of(first: Recording, again: Recording) -> list[float]:
    """What a program differs from itself, from two recordings of it."""
    count = min(len(first.losses), len(again.losses))
    return relative_differences(first.losses[:count], again.losses[:count])


def _weights(
    first: Recording, second: Recording
) -> tuple[float | None, str | None, float | None]:
    """Largest difference, its weight, and the drift, if steps are comparable."""
    if first.global_step != second.global_step:
        return None, None, None  # weights of different steps say nothing
    pairs = paired_weights(first, second, final=True)
    if not pairs:
        return None, None, None
    largest, worst = max(
        (float(np.max(np.abs(a - b), initial=0.0)), name) for name, _, a, b in pairs
    )
    start = dict(first.initial_weights)
    moved = [
        np.sum((a - start[name]) ** 2, dtype=np.float64)
        for name, _, a, _ in pairs
        if name in start
    ]
    apart = sum(np.sum((a - b) ** 2, dtype=np.float64) for _, _, a, b in pairs)
    drift = float(np.sqrt(apart / sum(moved))) if moved and sum(moved) > 0 else None
    return largest, worst, drift


def partners(first: Recording, second: Recording, *, final: bool) -> Places | None:
    """For each of the first's weights the place of its partner; None without any."""
    try:
        return pair_weights(first, second, final=final)
    except MatchError:
        return None


def paired_weights(
    first: Recording, second: Recording, *, final: bool
) -> list[WeightPair] | None:
    """The weights that both have, before training or after; None without any.

    A MatchError where they do not fit.
    """
    places = pair_weights(first, second, final=final)
    sides = [
        side.final_weights if final else side.initial_weights
        for side in (first, second)
    ]
    if places is None or not all(sides):
        return None
    return [
        WeightPair(
            name,
            sides[1][place][0],
            value.astype(np.float64),
            sides[1][place][1].astype(np.float64),
        )
        for (name, value), place in zip(sides[0], places, strict=True)
        if place is not None
    ]


def largest_share(first: Array, second: Array) -> float:
    """Largest difference as a share of the largest value; infinite where no numbers."""
    if first.shape != second.shape:
        return float("inf")
    if not np.issubdtype(first.dtype, np.number):
        return 0.0 if np.array_equal(first, second) else float("inf")
    a, b = first.astype(np.float64), second.astype(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return float("inf")
    a, b = np.nan_to_num(a), np.nan_to_num(b)
    scale = max(float(np.max(np.abs(a), initial=0.0)), 1e-6)
    return float(np.max(np.abs(a - b), initial=0.0)) / scale
