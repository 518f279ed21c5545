"""What a program asks of its Estimator: train, evaluate, train_and_evaluate."""

from __future__ import annotations

import libcst as cst

from .arguments import UnknownArguments, is_none, match_arguments, may_be_none
from .hooks import read_hooks
from .inputs import read_input
from .program import CallKind, EstimatorCall
from .sites import Blocked
from .tree import Body, Statement, Tree, only_small

__all__ = ["own_statement", "read_calls"]

_CALLS = {
    CallKind.TRAIN: ("input_fn", "hooks", "steps", "max_steps", "saving_listeners"),
    CallKind.EVALUATE: ("input_fn", "steps", "hooks", "checkpoint_path", "name"),
}
_SPECS = {
    "tf.estimator.TrainSpec": ("input_fn", "max_steps", "hooks"),
    "tf.estimator.EvalSpec": (
        "input_fn",
        "steps",
        "name",
        "hooks",
        "exporters",
        "start_delay_secs",
        "throttle_secs",
    ),
}
_TOGETHER = "tf.estimator.train_and_evaluate"

_Found = tuple[
    list[tuple[EstimatorCall, cst.Call]], list[cst.ClassDef], list[Statement]
]


def read_calls(tree: Tree, variable: str, statement: Statement) -> _Found:
    """All uses of the estimator, which must all be calls that are understood.

    Also gives the hook classes they use, and the statements that only they need.
    """
    assign = only_small(statement)
    binding = next(
        b
        for scope in tree.resolver.scopes.opened.values()
        for b in scope.bindings.get(variable, ())
        if b.value is not None and tree.parent(b.value) is assign
    )
    line = tree.line(statement)
    if len(binding.scope.bindings[variable]) != 1:
        raise Blocked("TFM110", line, "the estimator is rebound")
    body = tree.body(statement)
    assert body is not None
    calls: list[tuple[EstimatorCall, cst.Call]] = []
    classes: list[cst.ClassDef] = []
    drop: list[Statement] = []
    for use in tree.uses(binding):
        parent = tree.parent(use)
        call = tree.parent(parent) if parent is not None else None
        together = isinstance(parent, cst.Arg) and isinstance(call, cst.Call)
        if (
            together
            and isinstance(call, cst.Call)
            and (tree.symbol(call.func) == _TOGETHER)
        ):
            plan, hooks = _train_and_evaluate(tree, call, body, drop)
        elif (
            isinstance(parent, cst.Attribute)
            and parent.value is use
            and isinstance(call, cst.Call)
            and call.func is parent
            and parent.attr.value in _CALLS
        ):
            plan, hooks = _call(tree, parent.attr.value, call)
        else:
            shown = tree.code(parent) if isinstance(parent, cst.Attribute) else variable
            raise Blocked(
                "TFM110", tree.line(use), f"no loop equivalent yet for `{shown}`"
            )
        alone = isinstance(tree.parent(call), cst.Expr)
        if plan.kind in CallKind.TRAINING and not alone:
            reason = f"the result of {plan.kind} is used"
            raise Blocked("TFM110", tree.line(use), reason)
        calls.append((plan, call))
        classes.extend(h for h in hooks if h not in classes)
    if not calls:
        raise Blocked("TFM110", line, "the estimator is never used here")
    calls.sort(key=lambda pair: (pair[0].line, tree.column(pair[1])))
    return calls, classes, drop


def _train_and_evaluate(
    tree: Tree, call: cst.Call, body: Body, drop: list[Statement]
) -> tuple[EstimatorCall, list[cst.ClassDef]]:
    line = tree.line(call)
    try:
        given = match_arguments(call, ("estimator", "train_spec", "eval_spec"))
    except UnknownArguments as problem:
        raise Blocked("TFM110", line, f"train_and_evaluate with {problem}") from None
    train = _spec(tree, given.get("train_spec"), "tf.estimator.TrainSpec", line)
    test = _spec(tree, given.get("eval_spec"), "tf.estimator.EvalSpec", line)
    for name in ("hooks", "exporters", "name"):
        if not is_none(test.get(name)):
            raise Blocked("TFM110", line, f"EvalSpec(`{name}`=)")
    for node in (given["train_spec"], given["eval_spec"]):
        found = own_statement(tree, node, body, "spec")
        if found is not None:
            drop.append(found)
    hooks = read_hooks(tree, train.get("hooks"))
    steps = test.get("steps")
    limit = train.get("max_steps")
    plan = EstimatorCall(
        kind=CallKind.TRAIN_AND_EVALUATE,
        line=line,
        input=read_input(tree, train["input_fn"]),
        max_steps=None if limit is None or is_none(limit) else tree.code(limit),
        limit_optional=may_be_none(tree, limit),
        hooks=tuple(hook for hook, _ in hooks),
        evaluated_input=read_input(tree, test["input_fn"]),
        # EvalSpec's own default is a hundred batches.
        evaluated_steps="100"
        if steps is None
        else None
        if is_none(steps)
        else tree.code(steps),
        throttle_seconds=tree.code(test["throttle_secs"])
        if "throttle_secs" in test
        else "600",
    )
    return plan, [cls for _, cls in hooks]


def _spec(
    tree: Tree, node: cst.BaseExpression | None, symbol: str, line: int
) -> dict[str, cst.BaseExpression]:
    value = tree.value(node)
    if not isinstance(value, cst.Call) or tree.symbol(value.func) != symbol:
        raise Blocked("TFM110", line, f"the {symbol.rpartition('.')[2]} is not seen")
    try:
        given = match_arguments(value, _SPECS[symbol])
    except UnknownArguments as problem:
        raise Blocked("TFM110", line, f"a spec with {problem}") from None
    if "input_fn" not in given:
        raise Blocked("TFM110", line, "a spec without input_fn")
    return given


def _call(
    tree: Tree, kind: str, call: cst.Call
) -> tuple[EstimatorCall, list[cst.ClassDef]]:
    line = tree.line(call)
    try:
        given = match_arguments(call, _CALLS[kind])
    except UnknownArguments as problem:
        raise Blocked("TFM110", line, f"{kind} with {problem}") from None
    for name in ("saving_listeners", "checkpoint_path"):
        if not is_none(given.get(name)):
            raise Blocked("TFM110", line, f"{kind}(`{name}`=)")
    if "input_fn" not in given:
        raise Blocked("TFM110", line, f"{kind} without input_fn")
    hooks = read_hooks(tree, given.get("hooks"))
    if hooks and kind != CallKind.TRAIN:
        raise Blocked("TFM116", line, f"hooks given to {kind}")

    def text(name: str) -> str | None:
        node = given.get(name)
        return None if node is None or is_none(node) else tree.code(node)

    plan = EstimatorCall(
        kind=kind,
        line=line,
        input=read_input(tree, given["input_fn"]),
        steps=text("steps"),
        max_steps=text("max_steps"),
        limit_optional=may_be_none(tree, given.get("steps") or given.get("max_steps")),
        hooks=tuple(hook for hook, _ in hooks),
        name=text("name"),
    )
    return plan, [cls for _, cls in hooks]


def own_statement(
    tree: Tree, node: cst.BaseExpression | None, body: Body, what: str
) -> Statement | None:
    """The assignment behind a name that only this program reads."""
    binding = tree.assigned(node)
    if binding is None or binding.value is None:
        return None
    line = tree.line(binding.value)
    statement = tree.statement(binding.value)
    if len(tree.uses(binding)) != 1:
        raise Blocked("TFM112", line, f"the {what} is used elsewhere too")
    if tree.body(statement) is not body:
        raise Blocked("TFM112", line, f"the {what} is made elsewhere")
    return statement
