"""Hooks that a model_fn gives with its spec for training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import libcst as cst

from ..code.arguments import is_none
from ..code.statements import latest, loads
from ..code.tree import Statement
from ..model_fn.source import Source
from ..program import CallKind, EstimatorCall, StockHooks
from ..sites import Blocked
from .own import Hooks
from .stock import read_stock_hook

__all__ = ["read_spec_hooks", "with_spec_hooks"]

_RULE = "TFM116"
# Of these, the call's own may stand beside those of the spec.
_PRINTED = ("log_steps", "log_end", "rate_steps")


def read_spec_hooks(
    source: Source,
    statements: Sequence[Statement],
    node: cst.BaseExpression | None,
    loss: str,
    found: Hooks,
) -> Hooks:
    """Add the hooks behind ``training_hooks``, as the statements made them."""
    tree = source.tree
    value = latest(tree, statements, node)
    if value is None or is_none(value):
        return found
    if not isinstance(value, (cst.List, cst.Tuple)):
        raise Blocked(_RULE, tree.line(value), "hooks of the spec that are not seen")
    scope = tree.resolver.scopes.opened.get(source.defined)
    local = set() if scope is None else set(scope.bindings)
    for element in value.elements:
        made = latest(tree, statements, element.value)
        line = tree.line(element.value)
        symbol = tree.symbol(made.func) if isinstance(made, cst.Call) else None
        shown = symbol or tree.code(element.value)
        asked = None
        if isinstance(made, cst.Call) and symbol is not None:
            asked = read_stock_hook(tree, made, symbol, found.stock, loss)
        if asked is None:
            reason = f"the spec has the hook `{shown}`, which is none of TensorFlow's"
            raise Blocked(_RULE, line, reason)
        before = found.stock
        found.stock, differences, _ = asked
        found.differences += differences
        assert isinstance(made, cst.Call)
        _check_settings(source, made, _new(before, found.stock), local)
    return found


def _new(before: StockHooks, after: StockHooks) -> list[str]:
    """Source text of the settings that a hook added."""
    return [
        value
        for each in fields(StockHooks)
        if isinstance(value := getattr(after, each.name), str)
        and value != getattr(before, each.name)
    ]


def _check_settings(
    source: Source, made: cst.Call, texts: Sequence[str], local: set[str]
) -> None:
    """The loop stands elsewhere: its settings may not be names of the model_fn."""
    for argument in made.args:
        if source.tree.code(argument.value) in texts:
            hidden = sorted(loads(source.tree, argument.value) & local)
            if hidden:
                reason = f"a hook of the spec depends on `{hidden[0]}`"
                raise Blocked(_RULE, source.tree.line(argument), reason)


def with_spec_hooks(call: EstimatorCall, hooks: Hooks) -> EstimatorCall:
    """A train call with what the hooks of the spec ask of its loop."""
    if call.kind not in CallKind.TRAINING:
        return call
    changes = {}
    nothing = StockHooks()
    for each in fields(StockHooks):
        own, more = getattr(call.stock, each.name), getattr(hooks.stock, each.name)
        if more == getattr(nothing, each.name) or own == more:
            continue
        if own == getattr(nothing, each.name):
            changes[each.name] = more
        elif each.name not in _PRINTED:
            reason = "hooks of the spec and of train ask for different things"
            raise Blocked(_RULE, call.line, reason)
    return replace(call, stock=replace(call.stock, **changes))
