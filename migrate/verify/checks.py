"""What is compared besides the losses: state, evaluations, predictions, exports.

Two programs can lose alike step by step and still differ in what they leave behind:
moving averages that training does not read, an evaluation that drops its last
batch, an exporter that never ran. Each of these is a check of its own, and one that
fails is no parity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .comparison import (
    NOISE_FACTOR,
    Trajectory,
    WeightPair,
    largest_share,
    paired_weights,
    partners,
    relative_difference,
    relative_differences,
)
from .matching import MatchError, told_apart
from .outcome import (
    WEIGHT_TOLERANCE,
    Check,
    Noise,
    Outcome,
    compared,
    measured,
    skipped,
    worst_of,
)
from .recording import Recording
from .slots import slot_checks, slot_noise

# Figures are sums over examples of what the weights give.
FIGURE_TOLERANCE = 1e-4
# Where losses drift by rounding, examples near a border change their class.
DRIFTING_FIGURE = 0.02
# Samples of one distribution are further apart than this once in two million weights.
_SIGMAS = 5.0
# Spreads nearer than this are one, however large the sample: truncated at other ends.
_SPREADS = 0.03
# How often the spreads of two samples of one distribution may be called apart.
_CHANCE = 1e-6
# Gradients of weights that rounding alone moves so far are rounding, as those of a
# bias before a normalization are: where they end decides nothing.
_ADRIFT = 0.1
# Below this a weight did not move, whatever the last digits say.
_AT_REST = 1e-7

# What a phase is called before the name of its metric.
_PHASE = re.compile(r"^(test|testing|eval|evaluation|val|valid|validation)[_/]")
# Keras names an accuracy after the labels that it compares.
_SAME = {
    "acc": "accuracy",
    "binary_accuracy": "accuracy",
    "categorical_accuracy": "accuracy",
    "sparse_categorical_accuracy": "accuracy",
}
# Says how far the training went, which is compared as such.
_NO_FIGURES = frozenset({"global_step"})

Pairs = tuple[list[tuple[str, str]], list[str], list[str]]


@dataclass(frozen=True, eq=False)
class _Apart:
    name: str
    partner: str
    difference: float
    absolute: float


def judge(
    first: Recording,
    second: Recording,
    trajectory: Trajectory,
    noise: Noise | None = None,
) -> tuple[Check, ...]:
    """Every check, in the order in which a reader would look at them."""
    least = min(trajectory.loss_limits, default=1.0)
    drifting = (trajectory.loss_difference or 0.0) > least
    return (
        *_drawn(first, second),
        _weights(first, second, noise),
        *slot_checks(first, second, noise),
        *_epsilons(first, second),
        *_figures(first, second, noise, drifting=drifting),
        *_earlier_figures(first, second, drifting=drifting),
        *_predictions(first, second, noise),
        *_files(first, second),
    )


def noise_between(one: Recording, again: Recording, named: Recording) -> Noise:
    """The noise that two runs of one program show, by the names of ``named``.

    That is the program itself, or one that trains the same.
    """
    order = partners(one, named, final=True)
    names = ["" if at is None else named.final_weights[at][0] for at in order]
    weights: dict[str, float] = {}
    for name, each in zip(names, _apart(one, again), strict=False):
        weights[name] = max(weights.get(name, 0.0), each.difference)
    figures, _, _ = pair_figures(one.evaluate, named.evaluate)
    return Noise(
        losses=relative_differences(one.losses, again.losses),
        weights=weights,
        figures={
            called: _relative(one.evaluate[name], again.evaluate[name])
            for name, called in figures
            if name in again.evaluate
        },
        predictions={
            name: largest_share(value, again.predictions[name])
            for name, value in one.predictions.items()
            if name in again.predictions
        },
        slots=slot_noise(one, again, names),
    )


# --------------------------------------------------------------- initial weights


def _drawn(first: Recording, second: Recording) -> Iterable[Check]:
    """The weights that each program drew before it was given the same ones."""
    one, other = first.extra.get("drawn"), second.extra.get("drawn")
    if not one or not other:
        return
    names, others = (told_apart(side.initial_weights) for side in (first, second))
    pairs = [
        (name, one[name], other[others[place]])
        for name, place in zip(
            names, partners(first, second, final=False), strict=False
        )
        if place is not None and name in one and others[place] in other
    ]
    wrong = [
        f"{name} (mean {ours[0]:.3g}, spread {ours[1]:.3g}; "
        f"{theirs[0]:.3g}, {theirs[1]:.3g})"
        for name, ours, theirs in pairs
        if not _drawn_alike(ours, theirs)
    ]
    if pairs:
        yield compared(
            "initializers",
            not wrong,
            f"{len(one)} arrays",
            f"{len(other)} arrays",
            note=", ".join(wrong[:3]),
            causes=("another initializer, or a seed that is part of one",),
        )


def _drawn_alike(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two samples may come from one distribution, by mean and spread."""
    (mean, spread, size), (mean_2, spread_2, _) = one, other
    if size == 1:
        # A single number tells a constant only where it is a round one.
        round_one = float(mean).is_integer() or float(mean_2).is_integer()
        return mean == mean_2 or not round_one
    if spread == 0 or spread_2 == 0:
        # Constants, where chance has no part.
        return spread == spread_2 and bool(np.isclose(mean, mean_2, rtol=1e-5))
    free = size - 1
    # The error of log(spread) of a normal sample, that of others is less or alike;
    # of few numbers by the tail of Fisher's F, which falls as ratio ** -free.
    room = max(_SIGMAS / np.sqrt(max(size - 4, 1)), -np.log(_CHANCE) / free, _SPREADS)
    if abs(np.log(spread / spread_2)) > room:
        return False
    # Student's t, as the spreads of few numbers are not known well themselves.
    sigmas = np.sqrt(free * np.expm1(_SIGMAS**2 / free))
    error = np.hypot(spread, spread_2) / np.sqrt(size)
    return bool(abs(mean - mean_2) <= max(sigmas * error, _SPREADS * spread))


