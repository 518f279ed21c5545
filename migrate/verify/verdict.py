"""What a comparison amounts to: of each training, and of both programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .comparison import Trajectory
from .outcome import Check, Outcome
from .recording import Recording
from .sides import Side
from .statistics import Equivalence

# A ratio of losses this close to a whole number is no accident.
_WHOLE = 1e-3

# Where A and B train the same.
_NOT_OF_THE_PROGRAMS = (
    "A and B train the same: the two TensorFlows differ here, by the rounding of their "
    "kernels or in what an operation does; what was rewritten is no cause",
)


@dataclass(frozen=True)
class Comparison:
    """Two recordings of one training, held against each other."""

    recordings: tuple[Recording, Recording]
    trajectory: Trajectory
    # What was compared besides the losses.
    checks: tuple[Check, ...] = ()
    noise_measured: bool = False

    @property
    def parity(self) -> bool:
        """Whether nothing that was compared differs."""
        return self.trajectory.parity and not self.differing

    @property
    def differing(self) -> tuple[Check, ...]:
        """The checks that failed, worst first."""
        failed = [each for each in self.checks if each.outcome is Outcome.DIFFERS]
        return tuple(sorted(failed, key=_badness, reverse=True))

    def having(self, outcome: Outcome) -> list[str]:
        """What was checked with this outcome."""
        return [each.what for each in self.checks if each.outcome is outcome]

    @property
    def draws(self) -> list[str]:
        """Operations that draw random numbers while the programs train."""
        drawn = [each.extra.get("draws") or () for each in self.recordings]
        return [*drawn[0], *drawn[1]]

    @property
    def causes(self) -> tuple[str, ...]:
        """What such a difference comes from most often, likeliest first."""
        trajectory = self.trajectory
        if trajectory.problems or not trajectory.steps:
            return ()  # the problem says it all
        failed = trajectory.first_failure
        if failed is None:
            found = [cause for check in self.differing for cause in check.causes]
        else:
            place = list(trajectory.steps).index(failed)
            found = list(_AT_SECOND if place == 1 else _LATER)
            if place == 0:
                found = _of_first_loss(self)
        return tuple(dict.fromkeys(found))

    @property
    def may_be_rounding(self) -> bool:
        """Whether something differs, and not by the first loss already.

        Nothing can have drifted by then: a measurement of rounding says nothing.
        """
        trajectory = self.trajectory
        if not trajectory.steps or (
            trajectory.loss_differences[0] > trajectory.loss_limits[0]
        ):
            return False
        return trajectory.first_failure is not None or bool(self.differing)

    @property
    def steps(self) -> int:
        """How many steps agree, where all do."""
        return len(self.trajectory.steps)

    @property
    def problem(self) -> str | None:
        """Why there is no parity; None where there is."""
        trajectory = self.trajectory
        if trajectory.problems:
            return "; ".join(trajectory.problems)
        failed = trajectory.first_failure
        if failed is not None:
            return f"the losses part at step {failed}, beyond what rounding explains"
        if self.differing:
            first, *others = self.differing
            more = f" (and {', '.join(each.what for each in others)})" if others else ""
            return f"the losses of {self.steps} steps agree, but {first.told}{more}"
        return None


@dataclass(frozen=True)
class Training:
    """One training that both programs have, and the legacy program's on TF 1.x."""

    name: str
    between: Comparison
    # Real TensorFlow 1.x against A, and against B.
    real: tuple[Comparison, ...] = ()

    @property
    def sides(self) -> list[Recording]:
        """The recordings of A, of B and, where it ran, of the real thing."""
        real = [self.real[0].recordings[0]] if self.real else []
        return [*self.between.recordings, *real]

    @property
    def comparisons(self) -> tuple[tuple[str, Comparison], ...]:
        """Every comparison, and what to say before its verdict."""
        sides = zip(("A", "B"), self.real, strict=False)
        against = [
            (f"{side} against {told_tensorflow(each.recordings[0])}: ", each)
            for side, each in sides
        ]
        return (("", self.between), *against)

    @property
    def parity(self) -> bool:
        """Whether all comparisons say so."""
        return all(each.parity for _, each in self.comparisons)


