"""What every emitted loop has: strategy, checkpoints, train calls, evaluation."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

import libcst as cst

from ..options import RewriteOptions
from ..plan.program import (
    TF,
    CallKind,
    EstimatorCall,
    InputPlan,
    OptimizerPlan,
    TrainingPlan,
)
from ..plan.sites import Program
from ..plan.tree import Tree, only_small, statements_of
from .edits import Edits, Statement
from .hook_class import RENAMED, to_callback
from .layout import fit, one_line
from .mixed_precision import LOSS_SCALING, POLICY
from .names import Names
from .optimizers import convert_optimizer
from .spacing import space_definitions, with_blank_lines
from .strategies import strategy_code
from .template import Filling, fill, parse_statements

__all__ = ["LoopEmitter", "unshadowed"]

_TEMPLATES = "loop"


class LoopEmitter:
    """What all loops share; collects the imports that the code needs."""

    def __init__(
        self,
        tree: Tree,
        program: Program,
        names: Names,
        tf: str,
        *,
        model: str,
        optimizer: str | None,
        options: RewriteOptions,
    ) -> None:
        self.options = options
        self.tree = tree
        self.plan: TrainingPlan = program.plan
        self.program = program
        self.tf = tf
        self.names = names
        self.imports: set[str] = set()
        self.edits = Edits()
        self.inside = not isinstance(program.sites.body, cst.Module)
        self.strategy = self.plan.strategy.variable or names.fresh("strategy")
        self.optimizer = optimizer or names.fresh("optimizer")
        self.renamed = {
            "tf": tf,
            "model": model,
            "strategy": self.strategy,
            "optimizer": self.optimizer,
            **{
                name: names.fresh(name)
                for name in (
                    "checkpoint",
                    "manager",
                    "train_step",
                    "train_steps",
                    *(
                        ("test_loss", "test_metrics", "test_step", "test_steps")
                        if self.evaluates
                        else ()
                    ),
                )
            },
        }
        if self.evaluates:
            self.renamed["evaluate"] = names.fresh("evaluate")
        if self.function_form:
            self.renamed["train"] = names.fresh("train")

    @property
    def evaluates(self) -> bool:
        """The program evaluates its model."""
        return self.plan.evaluates

    @property
    def replicated(self) -> bool:
        """There may be more than one replica."""
        chosen = self.options.strategy
        if chosen != "keep":
            return chosen not in ("default", "one_device")
        symbol = self.plan.strategy.symbol
        return symbol is not None and not symbol.endswith(".OneDeviceStrategy")

    @property
    def function_form(self) -> bool:
        """Several train calls share a function; a single one becomes a loop."""
        trains = [
            (call, node)
            for call, node in self.program.sites.calls
            if call.kind in CallKind.TRAINING
        ]
        if any(c.hooks or c.kind != CallKind.TRAIN for c, _ in trains):
            return False
        looped = any(
            isinstance(outer, (cst.For, cst.While))
            for _, node in trains
            for outer in self.tree.ancestors(node)
        )
        return len(trains) > 1 or looped

    # -- pieces of text ------------------------------------------------------

    def text(self, code: str) -> str:
        """Source text of a plan with the module's name for tensorflow."""
        return code.replace(TF, self.tf)

    def module(self, name: str) -> str:
        """The local name of a module of the standard library."""
        found = self.tree.resolver.scopes.module_scope.bindings.get(name, ())
        if any(b.target == name for b in found):
            return name
        if not found:
            self.imports.add(name)
            return name
        alias = self.names.fresh(f"{name}_module")
        self.imports.add(f"{name} as {alias}")
        return alias

    def fill(
        self,
        template: str,
        *,
        expressions: dict[str, str] | None = None,
        statements: Mapping[str, Sequence[Statement]] | None = None,
        flags: dict[str, bool] | None = None,
        names: dict[str, str] | None = None,
    ) -> list[Statement]:
        """A template with this program's names."""
        filling = Filling(
            names={**self.renamed, **(names or {})},
            expressions={k: self.text(v) for k, v in (expressions or {}).items()},
            statements=statements or {},
            flags=flags or {},
        )
        return fill(_TEMPLATES, template, filling)

    def fitted(
        self, statements: Sequence[Statement], extra: int = 0
    ) -> list[Statement]:
        """Statements broken to width where they will stand."""
        return fit(self.tree.module, statements, self.indent + extra)

    @property
    def step_width(self) -> int:
        return len(self.tree.module.default_indent.expandtabs(8))

    @property
    def indent(self) -> int:
        """Column at which the program's own statements begin."""
        return self.tree.column(self.program.sites.estimator_statement) - 1

    @property
    def precision_flags(self) -> dict[str, bool]:
        """Flags of a training step that follow from the user's choices."""
        mixed, keras3 = self.options.mixed_precision, self.options.keras == "keras3"
        return {
            "X_MIXED_PRECISION": mixed,
            "X_KERAS3": keras3,
            # An optimizer of Keras 3 takes the scaled gradients.
            "X_UNSCALES": mixed and not keras3,
        }

    @property
    def test_flags(self) -> dict[str, bool]:
        """Flags of an evaluation that follow from the strategy."""
        central = self.options.strategy == "central"
        return {
            "X_CENTRAL": central,
            "X_REPLICATED": self.replicated and not central,
        }

    def optimizer_statements(self, plan: OptimizerPlan) -> dict[str, list[Statement]]:
        """The optimizer, and what must follow its build."""
        converted = convert_optimizer(plan, self.optimizer)
        code = f"{self.optimizer} = {converted.code}\n"
        if self.options.mixed_precision:
            code += f"{self.optimizer} = {LOSS_SCALING}({self.optimizer})\n"
        return {
            "X_OPTIMIZER": parse_statements(self.text(code)),
            "X_OPTIMIZER_STATE": parse_statements(self.text(converted.state)),
        }

    # -- the program -----------------------------------------------------------

    def place_strategy(self, first: Statement) -> None:
        """The strategy, made before the statement that begins the model."""
        sites, edits = self.program.sites, self.edits
        code = self.text(strategy_code(self.plan.strategy, self.options.strategy))
        line = ""
        if self.plan.strategy.variable is None:
            line = f"{self.strategy} = {code}\n"
        else:
            assert sites.strategy_call is not None
            edits.expressions[sites.strategy_call] = self._fitted_expression(
                sites.strategy_call, code
            )
        if self.options.mixed_precision:
            line += self.text(f"{POLICY}\n")
        if self.plan.config.seed is not None:
            line += f"{self.tf}.random.set_seed({self.plan.config.seed})\n"
        edits.before[first] = self.fitted(parse_statements(line))
        if sites.hoist:
            edits.moved[first] = list(sites.hoist)
            for statement in sites.hoist:
                edits.replace[statement] = []

    def manager(self) -> list[Statement]:
        """The checkpoint manager and the restore."""
        keep = self.plan.config.keep_max or "5"
        result = self.fill(
            "manager",
            expressions={
                "X_MODEL_DIR": self._model_dir(),
                "X_KEEP_MAX": "None" if keep == "0" else keep,
            },
        )
        result[0] = with_blank_lines(result[0], 1)
        return result

    def calls(self) -> None:
        """Replace the Estimator's calls, and the hooks they were given."""
        for hook_class in self.program.sites.hook_classes:
            self.edits.nodes[hook_class] = to_callback
        for call, node in self.program.sites.calls:
            if call.kind in CallKind.TRAINING:
                if self.function_form:
                    self._call_train(node)
                else:
                    self._train(call, node)
            else:
                self._evaluate(call, node)

    def _fitted_expression(self, old: cst.Call, code: str) -> cst.BaseExpression:
        """``code`` in place of ``old``, broken if its line becomes too long."""
        statement = self.tree.statement(old)
        new = cst.parse_expression(code)
        if not isinstance(statement, cst.SimpleStatementLine):
            return new
        changed = statement.deep_replace(old, new)
        column = self.tree.column(statement) - 1
        fitted = fit(self.tree.module, [changed], column)[0]  # type: ignore[list-item]
        value = getattr(only_small(fitted), "value", None)
        assert isinstance(value, cst.BaseExpression)
        return value

    def _model_dir(self) -> str:
        """The checkpoint directory; a new one each time, as before, when not given."""
        code = self.plan.config.model_dir
        temporary = (
            f"{self.module('tempfile')}.mkdtemp()"
            if (code is None or self.plan.config.model_dir_optional)
            else ""
        )
        if code is None:
            return temporary
        if not temporary:
            return code
        code = re.sub(r"\s+or\s+None$", "", code)
        return f"{code} or {temporary}"

    # -- calls -------------------------------------------------------------------

    def _train(self, call: EstimatorCall, node: cst.Call) -> None:
        statement = self.tree.statement(node)
        body = self.tree.body(statement)
        column = self.tree.column(statement) - 1
        top_level = isinstance(body, cst.Module)
        data = self.names.fresh("train_batches")
        replicated = self.replicated
        definition = self.fill(
            "train_data",
            expressions={"X_DATASET": one_line(call.input.dataset)},
            flags={"X_REPLICATED": replicated},
            names={
                "train_batches": data,
                **unshadowed(("dataset", "context"), call.input.dataset),
            },
        )
        loop = self._loop(call, data)
        statements = fit(self.tree.module, [*definition, *loop], column)
        statements = space_definitions(statements, top_level=top_level)
        lines = statement.leading_lines
        if any(line.comment is not None for line in lines):
            statements[1] = statements[1].with_changes(
                leading_lines=[*statements[1].leading_lines, *_from_comment(lines)]
            )
        statements[0] = with_blank_lines(statements[0], 2 if top_level else 1)
        self.edits.replace[statement] = statements
        self.edits.own_lines.add(statement)

    def train_function(self) -> list[Statement]:
        """``train(input_fn)`` with the limits that the program's calls use."""
        trains = self.plan.trains
        limits = [
            name
            for name in ("steps", "max_steps")
            if any(getattr(call, name) is not None for call in trains)
        ]
        call = EstimatorCall(
            kind=CallKind.TRAIN,
            line=0,
            input=InputPlan("input_fn()"),
            steps="steps" if "steps" in limits else None,
            max_steps="max_steps" if "max_steps" in limits else None,
            limit_optional=bool(limits),
        )
        body = self.fill(
            "train_data",
            expressions={"X_DATASET": call.input.dataset},
            flags={"X_REPLICATED": self.replicated},
        )
        body += self._loop(call, "train_batches", local=True)
        parameters = "".join(f", {name}=None" for name in limits)
        name = self.renamed["train"]
        docstring = '"""Trains on the data of `input_fn`."""'
        code = f"def {name}(input_fn{parameters}):\n    {docstring}\n"
        (definition,) = parse_statements(code)
        assert isinstance(definition.body, cst.IndentedBlock)
        inner = space_definitions(
            [*statements_of(definition.body), *body], top_level=False
        )
        return [definition.with_changes(body=definition.body.with_changes(body=inner))]

    def _call_train(self, node: cst.Call) -> None:
        """``estimator.train(...)`` becomes ``train(...)``."""
        self.edits.expressions[node.func] = cst.Name(self.renamed["train"])

    def _loop(
        self, call: EstimatorCall, data: str, *, local: bool = False
    ) -> list[Statement]:
        config = self.plan.config
        wanted = ("train_iterator", "step", "loss", "done", "last_step", "last_save")
        names = {n: n if local else self.names.fresh(n) for n in wanted}
        if self.options.profile:
            for name in ("profile_from", "profile_to", "profiling", "edge"):
                names[name] = name if local else self.names.fresh(name)
        names["steps"] = "chunk" if local else self.names.fresh("steps")
        names["train_batches"] = data
        together = call.evaluated_input is not None
        evaluation = ""
        if call.evaluated_input is not None:
            dataset = one_line(call.evaluated_input.dataset)
            if call.evaluated_steps is not None:
                dataset = f"{dataset}.take({call.evaluated_steps})"
            evaluation = f"{self.renamed['evaluate']}(lambda _: {dataset})"
            names["last_evaluation"] = self.names.fresh("last_evaluation")
        names["time"] = "time"
        by_step = config.save_steps is not None
        if not by_step or together:
            names["time"] = self.module("time")
        step, loss = names["step"], names["loss"]
        calls: dict[str, list[str]] = {name: [] for name in RENAMED}
        made: list[str] = []
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
        per_step = bool(calls["before_run"] or calls["after_run"])
        limit, condition = self._limit(call, names)
        log_steps = config.log_steps or "100"
        # The program's own cadence decides how many steps one call runs.
        terms = {"step": ["1"], "graph": []}.get(self.options.loop, [log_steps])
        if by_step:
            terms.append(f"{names['last_save']} + {config.save_steps} - {step}")
        optional = limit and call.limit_optional
        if limit and not optional:
            terms.append(f"{names['last_step']} - {step}")
        if not terms:
            terms = ["2**31 - 1"]
        chunk = terms[0] if len(terms) == 1 else f"min({', '.join(terms)})"

        def lines(method: str) -> list[Statement]:
            return parse_statements("".join(calls[method]))

        return self.fill(
            "train_loop",
            expressions={
                "X_CONDITION": condition,
                "X_LOG_STEPS": log_steps,
                "X_CHUNK": chunk,
                "X_SAVE_SECONDS": config.save_seconds or "600",
                "X_SAVE_STEPS": config.save_steps or "",
                "X_EVALUATION": evaluation,
                "X_THROTTLE": call.throttle_seconds,
            },
            statements={
                "X_LIMIT": parse_statements(limit),
                "X_BEGIN": parse_statements("".join(made)) + lines("begin"),
                "X_BEFORE_STEP": lines("before_run"),
                "X_AFTER_STEP": lines("after_run"),
                "X_END": lines("end"),
            },
            flags={
                "X_SAVES_BY_TIME": not by_step,
                "X_SAVES_BY_STEP": by_step,
                "X_PER_STEP": per_step,
                "X_CHUNKED": not per_step,
                "X_LOGS": True,
                "X_PROFILES": self.options.profile,
                "X_LIMIT_OPTIONAL": bool(optional),
                "X_EVALUATES": together,
            },
            names=names,
        )

    def _limit(self, call: EstimatorCall, names: dict[str, str]) -> tuple[str, str]:
        """Statements that set the last step, and the loop's condition."""
        step, last = names["step"], names["last_step"]
        if call.steps is None and call.max_steps is None:
            return "", "True"
        if call.steps is not None and call.max_steps is not None:
            # A function for calls of both kinds.
            code = f"{last} = {step} + steps if steps else max_steps\n"
            return code, f"{last} is None or {step} < {last}"
        if call.max_steps is not None:
            code = f"{last} = {call.max_steps}\n"
        elif call.limit_optional:
            code = f"{last} = {step} + {call.steps} if {call.steps} else None\n"
        else:
            code = f"{last} = {step} + {call.steps}\n"
        condition = f"{step} < {last}"
        if call.limit_optional:
            condition = f"{last} is None or {condition}"
        return code, condition

    def _evaluate(self, call: EstimatorCall, node: cst.Call) -> None:
        argument = _input_argument(node)
        dataset = call.input.dataset
        steps = call.steps
        if isinstance(argument, cst.Lambda) and steps is None:
            # Keep the author's own line breaks.
            function: cst.BaseExpression = argument.with_changes(
                params=cst.Parameters(params=[cst.Param(cst.Name("_"))]),
                whitespace_after_lambda=cst.SimpleWhitespace(" "),
            )
        else:
            if steps is not None:
                limit = f"{steps} or -1" if call.limit_optional else steps
                dataset = f"{one_line(dataset)}.take({limit})"
            function = cst.parse_expression(f"lambda _: {one_line(dataset)}")
        first = node.args[0].with_changes(
            value=function,
            keyword=None,
            equal=cst.MaybeSentinel.DEFAULT,
            comma=cst.MaybeSentinel.DEFAULT,
        )
        last = node.args[-1]
        first = first.with_changes(whitespace_after_arg=last.whitespace_after_arg)
        self.edits.expressions[node] = node.with_changes(
            func=cst.Name(self.renamed["evaluate"]), args=[first]
        )


def unshadowed(names: Sequence[str], code: str) -> dict[str, str]:
    """Other names for a template's locals that would hide names of ``code``."""
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    return {name: f"{name}_" for name in names if name in used}


def _input_argument(node: cst.Call) -> cst.BaseExpression:
    for argument in node.args:
        if argument.keyword is not None and argument.keyword.value == "input_fn":
            return argument.value
    return node.args[0].value


def _from_comment(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    kept = list(lines)
    while kept and kept[0].comment is None:
        kept.pop(0)
    return kept


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
