"""Recognises ``model_to_estimator`` programs whose life is visible in one scope."""

from __future__ import annotations

import re

import libcst as cst

from ...rules.written_for import written_for_tf2
from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.substitute import substituted
from ..code.tree import Tree
from ..estimator.calls import read_calls
from ..estimator.config import read_run_config
from ..estimator.places import find_place
from ..estimator.strategies import hoisted, read_strategy
from ..program import (
    Difference,
    KerasModelPlan,
    OptimizerPlan,
    StrategyPlan,
    TrainingPlan,
)
from ..sites import Blocked, KerasSites, Program
from .losses import read_loss, read_metrics
from .model import ModelParts, find_model
from .optimizers import read_keras_optimizer

__all__ = [
    "KERAS_ESTIMATORS",
    "OPTIMIZERS",
    "SCALED_TWICE",
    "ragged_difference",
    "recognise_keras",
]

KERAS_ESTIMATORS = ("tf.keras.estimator.model_to_estimator",)

_PARAMETERS = (
    "keras_model",
    "keras_model_path",
    "custom_objects",
    "model_dir",
    "config",
    "checkpoint_format",
    "metric_names_map",
    "export_outputs",
)

# v1 optimizers: parameters in order. Those of DESIGN's table with an exact Keras
# twin are converted by the emitter.
OPTIMIZERS: dict[str, tuple[str, ...]] = {
    "tf.train.AdamOptimizer": (
        "learning_rate",
        "beta1",
        "beta2",
        "epsilon",
        "use_locking",
        "name",
    ),
    "tf.train.GradientDescentOptimizer": ("learning_rate", "use_locking", "name"),
    "tf.train.MomentumOptimizer": (
        "learning_rate",
        "momentum",
        "use_locking",
        "name",
        "use_nesterov",
    ),
    "tf.train.RMSPropOptimizer": (
        "learning_rate",
        "decay",
        "momentum",
        "epsilon",
        "use_locking",
        "centered",
        "name",
    ),
    "tf.train.AdadeltaOptimizer": (
        "learning_rate",
        "rho",
        "epsilon",
        "use_locking",
        "name",
    ),
    "tf.train.FtrlOptimizer": (
        "learning_rate",
        "learning_rate_power",
        "initial_accumulator_value",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "use_locking",
        "name",
        "accum_name",
        "linear_name",
        "l2_shrinkage_regularization_strength",
    ),
    "tf.train.AdagradOptimizer": (
        "learning_rate",
        "initial_accumulator_value",
        "use_locking",
        "name",
    ),
}


def recognise_keras(tree: Tree, call: cst.Call) -> Program:
    """The program around one ``model_to_estimator`` call, or raise Blocked."""
    line = tree.line(call)
    try:
        given = match_arguments(call, _PARAMETERS)
    except UnknownArguments as problem:
        raise Blocked("TFM110", line, f"model_to_estimator with {problem}") from None
    for name in ("keras_model_path", "metric_names_map", "export_outputs"):
        if not is_none(given.get(name)):
            raise Blocked("TFM110", line, f"model_to_estimator(`{name}`=)")
    place = find_place(tree, call)
    statement, body = place.statement, place.body

    config, distribute, made = read_run_config(tree, given, body)
    strategy, strategy_site = read_strategy(tree, distribute, line)

    parts = find_model(tree, given.get("keras_model"), body, statement)
    model = _read_compiled(tree, parts)
    differences: list[Difference] = []
    uses = read_calls(tree, place)
    calls, drop = uses.calls, uses.drop
    differences += uses.differences
    replica_differences(differences, strategy, line)
    differences += frozen_normalization(tree, line)

    drop.extend(made)
    hoist = hoisted(tree, strategy_site, body, parts.statements[0])
    plan = TrainingPlan(
        line=line,
        estimator=place.variable,
        model=model,
        strategy=strategy,
        config=config,
        calls=tuple(plan for plan, _ in calls),
        differences=tuple(differences),
    )
    sites = KerasSites(
        body=body,
        model_statements=parts.statements,
        model_ready=parts.ready,
        compile_statement=parts.compile_statement,
        estimator_statement=statement,
        drop=[*drop, *parts.drop],
        hoist=hoist,
        strategy=strategy_site,
        calls=calls,
        hook_classes=uses.hook_classes,
        directories=uses.directories,
        inputs=uses.inputs,
        call=call,
    )
    return Program(plan, sites)


