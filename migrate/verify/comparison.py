"""Comparing two recordings step by step, and what tolerance is honest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .matching import MatchError, Places, pair_weights, told_apart
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
    # What the first program trained it from, where that is known.
    start: Array | None


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
    weight_difference: float | None = None
    worst_weight: str | None = None
    weight_drift: float | None = None
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
    """Relative differences of successive losses, of as many as both have."""
    # Losses near zero would make a relative difference meaningless.
    pairs = zip(first, second, strict=False)
    return [relative_difference(one, other, 1e-12) for one, other in pairs]


def relative_difference(one: float, other: float, least: float) -> float:
    """A difference as a share of the larger value; equal NaNs do not differ."""
    if one == other or (np.isnan(one) and np.isnan(other)):
        return 0.0
    return float(abs(one - other) / max(abs(one), abs(other), least))


def compare_trajectories(
    first: Recording,
    second: Recording,
    *,
    tolerance: float = LOSS_TOLERANCE,
    noise: Sequence[float] = (),
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
    limits = [tolerance] * len(common)
    for index in range(len(common) if noise else 0):
        # The first loss is computed before anything can have grown.
        until = index + 1 + (NOISE_LEAD if index else 0)
        limits[index] = max(tolerance, NOISE_FACTOR * max(noise[:until]))
    problems = []
    if not common:
        problems.append("the two runs have no step in common")
    elif first.complete and second.complete and len(first.losses) != len(second.losses):
        problems.append(
            f"one run ended by itself after {len(first.losses)} steps, "
            f"the other after {len(second.losses)}"
        )
    start: list[WeightPair] | None = None
    weights: tuple[float | None, str | None, float | None] = None, None, None
    try:
        start = paired_weights(first, second, final=False)
        weights = _weights(first, second)
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
        [step for step, _, _ in common],
        [one for _, one, _ in common],
        [other for _, _, other in common],
        limits,
        same_start,
        *weights,
        problems=tuple(problems),
    )


def told_replicas(count: int) -> str:
    """A number of replicas, in words."""
    return "1 replica" if count == 1 else f"{count} replicas"


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
        (float(np.max(np.abs(each.first - each.second), initial=0.0)), each.name)
        for each in pairs
    )
    apart = sum(float(np.sum((each.first - each.second) ** 2)) for each in pairs)
    moved = sum(
        float(np.sum((each.first - each.start) ** 2))
        for each in pairs
        if each.start is not None
    )
    return largest, worst, float(np.sqrt(apart / moved)) if moved else None


def partners(first: Recording, second: Recording, *, final: bool) -> Places:
    """For each of the first's weights the place of its partner; () without any."""
    try:
        return pair_weights(first, second, final=final) or ()
    except MatchError:
        return ()


def paired_weights(
    first: Recording, second: Recording, *, final: bool
) -> list[WeightPair] | None:
    """The weights that both have, before training or after; None without any.

    A MatchError where they do not fit.
    """
    places = pair_weights(first, second, final=final)
    if places is None:
        return None
    ours, theirs = (
        side.final_weights if final else side.initial_weights
        for side in (first, second)
    )
    start = dict(
        zip(told_apart(first.initial_weights), first.initial_weights, strict=True)
    )
    pairs = []
    for key, (name, value), place in zip(told_apart(ours), ours, places, strict=True):
        if place is not None:
            partner, other = theirs[place]
            before = start[key][1] if key in start else None
            if before is not None and before.shape != value.shape:
                before = None
            one, other = value.astype(np.float64), other.astype(np.float64)
            pairs.append(WeightPair(name, partner, one, other, before))
    return pairs


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
