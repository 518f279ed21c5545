"""Writes the native loop of a canned Estimator into its module."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import libcst as cst

from ...options import RewriteOptions
from ...plan.canned.plan import CannedPlan, Task
from ...plan.code.tree import Tree, statements_of
from ...plan.program import OptimizerPlan
from ...plan.sites import Blocked, CannedSites, Program
from ..calls.checkpoints import manager, restore
from ..calls.exports import export_functions
from ..calls.trainer import Trainer
from ..module.edits import Edits, Statement
from ..module.layout import fit, one_line
from ..module.names import Names
from ..module.spacing import space_definitions, with_blank_lines
from ..module.template import parse_statements
from .canned_head import (
    batch_loss,
    example_losses,
    exports_of,
    metric_updates,
    metrics_of,
    predictions_of,
    results_of,
)
from .canned_model import model_code, row_wise
from .loop import SAME_WEIGHT, LoopEmitter

__all__ = ["CannedEmitter"]


class _Optimizer(NamedTuple):
    """Statements that make an optimizer, and that follow the model's variables."""

    made: str
    built: str


def _optimizer(
    plan: OptimizerPlan, names: tuple[str, str], model: str, sparse: bool
) -> _Optimizer:
    """``names``: where it is made, and in the functions of the loop."""
    site, name = names
    converted, builds = row_wise(plan, name, sparse=sparse)
    built = f"{name}.build({model}.trainable_variables)\n" if builds else ""
    return _Optimizer(f"{site} = {converted.code}\n", built + converted.state)


