"""What recognised training programs report: the ids of plan and emit.

These rules have no table of their own; ``tfmigrate.plan`` recognises programs
and ``tfmigrate.emit`` writes them. Their pages live beside the other rules'.
"""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

_TIERS = (
    "A program moves as a whole or stays as a whole. T1 is a native loop, T2 a loop "
    "around the untouched forward code, T3 keeps the Estimator on tfmigrate's compat "
    "runtime, T4 stays as it is."
)

RULES = (
    Rule(
        id="TFM101",
        name="training-program",
        summary="An Estimator program becomes a strategy-scoped training loop.",
        why=_TIERS,
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM110",
        name="program-shape",
        summary="A training program has a shape that is not rewritten.",
        why=(
            "The Estimator is made, stored or called in a way that leaves more than "
            "one reading. " + _TIERS
        ),
        safety=Safety.NEEDS_REVIEW,
        advice_only=True,
    ),
    Rule(
        id="TFM111",
        name="program-strategy",
        summary="The distribution strategy of a training program.",
        why=(
            "Strategies of tf.contrib and RunConfig become a tf.distribute strategy "
            "made before the model. The batch of an Estimator input_fn is per "
            "replica, and stays so."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM112",
        name="program-config",
        summary="The RunConfig of a training program.",
        why=(
            "Each setting of a RunConfig has to have an equivalent in the loop; one "
            "that has none keeps the program as it is."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM113",
        name="program-compile",
        summary="The compile() call of a training program's Keras model.",
        why="The loop needs the loss, the optimizer and the metrics one by one.",
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM114",
        name="program-loss",
        summary="The loss of a training program.",
        why=(
            "The loop computes the loss per example and divides once by the number "
            "of examples over all replicas."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM115",
        name="program-input",
        summary="The input function of a training program.",
        why=(
            "The loop draws from a tf.data.Dataset; an input function that returns "
            "something else needs a translation that is known to be the same."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM116",
        name="program-hooks",
        summary="The hooks of a training program.",
        why=(
            "A SessionRunHook becomes a step callback when everything it asks of the "
            "session has an equivalent in the loop."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM117",
        name="program-optimizer",
        summary="The optimizer of a training program.",
        why=(
            "v1 and Keras optimizers differ in defaults (Adam's epsilon) and some in "
            "their formula; a conversion that is not exact is not made silently."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM130",
        name="numbers-change",
        summary="A difference in numbers that the rewrite brings, on purpose.",
        why="Nothing that changes numbers is silent: it is listed with its reason.",
        safety=Safety.CHANGES_NUMBERS,
    ),
    Rule(
        id="TFM131",
        name="replica-mean",
        summary="The loss over replicas is the true mean.",
        why=(
            "Estimators of TF 1.15 and 2.15 made from Keras models divide twice by the "
            "number of replicas; TF 1.12's and the rewritten loop's gradient is the "
            "mean over all examples."
        ),
        safety=Safety.CHANGES_NUMBERS,
    ),
)
