"""From a module with training programs to the same module with native loops.

A program whose all is in plain sight becomes a native loop (T1), or it keeps its
Estimator here, and then ``around`` decides on the loop module. A program moves as a
whole, and so do all programs of one module: they share its imports.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import libcst as cst

from ..options import RewriteOptions
from ..plan.advice import Stop, advised, checkpoint_readers, no_loop_for
from ..plan.code.tree import Tree
from ..plan.estimator.config import lost_settings
from ..plan.estimator.legacy import legacy_places, runs_estimators
from ..plan.inputs.datasets import MODE_NAMES
from ..plan.keras.named_model import with_named_model
from ..plan.keras.program import KERAS_ESTIMATORS, recognise_keras
from ..plan.model_fns import MODEL_FN_ESTIMATORS, ReadModel, recognise_model_fn
from ..plan.program import Blocker, TrainingPlan
from ..plan.seeds import seeded_draws
from ..plan.sites import (
    Blocked,
    KerasSites,
    ModelFnSites,
    Program,
)
from ..project.parsing import parse
from ..project.positions import code_of
from ..report.findings import Finding, Outcome, Safety, Tier
from ..rules.reasons import WHAT_TO_DO
from ..rules.training_program import CHOICE_NOT_OFFERED, KEEPS, KEPT
from ..symbols.resolver import Resolver
from ..symbols.scopes import BindingKind
from ..symbols.surface import gone
from .module.imports import add_imports, drop_unused_imports, imported_as
from .module.keras_door import use_tf_keras
from .module.lone_replica import for_one_replica
from .module.mode_names import name_modes
from .module.names import Names
from .module.notes import MARK
from .module.session_settings import drop_session_settings
from .module.switches import drop_switches, has_switches
from .programs.choices import not_offered, numbers_changed
from .programs.keras import KerasEmitter
from .programs.model_fn import ModelFnEmitter
from .programs.recurrent_defaults import spell_recurrent_defaults

__all__ = ["ProgramsRewrite", "rewrite_programs"]

_Emitter = type[KerasEmitter] | type[ModelFnEmitter]
_EMITTERS: dict[type, _Emitter] = {
    KerasSites: KerasEmitter,
    ModelFnSites: ModelFnEmitter,
}


# Of a line that a reason shows.
_LONGEST = 60
_ON_MODULE = (
    "tf.contrib.predictor.from_saved_model",
    "tf.contrib.training.HParams",
)
_MODE_KEYS = ("tf.estimator.ModeKeys", "tf.contrib.learn.ModeKeys")


@dataclass(frozen=True)
class ProgramsRewrite:
    """The module after its training programs were moved, and what was done."""

    module: cst.Module
    findings: tuple[Finding, ...] = ()
    plans: tuple[TrainingPlan, ...] = ()
    # The text that ``module`` was parsed from, where it was.
    text: str | None = None
    # The code of the module before, where it was needed.
    before: str | None = None


def rewrite_programs(
    module: cst.Module,
    *,
    path: Path,
    resolver: Resolver,
    options: RewriteOptions,
    read_model: ReadModel,
    facts: Any = None,
) -> ProgramsRewrite:
    """Move every training program of a module as far as it can be moved.

    What is not part of a program is left to the symbol rules. ``read_model`` takes
    its model functions apart.
    """
    tree = Tree(module, resolver)
    places = legacy_places(tree)
    if not places:
        return ProgramsRewrite(module)
    stays: list[Stop]
    if options.stays_because is not None and places.programs:
        reason = options.stays_because
        stays = [
            (place, Blocker("TFM103", tree.line(place), reason))
            for place in places.programs
        ]
        return _keep_estimator(path, tree, stays)
    if len(places.programs) > 1:
        reason = "several Estimators in one file"
        stays = [(p, Blocker("TFM103", tree.line(p), reason)) for p in places.programs]
        return _keep_estimator(path, tree, advised(tree, stays))
    programs: list[Program] = []
    stops: list[Stop] = []
    for place in places.programs:
        try:
            symbol = resolver.resolve(place.func)
            if symbol in KERAS_ESTIMATORS:
                named = with_named_model(tree, place)
                if named is not None:
                    return _with_named_model(
                        tree, place, named, path, options, read_model
                    )
            if symbol in MODEL_FN_ESTIMATORS:
                programs.append(recognise_model_fn(tree, place, read_model))
                continue
            if symbol not in KERAS_ESTIMATORS:
                in_place = options.style == "inline"
                reason = no_loop_for(symbol, in_place=in_place)
                raise Blocked("TFM103", tree.line(place), reason)
            programs.append(recognise_keras(tree, place))
        except Blocked as stop:
            stops.append((place, stop.blocker))
    strays = places.strays(tree, programs)
    if facts is None or not facts.importers(path):
        beside = bool(programs)
        strays = [node for node in strays if not _is_unused(tree, node, beside)]
    modes = [node for node in strays if _is_mode(tree, node)]
    strays = [node for node in strays if node not in modes]
    if not places.programs and not strays:
        # A helper that only compares modes is the symbol rules' matter.
        return ProgramsRewrite(module)
    if stops or strays:
        if not stops:
            line = tree.line(strays[0])
            symbol = tree.symbol(strays[0])
            reason = f"`{symbol}` belongs to no training program seen here"
            users = () if facts is None else facts.importers(path)
            if users:
                names = ", ".join(sorted({user.name for user in users}))
                reason = f"`{symbol}` belongs to {names}, which keeps its Estimator"
            stops = [(strays[0], Blocker("TFM103", line, reason))]
        stops = advised(tree, stops)
        return _keep_estimator(path, tree, stops)
    if not programs:
        return ProgramsRewrite(module)
    refused = not_offered(tree, options, programs[0])
    if refused is not None:
        # Ignoring a choice silently would be worse than leaving the program.
        finding = _left(path, programs[0].plan.line, refused)
        return ProgramsRewrite(module, (finding,))
    try:
        return _native(path, tree, programs[0], options, modes)
    except Blocked as stop:
        return _keep_estimator(path, tree, [(places.programs[0], stop.blocker)])


def _with_named_model(
    tree: Tree,
    place: cst.Call,
    named: cst.Module,
    path: Path,
    options: RewriteOptions,
    read_model: ReadModel,
) -> ProgramsRewrite:
    """A program whose model was given a name, moved as it reads then."""
    module = parse(code_of(named))
    result = rewrite_programs(
        module,
        path=path,
        resolver=Resolver(module),
        options=options,
        read_model=read_model,
    )
    line = tree.line(place)
    if any(finding.rule == CHOICE_NOT_OFFERED for finding in result.findings):
        return ProgramsRewrite(
            tree.module, tuple(replace(f, line=line) for f in result.findings)
        )
    if not result.plans:
        reasons = [finding.reason for finding in result.findings if finding.reason]
        raise Blocked(
            "TFM103", line, reasons[0] if reasons else "the model has no name"
        )
    # Places of the changed module are none of this one.
    findings = tuple(replace(finding, line=line) for finding in result.findings)
    plans = tuple(replace(plan, line=line) for plan in result.plans)
    return ProgramsRewrite(result.module, findings, plans)


def _is_unused(tree: Tree, node: cst.CSTNode, beside_program: bool) -> bool:
    """The node is in a function of the module that nothing here names.

    It does not keep a program from its loop. The symbol rules mark it then, and a
    function so marked keeps nothing either.
    """
    inner: cst.CSTNode = node
    for holder in tree.ancestors(node):
        if isinstance(holder, cst.FunctionDef) and isinstance(
            tree.parent(holder), cst.Module
        ):
            unused = inner is holder.body and not tree.loads(holder.name.value)
            if not unused or beside_program:
                return unused
            return f"{MARK}: TFM209" in tree.code(holder.body)
        inner = holder
    return False


def _is_mode(tree: Tree, node: cst.CSTNode) -> bool:
    folder, _, name = (tree.symbol(node) or "").rpartition(".")
    return folder in _MODE_KEYS and name in MODE_NAMES


def _native(
    path: Path,
    tree: Tree,
    program: Program,
    options: RewriteOptions,
    modes: list[cst.CSTNode],
) -> ProgramsRewrite:
    module = tree.module
    for call in tree.calls(module, _ON_MODULE):
        reason = f"`{tree.symbol(call.func)}`, which a loop in place has no copy of"
        raise Blocked("TFM103", tree.line(call), reason)
    names = Names(tree, program.sites.body)
    tf = imported_as(module, "tensorflow")
    kind = _EMITTERS[type(program.sites)]
    emitter = kind(tree, program, names, tf or names.fresh("tf"), options)
    edits = emitter.emit()
    for node in modes:
        # Input functions that took a mode take its name.
        name = (tree.symbol(node) or "").rpartition(".")[2]
        edits.expressions[node] = cst.SimpleString(MODE_NAMES[name])
    edited = edits.apply(module)
    if emitter.loop_names is not None:
        edited = for_one_replica(edited, emitter.loop_names, module)
    edited = drop_session_settings(tree, edited)
    if has_switches(tree, tree.text):
        edited = drop_switches(Tree(edited, Resolver(edited)))
    other = [] if tf else [f"tensorflow as {emitter.tf}"]
    edited = drop_unused_imports(module, edited, _dead_imports(tree))
    edited = add_imports(edited, emitter.imports, [*other, *emitter.packages])
    # Input functions that took a mode take its name, also where a loop calls them.
    text = code_of(edited)
    text, edited = name_modes(text, parse(text))
    # It concerns few programs, and a look at the text tells.
    if "LSTM" in text or "GRU" in text:
        text, edited = _recurrent(tree, text, edited, options, emitter.tf)
    parsed = edited
    if options.keras == "tf_keras" and "keras" in text:
        edited = use_tf_keras(edited, Resolver(edited))
    found = _moved(path, program)
    gone = [program.sites.call, *program.sites.drop]
    if isinstance(program.sites, ModelFnSites):
        gone.append(program.sites.model_fn)
    for lost in [*lost_settings(tree), *checkpoint_readers(tree, gone)]:
        of_session = replace(found[0], rule=lost.rule, message=lost.message)
        found.append(replace(of_session, line=lost.line, safety=Safety.NEEDS_REVIEW))
    seeded = seeded_draws(tree)
    if seeded is not None:
        drawn = replace(found[0], rule=seeded.rule, message=seeded.message)
        found.append(replace(drawn, line=seeded.line, safety=Safety.CHANGES_NUMBERS))
    for rule, message in numbers_changed(options):
        found.append(
            replace(found[0], rule=rule, message=message, safety=Safety.CHANGES_NUMBERS)
        )
    findings = tuple(found)
    known = text if edited is parsed else None
    return ProgramsRewrite(edited, findings, (program.plan,), known, tree.text)


def _dead_imports(tree: Tree) -> list[str]:
    """Names that a module imports from where today's TensorFlow has nothing."""
    return [
        name
        for name, bindings in tree.resolver.scopes.module_scope.bindings.items()
        for binding in bindings
        if binding.kind is BindingKind.IMPORT and gone(binding.target or "")
    ]


