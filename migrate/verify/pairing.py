"""Which training of one program is that of the other, where programs have several."""

from __future__ import annotations

from dataclasses import dataclass

from .instruments.legacy_start import choose, shapes_of
from .recording import Recording


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
    free = list(range(len(ours)))
    found: list[tuple[int, int]] = []
    alone: list[str] = []
    for place, each in enumerate(theirs):
        shapes = shapes_of(_arrays(each))

        def fits(index: int, wanted: object = shapes) -> bool:
            return bool(shapes_of(_arrays(ours[index])) == wanted)

        chosen = choose(each.training, names, free, fits)
        if chosen is None:
            alone.append(f"{_called(each, place)} of the second side")
            continue
        free.remove(chosen)
        found.append((chosen, place))
    alone = [f"{_called(ours[i], i)} of the first side" for i in free] + alone
    if not found:
        # Programs with nothing in common differ in a way that the weights tell.
        return Pairs(((0, 0),), tuple(alone))
    return Pairs(tuple(sorted(found)), tuple(alone))


def _arrays(recording: Recording) -> list[object]:
    weights = recording.initial_weights or recording.final_weights
    return [value for _, value in weights]


def _called(recording: Recording, place: int) -> str:
    return f"training {place + 1}" + (
        f" ({recording.training})" if recording.training else ""
    )
