"""What a program asks of its Estimator: train, evaluate, predict and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments, may_be_none
from ..code.tree import Body, Statement, Tree
from ..hooks.own import Hooks, read_hooks
from ..inputs.datasets import EVAL, INFER, TRAIN, read_input
from ..program import CallKind, Difference, EstimatorCall
from ..sites import Blocked, InputSites
from .places import Place

__all__ = ["Uses", "own_statement", "read_calls"]

_CALLS = {
    CallKind.TRAIN: ("input_fn", "hooks", "steps", "max_steps", "saving_listeners"),
    CallKind.EVALUATE: ("input_fn", "steps", "hooks", "checkpoint_path", "name"),
    CallKind.PREDICT: (
        "input_fn",
        "predict_keys",
        "hooks",
        "checkpoint_path",
        "yield_single_examples",
    ),
}
_MODES = {
    CallKind.TRAIN: TRAIN,
    CallKind.EVALUATE: EVAL,
    CallKind.PREDICT: INFER,
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


@dataclass
class Uses:
    """All uses of an Estimator, and what belongs to them.

    ``drop`` are statements that only these uses need.
    """

    calls: list[tuple[EstimatorCall, cst.Call]] = field(default_factory=list)
    hook_classes: list[cst.ClassDef] = field(default_factory=list)
    drop: list[Statement] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    inputs: InputSites = field(default_factory=InputSites)
    # ``estimator.model_dir`` where the program reads it.
    directories: list[cst.Attribute] = field(default_factory=list)


def read_calls(tree: Tree, place: Place) -> Uses:
    """All uses of the estimator, which must all be calls that are understood."""
    reader = _Reader(tree)
    for use in place.uses:
        reader.read(use)
    calls = reader.uses.calls
    if not any(plan.kind != CallKind.VALUE for plan, _ in calls):
        line = tree.line(place.call)
        raise Blocked("TFM110", line, "the estimator is never used here")
    predicted = {plan.by_example for plan, _ in calls if plan.kind == CallKind.PREDICT}
    if len(predicted) > 1:
        line = tree.line(place.call)
        raise Blocked("TFM110", line, "predict by example in one call, by batch in one")
    calls.sort(key=lambda pair: (pair[0].line, tree.column(pair[1])))
    _check_directories(tree, place, reader.uses)
    return reader.uses


def _check_directories(tree: Tree, place: Place, uses: Uses) -> None:
    """The directory is that of checkpoints, which come with the first training."""
    first = uses.calls[0][1]
    for node in uses.directories:
        if tree.line(node) <= tree.line(first):
            reason = "its `model_dir` is read before it trains"
            raise Blocked("TFM110", tree.line(node), reason)


class _Reader:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.uses = Uses()

    def read(self, use: cst.BaseExpression) -> None:
        """One place where the estimator is named."""
        tree = self.tree
        parent = tree.parent(use)
        call = tree.parent(parent) if parent is not None else None
        together = isinstance(parent, cst.Arg) and isinstance(call, cst.Call)
        if together and isinstance(call, cst.Call) and self._is_together(call):
            self._add(use, self._train_and_evaluate(call), call)
            return
        if (
            isinstance(parent, cst.Attribute)
            and parent.value is use
            and isinstance(call, cst.Call)
            and call.func is parent
        ):
            method = parent.attr.value
            if method in _CALLS:
                self._add(use, self._call(method, call), call)
                return
            wanted = self._value(method, call)
            if wanted is not None:
                line = tree.line(use)
                plan = EstimatorCall(CallKind.VALUE, line, wanted=wanted)
                self._add(use, plan, call)
                return
        if isinstance(parent, cst.Attribute) and parent.attr.value == "model_dir":
            self.uses.directories.append(parent)
            return
        shown = tree.code(parent if isinstance(parent, cst.Attribute) else use)
        raise Blocked("TFM110", tree.line(use), f"no loop equivalent yet for `{shown}`")

    def _is_together(self, call: cst.Call) -> bool:
        return self.tree.symbol(call.func) == _TOGETHER

    def _add(
        self, use: cst.BaseExpression, plan: EstimatorCall, call: cst.Call
    ) -> None:
        alone = isinstance(self.tree.parent(call), cst.Expr)
        if plan.kind in CallKind.TRAINING and not alone:
            reason = f"the result of {plan.kind} is used"
            raise Blocked("TFM110", self.tree.line(use), reason)
        self.uses.calls.append((plan, call))

    # -- train, evaluate, predict ----------------------------------------------

    def _call(self, kind: str, call: cst.Call) -> EstimatorCall:
        tree, line = self.tree, self.tree.line(call)
        given = self._matched(call, _CALLS[kind], kind)
        for name in ("saving_listeners", "checkpoint_path"):
            if not is_none(given.get(name)):
                raise Blocked("TFM110", line, f"{kind}(`{name}`=)")
        if "input_fn" not in given:
            raise Blocked("TFM110", line, f"{kind} without input_fn")
        if kind != CallKind.TRAIN and not is_none(given.get("hooks")):
            raise Blocked("TFM116", line, f"hooks given to {kind}")
        hooks = read_hooks(tree, given.get("hooks"), line)
        self._note(hooks)
        by_example = given.get("yield_single_examples")
        if by_example is not None and tree.code(by_example) not in ("True", "False"):
            raise Blocked("TFM110", line, "predict(`yield_single_examples`=)")
        return EstimatorCall(
            kind=kind,
            line=line,
            input=read_input(tree, given["input_fn"], _MODES[kind], self.uses.inputs),
            steps=self._text(given, "steps"),
            max_steps=self._text(given, "max_steps"),
            limit_optional=may_be_none(
                tree, given.get("steps") or given.get("max_steps")
            ),
            hooks=hooks.plans,
            stock=hooks.stock,
            keys=self._text(given, "predict_keys"),
            by_example=by_example is None or tree.code(by_example) == "True",
        )

    def _matched(
        self, call: cst.Call, parameters: tuple[str, ...], what: str
    ) -> dict[str, cst.BaseExpression]:
        try:
            return match_arguments(call, parameters)
        except UnknownArguments as problem:
            line = self.tree.line(call)
            raise Blocked("TFM110", line, f"{what} with {problem}") from None

    def _text(self, given: dict[str, cst.BaseExpression], name: str) -> str | None:
        node = given.get(name)
        return None if node is None or is_none(node) else self.tree.code(node)

    def _batches(self, given: dict[str, cst.BaseExpression]) -> str | None:
        """How many batches an evaluation takes; -1 takes all, as None did."""
        code = self._text(given, "steps")
        if code is None or not may_be_none(self.tree, given["steps"]):
            return code
        return f"{code} or -1"

    def _note(self, hooks: Hooks, more: Sequence[Statement] = ()) -> None:
        uses = self.uses
        new = (one for one in hooks.classes if one not in uses.hook_classes)
        uses.hook_classes.extend(new)
        uses.drop.extend(s for s in (*hooks.drop, *more) if s not in uses.drop)
        uses.differences.extend(hooks.differences)

    def _value(self, method: str, call: cst.Call) -> str | None:
        """A figure or a name that the loop knows as well."""
        if method in ("eval_dir", "latest_checkpoint") and not call.args:
            return method
        asked = [self.tree.code(a.value)[1:-1] for a in call.args]
        if method == "get_variable_value" and asked == ["global_step"]:
            return "global_step"
        return None

    # -- train_and_evaluate ------------------------------------------------------

    def _train_and_evaluate(self, call: cst.Call) -> EstimatorCall:
        tree, line = self.tree, self.tree.line(call)
        parameters = ("estimator", "train_spec", "eval_spec")
        given = self._matched(call, parameters, "train_and_evaluate")
        train = self._spec(given.get("train_spec"), "tf.estimator.TrainSpec", line)
        test = self._spec(given.get("eval_spec"), "tf.estimator.EvalSpec", line)
        for name in ("hooks", "exporters"):
            if not is_none(test.get(name)):
                raise Blocked("TFM110", line, f"EvalSpec(`{name}`=)")
        drop = []
        body = tree.body(tree.statement(call))
        if body is None:
            raise Blocked("TFM110", line, "train_and_evaluate inside a statement")
        for node in (given["train_spec"], given["eval_spec"]):
            found = own_statement(tree, node, body, "spec")
            if found is not None:
                drop.append(found)
        hooks = read_hooks(tree, train.get("hooks"), line)
        self._note(hooks, drop)
        steps = test.get("steps")
        limit = train.get("max_steps")
        inputs = self.uses.inputs
        return EstimatorCall(
            kind=CallKind.TRAIN_AND_EVALUATE,
            line=line,
            input=read_input(tree, train["input_fn"], TRAIN, inputs),
            max_steps=self._text(train, "max_steps"),
            limit_optional=may_be_none(tree, limit),
            hooks=hooks.plans,
            stock=hooks.stock,
            evaluated_input=read_input(tree, test["input_fn"], EVAL, inputs),
            # EvalSpec's own default is a hundred batches.
            evaluated_steps="100" if steps is None else self._batches(test),
            throttle_seconds=self._text(test, "throttle_secs") or "600",
        )

    def _spec(
        self, node: cst.BaseExpression | None, symbol: str, line: int
    ) -> dict[str, cst.BaseExpression]:
        value = self.tree.value(node)
        short = symbol.rpartition(".")[2]
        if not isinstance(value, cst.Call) or self.tree.symbol(value.func) != symbol:
            raise Blocked("TFM110", line, f"the {short} is not seen")
        given = self._matched(value, _SPECS[symbol], f"a {short}")
        if "input_fn" not in given:
            raise Blocked("TFM110", line, f"a {short} without input_fn")
        return given


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