def _recurrent(
    tree: Tree, text: str, module: cst.Module, options: RewriteOptions, tf: str
) -> tuple[str, cst.Module]:
    """The text and module with the defaults that TF1's recurrent layers had."""
    if _names_compat_v1(tree):
        return text, module
    new = Tree(module, Resolver(module))
    spelled = spell_recurrent_defaults(new, options.keras, tf)
    if spelled is module:
        return text, module
    text = code_of(spelled)
    return text, parse(text)


def _names_compat_v1(tree: Tree) -> bool:
    """The module says ``tf.compat.v1`` for old things: the rest is TF 2."""
    return any(
        isinstance(node, cst.Attribute)
        and node.attr.value == "v1"
        and tree.resolver.qualified(node) == "tensorflow.compat.v1"
        for node in tree.nodes
    )


def _left(path: Path, line: int, reason: str) -> Finding:
    return Finding(
        path=path,
        line=line,
        column=1,
        rule=CHOICE_NOT_OFFERED,
        message="this program stays as it is",
        outcome=Outcome.LEFT,
        safety=Safety.NEEDS_REVIEW,
        tier=Tier.UNTOUCHED,
        reason=reason,
    )


def _keep_estimator(
    path: Path, tree: Tree, stops: list[tuple[cst.CSTNode, Blocker]]
) -> ProgramsRewrite:
    """What stays, and why; what becomes of its files is decided for all of them."""
    tier = Tier.COMPAT if runs_estimators(tree) else None
    findings = [
        Finding(
            path=path,
            line=blocker.line,
            column=1,
            rule=KEEPS,
            message=KEPT,
            outcome=Outcome.LEFT,
            safety=Safety.NEEDS_REVIEW,
            tier=tier,
            reason=_with_expression(blocker, tree),
            advice=WHAT_TO_DO.get(blocker.rule),
            note_at=tree.line(tree.statement(place)),
        )
        for place, blocker in stops
    ]
    return ProgramsRewrite(tree.module, tuple(findings))


def _with_expression(blocker: Blocker, tree: Tree) -> str:
    """The reason, with the line it is about where it names nothing of it."""
    lines = tree.text.split("\n")
    if "`" in blocker.reason or not 1 <= blocker.line <= len(lines):
        return blocker.reason
    text = lines[blocker.line - 1].strip()
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 3].rstrip()}..."
    return f"{blocker.reason}: `{text}`" if text else blocker.reason


def _moved(path: Path, program: Program) -> list[Finding]:
    plan = program.plan
    rule, tier = "TFM101", Tier.NATIVE
    message = f"the Estimator `{plan.estimator}` becomes a training loop"
    if not plan.config.writes_events:
        message += "; it writes no event files without `save_summary_steps`"
    found = [
        Finding(
            path=path,
            line=plan.line,
            column=1,
            rule=rule,
            message=message,
            outcome=Outcome.REWRITTEN,
            safety=Safety.NEEDS_REVIEW,
            tier=tier,
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
                tier=tier,
            )
        )
    return found
