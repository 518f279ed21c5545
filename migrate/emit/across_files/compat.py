"""Modules that a program on the compat layer needs there as well.

A program that keeps its Estimator runs on TF 1.15's names. A module it imports may
use names that TensorFlow 2 has no more (`tf.layers`, `tf.contrib`) without saying
Estimator anywhere: left to itself it would fail when the program reaches it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ...options import RewriteOptions
from ...plan.code.tree import Tree
from ...plan.estimator.legacy import legacy_places
from ...project.facts import ParsedModule, ProjectFacts
from ...project.journal import digest
from ...project.sources import SourceError
from ...report.findings import Finding, Outcome, Safety, Tier
from ...rules.engine import run_rules
from ..module.compat_import import CannotImport, compat_flavour, use_compat
from ..rewrite import ProgramsRewrite, rewrite_programs

__all__ = ["follow_to_compat"]


def follow_to_compat(
    parsed: ParsedModule,
    mains: Iterable[Path],
    *,
    options: RewriteOptions,
    facts: ProjectFacts,
) -> ProgramsRewrite | None:
    """The module with the compat layer's imports, if a program needs it so."""
    own = os.path.abspath(parsed.path)
    others = [main for main in mains if os.path.abspath(main) != own]
    if not others or "tensorflow" not in parsed.source.text:
        return None
    if not _lacks_names(parsed):
        return None
    tree = Tree(parsed.module, parsed.resolver)
    if legacy_places(tree):
        return None  # what names Estimators is moved for its own sake
    for main in others:
        flavour = _kept_as(main, options, facts)
        if flavour is None:
            continue
        try:
            edits = use_compat(tree, flavour)
        except CannotImport:
            return None
        if not edits.nodes:
            return None  # private modules alone, which stay
        edited = edits.apply(parsed.module)
        told = Finding(
            path=parsed.path,
            line=1,
            column=1,
            rule="TFM103",
            message=f"imports tfmigrate.compat, as {main.name} does, which needs it",
            outcome=Outcome.REWRITTEN,
            safety=Safety.NEEDS_REVIEW,
        )
        return ProgramsRewrite(edited, (told,))
    return None


def _lacks_names(parsed: ParsedModule) -> bool:
    """Whether the symbol rules would leave something that TensorFlow 2 lacks."""
    result = run_rules(
        parsed.source.text,
        parsed.module,
        parsed.resolver,
        allows=lambda rule: True,
        silenced=lambda line, rule: False,
    )
    outcomes = (found.diagnosis.outcome for found in result.findings)
    return any(outcome in (Outcome.ADVICE, Outcome.LEFT) for outcome in outcomes)


def _kept_as(main: Path, options: RewriteOptions, facts: ProjectFacts) -> str | None:
    """The clone that a main module imports, if it keeps its Estimator."""
    try:
        raw = main.read_bytes()
        parsed = facts.load(main, raw)
    except (OSError, SourceError):
        return None
    key = ("kept as", str(main), digest(raw), options)
    if key not in facts.answers:
        result = rewrite_programs(
            parsed.module,
            path=main,
            resolver=parsed.resolver,
            options=options,
            facts=facts,
        )
        kept = any(f.tier is Tier.COMPAT for f in result.findings)
        tree = Tree(parsed.module, parsed.resolver)
        facts.answers[key] = compat_flavour(tree) if kept else None
    answer = facts.answers[key]
    assert answer is None or isinstance(answer, str)
    return answer
