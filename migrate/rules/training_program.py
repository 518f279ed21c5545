"""What is told of training programs: whether they became native, and why not.

These rules have no table of their own; ``tfmigrate.rewrite`` decides about programs.
Their pages live beside the other rules'.
"""

from __future__ import annotations

from ..report.findings import NATIVE, Safety
from .base import Rule

_OUTCOMES = (
    "A program becomes native as a whole or stays as a whole. *Native*: plain TensorFlow "
    "2 that imports nothing of tfmigrate. *Kept*: as its author wrote it, on "
    "tfmigrate.compat. *Untouched*: not even that can run it, and no byte changes."
)

# A program that is kept, and one that even compat cannot run.
KEEPS, STAYS = "TFM103", "TFM104"
KEPT = "this program is kept and runs on tfmigrate.compat"
# What a native program does otherwise than the Estimator.
DIFFERS = "TFM130"

RULES = (
    Rule(
        id=NATIVE,
        name="native-program",
        summary="An Estimator program becomes plain TensorFlow 2: a Task and its Trainer.",
        why=(
            "The model_fn, or what else an Estimator was made of, becomes a class: its "
            "model, optimizer and metrics, its loss and predictions. A Trainer stands "
            "in the Estimator's place, with its methods, and what is around it keeps "
            "its words. Task and Trainer are in training.py, a small module that is "
            "part of the project from then on. " + _OUTCOMES
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id=KEEPS,
        name="kept-program",
        summary="A program is kept as it is and runs on tfmigrate.compat.",
        why=(
            "Something in it is not understood, or has no proven equivalent: report "
            "and note name the place, the reason and, where there is one, what would "
            "change it. Do that and rewrite again.\n\n"
            "Until then it runs as it is. The file that it starts from calls "
            "`tfmigrate.compat.install()` before anything imports TensorFlow; plain "
            "Python then does what `tfmigrate run` does. Every other file stays as it "
            "was, and so does a program that shares one of them which would have to "
            "change. Whoever imports a module that nothing given runs makes that "
            "call.\n\n" + _OUTCOMES
        ),
        safety=Safety.NEEDS_REVIEW,
        advice_only=True,
    ),
    Rule(
        id=STAYS,
        name="untouched-program",
        summary="A training program stays exactly as it is.",
        why=(
            "It did not become native, and tfmigrate.compat cannot run it: it makes an "
            "Estimator of a kind that no TensorFlow of today can train, or imports a "
            "private module that is gone. The reason says which and where. " + _OUTCOMES
        ),
        safety=Safety.NEEDS_REVIEW,
        advice_only=True,
    ),
    Rule(
        id="TFM107",
        name="training-module",
        summary="The module with Task and Trainer is added to the project.",
        why=(
            "It is written once for all programs that can import it, with those of its "
            "parts that they use: training.py, or training_loop.py where the project "
            "has a training.py of its own. Later rewrites add parts to it. One that "
            "somebody changed is never written again: a program that asks for a part "
            "which it lacks is kept. In a notebook it is a cell of its own."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id=DIFFERS,
        name="other-numbers",
        summary="A native program does something otherwise than the Estimator did.",
        why=(
            "Where TensorFlow 1 left something to chance, or did it in a way that "
            "nothing of today does, the message says what is other. Among these: "
            "random numbers drawn with a seed are not those of TensorFlow 1, so single "
            "runs end elsewhere by chance (`tfmigrate verify` starts both from the same "
            "weights); a Keras Estimator of TF 1.13 to 2.15 with N replicas divided loss "
            "and update by N once too often, where the Trainer takes the true mean; "
            "regularization losses had their gradient applied on the first replica only; "
            "BestExporter of TF 1.15 let the first evaluation compete with itself, so "
            "that it never was exported; a step that is counted by hand beside an update "
            "that reads it had no order."
        ),
        safety=Safety.CHANGES_NUMBERS,
    ),
)
