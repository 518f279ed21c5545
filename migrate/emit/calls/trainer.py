"""The loop as a class, for Estimators that are returned, passed on or stored.

Its methods have the names of the Estimator's, so that calls stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from ...plan.code.arguments import is_none
from ...plan.code.statements import names_in
from ...plan.code.tree import Statement, statements_of
from ...plan.program import CallKind, EstimatorCall, InputPlan
from ...plan.sites import Blocked
from ..module.layout import fit, one_line
from ..module.names import rename
from ..module.spacing import space_definitions
from ..module.template import parse_statements
from .exports import rename_export

if TYPE_CHECKING:
    from ..programs.loop import LoopEmitter

__all__ = ["Trainer", "per_class"]

_WHAT = {
    CallKind.TRAIN: "train",
    CallKind.EVALUATE: "evaluate",
    CallKind.PREDICT: "predict",
    CallKind.TRAIN_AND_EVALUATE: "train_and_evaluate",
    CallKind.EXPORT: "export",
}


def per_class(emitter: LoopEmitter) -> None:
    """Raise Blocked where calls differ in a way that one class cannot serve."""
    trains = emitter.plan.trains
    if len({call.stock for call in trains}) > 1:
        raise Blocked("TFM116", trains[0].line, "train calls with different hooks")
    methods = {h.methods for call in trains for h in call.hooks}
    if len(methods) > 1:
        raise Blocked("TFM116", trains[0].line, "hooks with different methods")
    trainer = emitter.trainer
    for call in trains:
        for rule in (*call.stock.no_change, *call.stock.crossed):
            if trainer is not None and not all(trainer.visible(c) for c in rule[2:]):
                raise Blocked("TFM116", call.line, "early stopping with local settings")
    together = [c for c in trains if c.kind == CallKind.TRAIN_AND_EVALUATE]
    if len({(c.evaluated_steps, c.throttle_seconds) for c in together}) > 1:
        raise Blocked("TFM110", together[0].line, "several kinds of EvalSpec")


class Trainer:
    """Collects what the class's constructor takes, and writes the class."""

    def __init__(self, emitter: LoopEmitter) -> None:
        self.emitter = emitter
        names = emitter.names
        self.name = names.fresh("Trainer")
        if self.name != "Trainer":
            self.name = names.fresh(self.name.replace("_", ""))
        # parameter of __init__ -> argument at the place of the Estimator
        self.parameters: dict[str, str] = {}
        self.members: list[str] = []

    def visible(self, code: str, place: cst.CSTNode | None = None) -> bool:
        """The code means the same at module level as at the place.

        That is where the Estimator is made when no other is given.
        """
        tree = self.emitter.tree
        scopes = tree.resolver.scopes
        local: set[str] = set()
        place = place or self.emitter.program.sites.estimator_statement
        for node in tree.ancestors(place):
            scope = scopes.opened.get(node)
            if scope is not None and not isinstance(node, cst.Module):
                local |= set(scope.bindings)
        return not names_in(one_line(code)) & local

    def setting(self, name: str, code: str | None) -> str | None:
        """A setting's code for use in methods; kept as a member when it is local."""
        if code is None or self.visible(code):
            return code
        self.parameters.setdefault(name, code)
        member = f"self.{name} = {name}\n"
        if member not in self.members:
            self.members.append(member)
        return f"self.{name}"

    def argument(self, name: str, code: str) -> str:
        """A parameter of the constructor that is used there only."""
        self.parameters[name] = code
        return name

    def member(self, name: str, code: str) -> None:
        """An argument that is kept under the same name."""
        self.parameters[name] = code
        self.members.append(f"self.{name} = {name}\n")

    def call(self) -> str:
        """``Trainer(model, ..., model_dir=...)``."""
        inside = []
        for name, code in self.parameters.items():
            code = one_line(code)
            inside.append(code if code == name else f"{name}={code}")
        # Arguments by position stand first.
        inside.sort(key=lambda text: not text.isidentifier())
        return f"{self.name}({', '.join(inside)})"

    def parameter_list(self) -> str:
        """The constructor's parameters, in the order of the call."""
        named = sorted(self.parameters.items(), key=lambda pair: pair[0] != pair[1])
        return ", ".join(["self", *(name for name, _ in named)])

    def class_definition(
        self, init: Sequence[Statement], methods: Sequence[Statement]
    ) -> Statement:
        """The class, with functions turned to methods."""
        emitter = self.emitter
        does = sorted({_WHAT.get(c.kind, "") for c in emitter.plan.calls} - {""})
        words = {
            "train": "trains",
            "evaluate": "evaluates",
            "export": "exports",
            "predict": "predicts with",
        }
        said = [word for name, word in words.items() if name in does]
        if "train_and_evaluate" in does and not said:
            said = ["trains", "evaluates"]
        text = (", ".join(said[:-1]) + " and " if said[1:] else "") + said[-1]
        docstring = f"{text[:1].upper()}{text[1:]} the model, as its Estimator did."
        code = f'class {self.name}:\n    """{docstring}"""\n'
        (made,) = parse_statements(code)
        (constructor,) = parse_statements(
            f"def __init__({self.parameter_list()}):\n    pass\n"
        )
        assert isinstance(constructor.body, cst.IndentedBlock)
        constructor = constructor.with_changes(
            body=constructor.body.with_changes(body=list(init))
        )
        assert isinstance(made.body, cst.IndentedBlock)
        body = [
            *statements_of(made.body),
            constructor,
            *(_method(statement) for statement in methods),
        ]
        body = space_definitions(body, top_level=False)
        made = made.with_changes(body=made.body.with_changes(body=body))
        return fit(emitter.tree.module, [made], 0)[0]

    # -- the calls --------------------------------------------------------------

    def edit_call(self, call: EstimatorCall, node: cst.Call) -> None:
        """Arguments that changed their meaning; the rest of a call stays."""
        edits = self.emitter.edits
        if call.kind == CallKind.TRAIN_AND_EVALUATE:
            edits.expressions[node] = self._together(call, node)
            return
        if call.kind == CallKind.EXPORT:
            assert isinstance(node.func, cst.Attribute)
            owner = self.emitter.tree.code(node.func.value)
            rename_export(self.emitter, call, node, f"{owner}.export")
            return
        kept = []
        for index, argument in enumerate(node.args):
            name = argument.keyword.value if argument.keyword is not None else None
            name = name or _POSITIONS[call.kind][index]
            value = argument.value
            if name == "input_fn":
                value = self._input(call, node, value)
            elif name == "hooks":
                if not call.hooks:
                    continue
                codes = ", ".join(hook.listed for hook in call.hooks)
                value = cst.parse_expression(f"[{codes}]")
            elif name in ("name", "yield_single_examples") or is_none(value):
                # The methods have what means something to them, None by default.
                continue
            keyword = None if name == "input_fn" else cst.Name(name)
            if argument.keyword is not None:
                keyword = argument.keyword
            changed = argument.with_changes(value=value, keyword=keyword)
            if keyword is not None and argument.keyword is None:
                nothing = cst.SimpleWhitespace("")
                equal = cst.AssignEqual(
                    whitespace_before=nothing, whitespace_after=nothing
                )
                changed = changed.with_changes(equal=equal)
            kept.append(changed)
        if list(node.args) != kept:
            last = node.args[-1]
            kept[-1] = kept[-1].with_changes(
                comma=last.comma, whitespace_after_arg=last.whitespace_after_arg
            )
            changed_call = node.with_changes(args=kept)
            edits.expressions[node] = changed_call
            if call.hooks:
                code = one_line(self.emitter.tree.code(changed_call))
                fitted = self.emitter.fitted_expression(node, code)
                edits.expressions[node] = fitted

    def _input(
        self, call: EstimatorCall, node: cst.Call, value: cst.BaseExpression
    ) -> cst.BaseExpression:
        """The input function without the arguments that Estimators passed."""
        assert call.input is not None
        tree = self.emitter.tree
        if isinstance(value, cst.Lambda) and not value.params.params:
            return value
        dataset = self.emitter.text(one_line(call.input.dataset))
        assert isinstance(node.func, cst.Attribute)
        dataset = self._with_params(call.input, dataset, node.func.value)
        if dataset == f"{tree.code(value)}()":
            return value
        if dataset.endswith("()") and tree.code(value) == dataset[:-2]:
            return value
        return cst.parse_expression(f"lambda: {dataset}")

    def _with_params(
        self, plan: InputPlan, dataset: str, owner: cst.BaseExpression
    ) -> str:
        """The input function reads the params of the object, as of the Estimator."""
        if not plan.needs_params:
            return dataset
        kept = f"{self.emitter.tree.code(owner)}.params"
        return rename(dataset, {"params": kept}).strip()

    def _together(self, call: EstimatorCall, node: cst.Call) -> cst.BaseExpression:
        tree = self.emitter.tree
        owner = next(
            a.value
            for i, a in enumerate(node.args)
            if (a.keyword.value if a.keyword else "") == "estimator"
            or (a.keyword is None and i == 0)
        )
        given = []
        for plan in (call.input, call.evaluated_input):
            assert plan is not None
            dataset = self.emitter.text(one_line(plan.dataset))
            dataset = self._with_params(plan, dataset, owner)
            bare = dataset[:-2] if dataset.endswith("()") else ""
            named = bare.replace(".", "").isidentifier()
            given.append(bare if named else f"lambda: {dataset}")
        if call.max_steps is not None:
            given.append(f"max_steps={call.max_steps}")
        if call.hooks:
            codes = ", ".join(hook.listed for hook in call.hooks)
            given.append(f"hooks=[{codes}]")
        code = f"{tree.code(owner)}.train_and_evaluate({', '.join(given)})"
        return self.emitter.fitted_expression(node, code)


_POSITIONS = {
    CallKind.TRAIN: ("input_fn", "hooks", "steps", "max_steps"),
    CallKind.EVALUATE: ("input_fn", "steps", "hooks", "checkpoint_path", "name"),
    CallKind.PREDICT: ("input_fn", "predict_keys", "hooks"),
}


def _method(statement: Statement) -> Statement:
    """A function with ``self`` in front of its parameters."""
    if not isinstance(statement, cst.FunctionDef):
        return statement
    params = statement.params
    if params.params and params.params[0].name.value == "self":
        return statement
    me = cst.Param(cst.Name("self"))
    return statement.with_changes(
        params=params.with_changes(params=[me, *params.params])
    )