# --------------------------------------------------------------------- weights


def _weights(first: Recording, second: Recording, noise: Noise | None) -> Check:
    what = "weights and moving averages"
    if not first.final_weights or not second.final_weights:
        side = "first" if not first.final_weights else "second"
        return skipped(what, f"the {side} side has no final weights")
    if first.global_step != second.global_step:
        return skipped(what, _other_steps(first, second))
    try:
        apart = _apart(first, second)
    except MatchError as error:
        return skipped(what, str(error))
    sides = first, second
    if any(s.replicas > 1 and not s.extra.get("averages_of_all") for s in sides):
        # Recorded of the first replica, where each has averages of its own.
        what = "weights"
        apart = [each for each in apart if not _is_average(each.name)]
    if not apart:
        return skipped(what, "no weight has a partner")
    # One whose gradient counts signs may stand still in the only run that was measured,
    # and leap in another, as far as the weights before it drift.
    drifts = [own for own in noise.weights.values() if own < _ADRIFT] if noise else []
    usual = float(np.median(drifts)) if drifts else 0.0

    def limit(each: _Apart) -> float:
        own = noise.weights.get(each.partner, 0.0) if noise else 0.0
        # No two ways are further apart than twice the longer one.
        least = WEIGHT_TOLERANCE if own < _ADRIFT else 2.0
        return max(least, NOISE_FACTOR * own, usual)

    far = {each: each.difference for each in apart}
    worst, wrong, many = worst_of(far, limit)
    causes: tuple[str, ...]
    if all(_is_average(each.name) for each in wrong):
        causes = (
            "moving averages are not updated (UPDATE_OPS), or with another momentum",
            "the normalization runs in another mode in one of the programs",
        )
    else:
        causes = (
            "an update that the loss does not show yet: weight decay, a frozen or "
            "an unfrozen layer, another optimizer for some variables",
        )
    return measured(
        what,
        worst.difference,
        limit(worst),
        f"{len(first.final_weights)} arrays",
        f"{len(second.final_weights)} arrays",
        note=f"most in {worst.name} (by {worst.absolute:.2g}{many})",
        causes=causes,
    )


def _is_average(name: str) -> bool:
    return "moving_" in name or "ExponentialMovingAverage" in name


