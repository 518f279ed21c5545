"""What optimizers keep for each weight, whatever the generation calls it.

TensorFlow 1 names a slot after its weight (``dense/kernel/Adam_1``); the instrument
of TF2 programs writes the weight's place and the slot's kind (``#0|v``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import numpy as np

from .checkpoints.contents import slot_of
from .comparison import NOISE_FACTOR, partners
from .outcome import WEIGHT_TOLERANCE, Check, Noise, measured, skipped, worst_of
from .recording import Array, Recording

# Below this share of the largest slot of its kind a slot is rounding: a bias before
# a normalization has a gradient that is nothing else.
_ROUNDING = 1e-6

Slots = Mapping[tuple[int, str], Array]

# By how much of itself Adam lets a slot shrink in a step without a gradient.
_DECAYS = {"m": 0.1, "v": 0.001}
_WHAT = "optimizer slots"
_CAUSES = (
    "gradients that the loss does not show yet: scaled, clipped, or without a term",
    "constants of the optimizer, or another first value of a slot",
)


def slot_checks(
    first: Recording, second: Recording, noise: Noise | None
) -> Iterable[Check]:
    """The slots that both sides have, after the same number of steps."""
    if first.global_step != second.global_step:
        return
    one, other = _slots(first), _slots(second)
    if not one and not other:
        return
    if not one or not other:
        told = "the first side has none" if not one else "the second side has none"
        yield skipped(_WHAT, f"{told}, or none that is known")
        return
    apart, converted = _apart(one, other, first, second)
    kinds = [_kinds(one), _kinds(other)]
    both = f"the first keeps {kinds[0]}, the second {kinds[1]}"
    if not apart:
        yield skipped(_WHAT, both)
        return
    names, others = _names(first), _names(second)
    order = partners(first, second, final=True)

    def limit(key: tuple[int, str]) -> float:
        index, kind = key
        known = noise.slots if noise else {}
        own = known.get((others[order[index] or 0], kind), 0.0)
        # One run anew may happen to meet the same number: as far as half of them are.
        alike = [far for (_, one), far in known.items() if one == kind]
        usual = median(alike) if alike else 0.0
        return max(WEIGHT_TOLERANCE, NOISE_FACTOR * max(own, usual))

    worst, wrong, many = worst_of(apart, limit)
    if wrong and converted:
        # With a rate that changes, a way divided by the last one is no sum.
        yield skipped(_WHAT, f"{both}, by rates of each step")
        return
    # TF 1 decays slots of rows in the step that finds no data; nobody else does.
    if wrong and all(
        math.isclose(apart[key], _DECAYS.get(key[1], 0.0), rel_tol=5e-3, abs_tol=5e-5)
        for key in wrong
    ):
        told = "Adam's m and v of rows differ by one decay, where the data ended"
        yield skipped(_WHAT, told)
        return
    yield measured(
        _WHAT,
        apart[worst],
        limit(worst),
        f"{len(one)} ({kinds[0]})",
        f"{len(other)} ({kinds[1]})",
        note=f"most in {worst[1]} of {names[worst[0]]}{many}",
        causes=_CAUSES,
    )


def slot_noise(
    one: Recording, again: Recording, names: Sequence[str]
) -> dict[tuple[str, str], float]:
    """How far a program's slots are from themselves when its rounding changes.

    By the name of the weight, of those given, and the kind.
    """
    apart, _ = _apart(_slots(one), _slots(again), one, again)
    return {
        (names[index], kind): far
        for (index, kind), far in apart.items()
        if index < len(names)
    }


def _names(recording: Recording) -> list[str]:
    return [name for name, _ in recording.final_weights]


def _kinds(slots: Slots) -> str:
    return ", ".join(sorted({kind for _, kind in slots}))


def _slots(recording: Recording) -> Slots:
    """By place of the weight and kind; those that never left zero left out."""
    place = {name: index for index, name in enumerate(_names(recording))}
    stored = place.keys() | {name for name, _ in recording.slots}
    found: dict[tuple[int, str], Array] = {}
    for name, value in recording.slots:
        index, bar, kind = name.partition("|")
        if bar:
            found[int(index.lstrip("#")), kind] = value
            continue
        named = slot_of(name, stored)
        if named is not None and named[0] in place:
            found[place[named[0]], named[1]] = value
    return {
        (index, kind): value.astype(np.float64)
        for (index, kind), value in found.items()
        # Moving averages of weights are compared as weights, where both have them.
        if np.any(value) and kind != "average"
    }


def _apart(
    one: Slots, other: Slots, first: Recording, second: Recording
) -> tuple[dict[tuple[int, str], float], bool]:
    """Distances by slot of the first side; whether velocities had to be converted."""
    order = partners(first, second, final=True)
    if not order:
        return {}, False
    pairs: dict[tuple[int, str], tuple[Array, Array]] = {}
    converted = False
    for (index, kind), value in one.items():
        place = order[index]
        if place is None:
            continue
        partner = other.get((place, kind))
        if partner is None and kind in ("momentum", "velocity"):
            rest = "velocity" if kind == "momentum" else "momentum"
            kept = other.get((place, rest))
            side = second if kind == "momentum" else first
            rate = (side.extra.get("constants") or {}).get("learning_rate")
            if kept is not None and rate:
                converted = True
                factor = -1.0 / rate if kind == "momentum" else -rate
                partner = factor * kept
        if partner is not None and partner.shape == value.shape:
            pairs[index, kind] = value, partner
    largest: dict[str, float] = {}
    for (_, kind), (value, _) in pairs.items():
        largest[kind] = max(largest.get(kind, 0.0), float(np.linalg.norm(value)))
    result = {}
    for key, (value, partner) in pairs.items():
        distance = float(np.linalg.norm(value - partner))
        if distance <= _ROUNDING * largest[key[1]]:
            distance = 0.0
        size = max(float(np.linalg.norm(value)), float(np.linalg.norm(partner)))
        result[key] = distance / size if distance else 0.0
    return result, converted
