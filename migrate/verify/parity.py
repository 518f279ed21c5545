"""Decides whether two sides train the same: runs them, compares, judges."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..datasets.fashion_mnist import find, make_keras_home
from ..errors import UserError
from .checks import judge, noise_between
from .comparison import LOSS_TOLERANCE, compare_trajectories, told_replicas
from .pairing import Pairs, pair_trainings
from .recording import Array, Recording, load_recording, write_weights
from .runner import Launch, Settings, run_program
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
    tolerance: float = LOSS_TOLERANCE
    # Accuracies closer than this count as equal; see docs/verify.md.
    margin: float = 0.01
    data_dir: Path | None = None
    legacy_python: Path | None = None
    # A program that takes longer than so many seconds is ended.
    seconds: float | None = None
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Earlier:
    """A run of a first side, which stands for the same run in another comparison."""

    settings: Settings | None = None
    launch: Launch | None = None

    def of(self, settings: Settings) -> Launch | None:
        """The run, if that is what is to be run."""
        return self.launch if self.settings == settings else None


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

    ``earlier`` is a run of the first side from its own weights, found below ``work``
    by a comparison with another second side; one that is made here is noted there.
    """
    home, data = _data(first, second, options, work / "data")
    env = {**PLAIN_KERNELS, **home, **options.env}
    recorded = {
        index: _read(side, work / f"run-{index}", say)
        for index, side in enumerate((first, second))
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
        env=env,
        # A recording may be of the numbers that the program drew itself.
        steady_random=all(r.extra.get("steady_random") for r in recorded.values()),
        seconds=options.seconds,
        predictions=all(bool(each.predictions) for each in recorded.values()),
    )

    launches: dict[int, Launch] = {}
    real: Recording | None = None
    weights: Path | None = None
    for index in recorded:
        weights = weights or _initial_weights((first, second)[index], work, index)
    if options.legacy_python is not None:
        real_launch = _run_real((first, second), settings, options, work, weights, say)
        real = real_launch.recording
        weights = weights or real_launch.folder / "initial_weights.npz"
    for index, side in enumerate((first, second)):
        if index in recorded:
            continue
        own = earlier if index == 0 and weights is None else None
        known = own.of(settings) if own is not None else None
        if known is None:
            say(f"running {_name(side)} on {told_replicas(replicas)}")
            folder = work / f"run-{index}"
            known = run_program(side, folder, settings, weights=weights)
            if own is not None:
                own.settings, own.launch = settings, known
        launch = launches[index] = known
        if weights is None:
            weights = launch.folder / "initial_weights.npz"
        _tell(launch, say)
    pair = [launches[i].recording if i in launches else recorded[i] for i in range(2)]
    pairs = pair_trainings(pair[0], pair[1])

    def compared(noises: Mapping[int, Drift]) -> list[Training]:
        return [
            _training(pair, found, real, options.tolerance, noises.get(number))
            for number, found in enumerate(pairs.found)
        ]

    trainings = compared({})
    unsure = [
        number
        for number, each in enumerate(trainings)
        if each.between.may_be_rounding or any(one.may_be_rounding for one in each.real)
    ]
    noisy: dict[int, Drift] = {}
    if unsure and launches:
        noisy = _noise(
            (first, second), launches, settings, pairs, unsure, work / "noise", say
        )
        trainings = compared(noisy)
    verdict = Verdict(
        first=first,
        second=second,
        trainings=tuple(trainings),
        data=data,
        replicas=replicas,
        alone=pairs.alone,
        alone_is_wrong=all(_ran_whole(recording) for recording in pair),
        stopped=_stopped(pair, pairs),
        seconds=(launches[0].seconds, launches[1].seconds)
        if len(launches) == 2
        else None,
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


def _run_real(
    sides: tuple[Side, Side],
    settings: Settings,
    options: Options,
    work: Path,
    weights: Path | None,
    say: Say,
) -> Launch:
    """The legacy program once more, on the TensorFlow that it was written for."""
    legacy = next((side for side in sides if side.kind is Kind.LEGACY), None)
    if legacy is None:
        raise UserError(
            "--legacy-python runs a legacy program, and neither side is one",
            hint=f"they are: {sides[0].kind.value}, {sides[1].kind.value}",
        )
    say(f"running {_name(legacy)} with {options.legacy_python}")
    launch = run_program(
        legacy,
        work / "run-real",
        replace(settings, legacy_python=options.legacy_python),
        weights=weights,
    )
    _tell(launch, say)
    return launch


def _training(
    pair: Sequence[Recording],
    found: tuple[int, int],
    real: Recording | None,
    tolerance: float,
    drift: Drift | None,
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
                _compared(one, other, tolerance, drift) for other in (first, second)
            )
    name = first.training or second.training or f"training {found[0] + 1}"
    return Training(name, _compared(first, second, tolerance, drift), against)


def _compared(
    first: Recording, second: Recording, tolerance: float, drift: Drift | None
) -> Comparison:
    noise = noise_between(*drift, second) if drift else None
    trajectory = compare_trajectories(
        first, second, tolerance=tolerance, noise=noise.losses if noise else None
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
    sides: tuple[Side, Side],
    launches: Mapping[int, Launch],
    settings: Settings,
    pairs: Pairs,
    unsure: Sequence[int],
    work: Path,
    say: Say,
) -> dict[int, Drift]:
    """How far a program drifts when only its rounding changes, by training.

    The initial weights change in the last digits, the kernels add in another order
    and an optimizer's decay rates are rounded as TF 1.x rounded them. No difference
    of that size can be told from rounding.
    """
    index = max(launches)
    launch = launches[index]
    own = launch.recording.trainings
    if not all(each.initial_weights for each in own):
        return {}
    say(f"measuring how {_name(sides[index])} amplifies rounding")
    nudged = work / "nudged"
    for number, recording in enumerate(own):
        folder = nudged / f"training-{number + 1}" if number else nudged
        folder.mkdir(parents=True, exist_ok=True)
        write_weights(
            folder / "initial_weights.npz", _nudged(recording.initial_weights)
        )
        # Names pair them with the trainings of the run.
        (folder / "recording.json").write_text(
            json.dumps({"training": recording.training}), encoding="utf-8"
        )
    other = replace(
        settings, env={**settings.env, **OTHER_KERNELS}, round_constants=True
    )
    again = run_program(
        sides[index], work / "run", other, weights=nudged / "initial_weights.npz"
    )
    result = {}
    for number in unsure:
        place = pairs.found[number][index]
        if place < len(again.recording.trainings):
            result[number] = own[place], again.recording.trainings[place]
    return result


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
        env.update(_raw_home(options, work / "data"))
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
    return replace(
        verdict,
        accuracy=equivalence(found[0], found[1], margin=options.margin),
        accuracies=(found[0], found[1]),
    )


def _data(
    first: Side, second: Side, options: Options, folder: Path
) -> tuple[dict[str, str], str | None]:
    """A home with noised Fashion-MNIST, when a program reads that."""
    if not (first.fashion_mnist or second.fashion_mnist):
        return {}, None
    full = options.data_dir is not None
    home = make_keras_home(
        folder, sample=not full, noise=True, data_dir=options.data_dir
    )
    size = "all 60,000" if full else "the bundled 3,000"
    return home, f"{size} Fashion-MNIST images with fixed noise, unshuffled"


def _raw_home(options: Options, folder: Path) -> dict[str, str]:
    """A home with real images: all of them where they are found."""
    try:
        located = find(options.data_dir, download=False)
    except UserError:
        if options.data_dir is not None:
            raise
        return make_keras_home(folder, sample=True, noise=False)
    return make_keras_home(folder, sample=False, noise=False, data_dir=located.folder)


def _read(side: Side, work: Path, say: Say) -> Recording:
    if side.kind is Kind.RECORDING:
        return load_recording(side.path)
    from .rundir import record_run_directory

    say(f"reading {_name(side)}")
    return record_run_directory(side.path, work)


def _initial_weights(side: Side, work: Path, index: int) -> Path | None:
    folder = side.path if side.kind is Kind.RECORDING else work / f"run-{index}"
    weights = folder / "initial_weights.npz"
    return weights if weights.is_file() else None


def _name(side: Side) -> str:
    return f"the {side.kind.value} {side.path}"
