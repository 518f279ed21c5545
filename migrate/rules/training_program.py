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
    "runtime, T4 cannot run even there and stays as it is."
)

# A program that keeps its Estimator, and one that even compat cannot run.
KEEPS, STAYS = "TFM103", "TFM104"
KEPT = "this program keeps its Estimator and runs on tfmigrate.compat"
# A program that stays because of the command line, not because of its source.
CHOICE_NOT_OFFERED = "TFM105"

RULES = (
    Rule(
        id="TFM101",
        name="training-program",
        summary="An Estimator program becomes a strategy-scoped training loop.",
        why=_TIERS,
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM103",
        name="keeps-estimator",
        summary="A program keeps its Estimator and runs on tfmigrate.compat.",
        why=(
            "Something in the program has no proven native equivalent yet; the note "
            "says what. The file that the program starts from calls "
            "`tfmigrate.compat.install()` before anything imports TensorFlow; plain "
            "Python then runs it on today's TensorFlow as `tfmigrate run` does. Every "
            "other file of the program stays as it was, and so does a program that "
            "shares one of them which would have to change. Where nothing among the "
            "given files runs an Estimator's module, whoever imports it makes that "
            "call. To run it without any change: `tfmigrate run`. " + _TIERS
        ),
        safety=Safety.NEEDS_REVIEW,
        advice_only=True,
    ),
    Rule(
        id="TFM104",
        name="untouched-program",
        summary="A training program stays exactly as it is.",
        why=(
            "Neither a native loop nor tfmigrate.compat can take it: it makes an "
            "Estimator of a kind that no TensorFlow of today can train, or imports a "
            "private module that is gone. The reason says which and where. No byte of "
            "the program's files changes. " + _TIERS
        ),
        safety=Safety.NEEDS_REVIEW,
        advice_only=True,
    ),
    Rule(
        id=CHOICE_NOT_OFFERED,
        name="choice-not-offered",
        summary="A program stays as it is because an option has no loop for it.",
        why=(
            "An option of the command line asks for something that cannot be written "
            "for this program; the reason says which and what to choose instead. The "
            "file is left exactly as it was, rather than the option ignored."
        ),
        safety=Safety.NEEDS_REVIEW,
        advice_only=True,
    ),
    Rule(
        id="TFM106",
        name="loop-module",
        summary="A program trains with the loop module; its model_fn stays as it is.",
        why=(
            "No loop of its own could be written for the program; the message says "
            "why. What it says of Estimators, configurations, specs, exporters and "
            "hooks is said of the loop module instead, under the same names, so the "
            "program reads as it did. The module is plain TensorFlow 2 and part of "
            "the project from then on: it traces the model_fn once for each mode and "
            "runs it in an eager loop. Checkpoints keep their names and go on. "
            "In a notebook, and where a single file is rewritten by itself, the module "
            "stands in the file. " + _TIERS
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM107",
        name="added-module",
        summary="A module that rewritten programs import is added to the project.",
        why=(
            "The loop module (training_loop.py, or what --loop-module says) and the "
            "copies of what kept code uses of tf.contrib (tf_contrib.py) are written "
            "once for all programs that can import them, reduced to what these use. "
            "Later rewrites add to them. A file of that name that tfmigrate did not "
            "write is never touched; the programs keep their Estimators then."
        ),
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
        name="replica-scaling",
        summary="Keras Estimators of TF 1.13 to 2.15 scaled the loss twice.",
        why=(
            "With N replicas those versions divided loss and update by N once too "
            "often; TF 1.12 and the rewritten loop use the true mean. A learning rate "
            "tuned on such a version may need to be divided by N."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM131",
        name="ragged-mean",
        summary="A short last batch is averaged over its examples.",
        why=(
            "The Estimator averaged the replicas' averages, so that examples of a "
            "short batch weighed more; the loop divides once, by the true number of "
            "examples on all replicas. Only steps with unequal batches differ."
        ),
        safety=Safety.CHANGES_NUMBERS,
    ),
    Rule(
        id="TFM132",
        name="moving-averages",
        summary="Moving averages of batch normalization are updated.",
        why=(
            "A model_fn that does not run UPDATE_OPS leaves the moving averages as "
            "they were initialised, which spoils evaluation; Keras updates them."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM133",
        name="chosen-strategy",
        summary="The strategy was chosen on the command line.",
        why=(
            "The batch of the input function is per replica: another number of "
            "replicas means another global batch."
        ),
        safety=Safety.CHANGES_NUMBERS,
    ),
    Rule(
        id="TFM134",
        name="mixed-precision",
        summary="The loop computes in mixed precision, as asked.",
        why=(
            "Layers compute in float16 and keep float32 weights; the loss is scaled "
            "while gradients are taken, and a step whose gradients overflow changes "
            "nothing but the scale. The model's outputs and the loss stay float32. "
            "Losses agree with those of float32 to two or three digits."
        ),
        safety=Safety.CHANGES_NUMBERS,
    ),
    Rule(
        id="TFM136",
        name="left-out-of-the-log",
        summary="The loop prints less than the program's hooks did.",
        why=(
            "LoggingTensorHook took tensors out of the graph by name. The loop prints "
            "the loss at the same steps; print what else you want to see from the "
            "training step."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM140",
        name="replicated-regularization",
        summary="Regularization counts in full on several replicas.",
        why=(
            "With N replicas an Estimator added the regularization losses to the "
            "loss of each, but their gradient reached only the first replica's copy "
            "of a weight: 1/N of it was applied (seen on TF 1.15.5). The loop applies "
            "all of it, as one device does; to keep the old strength, divide the "
            "scale by the number of replicas."
        ),
        safety=Safety.CHANGES_NUMBERS,
    ),
    Rule(
        id="TFM142",
        name="off-tpu",
        summary="A TPUEstimator program trains on this machine's devices.",
        why=(
            "With use_tpu=False a TPUEstimator is an Estimator whose batch sizes come "
            "in params and whose metrics are a function; the loop is written for "
            "that. Options that only a TPU system reads go, and so do host calls, "
            "which wrote summaries. For a TPU the loop stays as it is: connect to the "
            "system, and make the strategy a tf.distribute.TPUStrategy."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM145",
        name="session-settings",
        summary="Settings of a RunConfig's sessions are not carried over.",
        why=(
            "session_config set up the sessions of an Estimator: memory growth, "
            "threads, placement. TF 2 has no sessions; the same is set once for the "
            "process, before the first tensor is made: "
            "tf.config.experimental.set_memory_growth(gpu, True), "
            "tf.config.threading.set_intra_op_parallelism_threads(n), "
            "tf.config.set_soft_device_placement(True), "
            "tf.debugging.set_log_device_placement(True)."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
    Rule(
        id="TFM146",
        name="seeded-draws",
        summary="A seed gives other random numbers than in TF 1.",
        why=(
            "TF 1 mixed the seed of the graph with the place of each op in it. The "
            "layers of a loop draw their first weights and their dropout from Keras' "
            "own generators: with a seed they repeat from run to run, but they are not "
            "the ones the Estimator drew, so a single run ends elsewhere by chance. To "
            "compare two runs start both from the same weights, as `tfmigrate verify` "
            "does."
        ),
        safety=Safety.CHANGES_NUMBERS,
    ),
    Rule(
        id="TFM147",
        name="no-order-before",
        summary="What had no order within a step in TF 1 has one.",
        why=(
            "`step.assign(step + 1)` beside an update that reads the step, as in "
            "programs of the BERT family, has no order in a graph of TF 1: its "
            "executor let parts of one update read the old step and others the new "
            "one, for each program in its own way. The weight decay of `contrib.opt` "
            "had no order with the reading of the weights either. Loops and the compat "
            "layer count when all that the update reads has read it, which is what an "
            "optimizer that is given the step does, and take the decay off after the "
            "gradients are computed. So figures can differ from old ones, although "
            "none is wrong. To have the same on both sides, give the step to "
            "`minimize` or `apply_gradients` in the old program."
        ),
        safety=Safety.CHANGES_NUMBERS,
    ),
    Rule(
        id="TFM148",
        name="first-best-export",
        summary="BestExporter exports its first evaluation.",
        why=(
            "BestExporter of TF 1.15 read the figures of earlier evaluations from "
            "event files, where it found the one that it was to judge: the first "
            "evaluation competed with itself and was never exported. The loop exports "
            "it, as TF 2's own did, so there may be one export more."
        ),
        safety=Safety.NEEDS_REVIEW,
    ),
)
