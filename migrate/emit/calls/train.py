"""Train calls: each becomes a loop where it stands, or they share a function."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

import libcst as cst

from ...options import RewriteOptions
from ...plan.code.tree import Statement, statements_of
from ...plan.program import (
    CallKind,
    EstimatorCall,
    InputPlan,
)
from ..module.layout import fit, one_line
from ..module.spacing import from_comment, space_definitions, with_blank_lines
from ..module.template import parse_statements, unshadowed
from .event_files import writes_events
from .hook_class import RENAMED
from .limits import is_optional, last_step

if TYPE_CHECKING:
    from ..programs.loop import LoopEmitter

__all__ = [
    "STEPS_FUNCTIONS",
    "TrainCalls",
    "function_form",
    "input_argument",
    "steps_alone",
]


# Whether each step is a call of its own -> the function that is called.
STEPS_FUNCTIONS = {False: "train_steps", True: "train_next"}


def steps_alone(options: RewriteOptions, call: EstimatorCall) -> bool:
    """Each step is a call of its own: as chosen, or because hooks look at each."""
    return options.loop == "step" or any(
        {"before_run", "after_run"} & set(hook.methods) for hook in call.hooks
    )


def function_form(calls: Sequence[tuple[EstimatorCall, bool]]) -> bool:
    """Several train calls share a function; a single one becomes a loop.

    Each call comes with whether it stands in a loop of the program's.
    """
    trains = [pair for pair in calls if pair[0].kind in CallKind.TRAINING]
    if any(c.hooks or c.kind != CallKind.TRAIN for c, _ in trains):
        return False
    if len({c.stock for c, _ in trains}) > 1:
        return False
    return len(trains) > 1 or any(looped for _, looped in trains)


class TrainCalls:
    """Writes the loops of one program."""

    def __init__(self, emitter: LoopEmitter) -> None:
        self.emitter = emitter
        self.tree = emitter.tree
        self.plan = emitter.plan
        self.names = emitter.names

    # -- the places -------------------------------------------------------------

    def loop(self, call: EstimatorCall, node: cst.Call) -> None:
        """``estimator.train(...)`` becomes a loop."""
        assert call.input is not None
        emitter = self.emitter
        statement = self.tree.statement(node)
        column = self.tree.column(statement) - 1
        top_level = isinstance(self.tree.body(statement), cst.Module)
        served = self._served(call, node)
        definition = []
        if emitter.replicated:
            data = self.names.fresh("train_batches")
            definition = self._batches(served, data)
            served = f"{data}()"
        loop = self._loop(call, served)
        statements = fit(self.tree.module, [*definition, *loop], column)
        statements = space_definitions(statements, top_level=top_level)
        lines = statement.leading_lines
        if any(line.comment is not None for line in lines):
            place = len(definition)
            statements[place] = statements[place].with_changes(
                leading_lines=[*statements[place].leading_lines, *from_comment(lines)]
            )
        statements[0] = with_blank_lines(statements[0], 2 if top_level else 1)
        emitter.edits.replace[statement] = statements
        emitter.edits.own_lines.add(statement)

    def _batches(self, served: str, name: str) -> list[Statement]:
        """The function that serves batches to replicas."""
        code = self.emitter.text(served)
        made = not served.isidentifier()
        # Locals of the function may not hide what the program's own code reads.
        own = ("dataset", "context", "sets") if made else ("context", "sets")
        hidden = unshadowed(own, code)
        return self.emitter.fill(
            "train_data",
            expressions={"X_DATASET": served},
            flags={"X_MADE": made},
            names={
                "train_batches": name,
                **({} if made else {"dataset": served}),
                **hidden,
            },
        )

    def _served(self, call: EstimatorCall, node: cst.Call) -> str:
        """Source of the data of a train call."""
        assert call.input is not None
        emitter = self.emitter
        if node is emitter.program.sites.calls[0][1] and emitter.first_data:
            return emitter.first_data
        return one_line(call.input.dataset)

    def call(self, call: EstimatorCall, node: cst.Call) -> None:
        """``estimator.train(...)`` becomes ``train(...)``."""
        edits = self.emitter.edits
        edits.expressions[node.func] = cst.Name(self.emitter.renamed["train"])
        # What stock hooks asked for is in the function, and no limit is its default.
        gone = {"hooks", "steps", "max_steps"}.difference(self._limits())
        edits.nodes[node] = functools.partial(_without, gone)
        argument = input_argument(node)
        assert call.input is not None
        dataset = self.emitter.text(self._served(call, node))
        if dataset == self.emitter.first_data:
            edits.expressions[argument] = cst.parse_expression(f"lambda: {dataset}")
            return
        if dataset != f"{self.tree.code(argument)}()" and not isinstance(
            argument, cst.Lambda
        ):
            edits.expressions[argument] = cst.parse_expression(f"lambda: {dataset}")

    def functions(self) -> list[Statement]:
        """What the program's train calls share."""
        return [self._function()]

    def _function(self) -> Statement:
        """``train(input_fn)`` with the limits that the program's calls use."""
        emitter = self.emitter
        limits = self._limits()
        call = EstimatorCall(
            kind=CallKind.TRAIN,
            line=0,
            input=InputPlan("input_fn()"),
            steps="steps" if "steps" in limits else None,
            max_steps="max_steps" if "max_steps" in limits else None,
            limit_optional=bool(limits),
            stock=self.plan.trains[0].stock,
        )
        parameters = ["input_fn", *(f"{name}=None" for name in limits)]
        docstring = "Trains on the data of `input_fn`."
        return self._defined(emitter.renamed["train"], parameters, docstring, call)

    def _limits(self) -> list[str]:
        """The limits that any of the program's calls of train sets."""
        trains = [c for c in self.plan.trains if c.kind == CallKind.TRAIN]
        return [
            name
            for name in ("steps", "max_steps")
            if any(getattr(call, name) is not None for call in trains)
        ]

    def _defined(
        self,
        name: str,
        parameters: list[str],
        docstring: str,
        call: EstimatorCall,
    ) -> Statement:
        emitter = self.emitter
        body: list[Statement] = []
        assert call.input is not None
        served = call.input.dataset
        if emitter.replicated:
            body += self._batches(served, "train_batches")
            served = "train_batches()"
        body += self._loop(call, served, local=True)
        code = f'def {name}({", ".join(parameters)}):\n    """{docstring}"""\n'
        (definition,) = parse_statements(code)
        assert isinstance(definition.body, cst.IndentedBlock)
        inner = space_definitions(
            [*statements_of(definition.body), *body], top_level=False
        )
        return definition.with_changes(body=definition.body.with_changes(body=inner))

    # -- the loop ---------------------------------------------------------------

    def _loop(
        self, call: EstimatorCall, served: str, *, local: bool = False
    ) -> list[Statement]:
        """The loop over what ``served`` gives: the data, or a function's batches."""
        emitter, stock = self.emitter, call.stock
        config = self.plan.config
        every = config.summary_steps or "1"
        if not re.fullmatch(r"[\w.]+", every):
            every = f"({every})"
        wanted = ["train_iterator", "step", "loss", "done", "last_step", "last_save"]
        names = {n: n if local else self.names.fresh(n) for n in wanted}
        profiles = emitter.options.profile
        if profiles:
            for name in ("profile_from", "profile_to", "profiling", "edge"):
                names[name] = name if local else self.names.fresh(name)
        if emitter.options.profile:
            names["os"] = emitter.module("os")
        profile_dir = f'f"{{{emitter.renamed["manager"]}.directory}}/profile"'
        names["steps"] = "chunk" if local else self.names.fresh("steps")
        serves = (
            served.removesuffix("()") if emitter.replicated else f"lambda _: {served}"
        )
        together = call.evaluated_input is not None
        shown = ""
        if call.evaluated_input is not None:
            dataset = one_line(call.evaluated_input.dataset)
            if call.evaluated_steps is not None:
                dataset = f"{dataset}.take({emitter.batches(call.evaluated_steps)})"
            evaluation = f"{emitter.renamed['evaluate']}(lambda _: {dataset})"
            shown = f'print(f"step {{{names["step"]}}}:", {evaluation})\n'
            for name in ("last_evaluation", "evaluated"):
                names[name] = name if local else self.names.fresh(name)
        names["time"] = names["started"] = "time"
        by_step = config.save_steps is not None
        rated = stock.rate_steps is not None
        events = writes_events(config)
        if events:
            for name in ("last_written", "written", "per_second", "figures"):
                names[name] = name if local else self.names.fresh(name)
        if not by_step or together or rated or events:
            names["time"] = emitter.module("time")
        if rated:
            names["started"] = "started" if local else self.names.fresh("started")
        step, loss = names["step"], names["loss"]
        calls: dict[str, list[str]] = {name: [] for name in RENAMED}
        made: list[str] = []
        stops: list[str] = []
        for hook in call.hooks:
            variable = hook.code
            if not variable.isidentifier():
                variable = self.names.fresh(_snake(hook.class_name))
                made.append(f"{variable} = {hook.code}\n")
            arguments = {"step": step, "loss": f"float({loss})"}
            for method in hook.methods:
                name, parameters = RENAMED[method]
                inside = ", ".join(arguments[p] for p in parameters)
                calls[method].append(f"{variable}.{name}({inside})\n")
            if hook.stops:
                stops.append(f"if {variable}.should_stop:\n    break\n")
        per_step = steps_alone(emitter.options, call)
        if per_step:
            for name in ("run_step", "rated"):
                names[name] = name if local else self.names.fresh(name)
        many = None if per_step else f"{emitter.tf}.constant({names['steps']})"
        limit, condition = last_step(call, names)
        log_steps = stock.log_steps or stock.rate_steps or config.log_steps or "100"
        # The program's own cadence decides how many steps one call runs.
        terms = [] if emitter.options.loop == "graph" else [log_steps]
        if by_step:
            terms.append(f"{names['last_save']} + {config.save_steps} - {step}")
        if events:
            terms.append(f"{names['last_written']} + {every} - {step}")
        optional = bool(limit) and is_optional(call)
        if limit and not optional:
            terms.append(f"{names['last_step']} - {step}")
        if not terms:
            terms = ["2**31 - 1"]
        chunk = terms[0] if len(terms) == 1 else f"min({', '.join(terms)})"

        iterator = names["train_iterator"]
        if many is None:
            runs = f"{names['run_step']}({iterator})"
        else:
            runs = f"{emitter.renamed['train_steps']}({iterator}, {many})"

        def lines(method: str) -> list[Statement]:
            return parse_statements("".join(calls[method]))

        return emitter.fill(
            "train_loop",
            expressions={
                "X_SERVES": serves,
                "X_CONDITION": condition,
                "X_LOG_STEPS": log_steps,
                "X_CHUNK": chunk,
                "X_SAVE_SECONDS": config.save_seconds or "600",
                "X_SAVE_STEPS": config.save_steps or "",
                "X_THROTTLE": call.throttle_seconds,
                "X_SUMMARY_STEPS": every,
                "X_PROFILE_DIR": profile_dir,
            },
            statements={
                "X_LIMIT": parse_statements(emitter.text(limit)),
                "X_RUN_STEPS": parse_statements(f"{loss}, {names['done']} = {runs}\n"),
                "X_BEGIN": parse_statements("".join(made)) + lines("begin"),
                "X_BEFORE_STEP": lines("before_run"),
                "X_AFTER_STEP": lines("after_run"),
                "X_STOP": parse_statements("".join(stops)),
                "X_EVALUATE": parse_statements(shown),
                "X_END": lines("end"),
            },
            flags={
                "X_SAVES_BY_TIME": not by_step,
                "X_SAVES_BY_STEP": by_step,
                "X_PER_STEP": per_step,
                "X_CHUNKED": not per_step,
                "X_PROFILES": profiles,
                "X_RATED": rated,
                "X_LIMIT_OPTIONAL": optional,
                "X_EVALUATES": together,
            },
            names=names,
        )


def input_argument(node: cst.Call) -> cst.BaseExpression:
    """The ``input_fn`` of a call of the Estimator."""
    for argument in node.args:
        if argument.keyword is not None and argument.keyword.value == "input_fn":
            return argument.value
    return node.args[0].value


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


# What Estimator.train is given, in its order.
_GIVEN = ("input_fn", "hooks", "steps", "max_steps")


def _without(gone: Set[str], node: cst.CSTNode) -> cst.CSTNode:
    """A call of train without the arguments of these names."""
    assert isinstance(node, cst.Call)
    kept = [
        argument
        for name, argument in zip(_GIVEN, node.args, strict=False)
        if (argument.keyword.value if argument.keyword else name) not in gone
    ]
    if len(kept) == len(node.args):
        return node
    last = node.args[-1]
    kept[-1] = kept[-1].with_changes(
        comma=last.comma, whitespace_after_arg=last.whitespace_after_arg
    )
    return node.with_changes(args=kept)