@dataclass(frozen=True)
class Verdict:
    """Everything that was found out, and what it amounts to."""

    first: Side
    second: Side
    trainings: tuple[Training, ...]
    data: str | None
    replicas: int
    # Trainings without a partner, told; a problem when both programs ran to their end.
    alone: tuple[str, ...] = ()
    alone_is_wrong: bool = False
    accuracy: Equivalence | None = None
    # A program was stopped after its first training; others may follow.
    stopped: tuple[str, ...] = ()

    @property
    def recordings(self) -> tuple[Recording, Recording]:
        """Those of the first training."""
        return self.trainings[0].between.recordings

    @property
    def noise_measured(self) -> bool:
        """Whether a program's own noise was measured for any limit."""
        return any(training.between.noise_measured for training in self.trainings)

    @property
    def parity(self) -> bool:
        """Whether nothing that was compared differs."""
        accurate = self.accuracy is None or self.accuracy.equivalent
        return not self.problems and accurate

    @property
    def problems(self) -> tuple[str, ...]:
        """What differs, in the order in which a reader would look at it."""
        found = []
        if self.alone and self.alone_is_wrong:
            found.append(f"{', '.join(self.alone)} has no partner")
        for training in self.trainings:
            where = f"in {training.name}, " if len(self.trainings) > 1 else ""
            for before, comparison in training.comparisons:
                if comparison.problem is not None:
                    found.append(f"{where}{before}{comparison.problem}")
        return tuple(found)

    @property
    def causes(self) -> tuple[str, ...]:
        """What such a difference comes from most often, likeliest first."""
        trainings = self.trainings
        between = all(each.between.parity for each in trainings)
        if between and not all(each.parity for each in trainings):
            return _NOT_OF_THE_PROGRAMS
        found = [cause for each in trainings for cause in each.between.causes]
        return tuple(dict.fromkeys(found))

    @property
    def sentence(self) -> str:
        """The verdict in one sentence; what was not compared is part of it."""
        left_out = [
            what
            for training in self.trainings
            for what in training.between.having(Outcome.NOT_COMPARED)
        ]
        named = [*self.stopped, *dict.fromkeys(left_out)]
        if self.alone and not self.alone_is_wrong:
            named = [*self.alone, *named]
        told = self._judgement
        return f"{told} Not compared: {', '.join(named)}." if named else told

    @property
    def _judgement(self) -> str:
        problems = self.problems
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            return f"No parity: {problems[0]}{more}."
        told = self._agreement
        if self.accuracy is None:
            return f"Parity: {told}."
        if self.accuracy.equivalent:
            return f"Parity: {told}; and their accuracies are equivalent."
        return f"No parity shown: {told}, but equal accuracy is not shown."

    @property
    def _agreement(self) -> str:
        """What both do alike."""
        pairs = [training.between for training in self.trainings]
        start = (
            "from the same weights, on the same batches"
            if all(pair.trajectory.same_start for pair in pairs)
            else "as far as both were logged"
        )
        if len(pairs) == 1:
            told = f"they train the same over {pairs[0].steps} steps, {start}"
        else:
            each = _listed([f"{t.name} {t.between.steps}" for t in self.trainings])
            told = f"{len(pairs)} trainings are the same (steps: {each}), {start}"
        agreed = [what for pair in pairs for what in pair.having(Outcome.SAME)]
        if agreed:
            told += f"; the same {_listed(list(dict.fromkeys(agreed)))}"
        if all(0 < r.replicas < self.replicas for r in self.recordings):
            told += f"; on 1 replica, not {self.replicas}: they have no strategy"
        for real in self.trainings[0].sides[2:]:
            told += f"; and the same as {told_tensorflow(real)}"
        return told


def told_tensorflow(recording: Recording) -> str:
    """What a recording of the real thing ran on."""
    return f"real TensorFlow {recording.producer.get('tensorflow') or '1.x'}"


def _badness(check: Check) -> float:
    if check.difference is None or not check.limit:
        return float("inf")
    return check.difference / check.limit


def _listed(names: Sequence[str]) -> str:
    """A few names in a sentence; those of many figures would drown it."""
    if len(names) <= 4:
        return ", ".join(names)
    return f"{', '.join(names[:3])} and {len(names) - 3} more"


# ----------------------------------- what a difference most often comes from


def _of_first_loss(comparison: Comparison) -> list[str]:
    causes, recordings = [], comparison.recordings
    if comparison.draws:
        causes.append(
            "random numbers that each program draws for itself "
            f"({comparison.draws[0]}): compare accuracies, with --seeds"
        )
    guessed = [(each.extra.get("paired") or {}).get("order") for each in recordings]
    if any(guessed):
        causes.append(
            f"{max(filter(None, guessed))} weights that only their order told apart, "
            "and that may have each other's values: let their names share a word"
        )
    trajectory = comparison.trajectory
    one, other = trajectory.losses_first[0], trajectory.losses_second[0]
    ratio = max(abs(one), abs(other)) / max(min(abs(one), abs(other)), 1e-30)
    replicas = max(recording.replicas for recording in recordings)
    if ratio > 1 + _WHOLE and abs(ratio - round(ratio)) < _WHOLE * ratio:
        whole = round(ratio)
        if whole == replicas > 1:
            causes.append(
                f"the loss is scaled by the number of replicas ({whole}): a mean of "
                "sums, or a sum of means"
            )
        else:
            causes.append(
                f"a factor of {whole}: a sum over the batch for its mean, or l2 "
                "(s * sum of squares in Keras, half of it in tf.contrib)"
            )
    return [*causes, *_AT_FIRST]


_AT_FIRST = (
    "the loss: a regularization that is missing or counted twice, class weights, "
    "label smoothing, the reduction",
    "the model: dropout, an activation, a layer that was left out",
    "the first batch: other examples, other preprocessing",
)
_AT_SECOND = (
    "the update: learning rate, gradients scaled by the number of replicas "
    "or of examples (SUM for MEAN), clipping",
    "constants of the optimizer: epsilon (1e-8 in TF 1, 1e-7 in Keras), the "
    "first value of a slot, momentum",
    "other batches from the second step on: shuffling, repeat before batch",
)
_LATER = (
    "a schedule that counts other steps: decay steps, warm-up, staircase",
    "constants of the optimizer that small gradients show: epsilon, weight decay",
    "other batches: another order, a dropped or a kept last batch, an epoch's end",
    "a training whose data ended: TF 1 decayed Adam's slots of rows once more",
)
