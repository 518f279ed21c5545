"""Recognises ``Estimator(model_fn)`` programs whose model can become layers."""

from __future__ import annotations

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.statements import names_in
from ..code.tree import Body, Statement, Tree, walk
from ..estimator.calls import read_calls
from ..estimator.config import read_run_config
from ..estimator.places import find_place
from ..estimator.strategies import hoisted, read_strategy
from ..estimator.warm_start import BY_NAME
from ..hooks.specs import with_spec_hooks
from ..inputs.effects import has_effects
from ..keras.program import ragged_difference
from ..program import (
    CallKind,
    Difference,
    EstimatorCall,
    TrainingPlan,
)
from ..sites import Blocked, ModelFnSites, Program
from .forward import ReadForward
from .lasting import (
    check_lasting,
    moves,
)
from .reader import ModelFn, read_model_fn
from .summaries import summary_functions

__all__ = ["MODEL_FN_ESTIMATORS", "recognise_model_fn"]

MODEL_FN_ESTIMATORS = ("tf.estimator.Estimator",)

_PARAMETERS = ("model_fn", "model_dir", "config", "params", "warm_start_from")


def recognise_model_fn(
    tree: Tree, call: cst.Call, read_forward: ReadForward
) -> Program:
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
    uses = read_calls(tree, place, config)
    calls, drop = uses.calls, uses.drop
    differences += uses.differences
    evaluates = any(plan.evaluates for plan, _ in calls)
    predicts = any(plan.predicts for plan, _ in calls)
    first = statement
    if not place.travels:
        made_before = _first_statement(tree, *calls[0], body)
        # A class makes its variables from whatever data it sees first.
        moved = made_before is not None and moves(tree, place, made_before)
        if made_before is None or moved:
            # Made where it was, with the values that its arguments had there.
            place.travels, made_before = True, None
        first = made_before or statement
    model = read_model_fn(
        tree,
        given["model_fn"],
        read_forward,
        evaluates=evaluates,
        predicts=predicts,
        exports=any(plan.receiver is not None for plan, _ in calls),
    )
    check_lasting(tree, place, given.get("params"), model.definition)
    calls[:] = [(with_spec_hooks(plan, model.hooks), node) for plan, node in calls]
    assert model.train is not None
    if model.train.per_example and strategy.symbol is not None:
        differences.append(ragged_difference(line))
    if model.summaries or _writes_summaries(tree, model):
        where = tree.line(model.definition)
        if config.writes_events:
            reason = "model_fn: its summaries, which `save_summary_steps` asks for"
            raise Blocked("TFM103", where, reason)
        message = "the summaries of the model_fn are not written any more"
        differences.append(Difference("TFM141", where, message, needs_review=True))
    differences += model.hooks.differences
    _check_steps(tree, model)
    for key, output in model.exports:
        if output.method != "predict":
            differences.append(
                Difference(
                    "TFM144",
                    tree.line(model.definition),
                    f"the exported signature `{key}` answers Predict requests; "
                    f"it was made for {output.method.capitalize()}",
                    needs_review=True,
                )
            )
    assert model.model is not None
    updates = model.train_op.updates or "UPDATE_OPS" in tree.code(model.definition)
    if model.normalised and not updates:
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
    drop.extend(summary_functions(tree, model.definition))
    drop.extend(made)
    plan_of_model = model.plan(None if params is None else tree.code(params))
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
    return Program(plan, sites, place.travels)


def _sums(tree: Tree) -> bool:
    """A function of tf.losses is asked for a sum, whose gradients are not averaged."""
    return any(
        isinstance(node, cst.Call)
        and (tree.symbol(node.func) or "").startswith("tf.losses.")
        and any(
            (tree.symbol(a.value) or "").endswith("Reduction.SUM") for a in node.args
        )
        for node in walk(tree.module)
    )


def _writes_summaries(tree: Tree, model: ModelFn) -> bool:
    """A summary stands behind the forward pass, where nothing keeps it."""
    return any(
        isinstance(node, cst.Call)
        and (tree.symbol(node.func) or "").startswith("tf.summary.")
        for node in walk(model.definition.body)
    )


# These move every row of a table in Keras, and only those of the batch in tf.train.
_LAZY = ("Momentum", "RMSProp", "Ftrl", "Adadelta")


def _check_steps(tree: Tree, model: ModelFn) -> None:
    """Blocked where the optimizers of Keras would take other steps.

    TF 1's momentum took all that it gathered by the rate of the step; Keras gathers
    steps, which are the same only as long as the rate is.
    """
    assert model.model is not None
    line = tree.line(model.definition)
    looks_up = any("Embedding(" in code for code in model.model.init)
    for plan in model.train_op.optimizers:
        name = plan.symbol.rpartition(".")[2]
        if looks_up and name.startswith(_LAZY):
            reason = f"model_fn: `{name}` leaves rows alone that a batch does not use"
            raise Blocked("TFM117", line, reason)
        momentum = dict(plan.arguments).get("momentum", "0.0")
        gathers = name == "MomentumOptimizer" and momentum not in ("0", "0.0")
        if gathers and _decays(model):
            reason = "model_fn: momentum with a rate that changes"
            raise Blocked("TFM117", line, reason)


def _decays(model: ModelFn) -> bool:
    """The learning rate is a schedule."""
    train = model.train_op
    given = [value for plan in train.optimizers for _, value in plan.arguments]
    texts = (*given, *train.setup)
    return any("schedules." in text for text in texts)


def _check_free(
    tree: Tree,
    model: ModelFn,
    params: cst.BaseExpression | None,
    body: Body,
    line: int,
) -> None:
    """The values that a model_fn saw get their names where the loop stands."""
    if not model.has_params:
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