def _read_compiled(tree: Tree, parts: ModelParts) -> KerasModelPlan:
    arguments = parts.compile_arguments
    line = parts.compile_line
    for name in (
        "loss_weights",
        "sample_weight_mode",
        "weighted_metrics",
        "target_tensors",
        "distribute",
    ):
        if not is_none(arguments.get(name)):
            raise Blocked("TFM113", line, f"compile(`{name}`=)")
    if "optimizer" not in arguments or "loss" not in arguments:
        raise Blocked("TFM113", line, "compile without optimizer or loss")
    optimizer = _read_optimizer(tree, parts, arguments["optimizer"])
    loss, is_object, loss_class = read_loss(tree, arguments["loss"])
    return KerasModelPlan(
        variable=parts.variable,
        optimizer=optimizer,
        per_example_loss=loss,
        loss_is_object=is_object,
        metrics=read_metrics(tree, arguments.get("metrics"), loss_class),
        regularized=parts.regularized,
    )


def _read_optimizer(
    tree: Tree, parts: ModelParts, node: cst.BaseExpression
) -> OptimizerPlan:
    line = parts.compile_line
    known = read_keras_optimizer(tree, substituted(node, parts.substitutes))
    if known is not None:
        return known
    value = tree.value(node)
    symbol = tree.symbol(value.func) if isinstance(value, cst.Call) else None
    if not isinstance(value, cst.Call) or symbol not in OPTIMIZERS:
        shown = symbol or tree.code(node)
        raise Blocked("TFM117", line, f"the optimizer `{shown}` is not converted yet")
    try:
        given = match_arguments(value, OPTIMIZERS[symbol])
    except UnknownArguments as problem:
        raise Blocked("TFM117", line, f"optimizer with {problem}") from None
    for name, argument in given.items():
        made = tree.value(argument)
        made_by = tree.symbol(made.func) if isinstance(made, cst.Call) else None
        if made_by is not None and made_by.startswith("tf."):
            # A tensor of a graph: it would be computed once, and never again.
            raise Blocked(
                "TFM117", line, f"an optimizer's `{name}` made by `{made_by}`"
            )
    return OptimizerPlan(
        symbol=symbol,
        arguments=tuple((n, parts.text(tree, a)) for n, a in given.items()),
        variable=node.value if isinstance(node, cst.Name) else None,
    )


_FROZEN = re.compile(r"\btrainable\s*=\s*False\b")
SCALED_TWICE = (
    "TFM130",
    "with several replicas TF 1.13-2.15 scaled the loss of Keras estimators twice "
    "(updates of 1/N, reported loss of 1/N); the loop uses the true mean, as TF 1.12 "
    "did: check the learning rate",
)


def replica_differences(
    differences: list[Difference], strategy: StrategyPlan, line: int
) -> None:
    if strategy.symbol is None:
        return
    if strategy.symbol.startswith("tf.contrib."):
        differences.append(ragged_difference(line))
    else:
        rule, message = SCALED_TWICE
        differences.append(Difference(rule, line, message, needs_review=True))


def frozen_normalization(tree: Tree, line: int) -> list[Difference]:
    """What frozen layers that normalize do otherwise than in TensorFlow 1."""
    frozen = _FROZEN.search(tree.text) and "BatchNormalization" in tree.text
    if not frozen or written_for_tf2(tree.resolver):
        return []
    return [
        Difference(
            "TFM132",
            line,
            "a batch normalization with `trainable = False` takes its moving averages "
            "in training too; TF 1 took the mean and variance of the batch there",
            needs_review=True,
        )
    ]


def ragged_difference(line: int) -> Difference:
    """What dividing by the true number of examples changes."""
    return Difference(
        "TFM131",
        line,
        "a last set of batches of unequal size is averaged over its examples; "
        "the Estimator averaged the replicas' averages",
    )