class CannedEmitter(LoopEmitter):
    """Emits the program of a canned Estimator."""

    built_from_data = True

    def __init__(
        self,
        tree: Tree,
        program: Program,
        names: Names,
        tf: str,
        options: RewriteOptions,
    ) -> None:
        model, sites = program.plan.model, program.sites
        assert isinstance(model, CannedPlan)
        assert isinstance(sites, CannedSites)
        self.combined = model.deep is not None and model.linear is not None
        # The Estimator's own name becomes free.
        self.site_model = "model"
        if program.plan.estimator != "model" or program.travels:
            self.site_model = names.fresh("model")
        super().__init__(
            tree,
            program,
            names,
            tf,
            model=self.site_model,
            optimizer=names.fresh("dnn_optimizer") if self.combined else None,
            options=options,
        )
        self.model = model
        self.sites = sites
        self.head = model.head
        wanted, owned = [], []
        if model.linear is not None:
            wanted += ["LinearModel", "Bias"]
        elif model.deep is None:
            wanted.append("BaselineModel")
        if self.combined:
            wanted += ["WideDeepModel", "deep_part"]
            self.renamed["dnn_optimizer"] = self.optimizer
            self.site_linear = names.fresh("linear_optimizer")
            self.renamed["linear_optimizer"] = self.own(
                "linear_optimizer", self.site_linear
            )
        if model.head.vocabulary is not None:
            owned.append("label_ids")
        self.metrics = metrics_of(model.head) if self.evaluates else []
        if self.evaluates and model.head.task == Task.BINARY:
            wanted.append("PrecisionRecallAUC")
        owned += [variable for variable, _, _ in self.metrics]
        for name in wanted:
            self.renamed[name] = names.fresh(name)
        for name in owned:
            if name not in self.renamed:
                self.renamed[name] = self.own(name)

    def emit(self) -> Edits:
        """All edits that turn the program into a native loop."""
        sites, edits = self.sites, self.edits
        for statement in sites.drop:
            edits.replace[statement] = []
        if self.trainer is not None:
            self._place_class(self.trainer)
            self.calls()
            return edits
        edits.replace[sites.estimator_statement] = []
        first = sites.first_call
        self.strategy_site.place(first)
        setup = edits.before[first] + self._setup()
        lines = sites.estimator_statement.leading_lines
        blank = sum(line.comment is None for line in lines)
        setup[0] = with_blank_lines(setup[0], max(blank, 1))
        classes = self._classes()
        top = self.tree.statement_in(first, self.tree.module) or first
        if top is first:
            if classes:
                setup[0] = with_blank_lines(setup[0], 2)
            edits.before[first] = classes + setup
        else:
            edits.before[first] = setup
            edits.before[top] = classes
        self.calls()
        return edits

    def _place_class(self, trainer: Trainer) -> None:
        """The class at the top of the module; what it is given, and its call."""
        sites, edits = self.sites, self.edits
        head, linear = self.model.head, self.model.linear
        if linear is not None and not trainer.visible(linear.combiner):
            line = self.plan.line
            raise Blocked("TFM118", line, "the sparse combiner is a local name")
        trainer.member("strategy", self.site_strategy)
        trainer.member("model", self.site_model)
        trainer.member("optimizer", self.site_optimizer)
        if self.combined:
            trainer.member("linear_optimizer", self.site_linear)
        self.head = replace(
            head,
            units=trainer.setting("label_dimension", head.units) or "1"
            if head.task == Task.REGRESSION
            else head.units,
            vocabulary=trainer.setting("label_vocabulary", head.vocabulary),
            weights=trainer.setting("weight_column", head.weights),
        )
        methods = self._build() + self._functions() + self.train_function()
        init = self.fill(
            "trainer_init_canned",
            file="canned",
            expressions=self._made_expressions(),
            statements={
                "X_MEMBERS": [],
                "X_TEST_METRICS": parse_statements(self.text(self._metrics())),
            },
            flags={
                "X_SCOPED": self.evaluates or self.head.vocabulary is not None,
                "X_VOCABULARY": self.head.vocabulary is not None,
            },
        )
        init += manager(self, restores=False)
        # Members are known when everything else is written.
        init = [*parse_statements("".join(trainer.members)), *init]
        definition = with_blank_lines(trainer.class_definition(init, methods), 2)
        statement = sites.estimator_statement
        self.strategy_site.place(statement)
        names = {"strategy": self.site_strategy}
        site = self.fill(
            "site_canned",
            file="canned",
            names=names,
            statements={
                "X_MODEL": parse_statements(self.text(self._model(self.site_model))),
                "X_OPTIMIZERS": parse_statements(
                    self.text("".join(part.made for part in self._optimizers()))
                ),
            },
        )
        edits.before[statement] += self.fitted(site)
        top = self.tree.statement_in(sites.call, self.tree.module)
        assert top is not None
        edits.before[top] = [
            *self._classes(),
            definition,
            *edits.before.get(top, []),
        ]
        edits.spaced.add(top)
        edits.expressions[sites.call] = self.fitted_expression(
            sites.call, trainer.call()
        )

    def _build(self) -> list[Statement]:
        """The method that makes the variables."""
        return self.fill(
            "trainer_build",
            file="trainer",
            statements={
                "X_RESTORE": restore(self),
                "X_VARIABLES": self._variables(),
                "X_OPTIMIZER_STATE": parse_statements(
                    self.text("".join(part.built for part in self._optimizers()))
                ),
            },
            flags={"X_OWN_UPDATES": True},
        )

    def _variables(self) -> list[Statement]:
        flags = {"X_KEPT": False, **self.precision_flags}
        return self.fill("make_variables", flags=flags)

    def _model(self, name: str) -> str:
        return model_code(self.model, {**self.renamed, "model": name})

    def _made_expressions(self) -> dict[str, str]:
        return {
            "X_LABELS": one_line(self.head.vocabulary or "None"),
            "X_CHECKPOINT": self._checkpoint(),
        }

    # -- the model -------------------------------------------------------------

    def _classes(self) -> list[Statement]:
        """Definitions that go to the top of the module."""
        model = self.model
        made: list[Statement] = []
        if model.linear is not None:
            kind = model.linear.kind
            made += self.fill(
                "linear_model",
                file="canned",
                expressions={"X_COMBINER": model.linear.combiner},
                flags={
                    "X_CATEGORICAL": kind == "categorical",
                    "X_NUMERIC": kind == "numeric",
                    "X_MIXED": kind == "mixed",
                },
            )
        elif model.deep is None:
            made += self.fill("baseline_model", file="canned")
        if self.combined:
            made += self.fill("combined_model", file="canned")
        if "PrecisionRecallAUC" in self.renamed:
            made += self.fill("precision_recall_auc", file="canned")
        spaced = [self._with_spaced_methods(statement) for statement in made]
        return space_definitions(fit(self.tree.module, spaced, 0), top_level=True)

    def _with_spaced_methods(self, statement: Statement) -> Statement:
        body = statement.body
        assert isinstance(body, cst.IndentedBlock)
        inner = space_definitions(statements_of(body), top_level=False)
        return statement.with_changes(body=body.with_changes(body=inner))

    def _setup(self) -> list[Statement]:
        """Everything that stands before the first train call."""
        result, example = self.made_once(one_line(self.sites.example_input))
        result += self.fill(
            "canned_setup",
            file="canned",
            expressions={
                "X_DATASET": example,
                **self._made_expressions(),
            },
            statements={
                "X_MODEL": parse_statements(self.text(self._model(self.site_model))),
                "X_VARIABLES": self._variables(),
                "X_OPTIMIZERS": parse_statements(
                    self.text(
                        "".join(part.made + part.built for part in self._optimizers())
                    )
                ),
                "X_TEST_METRICS": parse_statements(self.text(self._metrics())),
            },
            flags={"X_VOCABULARY": self.head.vocabulary is not None},
        )
        result += manager(self)
        result += self._functions()
        if self.function_form:
            result += self.train_function()
        return space_definitions(self.fitted(result), top_level=not self.inside)

    def _checkpoint(self) -> str:
        model = self.renamed["model"]
        saved = f"model={model}, optimizer={self.optimizer}"
        if self.combined:
            linear = self.renamed["linear_optimizer"]
            saved = (
                f"model={model}, dnn_optimizer={self.optimizer}, "
                f"linear_optimizer={linear}"
            )
        return f"{self.tf}.train.Checkpoint({saved})"

    def _optimizers(self) -> list[_Optimizer]:
        """The optimizers and the variables that they train."""
        model, name = self.model, self.renamed["model"]
        site = (self.site_optimizer, self.optimizer)
        if model.deep is not None and model.linear is not None:
            linear = (self.site_linear, self.renamed["linear_optimizer"])
            return [
                _optimizer(
                    model.deep.optimizer, site, f"{name}.deep", model.deep.sparse
                ),
                _optimizer(
                    model.linear.optimizer, linear, f"{name}.wide", model.linear.sparse
                ),
            ]
        part = model.deep or model.linear
        if part is not None:
            return [_optimizer(part.optimizer, site, name, part.sparse)]
        assert model.baseline is not None
        return [_optimizer(model.baseline, site, name, sparse=False)]

    def _metrics(self) -> str:
        """Statements that make the metrics of evaluation."""
        code, listed = "", ""
        for variable, key, made in self.metrics:
            made = self.renamed.get(made, made)
            if variable == "test_metrics":
                listed += f'    {made}(name="{key}"),\n'
            else:
                code += f'{self.renamed[variable]} = {made}(name="{key}")\n'
        if listed:
            code += f"{self.renamed['test_metrics']} = [\n{listed}]\n"
        return code

    # -- the functions of the loop -----------------------------------------------

    def _functions(self) -> list[Statement]:
        head = self.head
        losses = example_losses(head, self.renamed)
        comment, loss = batch_loss(head)
        code = f"logits = {self._call('True')}\n{losses}{comment}"
        forward = parse_statements(self.text(code))
        if head.reduction == "sum":
            forward = parse_statements(self.text(f"{code}loss = {loss}\n"))
        else:
            forward += self.scalar_loss(loss)
        result = self.fill(
            "train_functions",
            statements={
                "X_FORWARD": forward,
                "X_UPDATES": self.fill("two_updates", file="canned")
                if self.combined
                else [],
            },
            flags={
                "X_REGULARIZED": False,
                "X_PER_EXAMPLE_LOSS": False,
                "X_OWN_UPDATES": self.combined,
                **self.precision_flags,
            },
        )
        if not self.evaluates:
            return result + self._answers()
        body = parse_statements(
            self.text(
                f"logits = {self._call('False')}\n"
                + losses
                + SAME_WEIGHT
                + f"{self.renamed['test_loss']}.update_state({loss})\n"
                + metric_updates(head, self.renamed)
            )
        )
        every = [
            f"*{self.renamed[v]}" if v == "test_metrics" else self.renamed[v]
            for v in dict.fromkeys(variable for variable, _, _ in self.metrics)
        ]
        result += self.test_functions(
            self.listed(every), body, more=parse_statements(results_of(head))
        )
        return result + self._answers()

    def _answers(self) -> list[Statement]:
        """What predict yields and an export answers."""
        plan = self.plan
        if not plan.predicts and not plan.exports:
            return []
        code = f"logits = {self._call('False')}\n{predictions_of(self.head)}"
        body = parse_statements(self.text(code))
        if plan.predicts:
            result = self.predict_functions(body)
        else:
            result = self.fill("predict_step", statements={"X_PREDICT_BODY": body})
        place = self.tree.statement_in(self.sites.call, self.tree.module)
        signed = exports_of(self.head, self.renamed["predict_step"])
        return result + export_functions(self, signed, definition=place)

    def _call(self, training: str) -> str:
        """A call of the model; without hidden layers training makes no difference."""
        name = self.renamed["model"]
        if self.model.deep is None:
            return f"{name}(features)"
        return f"{name}(features, training={training})"
