"""Recognises ``Estimator(model_fn)`` programs whose model can become layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import libcst as cst

from .code.arguments import UnknownArguments, is_none, match_arguments
from .code.statements import names_in
from .code.tree import Body, Statement, Tree
from .estimator.calls import read_calls
from .estimator.config import read_run_config
from .estimator.lasting import check_lasting, moves
from .estimator.places import find_place
from .estimator.strategies import hoisted, read_strategy
from .estimator.warm_start import BY_NAME
from .inputs.effects import has_effects
from .program import CallKind, Difference, EstimatorCall, TrainingPlan
from .sites import Blocked, ModelFnSites, ModelRead, Program

__all__ = ["MODEL_FN_ESTIMATORS", "ReadModel", "recognise_model_fn"]

MODEL_FN_ESTIMATORS = ("tf.estimator.Estimator",)

# Takes the model_fn behind an expression apart, for some modes, or raises Blocked.
ReadModel = Callable[[Tree, cst.BaseExpression, Sequence[str]], ModelRead]

_PARAMETERS = ("model_fn", "model_dir", "config", "params", "warm_start_from")


def recognise_model_fn(tree: Tree, call: cst.Call, read_model: ReadModel) -> Program:
    """The program around one ``Estimator(model_fn)`` call, or raise Blocked."""
    line = tree.line(call)
    try:
        given = match_arguments(call, _PARAMETERS)
    except UnknownArguments as problem:
        raise Blocked("TFM103", line, f"Estimator with {problem}") from None
    if "model_fn" not in given:
        raise Blocked("TFM103", line, "an Estimator without a model_fn")
    place = find_place(tree, call)
    statement, body = place.statement, place.body
    if not is_none(tree.value(given.get("warm_start_from"))):
        raise Blocked("TFM103", line, f"model_fn: {BY_NAME}")
    config, distribute, made = read_run_config(tree, given, body)
    strategy, strategy_site = read_strategy(tree, distribute, line)
    if strategy.symbol is not None and _sums(tree):
        reason = "model_fn: a loss of `Reduction.SUM` is summed over replicas"
        raise Blocked("TFM114", line, reason)
    differences: list[Difference] = []
    uses = read_calls(tree, place)
    calls, drop = uses.calls, uses.drop
    differences += uses.differences
    modes = ["TRAIN"]
    if any(plan.evaluates for plan, _ in calls):
        modes.append("EVAL")
    if any(plan.predicts for plan, _ in calls):
        modes.append("PREDICT")
    first = _first_statement(tree, *calls[0], body)
    if first is None or moves(tree, place, first):
        reason = "what it is made of is not there, or has changed, where it trains"
        raise Blocked("TFM110", line, reason)
    model = read_model(tree, given["model_fn"], modes)
    check_lasting(tree, place, given.get("params"), model.definition)
    _check_steps(tree, model)
    if model.forgets:
        differences.append(
            Difference(
                "TFM132",
                tree.line(model.definition),
                "the moving averages of batch normalization are updated now; "
                "the model_fn never ran their update ops",
                needs_review=True,
            )
        )
    params = given.get("params")
    _check_free(tree, model, params, body, line)
    drop.extend(made)
    code = None if params is None else tree.code(params)
    plan_of_model = replace(model.plan, params=code)
    plan = TrainingPlan(
        line=line,
        estimator=place.variable,
        model=plan_of_model,
        strategy=strategy,
        config=config,
        calls=tuple(plan for plan, _ in calls),
        differences=tuple(differences),
    )
    sites = ModelFnSites(
        body=body,
        model_fn=model.definition,
        first_call=first,
        estimator_statement=statement,
        drop=drop,
        hoist=hoisted(tree, strategy_site, body, first),
        strategy=strategy_site,
        calls=calls,
        hook_classes=uses.hook_classes,
        directories=uses.directories,
        inputs=uses.inputs,
        call=call,
    )
    return Program(plan, sites)


def _sums(tree: Tree) -> bool:
    """A function of tf.losses is asked for a sum, whose gradients are not averaged."""
    return any(
        isinstance(node, cst.Call)
        and (tree.symbol(node.func) or "").startswith("tf.losses.")
        and any(
            (tree.symbol(a.value) or "").endswith("Reduction.SUM") for a in node.args
        )
        for node in tree.nodes
    )


# These move every row of a table in Keras, and only those of the batch in tf.train.
_LAZY = ("Momentum", "RMSProp", "Ftrl", "Adadelta")


def _check_steps(tree: Tree, model: ModelRead) -> None:
    """Blocked where the optimizers of Keras would take other steps.

    TF 1's momentum took all that it gathered by the rate of the step; Keras gathers
    steps, which are the same only as long as the rate is.
    """
    line = tree.line(model.definition)
    plan = model.plan.optimizer
    name = plan.symbol.rpartition(".")[2]
    looks_up = any("Embedding(" in code for code in model.plan.model.init)
    if looks_up and name.startswith(_LAZY):
        reason = f"model_fn: `{name}` leaves rows alone that a batch does not use"
        raise Blocked("TFM117", line, reason)
    momentum = dict(plan.arguments).get("momentum", "0.0")
    gathers = name == "MomentumOptimizer" and momentum not in ("0", "0.0")
    if gathers and model.decays:
        reason = "model_fn: momentum with a rate that changes"
        raise Blocked("TFM117", line, reason)


def _check_free(
    tree: Tree,
    model: ModelRead,
    params: cst.BaseExpression | None,
    body: Body,
    line: int,
) -> None:
    """The values that a model_fn saw get their names where the loop stands."""
    if not model.plan.has_params:
        return
    name, code = "params", "" if params is None else tree.code(params)
    scopes = tree.resolver.scopes
    owner = tree.parent(body) if isinstance(body, cst.IndentedBlock) else None
    here = scopes.opened.get(owner) if owner is not None else None
    for scope in (scopes.module_scope, here):
        if scope is not None and name in scope.bindings and code != name:
            reason = f"the program has another `{name}` where the loop will stand"
            raise Blocked("TFM103", line, reason)


def _first_statement(
    tree: Tree, plan: EstimatorCall, call: cst.Call, body: Body
) -> Statement | None:
    """The statement before which the model is made, from that call's data.

    None where there is no such place.
    """
    first = tree.statement_in(call, body)
    if plan.kind not in CallKind.TRAINING or first is None:
        return None
    assert plan.input is not None
    if first is not tree.statement(call):
        # The data must be known before the loop or function around the call.
        inside = {
            binding.name
            for scope in tree.resolver.scopes.opened.values()
            for bindings in scope.bindings.values()
            for binding in bindings
            if binding.node is first or first in tree.ancestors(binding.node)
        }
        if names_in(plan.input.dataset) & inside or has_effects(tree, call):
            return None
    return first
