"""What a difference most often comes from: hints, in the order of their likelihood."""

from __future__ import annotations

from collections.abc import Sequence

from .comparison import Trajectory
from .outcome import Check
from .recording import Recording

# A ratio of losses this close to a whole number is no accident.
_WHOLE = 1e-3


def likely_causes(
    trajectory: Trajectory,
    differing: Sequence[Check],
    recordings: tuple[Recording, Recording],
) -> tuple[str, ...]:
    """Hints for a verdict without parity; none where the problem says it all."""
    if trajectory.problems or not trajectory.steps:
        return ()
    found = list(_of_losses(trajectory, recordings))
    if not found:
        for check in differing:
            found += check.causes
    return tuple(dict.fromkeys(found))


def _of_losses(
    trajectory: Trajectory, recordings: tuple[Recording, Recording]
) -> Sequence[str]:
    failed = trajectory.first_failure
    if failed is None:
        return ()
    place = list(trajectory.steps).index(failed)
    if place == 0:
        return _of_first_loss(trajectory, recordings)
    if place == 1:
        return (
            "the update: learning rate, gradients scaled by the number of replicas "
            "or of examples (SUM for MEAN), clipping",
            "constants of the optimizer: epsilon (1e-8 in TF 1, 1e-7 in Keras), the "
            "first value of a slot, momentum",
            "other batches from the second step on: shuffling, repeat before batch",
        )
    return (
        "a schedule that counts other steps: decay steps, warm-up, staircase",
        "constants of the optimizer that small gradients show: epsilon, weight decay",
        "other batches: another order, a dropped or a kept last batch, an epoch's end",
        "a training whose data ended: TF 1 decayed Adam's slots of rows once more",
    )


def _of_first_loss(
    trajectory: Trajectory, recordings: tuple[Recording, Recording]
) -> Sequence[str]:
    causes = []
    draws = [name for one in recordings for name in one.extra.get("draws") or ()]
    if draws:
        causes.append(
            f"random numbers that each program draws for itself ({draws[0]}): compare "
            "accuracies, with --seeds"
        )
    guessed = [(each.extra.get("paired") or {}).get("order") for each in recordings]
    if any(guessed):
        causes.append(
            f"{max(filter(None, guessed))} weights that only their order told apart, "
            "and that may have each other's values: let their names share a word"
        )
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
    causes += [
        "the loss: a regularization that is missing or counted twice, class weights, "
        "label smoothing, the reduction",
        "the model: dropout, an activation, a layer that was left out",
        "the first batch: other examples, other preprocessing",
    ]
    return causes
