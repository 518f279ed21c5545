"""Where a recognised program stands in its syntax tree."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from .program import Blocker, EstimatorCall, LayerClass, TrainingPlan
from .tree import Body, Statement

__all__ = ["Blocked", "KerasSites", "ModelFnSites", "Program"]


class Blocked(Exception):
    """Raised by a recogniser where a program leaves what it understands."""

    def __init__(self, rule: str, line: int, reason: str) -> None:
        super().__init__(reason)
        self.blocker = Blocker(rule, line, reason)


@dataclass
class KerasSites:
    """Nodes of a ``model_to_estimator`` program that an emitter edits."""

    body: Body
    model_statements: list[Statement]
    model_ready: Statement
    compile_statement: Statement | None
    estimator_statement: Statement
    drop: list[Statement]
    hoist: list[Statement]
    strategy_call: cst.Call | None
    calls: list[tuple[EstimatorCall, cst.Call]]
    hook_classes: list[cst.ClassDef]

    @property
    def ready_last(self) -> Statement:
        """The last statement that makes the model."""
        return self.model_statements[-1]


@dataclass
class ModelFnSites:
    """Nodes of an ``Estimator(model_fn)`` program that an emitter edits."""

    body: Body
    model_fn: cst.FunctionDef
    helpers: list[tuple[cst.FunctionDef, LayerClass]]
    first_call: Statement
    estimator_statement: Statement
    drop: list[Statement]
    hoist: list[Statement]
    strategy_call: cst.Call | None
    calls: list[tuple[EstimatorCall, cst.Call]]
    hook_classes: list[cst.ClassDef]


@dataclass
class Program:
    """A training program: its plan and its places."""

    plan: TrainingPlan
    sites: KerasSites | ModelFnSites
