"""Decides whether two sides train the same: runs them, compares, judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..datasets.fashion_mnist import make_keras_home, raw_home
from ..errors import UserError
from .checks import judge, noise_between
from .comparison import LOSS_TOLERANCE, compare_trajectories, told_replicas
from .matching import Pairs, pair_trainings
from .recording import Array, Recording, load_recording, save_recording
from .runner import Launch, Settings, record_run_directory, run_program
from .sides import Kind, Side
from .statistics import equivalence
from .verdict import Comparison, Training, Verdict

Say = Callable[[str], None]
# One training of a program, and the same with other rounding.
Drift = tuple[Recording, Recording]

# oneDNN's kernels, the default of today's TensorFlow, add in another order than
# those of TF 1.x, and in one that depends on the graph around them. Without them
# programs that do the same agree to the last digit far longer.
PLAIN_KERNELS = {"TF_ENABLE_ONEDNN_OPTS": "0"}
OTHER_KERNELS = {"TF_ENABLE_ONEDNN_OPTS": "1"}


@dataclass(frozen=True)
class Options:
    """How to compare; the defaults suit a quick check on a laptop."""

    steps: int | None = 50
    replicas: int | None = None
    seeds: int = 0
    tolerance: float | None = None
    # Accuracies closer than this count as equal; see docs/verify.md.
    margin: float = 0.01
    data_dir: Path | None = None
    legacy_python: Path | None = None
    # A program that takes longer than so many seconds is ended.
    seconds: float | None = None
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)


# The run of a first side, if there was one, and its settings: it stands for the same
# run in another comparison with these.
Earlier = list[tuple[Settings, Launch]]


def verify(
    first: Side,
    second: Side,
    options: Options,
    *,
    work: Path,
    say: Say,
    earlier: Earlier | None = None,
) -> Verdict:
    """Compare two sides; what the programs write goes below ``work``.

    ``earlier`` are runs of the first side from its own weights, found below ``work``
    by a comparison with another second side; one that is made here takes its place.
    """
    sides = first, second
    home, data = _data(sides, options, work / "data")
    recorded = {
        index: _read(side, work / f"run-{index}", say)
        for index, side in enumerate(sides)
        if not side.is_program
    }
    replicas = options.replicas
    if replicas is None:
        replicas = next((r.replicas for r in recorded.values() if r.replicas), 1)
    # A recording's own length bounds the program that is compared with it.
    lengths = [max(r.steps) for r in recorded.values() if len(r.steps)]
    limits = [n for n in (options.steps, *lengths) if n is not None]
    settings = Settings(
        replicas=replicas,
        steps=min(limits, default=None),
        args=options.args,
        env={**PLAIN_KERNELS, **home, **options.env},
        # A recording may be of the numbers that the program drew itself.
        steady_random=all(r.extra.get("steady_random") for r in recorded.values()),
        seconds=options.seconds,
        predictions=all(bool(each.predictions) for each in recorded.values()),
    )

    weights: Path | None = None
    for index in recorded:
        weights = weights or _initial_weights(sides[index], work / f"run-{index}")
    real: Recording | None = None
    if options.legacy_python is not None:
        legacy = _legacy_of(sides)
        say(f"running {_name(legacy)} with {options.legacy_python}")
        there = replace(settings, legacy_python=options.legacy_python)
        launch = run_program(legacy, work / "run-real", there, weights=weights)
        _tell(launch, say)
        real = launch.recording
        weights = weights or launch.weights
    launches: dict[int, Launch] = {}
    for index, side in enumerate(sides):
        if index in recorded:
            continue
        own = earlier if index == 0 and weights is None else None
        found = next((run for given, run in own or () if given == settings), None)
        if found is None:
            say(f"running {_name(side)} on {told_replicas(replicas)}")
            folder = work / f"run-{index}"
            found = run_program(side, folder, settings, weights=weights)
            if own is not None:
                own[:] = [(settings, found)]
        launches[index] = found
        weights = weights or found.weights
        _tell(found, say)
    pair = [launches[i].recording if i in launches else recorded[i] for i in range(2)]
    pairs = pair_trainings(pair[0], pair[1])

    tolerance = LOSS_TOLERANCE if options.tolerance is None else options.tolerance

    drifts: list[list[Drift]] = [[] for _ in pairs.found]

    def compared() -> list[Training]:
        return [
            _training(pair, found, real, tolerance, drifts[number])
            for number, found in enumerate(pairs.found)
        ]

    trainings = compared()
    # The second side first: only what it does not keep is asked of the other one.
    for index in sorted(launches, reverse=True):
        unsure = [
            number
            for number, each in enumerate(trainings)
            if any(one.may_be_rounding for _, one in each.comparisons)
        ]
        if not unsure:
            break
        again = _noise(
            sides[index], launches[index], settings, work / f"noise-{index}", say
        )
        for number in unsure:
            place = pairs.found[number][index]
            drifts[number] += again[place : place + 1]
        trainings = compared()
    verdict = Verdict(
        first=first,
        second=second,
        trainings=tuple(trainings),
        data=data,
        replicas=replicas,
        alone=pairs.alone,
        alone_is_wrong=all(_ran_whole(recording) for recording in pair),
        stopped=_stopped(pair, pairs),
    )
    if options.seeds:
        verdict = _with_accuracy(verdict, options, settings, work / "seeds", say)
    return verdict


def _tell(launch: Launch, say: Say) -> None:
    for recording in launch.recording.trainings:
        named = f" of {recording.training}" if launch.recording.further else ""
        say(
            f"  {len(recording.losses)} steps{named} in {launch.seconds:.0f} s, "
            f"last loss {recording.losses[-1]:.6g}"
        )
    for name in launch.recording.extra.get("written") or ():
        say(f"  it wrote {name}, which is not kept apart")


def _legacy_of(sides: tuple[Side, Side]) -> Side:
    """The side that can be run once more, on the TensorFlow it was written for."""
    for side in sides:
        if side.kind is Kind.LEGACY:
            return side
    raise UserError(
        "--legacy-python runs a legacy program, and neither side is one",
        hint=f"they are: {sides[0].kind.value}, {sides[1].kind.value}",
    )


def _training(
    pair: Sequence[Recording],
    found: tuple[int, int],
    real: Recording | None,
    tolerance: float,
    drifts: Sequence[Drift],
) -> Training:
    """One training of both sides, and of the real thing where it has the same."""
    first, second = pair[0].trainings[found[0]], pair[1].trainings[found[1]]
    against: tuple[Comparison, ...] = ()
    if real is not None:
        found_there = pair_trainings(real, pair[0]).found
        partners = {mine: theirs for theirs, mine in found_there}
        if found[0] in partners:
            one = real.trainings[partners[found[0]]]
            against = tuple(
                _compared(one, other, tolerance, drifts) for other in (first, second)
            )
    name = first.training or second.training or f"training {found[0] + 1}"
    return Training(name, _compared(first, second, tolerance, drifts), against)


def _compared(
    first: Recording, second: Recording, tolerance: float, drifts: Sequence[Drift]
) -> Comparison:
    noise = None
    for drift in drifts:
        further = noise_between(*drift, second)
        noise = noise.filled(further) if noise else further
    trajectory = compare_trajectories(
        first, second, tolerance=tolerance, noise=noise.losses if noise else ()
    )
    checks = judge(first, second, trajectory, noise)
    return Comparison((first, second), trajectory, checks, noise is not None)


def _ran_whole(recording: Recording) -> bool:
    """Whether the program came to its end, if not all its trainings to theirs."""
    return bool(recording.extra.get("ran_whole"))


def _stopped(pair: Sequence[Recording], pairs: Pairs) -> tuple[str, ...]:
    """Programs that were stopped inside a training: others may follow it."""
    if pairs.alone or all(_ran_whole(each) for each in pair):
        return ()
    if not any(len(each.trainings) > 1 for each in pair):
        return ()
    return ("trainings after the last that both have (--steps 0 lets both end)",)


def _noise(
    side: Side, launch: Launch, settings: Settings, work: Path, say: Say
) -> list[Drift]:
    """How far a program drifts when only its rounding changes, by training.

    The initial weights change in the last digits, the kernels add in another order
    and an optimizer's decay rates are rounded as TF 1.x rounded them. No difference
    of that size can be told from rounding.
    """
    own = launch.recording.trainings
    if not all(each.initial_weights for each in own):
        return []
    say(f"measuring how {_name(side)} amplifies rounding")
    first, *further = [
        # Names pair them with the trainings of the run.
        replace(
            each,
            initial_weights=_nudged(each.initial_weights),
            final_weights=(),
            slots=(),
            predictions={},
            further=(),
        )
        for each in own
    ]
    save_recording(replace(first, further=further), work / "nudged")
    weights = work / "nudged" / "initial_weights.npz"
    env = {**settings.env, **OTHER_KERNELS}
    other = replace(settings, env=env, round_constants=True)
    again = run_program(side, work / "run", other, weights=weights)
    return list(zip(own, again.recording.trainings, strict=False))


def _nudged(weights: Sequence[tuple[str, Array]]) -> list[tuple[str, Array]]:
    """Each weight changed at random by as much as rounding may change it.

    With convolutions that is up to eight millionths of itself, some hundred units
    in the last place: what a sum of some hundred thousand products, as their
    gradients are, changes with the order of adding. Sums of other models are
    shorter by far, and a larger nudge would hide small mistakes: two units.
    """
    draw = np.random.RandomState(20181010)
    convolutions = any(value.ndim > 2 for _, value in weights)
    size = 2.0**-17 if convolutions else 2.0**-22
    result = []
    for name, value in weights:
        factor = 1 + size * draw.uniform(-1, 1, value.shape)
        result.append((name, (value * factor).astype(value.dtype)))
    return result


def _with_accuracy(
    verdict: Verdict, options: Options, settings: Settings, work: Path, say: Say
) -> Verdict:
    """Train both programs to their end with several seeds each."""
    sides = (verdict.first, verdict.second)
    if not all(side.is_program for side in sides):
        raise UserError("--seeds compares two programs; a recording has one run only")
    env = dict(options.env)
    if any(side.fashion_mnist for side in sides):
        env.update(raw_home(work / "data", options.data_dir)[0])
    # With the kernels that users train with.
    whole = replace(settings, steps=None, shuffle=True, steady_random=False, env=env)
    found: list[list[float]] = [[], []]
    for seed in range(1, options.seeds + 1):
        for index, side in enumerate(sides):
            say(f"training {_name(side)} to its end, seed {seed} of {options.seeds}")
            launch = run_program(
                side, work / f"run-{index}-{seed}", replace(whole, seed=seed)
            )
            accuracy = launch.recording.accuracy
            if accuracy is None:
                raise UserError(
                    f"{side.path}: evaluates no accuracy, so --seeds has nothing to "
                    "compare",
                    hint="figures seen: "
                    + (", ".join(launch.recording.evaluate) or "none"),
                )
            found[index].append(accuracy)
            say(f"  accuracy {accuracy:.4f} in {launch.seconds:.0f} s")
    return replace(verdict, accuracy=equivalence(*found, margin=options.margin))


def _data(
    sides: tuple[Side, Side], options: Options, folder: Path
) -> tuple[dict[str, str], str | None]:
    """A home with noised Fashion-MNIST, when a program reads that."""
    if not any(side.fashion_mnist for side in sides):
        return {}, None
    full = options.data_dir is not None
    home = make_keras_home(
        folder, sample=not full, noise=True, data_dir=options.data_dir
    )
    size = "all 60,000" if full else "the bundled 3,000"
    return home, f"{size} Fashion-MNIST images with fixed noise, unshuffled"


def _read(side: Side, work: Path, say: Say) -> Recording:
    if side.kind is Kind.RECORDING:
        return load_recording(side.path)
    say(f"reading {_name(side)}")
    return record_run_directory(side.path, work)


def _initial_weights(side: Side, work: Path) -> Path | None:
    folder = side.path if side.kind is Kind.RECORDING else work
    weights = folder / "initial_weights.npz"
    return weights if weights.is_file() else None


def _name(side: Side) -> str:
    return f"the {side.kind.value} {side.path}"
