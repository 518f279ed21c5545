"""What every emitted loop has: strategy, checkpoints, train calls, evaluation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import libcst as cst

from ...options import RewriteOptions
from ...plan.code.tree import Tree
from ...plan.program import (
    MODEL,
    TF,
    CallKind,
    EstimatorCall,
    OptimizerPlan,
    TrainingPlan,
)
from ...plan.sites import ModelFnSites, Program
from ..calls.asked import AskedCalls
from ..calls.checkpoints import makes_directory
from ..calls.event_files import MEMBERS, writes_events
from ..calls.hook_class import edit_hook_class
from ..calls.mixed_precision import LOSS_SCALING
from ..calls.strategy_site import StrategySite
from ..calls.train import STEPS_FUNCTIONS, TrainCalls, function_form, steps_alone
from ..module.edits import Edits, Statement
from ..module.layout import WIDTH, fit, fit_expression
from ..module.lone_replica import LoopNames
from ..module.names import Names
from ..module.template import Filling, fill, parse_statements
from ..module.unread_lambdas import drop_unread_lambdas
from .gone_inputs import dropped_remainders, gone_inputs
from .input_functions import edit_input_functions
from .optimizers import convert_optimizer

__all__ = ["SAME_WEIGHT", "LoopEmitter"]

SAME_WEIGHT = "# As in Estimator.evaluate, every batch weighs the same in the loss.\n"
_TEMPLATES = "loop"
_LOOPS = (cst.For, cst.While)


# Batch normalization, or a ready-made network that may have it.
_NORMALIZES = re.compile(r"BatchNormalization|batch_norm|applications\.(?!VGG)")


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
        # Installed packages to import, beside tensorflow.
        self.packages: set[str] = set()
        self.edits = Edits()
        self.inside = not isinstance(program.sites.body, cst.Module)
        self.strategy_site = StrategySite(self)
        self.strategy = self.plan.strategy.variable or names.fresh("strategy")
        self.optimizer = optimizer or names.fresh("optimizer")
        self.renamed = {
            "tf": tf,
            "model": model,
            "strategy": self.strategy,
            "optimizer": self.optimizer,
            "checkpoint": names.fresh("checkpoint"),
        }
        wanted = ["manager", "train_step"]
        # Whether each step is a call of its own: as chosen, or as hooks look at each.
        self.paces = {steps_alone(options, call) for call in self.plan.trains}
        wanted += [STEPS_FUNCTIONS[alone] for alone in sorted(self.paces)]
        if self.evaluates:
            wanted += ["test_loss", "test_metrics", "test_step", "test_steps"]
            wanted += ["evaluate"]
        if writes_events(self.plan.config):
            wanted += MEMBERS
        if self.plan.predicts:
            wanted.append("predict_step")
        if self.predict_calls:
            wanted.append("predict")
        if self.function_form:
            wanted.append("train")
        for name in wanted:
            self.renamed[name] = names.fresh(name)

    @property
    def evaluates(self) -> bool:
        """The program evaluates its model."""
        return self.plan.evaluates

    @property
    def trained(self) -> str:
        """Source of the variables that are trained."""
        return f"{MODEL}.trainable_variables"

    @property
    def counter(self) -> str:
        """Source of the variable that counts steps."""
        return f"{self.optimizer}.iterations"

    @property
    def predict_calls(self) -> tuple[EstimatorCall, ...]:
        """The program's predict calls."""
        return tuple(c for c in self.plan.calls if c.kind == CallKind.PREDICT)

    @property
    def replicated(self) -> bool:
        """There may be more than one replica."""
        chosen = self.options.strategy
        if chosen != "keep":
            return chosen not in ("default", "one_device")
        symbol = self.plan.strategy.symbol
        return symbol is not None and not symbol.endswith(".OneDeviceStrategy")

    @property
    def loop_names(self) -> LoopNames | None:
        """What the loop's functions are called, where there is one replica for sure."""
        chosen = self.options.strategy
        if chosen != "keep" or self.plan.strategy.symbol is not None:
            return None
        get = self.renamed.get
        return LoopNames(
            self.strategy,
            get("train_step", ""),
            get("train_steps", ""),
            get("test_step", ""),
            get("test_steps", ""),
            get("evaluate", ""),
        )

    @property
    def function_form(self) -> bool:
        """Several train calls share a function; a single one becomes a loop."""
        calls = [
            (call, any(isinstance(a, _LOOPS) for a in self.tree.ancestors(node)))
            for call, node in self.program.sites.calls
        ]
        return function_form(calls)

    def batches(self, steps: str) -> str:
        """How many batches the steps of an evaluation took."""
        if not (self.plan.config.eval_distributed and self.replicated):
            return steps
        atom = steps.isidentifier() or steps.isdigit()
        return (
            f"{steps if atom else f'({steps})'} * {self.strategy}.num_replicas_in_sync"
        )

    # -- pieces of text ------------------------------------------------------

    def text(self, code: str) -> str:
        """Source text of a plan with the program's names for what it stands for."""
        return code.replace(TF, self.tf).replace(MODEL, self.renamed["model"])

    def module(self, name: str) -> str:
        """The local name of a module of the standard library."""
        found = self.tree.resolver.scopes.module_scope.bindings.get(name, ())
        imports = [b for b in found if b.target == name]
        if any(self.tree.line(b.node) < self.plan.line for b in imports):
            return name
        # What is imported further down may be needed before.
        if len(imports) == len(found):
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
        parameters: dict[str, str] | None = None,
        file: str = _TEMPLATES,
    ) -> list[Statement]:
        """A template with this program's names."""
        defaults: dict[str, Sequence[Statement]] = {"X_MORE_RESULTS": []}
        if template == "train_functions":
            defaults["X_TRAIN_STEP"] = self.fill(
                "train_step",
                expressions=expressions,
                statements=statements,
                flags=flags,
                names=names,
            )
            flags = {
                "X_CHUNKS": False in self.paces,
                "X_STEPWISE": True in self.paces,
                **(flags or {}),
            }
        if template == "train_step" and "X_APPLY" not in (statements or {}):
            defaults["X_APPLY"] = self.fill("plain_apply")
        expressions = {"X_TRAINED": self.trained, **(expressions or {})}
        called = {**self.renamed, **(names or {})}
        members = {name: text for name, text in called.items() if "." in text}
        filling = Filling(
            names={n: text for n, text in called.items() if n not in members},
            expressions={
                **members,
                **{k: self.text(v) for k, v in (expressions or {}).items()},
            },
            statements={**defaults, **(statements or {})},
            flags={
                "X_UNLABELLED": not self.reads_labels,
                "X_WRITES_EVENTS": writes_events(self.plan.config),
                "X_SHARED": self.replicated,
                "X_FRESH": makes_directory(self) and not self.function_form,
                **(flags or {}),
            },
            parameters=parameters or {},
            attributes={"optimizer.iterations": self.text(self.counter)},
        )
        return fill(file, template, filling)

    def scalar_loss(self, loss: str) -> list[Statement]:
        """Replicas each have a part of a loss that was averaged already."""
        if not self.replicated:
            return [] if loss == "loss" else parse_statements(f"loss = {loss}\n")
        expressions, flags = {"X_SCALAR_LOSS": loss}, {"X_RENAMED": loss != "loss"}
        return self.fill("scalar_loss", expressions=expressions, flags=flags)

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
    def reads_labels(self) -> bool:
        """Whether loss or metrics look at labels: if not, there may be none."""
        return True

    @property
    def counted_labels(self) -> str:
        """What tells how many examples a batch of test data has."""
        return "labels"

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
            "X_KERAS3": self.options.keras == "keras3",
            "X_REPLICATED": self.replicated and not central,
            "X_MOVING_AVERAGES": self.replicated
            and not central
            and _NORMALIZES.search(self.tree.text) is not None,
        }

    def listed(self, items: Sequence[str]) -> str:
        """A list on one line where it fits, else with a line for each item."""
        code = f"[{', '.join(items)}]"
        if len(code) + self.indent + self.step_width + len("metrics = ") <= WIDTH:
            return code
        inside = "".join(f"    {item},\n" for item in items)
        return f"[\n{inside}]"

    def optimizer_statements(
        self, plan: OptimizerPlan, variable: str
    ) -> dict[str, Sequence[Statement]]:
        """The optimizer, and what must follow its build."""
        converted = convert_optimizer(plan, variable)
        code = f"{variable} = {converted.code}\n"
        return self.optimizer_code(code, converted.state, variable)

    def optimizer_code(
        self, code: str, state: str, variable: str
    ) -> dict[str, Sequence[Statement]]:
        """The optimizer's statements and those behind its build."""
        if self.options.mixed_precision:
            code += f"{variable} = {LOSS_SCALING}({variable})\n"
        return {
            "X_OPTIMIZER": parse_statements(self.text(code)),
            "X_OPTIMIZER_STATE": parse_statements(self.text(state)),
        }

    # -- the program -----------------------------------------------------------

    def site_names(self, *names: str) -> dict[str, str]:
        """Names of variables that stand beside the program's own."""
        return {name: self.names.fresh(name) for name in names}

    def calls(self) -> None:
        """Replace the Estimator's calls, and the hooks they were given."""
        sites, edits = self.program.sites, self.edits
        for hook_class in sites.hook_classes:
            edit_hook_class(self.tree, hook_class, edits)
        edit_input_functions(self.tree, sites.inputs, edits, self.names, self.text)
        edits.nodes.update(dropped_remainders(self.tree))
        for place, code in gone_inputs(self.tree):
            edits.expressions[place] = self.fitted_expression(place, self.text(code))
        trains, asked = TrainCalls(self), AskedCalls(self)
        for directory in sites.directories:
            asked.directory(directory)
        for call, node in sites.calls:
            if call.kind in CallKind.TRAINING:
                if self.function_form:
                    trains.call(call, node)
                else:
                    trains.loop(call, node)
            elif call.kind == CallKind.EVALUATE:
                asked.evaluate(call, node)
            elif call.kind == CallKind.PREDICT:
                asked.predict(call, node)
            else:
                asked.value(call, node)
        drop_unread_lambdas(self.tree, edits)

    def test_functions(
        self,
        every: str,
        body: list[Statement],
        more: Sequence[Statement] = (),
        **flags: bool,
    ) -> list[Statement]:
        """``test_step`` with the given body, and ``evaluate``."""
        return self.fill(
            "test_functions",
            expressions={
                "X_COUNTED": self.counted_labels,
                "X_ALL_METRICS": every,
            },
            statements={
                "X_TEST_BODY": body,
                "X_MORE_RESULTS": more,
            },
            flags={
                **self.test_flags,
                **flags,
            },
        )

    @cached_property
    def first_data(self) -> str:
        """The variable of the first call's data, from which variables are made.

        An input function may draw, count or read: it is not called once more than
        the Estimator did.
        """
        sites = self.program.sites
        if not isinstance(sites, ModelFnSites):
            return ""
        call, node = sites.calls[0]
        first_call = self.tree.statement(node) is sites.first_call
        if call.kind in CallKind.TRAINING and first_call:
            return self.names.fresh("dataset")
        return ""

    def made_once(self, code: str) -> tuple[list[Statement], str]:
        """Statements that make the first call's data, and what stands for it."""
        if not self.first_data:
            return [], code
        return parse_statements(f"{self.first_data} = {code}\n"), self.first_data

    def predict_functions(self, body: list[Statement]) -> list[Statement]:
        """``predict_step`` with the given body, and ``predict``."""
        return AskedCalls(self).predict_functions(body)

    def train_function(self) -> list[Statement]:
        """``train(input_fn)``, when several calls share it."""
        return TrainCalls(self).functions()

    def fitted_expression(
        self, old: cst.BaseExpression, code: str
    ) -> cst.BaseExpression:
        """``code`` in place of ``old``, broken if its line becomes too long."""
        new = cst.parse_expression(code)
        statement = self.tree.statement(old)
        if not isinstance(statement, cst.SimpleStatementLine):
            return new
        column = self.tree.column(statement) - 1
        return fit_expression(self.tree.module, statement, old, new, column)
