"""Pairing the weights of two recordings, and the trainings of two programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .instruments.legacy_matching import Match, MatchError, Weight, match_weights
from .instruments.legacy_start import choose, shapes_of, weights_of
from .recording import Recording

__all__ = ["MatchError", "Places", "pair_trainings", "pair_weights", "told_apart"]

# Groups of equal weights larger than this are left in their order.
_MOST = 200


# For each weight of one recording its place in the other, or None.
Places = tuple[int | None, ...]


def told_apart(named: Sequence[tuple[str, Any]]) -> list[str]:
    """Names of weights, numbered where several have the same, as in Keras 3.

    >>> told_apart([("model/kernel", 1), ("model/bias", 2), ("model/kernel", 3)])
    ['model/kernel', 'model/bias', 'model/kernel#2']
    """
    seen: Counter[str] = Counter()
    found = []
    for name, _ in named:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found


@lru_cache(maxsize=64)
def pair_weights(
    first: Recording, second: Recording, *, final: bool = True
) -> Places | None:
    """Partners among the weights after training, or those before it.

    None where a recording has none; a MatchError where they do not fit.
    """
    sides = [_weights(first, final), _weights(second, final)]
    if not all(sides):
        return None
    match = match_weights(*sides)
    if final and first.global_step == second.global_step:
        _tell_by_last_values(match, sides, first, second)
    return tuple(match.places)


def _weights(recording: Recording, final: bool) -> list[Weight]:
    """What is known of a recording's weights.

    Of a program that was given the other's weights, those tell more than names.
    """
    before = recording.initial_weights
    named = recording.final_weights if final else before
    found: list[Weight] = weights_of(named, recording.extra)
    if [name for name, _ in before] == [name for name, _ in named]:
        for weight, (_, value) in zip(found, before, strict=True):
            weight.constant = hash(value.tobytes())
    return found


def _tell_by_last_values(
    match: Match, sides: list[list[Weight]], first: Recording, second: Recording
) -> None:
    """Tell weights apart that began alike, and had only an order, by how they ended."""
    for ours, theirs in match.by_order:
        begun = {sides[1][place].constant for place in theirs}
        if len(begun) > 1 or None in begun or len(ours) > _MOST:
            continue
        left = list(theirs)
        for place in ours:
            value = first.final_weights[place][1]
            value = value.astype(np.float64)
            others = [second.final_weights[other][1] for other in left]
            far = [np.linalg.norm(value - other) for other in others]
            match.places[place] = left.pop(int(np.argmin(far)))


@dataclass(frozen=True)
class Pairs:
    """Places of partners, and those that have none, told."""

    found: tuple[tuple[int, int], ...]
    alone: tuple[str, ...] = ()


def pair_trainings(first: Recording, second: Recording) -> Pairs:
    """Partners as the second program found them when it was given its weights.

    Trainings of one name (the last part of a model_dir) are partners, then those that
    have weights of the same shapes, in their order.
    """
    ours, theirs = first.trainings, second.trainings
    if len(ours) == len(theirs) == 1:
        return Pairs(((0, 0),))
    names = [each.training for each in ours]
    shapes = [_shapes(each) for each in ours]
    free = list(range(len(ours)))
    found: list[tuple[int, int]] = []
    alone: list[str] = []
    for place, each in enumerate(theirs):
        wanted = _shapes(each)
        fitting = {index for index in free if shapes[index] == wanted}
        chosen = choose(each.training, names, free, fitting.__contains__)
        if chosen is None:
            alone.append(f"{_called(each, place)} of the second side")
        else:
            free.remove(chosen)
            found.append((chosen, place))
    alone = [f"{_called(ours[i], i)} of the first side" for i in free] + alone
    if not found:
        # Programs with nothing in common differ in a way that the weights tell.
        return Pairs(((0, 0),), tuple(alone))
    return Pairs(tuple(sorted(found)), tuple(alone))


def _shapes(recording: Recording) -> object:
    weights = recording.initial_weights or recording.final_weights
    return shapes_of(value for _, value in weights)


def _called(recording: Recording, place: int) -> str:
    return f"training {place + 1}" + (
        f" ({recording.training})" if recording.training else ""
    )
