"""Writes a native loop around a model_fn that stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...options import RewriteOptions
from ...plan.code.tree import Statement, Tree, statements_of
from ...plan.model_fn.kept_plan import KeptModelFnPlan
from ...plan.sites import Blocked, KeptSites, Program
from ..calls.trainer import Trainer
from ..module.edits import Edits
from ..module.layout import fit, one_line
from ..module.names import Names
from ..module.notes import note
from ..module.spacing import space_definitions, with_blank_lines
from ..module.template import parse_statements
from .loop import LoopEmitter

__all__ = ["KeptModelFnEmitter"]

_RULE = "TFM102"
_FILE = "graphs"


class KeptModelFnEmitter(LoopEmitter):
    """Emits a program whose model_fn builds graphs as before."""

    graphed = True

    def __init__(
        self,
        tree: Tree,
        program: Program,
        names: Names,
        tf: str,
        options: RewriteOptions,
    ) -> None:
        model, sites = program.plan.model, program.sites
        assert isinstance(model, KeptModelFnPlan)
        assert isinstance(sites, KeptSites)
        super().__init__(
            tree,
            program,
            names,
            tf,
            model=names.fresh("model"),
            optimizer="optimizer",
            options=options,
        )
        if options.strategy == "central":
            reason = "`--strategy central` with a model_fn that is kept"
            raise Blocked("TFM103", program.plan.line, reason)
        if self.replicated and model.assigns is not None:
            reason = f"{model.reason}; replicas must not assign to variables themselves"
            raise Blocked("TFM103", model.assigns, reason)
        self.model = model
        self.sites = sites
        self.renamed["ModelGraphs"] = names.fresh("ModelGraphs")
        self.renamed["checkpoint"] = f"{self.renamed['model']}.checkpoint"
        if self.plan.predicts:
            self.renamed["predict_step"] = "predict_step"
        self.spec_name = names.fresh("ModelSpec")
        self.helpers = {name: names.fresh(name) for name in model.contrib}

    @property
    def counter(self) -> str:
        """Source of the variable that counts steps."""
        return f"{self.renamed['model']}.global_step"

    def emit(self) -> Edits:
        """All edits that turn the program into a native loop."""
        sites, edits = self.sites, self.edits
        for node in sites.specs:
            edits.expressions[node] = cst.Name(self.spec_name)
        for node, name in sites.helpers:
            edits.expressions[node] = cst.Name(self.helpers[name])
        for call in sites.outputs:
            edits.nodes[call] = _argument
        for statement in sites.drop:
            edits.replace[statement] = []
        definitions = self._definitions()
        if self.trainer is not None:
            definitions.append(self._class(self.trainer))
            self._place(definitions)
            self.calls()
            return edits
        self._place(definitions)
        edits.replace[sites.estimator_statement] = []
        first = sites.first_call
        self.place_strategy(first)
        edits.before[first] += self._setup()
        body = sites.body.body
        lines = sites.estimator_statement.leading_lines
        blank = sum(line.comment is None for line in lines)
        blank = 0 if body[0] is sites.estimator_statement else max(blank, 1)
        edits.before[first][0] = with_blank_lines(edits.before[first][0], blank)
        self.calls()
        return edits

    def _place(
        self, definitions: Sequence[Statement], top: Statement | None = None
    ) -> None:
        """Definitions at module level, before the model_fn's or another one."""
        top = top or self.sites.top
        spaced = [with_blank_lines(one, 2) for one in definitions]
        self.edits.before[top] = [*spaced, *self.edits.before.get(top, [])]
        self.edits.spaced.add(top)

    # -- definitions -----------------------------------------------------------

    def _definitions(self) -> list[Statement]:
        for name, local in self.helpers.items():
            helper = self.fill(name, file=_FILE, names={name: local})
            self._place(fit(self.tree.module, helper, 0), self._first_use(name))
        return fit(self.tree.module, [*self._spec(), self._graphs()], 0)

    def _first_use(self, helper: str) -> Statement:
        """The first definition that uses a helper, which may be in another file."""
        tree = self.tree
        nodes = [node for node, name in self.sites.helpers if name == helper]
        tops = [tree.statement_in(node, tree.module) for node in nodes]
        return next(one for one in statements_of(tree.module) if one in tops)

    def _spec(self) -> list[Statement]:
        """The class of what a model_fn gives."""
        fields = ", ".join(f'"{name}"' for name in self.model.fields)
        namedtuple = f"{self.module('collections')}.namedtuple"
        code = (
            "# What a model_fn gives for a mode.\n"
            f'{self.spec_name} = {namedtuple}("{self.spec_name}", [{fields}], '
            f"defaults=[None] * {len(self.model.fields)})\n"
        )
        return parse_statements(code)

    def _graphs(self) -> Statement:
        """The class that calls the model_fn, under a note why it is kept."""
        model = self.model
        has_params = "params" in model.takes
        parameters = ["self", "model_fn", *(["params"] if has_params else [])]
        arguments = ["features"]
        for name in model.takes:
            value = {"params": "self.params", "config": "None"}.get(name, name)
            if name != "features":
                arguments.append(f"{name}={value}" if name != "labels" else name)
        order = [name for name in model.takes if name in ("features", "labels")]
        if order != ["features", "labels"][: len(order)]:
            arguments[:2] = [f"{name}={name}" for name in order]
        (made,) = self.fill(
            "graph_class",
            file=_FILE,
            expressions={"X_SPEC": f"self.model_fn({', '.join(arguments)})"},
            parameters={"X_PARAMETERS": ", ".join([*parameters, "strategy"])},
            flags={
                "X_HAS_PARAMS": has_params,
                "X_LABELS": "labels" in model.takes,
                "X_LOADS": model.loads,
                "X_REPLICATED": self.replicated,
                "X_EVALUATES": self.evaluates,
                "X_HAS_METRICS": model.has_metrics,
                "X_PREDICTS": self.plan.predicts,
            },
            names={"model": "model", "strategy": "strategy"},
        )
        assert isinstance(made, cst.ClassDef)
        body = made.body
        assert isinstance(body, cst.IndentedBlock)
        inner = [_spaced(one) for one in statements_of(body)]
        inner = space_definitions(inner, top_level=False)
        made = made.with_changes(body=body.with_changes(body=inner))
        reason = f"the model_fn is kept as it was ({model.reason})"
        return note(made, _RULE, reason, 0)

    # -- the program -----------------------------------------------------------

    def _values(self) -> list[str]:
        """Arguments of the class, as source text."""
        values = [self.model.model_fn]
        if "params" in self.model.takes:
            values.append("params" if self._reads_params else self.model.params)
        return values

    @property
    def _reads_params(self) -> bool:
        """Input functions are given the Estimator's ``params``."""
        return any(given.needs_params for given in self.plan.inputs)

    def _setup(self) -> list[Statement]:
        """Everything that stands before the first train call."""
        begin = ""
        if self._reads_params and self.model.params != "params":
            begin = f"params = {one_line(self.model.params)}\n"
        result = parse_statements(begin)
        arguments = [one_line(value) for value in self._values()]
        made = ", ".join([*arguments, self.strategy])
        result += self.fill(
            "graph_setup",
            file=_FILE,
            expressions={"X_MODEL": f"{self.renamed['ModelGraphs']}({made})"},
        )
        result += self.manager()
        result += self._functions()
        if self.function_form:
            result += self.train_function()
        return space_definitions(self.fitted(result), top_level=not self.inside)

    def _functions(self) -> list[Statement]:
        result = self.fill("train_functions")
        if self.evaluates:
            result += self._evaluate()
        if self.predict_calls:
            result += self.predict_functions([])
        return result

    def _evaluate(self) -> list[Statement]:
        parameters, dataset = "dataset_fn", "dataset_fn(None)"
        if self.trainer is not None:
            parameters, dataset = "self, input_fn", "input_fn()"
            if any(
                c.evaluates and (c.evaluated_steps or c.steps) for c in self.plan.calls
            ):
                parameters += ", steps=None"
                dataset = f"input_fn().take({self.batches('steps or -1')})"
        return self.fill(
            "graph_test_functions",
            file=_FILE,
            expressions={"X_TEST_DATASET": dataset},
            parameters={"X_EVALUATE_PARAMETERS": parameters},
        )

    def _class(self, trainer: Trainer) -> Statement:
        """The class that takes the Estimator's place, and a call of it."""
        sites, model = self.sites, self.model
        code = model.model_fn
        given = code if trainer.visible(code) else trainer.argument("model_fn", code)
        arguments = [given]
        params = one_line(model.params)
        if self._reads_params:
            trainer.member("params", params)
        if "params" in model.takes:
            if not self._reads_params and not trainer.visible(params):
                trainer.argument("params", params)
            seen = not self._reads_params and trainer.visible(params)
            arguments.append(params if seen else "params")
        strategy = self.edit_strategy()
        begin = ""
        if self.plan.strategy.variable is not None:
            trainer.member("strategy", self.plan.strategy.variable)
        elif trainer.visible(strategy):
            begin += self.strategy_line("self.strategy", strategy)
        elif self.plan.strategy.choices:
            line = parse_statements(self.strategy_line(self.site_strategy, strategy))
            self.edits.before[sites.estimator_statement] = self.fitted(line)
            trainer.member("strategy", self.site_strategy)
        else:
            trainer.member("strategy", strategy)
        if self.plan.config.seed is not None:
            seed = self.plan.config.seed
            if not trainer.visible(seed):
                seed = trainer.argument("seed", seed)
            begin += f"{self.tf}.random.set_seed({seed})\n"
        methods = self._functions() + self.train_function()
        made = ", ".join([*arguments, self.strategy])
        head = self.fill(
            "graph_trainer",
            file=_FILE,
            expressions={"X_MODEL": f"{self.renamed['ModelGraphs']}({made})"},
            statements={"X_MEMBERS": []},
        )
        head += self.manager()
        made_first = parse_statements("".join([*trainer.members, begin]))
        head = [*made_first, *self.device_check(), *head]
        self.edits.expressions[sites.call] = self.fitted_expression(
            sites.call, trainer.call()
        )
        return trainer.class_definition(head, methods)


def _argument(call: cst.CSTNode) -> cst.CSTNode:
    """What an export output was made of."""
    assert isinstance(call, cst.Call)
    return call.args[0].value


def _spaced(statement: Statement) -> Statement:
    """A method whose inner functions are set off by a blank line."""
    if not isinstance(statement, cst.FunctionDef):
        return statement
    body = statement.body
    assert isinstance(body, cst.IndentedBlock)
    inner = space_definitions(statements_of(body), top_level=False)
    return statement.with_changes(body=body.with_changes(body=inner))
