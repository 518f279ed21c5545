"""Writes the native loop of a canned Estimator into its module."""

from __future__ import annotations

import libcst as cst

from ..options import RewriteOptions
from ..plan.canned_plan import CannedPlan, Task
from ..plan.program import OptimizerPlan
from ..plan.sites import CannedSites, Program
from ..plan.tree import Tree, statements_of
from .canned_head import (
    batch_loss,
    example_losses,
    metric_updates,
    metrics_of,
    predictions_of,
    results_of,
)
from .canned_model import model_code, row_wise
from .edits import Edits, Statement
from .layout import WIDTH, fit, one_line
from .loop_program import LoopEmitter
from .names import Names
from .spacing import space_definitions, with_blank_lines
from .template import parse_statements

__all__ = ["CannedEmitter"]

_SAME_WEIGHT = "# As in Estimator.evaluate, every batch weighs the same in the loss.\n"


class CannedEmitter(LoopEmitter):
    """Emits the program of a canned Estimator."""

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
        super().__init__(
            tree,
            program,
            names,
            tf,
            # The Estimator's own name becomes free.
            model="model"
            if program.plan.estimator == "model"
            else names.fresh("model"),
            optimizer=names.fresh("dnn_optimizer") if self.combined else None,
            options=options,
        )
        self.model = model
        self.sites = sites
        wanted = []
        if model.linear is not None:
            wanted += ["LinearModel", "Bias"]
        elif model.deep is None:
            wanted.append("BaselineModel")
        if self.combined:
            wanted += ["WideDeepModel", "linear_optimizer", "deep_part"]
            self.renamed["dnn_optimizer"] = self.optimizer
        if model.head.vocabulary is not None:
            wanted.append("label_ids")
        self.metrics = metrics_of(model.head) if self.evaluates else []
        if self.evaluates and model.head.task == Task.BINARY:
            wanted.append("PrecisionRecallAUC")
        wanted += [variable for variable, _, _ in self.metrics]
        for name in wanted:
            if name not in self.renamed:
                self.renamed[name] = names.fresh(name)

    def emit(self) -> Edits:
        """All edits that turn the program into a native loop."""
        sites, edits = self.sites, self.edits
        edits.replace[sites.estimator_statement] = []
        for statement in sites.drop:
            edits.replace[statement] = []
        first = sites.first_call
        self.place_strategy(first)
        setup = edits.before[first] + self._setup()
        lines = sites.estimator_statement.leading_lines
        blank = sum(line.comment is None for line in lines)
        setup[0] = with_blank_lines(setup[0], max(blank, 1))
        classes = self._classes()
        top = self.tree.statement_in(first, self.tree.module) or first
        if top is first:
            edits.before[first] = classes + setup
            if classes:
                setup[0] = with_blank_lines(setup[0], 2)
                edits.before[first] = classes + setup
        else:
            edits.before[first] = setup
            edits.before[top] = classes
        self.calls()
        return edits

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
        model = self.model
        result = self.fill(
            "canned_setup",
            file="canned",
            expressions={
                "X_DATASET": one_line(self.sites.example_input),
                "X_LABELS": one_line(model.head.vocabulary or "None"),
                "X_CHECKPOINT": self._checkpoint(),
            },
            statements={
                "X_MODEL": parse_statements(self.text(model_code(model, self.renamed))),
                "X_OPTIMIZERS": parse_statements(self.text(self._optimizers())),
                "X_TEST_METRICS": parse_statements(self.text(self._metrics())),
            },
            flags={"X_VOCABULARY": model.head.vocabulary is not None},
        )
        result += self.manager()
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

    def _optimizers(self) -> str:
        model, variables = self.model, f"{self.renamed['model']}.trainable_variables"
        if self.combined:
            assert model.deep is not None
            assert model.linear is not None
            name = self.renamed["model"]
            return self._optimizer(
                model.deep.optimizer,
                self.optimizer,
                f"{name}.deep.trainable_variables",
                sparse=model.deep.sparse,
            ) + self._optimizer(
                model.linear.optimizer,
                self.renamed["linear_optimizer"],
                f"{name}.wide.trainable_variables",
                sparse=model.linear.sparse,
            )
        part = model.deep or model.linear
        if part is not None:
            return self._optimizer(
                part.optimizer, self.optimizer, variables, sparse=part.sparse
            )
        assert model.baseline is not None
        return self._optimizer(model.baseline, self.optimizer, variables, sparse=False)

    def _optimizer(
        self, plan: OptimizerPlan, name: str, variables: str, *, sparse: bool
    ) -> str:
        converted, builds = row_wise(plan, name, sparse=sparse)
        code = f"{name} = {converted.code}\n"
        if builds:
            code += f"{name}.build({variables})\n"
        return code + converted.state

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

    def _list(self, items: list[str]) -> str:
        """A list on one line where it fits, else with a line for each item."""
        code = f"[{', '.join(items)}]"
        if len(code) + self.indent + self.step_width + len("metrics = ") <= WIDTH:
            return code
        inside = "".join(f"    {item},\n" for item in items)
        return f"[\n{inside}]"

    # -- the functions of the loop -----------------------------------------------

    def _functions(self) -> list[Statement]:
        head = self.model.head
        losses = example_losses(head, self.renamed)
        comment, loss = batch_loss(head)
        code = f"logits = {self._call('True')}\n{losses}{comment}"
        forward = parse_statements(self.text(code))
        if head.reduction == "sum":
            forward = parse_statements(self.text(f"{code}loss = {loss}\n"))
        else:
            forward += self.fill("scalar_loss", expressions={"X_SCALAR_LOSS": loss})
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
            return result + self._predictions()
        body = parse_statements(
            self.text(
                f"logits = {self._call('False')}\n"
                + losses
                + _SAME_WEIGHT
                + f"{self.renamed['test_loss']}.update_state({loss})\n"
                + metric_updates(head, self.renamed)
            )
        )
        every = [
            f"*{self.renamed[v]}" if v == "test_metrics" else self.renamed[v]
            for v in dict.fromkeys(variable for variable, _, _ in self.metrics)
        ]
        result += self.test_functions(
            self._list(every), body, more=parse_statements(results_of(head))
        )
        return result + self._predictions()

    def _predictions(self) -> list[Statement]:
        """What predict yields."""
        if not self.plan.predicts:
            return []
        body = f"logits = {self._call('False')}\n{predictions_of(self.model.head)}"
        return self.predict_functions(parse_statements(self.text(body)))

    def _call(self, training: str) -> str:
        """A call of the model; without hidden layers training makes no difference."""
        name = self.renamed["model"]
        if self.model.deep is None:
            return f"{name}(features)"
        return f"{name}(features, training={training})"
