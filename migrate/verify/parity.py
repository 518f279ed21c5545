"""Decides whether two sides train the same: runs them, compares, judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..datasets.fashion_mnist import find, make_keras_home
from ..errors import UserError
from .causes import likely_causes
from .checks import Check, Noise, Outcome, judge, noise_between
from .comparison import (
    LOSS_TOLERANCE,
    Trajectory,
    compare_trajectories,
    noise_of,
    told_replicas,
)
from .recording import Array, Recording, load_recording, write_weights
from .runner import Launch, Settings, run_program
from .sides import Kind, Side
from .statistics import Equivalence, equivalence

__all__ = ["Options", "Verdict", "verify"]

Say = Callable[[str], None]

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
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """Everything that was found out, and what it amounts to."""

    first: Side
    second: Side
    recordings: tuple[Recording, Recording]
    trajectory: Trajectory
    noise_measured: bool
    data: str | None
    replicas: int
    # What was compared besides the losses.
    checks: tuple[Check, ...] = ()
    accuracy: Equivalence | None = None
    accuracies: tuple[Sequence[float], Sequence[float]] = ((), ())
    seconds: tuple[float, float] | None = None

    @property
    def parity(self) -> bool:
        """Whether nothing that was compared differs."""
        return (
            self.trajectory.parity
            and not self.differing
            and (self.accuracy is None or self.accuracy.equivalent)
        )

    @property
    def differing(self) -> tuple[Check, ...]:
        """The checks that failed, worst first."""
        failed = [each for each in self.checks if each.outcome is Outcome.DIFFERS]
        return tuple(sorted(failed, key=_badness, reverse=True))

    @property
    def not_compared(self) -> tuple[Check, ...]:
        """What one side lacks, or what would say nothing."""
        return tuple(
            each for each in self.checks if each.outcome is Outcome.NOT_COMPARED
        )

    @property
    def causes(self) -> tuple[str, ...]:
        """What such a difference comes from most often, likeliest first."""
        if self.parity:
            return ()
        return likely_causes(self.trajectory, self.differing, self.recordings)

    @property
    def sentence(self) -> str:
        """The verdict in one sentence; what was not compared is part of it."""
        left_out = ", ".join(each.what for each in self.not_compared)
        told = self._judgement
        return f"{told} Not compared: {left_out}." if left_out else told

    @property
    def _judgement(self) -> str:
        trajectory = self.trajectory
        if trajectory.problems:
            return "No parity: " + "; ".join(trajectory.problems) + "."
        failed = trajectory.first_failure
        if failed is not None and not trajectory.only_ragged_end:
            return (
                f"No parity: the losses part at step {failed}, beyond what rounding "
                "explains."
            )
        count = len(trajectory.steps) - trajectory.only_ragged_end
        if self.differing:
            first, *others = self.differing
            more = f" (and {', '.join(each.what for each in others)})" if others else ""
            return (
                f"No parity: the losses of {count} steps agree, but {first.told}{more}."
            )
        start = (
            "from the same weights, on the same batches"
            if trajectory.same_start
            else "as far as both were logged"
        )
        told = f"they train the same over {count} steps, {start}"
        agreed = [each.what for each in self.checks if each.outcome is Outcome.SAME]
        if agreed:
            told += f"; the same {_listed(agreed)}"
        if trajectory.only_ragged_end:
            told += (
                f"; step {failed}, where the data ends and replicas get batches of "
                f"unequal size, differs by {trajectory.loss_differences[-1]:.2g}"
            )
        if all(0 < r.replicas < self.replicas for r in self.recordings):
            told += f"; on 1 replica, not {self.replicas}: they have no strategy"
        if self.accuracy is None:
            return f"Parity: {told}."
        if self.accuracy.equivalent:
            return f"Parity: {told}; and their accuracies are equivalent."
        return f"No parity shown: {told}, but equal accuracy is not shown."


def _badness(check: Check) -> float:
    if check.difference is None or not check.limit:
        return float("inf")
    return check.difference / check.limit


def _listed(names: Sequence[str], most: int = 4) -> str:
    """A few names in a sentence; those of many figures would drown it."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"


def verify(
    first: Side, second: Side, options: Options, *, work: Path, say: Say
) -> Verdict:
    """Compare two sides; what the programs write goes below ``work``."""
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
        legacy_python=options.legacy_python,
        predictions=all(
            bool(recorded[index].predictions)
            if index in recorded
            else side.has_estimators
            for index, side in enumerate((first, second))
        ),
    )

    launches: dict[int, Launch] = {}
    weights: Path | None = None
    for index in recorded:
        weights = weights or _initial_weights((first, second)[index], work, index)
    for index, side in enumerate((first, second)):
        if index in recorded:
            continue
        say(f"running {_name(side)} on {told_replicas(replicas)}")
        launch = run_program(side, work / f"run-{index}", settings, weights=weights)
        launches[index] = launch
        if weights is None:
            weights = launch.folder / "initial_weights.npz"
        say(
            f"  {len(launch.recording.losses)} steps in {launch.seconds:.0f} s, "
            f"last loss {launch.recording.losses[-1]:.6g}"
        )
    pair = [launches[i].recording if i in launches else recorded[i] for i in range(2)]
    trajectory = compare_trajectories(pair[0], pair[1], tolerance=options.tolerance)
    checks = judge(pair[0], pair[1], trajectory)
    noise = None
    unsure = any(each.outcome is Outcome.DIFFERS for each in checks)
    if (trajectory.first_failure is not None or unsure) and launches:
        noise = _noise(
            (first, second), launches, settings, trajectory, work / "noise", say
        )
        if noise is not None:
            trajectory = compare_trajectories(
                pair[0], pair[1], tolerance=options.tolerance, noise=noise.losses
            )
            checks = judge(pair[0], pair[1], trajectory, noise)
    verdict = Verdict(
        first=first,
        second=second,
        recordings=(pair[0], pair[1]),
        trajectory=trajectory,
        noise_measured=noise is not None,
        data=data,
        replicas=replicas,
        checks=checks,
        seconds=(launches[0].seconds, launches[1].seconds)
        if len(launches) == 2
        else None,
    )
    if options.seeds:
        verdict = _with_accuracy(verdict, options, settings, work / "seeds", say)
    return verdict


def _noise(
    sides: tuple[Side, Side],
    launches: Mapping[int, Launch],
    settings: Settings,
    trajectory: Trajectory,
    work: Path,
    say: Say,
) -> Noise | None:
    """How far a program drifts when only its rounding changes.

    The initial weights change in the last digits, the kernels add in another order
    and an optimizer's decay rates are rounded as TF 1.x rounded them. No difference
    of that size can be told from rounding. Not worth a run when the very first loss
    differs: nothing can have drifted by then.
    """
    if not trajectory.steps or (
        trajectory.loss_differences[0] > trajectory.loss_limits[0]
    ):
        return None
    index = max(launches)
    launch = launches[index]
    if not launch.recording.initial_weights:
        return None
    say(f"measuring how {_name(sides[index])} amplifies rounding")
    work.mkdir(parents=True, exist_ok=True)
    nudged = work / "nudged_weights.npz"
    write_weights(nudged, _nudged(launch.recording.initial_weights))
    other = replace(
        settings, env={**settings.env, **OTHER_KERNELS}, round_constants=True
    )
    again = run_program(sides[index], work / "run", other, weights=nudged)
    losses = noise_of(launch.recording, again.recording)
    return noise_between(launch.recording, again.recording, losses)


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
    whole = replace(settings, steps=None, shuffle=True, env=env)
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
