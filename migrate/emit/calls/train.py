"""Train calls: each becomes a loop where it stands, or they share a function."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from ...plan.code.tree import Statement, statements_of
from ...plan.estimator.results import METRICS, PAIR, unpacked
from ...plan.program import (
    CallKind,
    EstimatorCall,
    HookPlan,
    InputPlan,
    RunConfigPlan,
    StockHooks,
)
from ..module.layout import fit, one_line
from ..module.spacing import from_comment, space_definitions, with_blank_lines
from ..module.template import parse_statements, unshadowed
from .evaluations import evaluations
from .event_files import writes_events
from .hook_class import RENAMED
from .limits import is_optional, last_step
from .paces import steps_alone

if TYPE_CHECKING:
    from ..programs.loop import LoopEmitter

__all__ = ["TrainCalls", "function_form", "input_argument"]

# The hooks of a function's parameter.
_EACH = "hooks"


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
        # The variables with the last evaluation's figures and its exports.
        self.kept = "results"
        self.exported = "exports"

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
        if call.gives:
            self.kept = unpacked(self.tree, node) or self.names.fresh("results")
            self.exported = self.names.fresh("exports")
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
        statements += self._given(call, node)
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

    def _given(self, call: EstimatorCall, node: cst.Call) -> list[Statement]:
        """The statement that takes what train_and_evaluate returned."""
        if not call.gives or unpacked(self.tree, node) is not None:
            return []
        statement = self.tree.statement(node)
        taken: cst.CSTNode = node
        if call.gives == METRICS:
            taken = self.tree.parent(node) or node
        new = cst.parse_expression(self.results(call))
        changed = statement.with_changes(leading_lines=[]).deep_replace(taken, new)
        assert isinstance(changed, cst.SimpleStatementLine)
        return [changed]

    def results(self, call: EstimatorCall) -> str:
        """What train_and_evaluate gave, as the loop's own variables."""
        if call.gives == METRICS:
            return self.kept
        exported = self.exported if call.exporters else "[]"
        return f"{self.kept}, {exported}"

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
        """What the program's train calls share: a function, or methods."""
        kinds = {call.kind for call in self.plan.trains}
        made = []
        if CallKind.TRAIN in kinds:
            made.append(self._function())
        if CallKind.TRAIN_AND_EVALUATE in kinds:
            made.append(self._together())
        return made

    def _function(self) -> Statement:
        """``train(input_fn)`` with the limits that the program's calls use."""
        emitter = self.emitter
        trains = [c for c in self.plan.trains if c.kind == CallKind.TRAIN]
        limits = self._limits()
        hooks = [hook for call in trains for hook in call.hooks]
        call = EstimatorCall(
            kind=CallKind.TRAIN,
            line=0,
            input=InputPlan("input_fn()"),
            steps="steps" if "steps" in limits else None,
            max_steps="max_steps" if "max_steps" in limits else None,
            limit_optional=bool(limits),
            hooks=_any_of(hooks),
            stock=self._stock(trains[0]),
        )
        parameters = ["input_fn", *(["hooks=()"] if hooks else [])]
        parameters += [f"{name}=None" for name in limits]
        docstring = "Trains on the data of `input_fn`."
        return self._defined(
            emitter.renamed["train"], parameters, docstring, call, "input_fn"
        )

    def _limits(self) -> list[str]:
        """The limits that any of the program's calls of train sets."""
        trains = [c for c in self.plan.trains if c.kind == CallKind.TRAIN]
        return [
            name
            for name in ("steps", "max_steps")
            if any(getattr(call, name) is not None for call in trains)
        ]

    def _together(self) -> Statement:
        """A method ``train_and_evaluate``."""
        trains = [c for c in self.plan.trains if c.kind == CallKind.TRAIN_AND_EVALUATE]
        hooks = [hook for call in trains for hook in call.hooks]
        limited = any(call.max_steps is not None for call in trains)
        first = trains[0]
        call = EstimatorCall(
            kind=CallKind.TRAIN_AND_EVALUATE,
            line=0,
            input=InputPlan("train_input_fn()"),
            max_steps="max_steps" if limited else None,
            limit_optional=any(c.limit_optional for c in trains),
            hooks=_any_of(hooks),
            stock=self._stock(first),
            evaluated_input=InputPlan("eval_input_fn()"),
            evaluated_steps=self.emitter.setting("eval_steps", first.evaluated_steps),
            throttle_seconds=self.emitter.setting("throttle", first.throttle_seconds)
            or "600",
            # Callers of a method take what they want of the pair.
            gives=PAIR if any(c.gives for c in trains) else "",
        )
        parameters = ["train_input_fn", "eval_input_fn"]
        if limited:
            parameters.append("max_steps=None" if call.limit_optional else "max_steps")
        parameters += ["hooks=()"] if hooks else []
        docstring = "Trains to the end and evaluates at checkpoints."
        return self._defined(
            "train_and_evaluate", parameters, docstring, call, "train_input_fn"
        )

    def _stock(self, call: EstimatorCall) -> StockHooks:
        """What stock hooks ask, as a method can read it."""
        stock, setting = call.stock, self.emitter.setting
        return replace(
            stock,
            stops_if=setting("stops", stock.stops_if or None) or "",
            log_steps=setting("log_steps", stock.log_steps),
            rate_steps=setting("rate_steps", stock.rate_steps),
            num_steps=setting("num_steps", stock.num_steps),
            last_step=setting("last_step", stock.last_step),
            save_steps=setting("save_steps", stock.save_steps),
            save_seconds=setting("save_seconds", stock.save_seconds),
            profile_steps=setting("profile_steps", stock.profile_steps),
            profile_dir=setting("profile_dir", stock.profile_dir) or "",
        )

    def _defined(
        self,
        name: str,
        parameters: list[str],
        docstring: str,
        call: EstimatorCall,
        source: str,
    ) -> Statement:
        emitter = self.emitter
        body: list[Statement] = []
        if emitter.trainer is not None:
            parameters = ["self", *parameters]
            body += emitter.build_call(source)
        assert call.input is not None
        served = call.input.dataset
        if emitter.trainer is not None:
            served = emitter.class_data(source)
        if emitter.replicated:
            body += self._batches(served, "train_batches")
            served = "train_batches()"
        body += self._loop(call, served, local=True)
        if call.gives:
            body += parse_statements(f"return {self.results(call)}\n")
        name = name.removeprefix("self.")
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
        config = self._config(local)
        every = config.summary_steps or "1"
        if not re.fullmatch(r"[\w.]+", every):
            every = f"({every})"
        if stock.save_steps is not None or stock.save_seconds is not None:
            # A hook that saves takes the place of the Estimator's own.
            config = replace(
                config, save_steps=stock.save_steps, save_seconds=stock.save_seconds
            )
        wanted = ["train_iterator", "step", "loss", "done", "last_step", "last_save"]
        names = {n: n if local else self.names.fresh(n) for n in wanted}
        profiles = emitter.options.profile or stock.profile_steps is not None
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
        evaluation = ""
        if call.evaluated_input is not None:
            dataset = one_line(call.evaluated_input.dataset)
            if call.evaluated_steps is not None:
                dataset = f"{dataset}.take({emitter.batches(call.evaluated_steps)})"
            evaluation = f"{emitter.renamed['evaluate']}(lambda _: {dataset})"
            if emitter.trainer is not None:
                limit = f", {call.evaluated_steps}" if call.evaluated_steps else ""
                evaluation = f"self.evaluate(eval_input_fn{limit})"
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
            if hook is call.hooks[0] and hook.code == _EACH:
                variable = "hook"
            elif not variable.isidentifier() or hook.condition:
                variable = self.names.fresh(_snake(hook.class_name))
                chosen = f" if {hook.condition} else None" if hook.condition else ""
                made.append(f"{variable} = {hook.code}{chosen}\n")
            arguments = {"step": step, "loss": f"float({loss})"}
            for method in hook.methods:
                name, parameters = RENAMED[method]
                inside = ", ".join(arguments[p] for p in parameters)
                line = f"{variable}.{name}({inside})\n"
                if hook.code == _EACH:
                    line = f"for hook in hooks:\n    {line}"
                elif hook.condition:
                    line = f"if {variable} is not None:\n    {line}"
                calls[method].append(line)
            if hook.stops:
                asked = f"{variable}.should_stop"
                if hook.code == _EACH:
                    asked = "any(hook.should_stop for hook in hooks)"
                elif hook.condition:
                    asked = f"{variable} is not None and {asked}"
                stops.append(f"if {asked}:\n    break\n")
        per_step = steps_alone(emitter.options, call.hooks)
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
                "X_PROFILE_STEPS": stock.profile_steps or "",
                "X_PROFILE_DIR": stock.profile_dir or profile_dir,
            },
            statements={
                "X_LIMIT": parse_statements(emitter.text(limit)),
                "X_BEGIN": parse_statements("".join(made)) + lines("begin"),
                "X_BEFORE_STEP": lines("before_run"),
                "X_AFTER_STEP": lines("after_run"),
                "X_RUN_STEPS": parse_statements(f"{loss}, {names['done']} = {runs}\n"),
                "X_STOP": parse_statements("".join(stops)),
                **evaluations(self, call, step, evaluation, local=local),
                "X_END": lines("end"),
            },
            flags={
                "X_SAVES_BY_TIME": not by_step,
                "X_SAVES_BY_STEP": by_step,
                "X_PER_STEP": per_step,
                "X_CHUNKED": not per_step,
                "X_PROFILES": profiles,
                "X_PROFILES_ON_DEMAND": emitter.options.profile,
                "X_PROFILES_AGAIN": stock.profile_steps is not None,
                "X_WATCHES_NAN": stock.nan is not None,
                "X_RAISES_NAN": stock.nan == "raise",
                "X_RATED": rated,
                "X_LIMIT_OPTIONAL": optional,
                "X_EVALUATES": together,
            },
            names=names,
        )

    def _config(self, shared: bool) -> RunConfigPlan:
        """The cadence of the RunConfig, as the loop can read it."""
        config = self.plan.config
        if not shared:
            return config
        setting = self.emitter.setting
        return replace(
            config,
            save_steps=setting("save_steps", config.save_steps),
            save_seconds=setting("save_seconds", config.save_seconds),
            log_steps=setting("log_steps", config.log_steps),
            summary_steps=setting("summary_steps", config.summary_steps),
        )


def _any_of(hooks: Sequence[HookPlan]) -> tuple[HookPlan, ...]:
    """One plan for whatever hooks are given to a function."""
    if not hooks:
        return ()
    stops = any(hook.stops for hook in hooks)
    return (HookPlan(_EACH, "", hooks[0].methods, stops),)


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