def _other_steps(first: Recording, second: Recording) -> str:
    return f"they are of step {first.global_step} and {second.global_step}"


def _apart(first: Recording, second: Recording) -> list[_Apart]:
    """Each weight's distance from its partner, as a share of the way it moved."""
    pairs = paired_weights(first, second, final=True) or ()
    return [_distance(pair) for pair in pairs]


def _distance(pair: WeightPair) -> _Apart:
    one, other, start = pair.first, pair.second, pair.start
    rest = _AT_REST * max(float(np.linalg.norm(one)), 1.0)
    # Either may be the one that moved.
    ways = [] if start is None else [one - start, other - start]
    scale = max([rest, *(float(np.linalg.norm(way)) for way in ways)])
    distance = float(np.linalg.norm(one - other))
    if distance <= rest:
        distance = 0.0  # the last digit of a weight that hardly moved
    absolute = float(np.max(np.abs(one - other), initial=0.0))
    return _Apart(pair.name, pair.partner, distance / scale, absolute)


def _epsilons(first: Recording, second: Recording) -> Iterable[Check]:
    """Optimizers whose epsilon differs: losses alone cannot tell, so it is named."""
    one, other = (
        (side.extra.get("constants") or {}).get("epsilon") for side in (first, second)
    )
    if one is None or other is None or np.isclose(one, other, rtol=1e-3, atol=0):
        return
    yield Check(
        "epsilon of the optimizer",
        Outcome.NOT_COMPARED,
        first=f"{one:g}",
        second=f"{other:g}",
        note="it shows where gradients are small, and beside large ones never",
    )


# --------------------------------------------------------------------- figures


def _figures(
    first: Recording, second: Recording, noise: Noise | None, *, drifting: bool
) -> Iterable[Check]:
    what = "figures of evaluate"
    if not first.evaluate and not second.evaluate:
        return
    if not first.evaluate or not second.evaluate:
        one, other = ("first", "second") if first.evaluate else ("second", "first")
        yield skipped(
            what,
            f"only the {one} side evaluated; the {other} ended, or was stopped, before "
            "(--steps 0 lets both run to their end)",
        )
        return
    if first.global_step != second.global_step:
        yield skipped(what, _other_steps(first, second))
        return
    pairs, only_first, only_second = pair_figures(first.evaluate, second.evaluate)
    for name, partner in pairs:
        left, right = first.evaluate[name], second.evaluate[partner]
        if not (_is_number(left) and _is_number(right)):
            continue
        # One run's noise may leave each class as it is: the loss tells of it as well.
        told = (partner, "loss") if drifting else (partner,)
        own = max(noise.figures.get(one, 0.0) for one in told) if noise else 0.0
        yield measured(
            f"evaluate: {name}",
            _relative(left, right),
            max(_figure_limit(drifting), NOISE_FACTOR * own),
            f"{left:.6g}",
            f"{right:.6g}",
            causes=(
                "the evaluation sees other examples: a dropped last batch, another "
                "number of steps, shuffling before `take`",
                "another definition or other weights of the metric",
                "dropout or batch statistics during evaluation, averages not read",
            ),
        )
    lacking = "; ".join(
        f"only the {side} has {', '.join(names)}"
        for side, names in (("first", only_first), ("second", only_second))
        if names
    )
    if lacking:
        what = what if not pairs else "further figures of evaluate"
        if all(side.extra.get("evaluations") for side in (first, second)):
            # Both returned them: whoever reads them by name misses some.
            yield compared(what, False, note=lacking)
        else:
            yield skipped(what, lacking)


def plain_figure(name: str) -> str:
    """A figure's name without its phase, as both generations would say it.

    >>> plain_figure("test_sparse_categorical_accuracy")
    'accuracy'
    """
    name = _PHASE.sub("", re.sub(r"_\d+$", "", name))
    return _SAME.get(name, name)


