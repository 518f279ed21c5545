"""From a module with training programs to the same module with native loops."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import libcst as cst

from ..options import RewriteOptions
from ..plan.keras_program import KERAS_ESTIMATORS, recognise_keras
from ..plan.program import Blocker, TrainingPlan
from ..plan.sites import Blocked, Program
from ..plan.tree import Tree, walk
from ..report.findings import Finding, Outcome, Safety, Tier
from ..symbols.resolver import Resolver
from .imports import add_imports, drop_unused_imports, imported_as
from .keras_door import use_tf_keras
from .keras_program import KerasEmitter
from .names import Names

__all__ = ["ProgramsRewrite", "rewrite_programs"]


@dataclass(frozen=True)
class ProgramsRewrite:
    """The module after its training programs were moved, and what was done."""

    module: cst.Module
    findings: tuple[Finding, ...] = ()
    plans: tuple[TrainingPlan, ...] = ()


def rewrite_programs(
    module: cst.Module,
    *,
    path: Path,
    resolver: Resolver,
    options: RewriteOptions,
    facts: Any = None,
) -> ProgramsRewrite:
    """Move every training program of a module as far as it can be moved.

    Each program moves as a whole or stays as a whole. What is not part of a
    program is left to the symbol rules.
    """
    tree = Tree(module, resolver)
    findings: list[Finding] = []
    programs: list[Program] = []
    blocked: list[Blocker] = []
    for node in walk(module):
        if (
            isinstance(node, cst.Call)
            and resolver.resolve(node.func) in KERAS_ESTIMATORS
        ):
            try:
                programs.append(recognise_keras(tree, node))
            except Blocked as stop:
                blocked.append(stop.blocker)
    if blocked:
        findings += [_left(path, blocker) for blocker in blocked]
        return ProgramsRewrite(module, tuple(findings))
    if len(programs) != 1:
        return ProgramsRewrite(module, tuple(findings))
    program = programs[0]
    names = Names(tree)
    tf = imported_as(module, "tensorflow")
    emitter = KerasEmitter(tree, program, names, tf or names.fresh("tf"))
    edited = emitter.emit().apply(module)
    other = [] if tf else [f"tensorflow as {emitter.tf}"]
    edited = drop_unused_imports(module, edited)
    edited = add_imports(edited, emitter.imports, other)
    edited = cst.parse_module(edited.bytes)
    if options.keras == "tf_keras":
        edited = use_tf_keras(edited, Resolver(edited))
    findings += _moved(path, tree, program)
    return ProgramsRewrite(edited, tuple(findings), (program.plan,))


def _left(path: Path, blocker: Blocker) -> Finding:
    return Finding(
        path=path,
        line=blocker.line,
        column=1,
        rule=blocker.rule,
        message="this training program keeps its Estimator",
        outcome=Outcome.LEFT,
        safety=Safety.NEEDS_REVIEW,
        tier=Tier.UNTOUCHED,
        reason=blocker.reason,
    )


def _moved(path: Path, tree: Tree, program: Program) -> list[Finding]:
    plan = program.plan
    found = [
        Finding(
            path=path,
            line=plan.line,
            column=1,
            rule="TFM101",
            message="`tf.keras.estimator.model_to_estimator` becomes a training loop",
            outcome=Outcome.REWRITTEN,
            safety=Safety.NEEDS_REVIEW,
            tier=Tier.NATIVE,
        )
    ]
    for difference in plan.differences:
        safety = (
            Safety.NEEDS_REVIEW if difference.needs_review else Safety.CHANGES_NUMBERS
        )
        found.append(
            Finding(
                path=path,
                line=difference.line,
                column=1,
                rule=difference.rule,
                message=difference.message,
                outcome=Outcome.REWRITTEN,
                safety=safety,
                tier=Tier.NATIVE,
            )
        )
    return found