def pair_figures(first: Mapping[str, float], second: Mapping[str, float]) -> Pairs:
    """Pairs of names, and the names on either side that have no partner.

    Equal names first; else names that say the same where each side has one of them.
    """
    one = [name for name in first if name not in _NO_FIGURES]
    other = [name for name in second if name not in _NO_FIGURES]
    pairs = [(name, name) for name in one if name in other]
    rest_one = [name for name in one if name not in other]
    rest_other = [name for name in other if name not in one]
    for name in list(rest_one):
        plain = plain_figure(name)
        rivals = [each for each in rest_one if plain_figure(each) == plain]
        partners = [each for each in rest_other if plain_figure(each) == plain]
        if len(rivals) == len(partners) == 1:
            pairs.append((name, partners[0]))
            rest_one.remove(name)
            rest_other.remove(partners[0])
    return pairs, rest_one, rest_other


def _earlier_figures(
    first: Recording, second: Recording, *, drifting: bool
) -> Iterable[Check]:
    """What evaluations on the way to the last one returned, where both had one."""
    one, other = (
        {each["global_step"]: each for each in side.extra.get("evaluations") or ()}
        for side in (first, second)
    )
    # Before the first step each program still has the weights that it drew.
    common = [step for step in one if step and step in other][:-1]
    apart = [
        (_relative(value, other[step][name]), f"{name} at step {step}")
        for step in common
        for name, value in one[step].items()
        if name in other[step]
    ]
    if not apart:
        return
    worst, where = max(apart)
    yield measured(
        "earlier evaluations",
        worst,
        _figure_limit(drifting),
        f"{len(one) - 1}",
        f"{len(other) - 1}",
        note=f"most in {where}" if worst else "",
        causes=("evaluations come at other steps, or see another checkpoint",),
    )


def _figure_limit(drifting: bool) -> float:
    return DRIFTING_FIGURE if drifting else FIGURE_TOLERANCE


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _relative(one: object, other: object) -> float:
    if not (isinstance(one, (int, float)) and isinstance(other, (int, float))):
        return 0.0
    return relative_difference(one, other, 1e-6)


# ----------------------------------------------------------------- predictions


def _predictions(
    first: Recording, second: Recording, noise: Noise | None
) -> Iterable[Check]:
    """The same fixed examples, predicted after the same number of steps."""
    if first.global_step != second.global_step:
        return
    for name, one in first.predictions.items():
        if name in second.predictions:
            other = second.predictions[name]
            own = noise.predictions.get(name, 0.0) if noise else 0.0
            yield measured(
                f"predictions: {name}",
                largest_share(one, other),
                max(FIGURE_TOLERANCE, NOISE_FACTOR * own),
                f"{len(one)} examples",
                f"{len(other)} examples",
                causes=(
                    "dropout or batch statistics while predicting, averages not read",
                ),
            )


# ------------------------------------------------------- exports and checkpoints


def _files(first: Recording, second: Recording) -> Iterable[Check]:
    """SavedModels by the folder they were given, and the steps of the checkpoints."""
    sides = ("first", first), ("second", second)
    whole = first.complete and second.complete
    exports = [side.extra.get("exports") for _, side in sides]
    if any(exports) and None in exports:
        side, _ = sides[exports.index(None)]
        yield skipped("exported models", f"not known of the {side} side")
    elif any(exports) and not whole:
        yield skipped(
            "exported models",
            "a program was stopped before its end (--steps 0 lets both run to theirs)",
        )
    elif any(exports):
        names = [sorted(each or ()) for each in exports]
        yield compared(
            "exported models",
            names[0] == names[1],
            *(", ".join(each) or "none" for each in names),
            causes=("an exporter did not run, or ran another time",),
        )
    steps = [side.extra.get("checkpoints") or [] for _, side in sides]
    # Where one was stopped, `exported models` and the number of steps say so.
    if whole and any(steps) and not all(steps):
        side, _ = sides[steps.index([])]
        yield skipped("checkpoints", f"none known of the {side} side")
    elif whole and any(steps):
        yield compared(
            "checkpoints",
            steps[0] == steps[1],
            *("of steps " + _ends(each) for each in steps),
            causes=("checkpoints are written at other steps, or fewer are kept",),
        )


def _ends(steps: Sequence[int]) -> str:
    told = [str(step) for step in steps]
    if len(told) > 4:
        told = [told[0], "...", *told[-3:]]
    return ", ".join(told)
