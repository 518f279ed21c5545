"""For each program: a loop of its own, the loop module, or its Estimator.

The answer is one for all files of a group, and depends on nothing but their content
and the options: every process that asks comes to the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import libcst as cst

from ..emit import ProgramsRewrite, rewrite_programs
from ..lift.in_place import InPlace
from ..options import RewriteOptions
from ..plan.advice import checkpoint_readers
from ..plan.code.tree import Tree
from ..plan.estimator.legacy import legacy_places
from ..project.facts import ParsedModule, ProjectFacts
from ..project.files import is_ours
from ..project.journal import digest
from ..project.positions import Unfaithful, code_of
from ..project.reading import read_file, read_or_nothing
from ..project.sources import SourceError
from ..report.findings import Finding, Outcome, Safety, Tier
from ..rules.training_program import CHOICE_NOT_OFFERED, KEEPS, KEPT
from ..symbols.dotted import import_path
from ..symbols.resolver import Resolver
from ..symbols.scope_builder import build_scopes
from .contents import MARK
from .groups import Group, group_of, only_todays_hooks, support_of
from .homes import COPIED, Known
from .on_module import ON_MODULE, RULE, Answer, Moved, OnModule
from .vocabulary import Brought

__all__ = ["RULE", "Moved", "moved"]

Allowed = Callable[[Iterable[str]], bool]

_WORD = re.compile(r"\w+")


def moved(
    parsed: ParsedModule,
    *,
    options: RewriteOptions,
    facts: ProjectFacts,
    allowed: Allowed,
) -> Moved | ProgramsRewrite:
    """What becomes of a file's programs, or of its part in those of other files."""
    if _is_there(parsed, facts):
        return ProgramsRewrite(parsed.module)
    groups = _groups(parsed, facts)
    own = os.path.abspath(parsed.path)
    together = {os.path.abspath(path) for group in groups for path in group.all}
    options = options.for_program({own, *together})
    in_place = options.style == "inline" or not allowed([RULE])
    if in_place or not groups or options.stays_because is not None:
        options = _without_layers(options)
        return inline(parsed, options=options, facts=facts, allowed=allowed)
    why = None
    for group in groups:
        answer = _answer(group, parsed, options, facts, allowed)
        if own in answer.files:
            return answer.files[own]
        why = why or answer.why
    options = _without_layers(options)
    today = inline(parsed, options=options, facts=facts, allowed=allowed)
    stays = all(f.outcome is Outcome.LEFT for f in today.findings)
    if stays and only_todays_hooks(parsed):
        return ProgramsRewrite(parsed.module)
    if why is None:
        return today
    return replace(today, findings=tuple(_said(f, why) for f in today.findings))


def _without_layers(options: RewriteOptions) -> RewriteOptions:
    """For a loop in place, which has nothing but layers: it is none without them."""
    if options.model_because is None or options.stays_because is not None:
        return options
    return replace(options, stays_because=options.model_because)


def _is_there(parsed: ParsedModule, facts: ProjectFacts) -> bool:
    """The file is on a loop module already, its own or one beside it."""
    if MARK in parsed.source.text and ("class RunConfig" in parsed.source.text):
        return True
    for use in parsed.resolver.scopes.imports:
        node = use.node
        names = () if isinstance(node.names, cst.ImportStar) else node.names
        base = import_path(getattr(node, "module", None))
        dotted = [base] if base else []
        dotted += [
            ".".join(part for part in (base, import_path(alias.name)) if part)
            for alias in names
        ]
        relative = len(getattr(node, "relative", ()))
        for one in dotted:
            whole = parsed.resolver.absolute(one, relative)
            found = facts.locate(whole, parsed.path) if whole else None
            if found is not None and is_ours(read_or_nothing(found)):
                return True
    return False


def _said(finding: Finding, why: str) -> Finding:
    """A finding of a program that stays, with what keeps it from the loop module."""
    if finding.rule == KEEPS and finding.outcome is Outcome.LEFT:
        # What was advised was about another reason.
        return replace(finding, reason=why, advice=None)
    return finding


def _groups(parsed: ParsedModule, facts: ProjectFacts) -> tuple[Group, ...]:
    if not _is_as_on_disk(parsed, facts):
        return ()
    group = group_of(parsed, facts)
    if group is not None:
        return (group,)
    return support_of(parsed.path, facts)


def _is_as_on_disk(parsed: ParsedModule, facts: ProjectFacts) -> bool:
    """A later round looks at what an earlier one made of a file."""
    try:
        loaded = facts.load(parsed.path, parsed.source.raw)
    except SourceError:
        return False
    return loaded.source.text == parsed.source.text


def inline(
    parsed: ParsedModule,
    *,
    options: RewriteOptions,
    facts: ProjectFacts,
    allowed: Allowed,
) -> ProgramsRewrite:
    """The file with its programs' loops written out, as far as that goes."""
    key = ("inline", str(parsed.path), digest(parsed.source.text.encode()), options)
    found = facts.recent.get(key)
    if not isinstance(found, ProgramsRewrite):
        try:
            found = rewrite_programs(
                parsed.module,
                path=parsed.path,
                resolver=parsed.resolver,
                options=options,
                read_model=InPlace(parsed, facts),
                facts=facts,
            )
            lost = _lost_by_others(parsed, found, facts)
            if lost is None and options.style == "auto" and _choice(options) is None:
                lost = _read_by_name(parsed, found)
            if lost is not None:
                found = _not_written(parsed, lost)
        except Unfaithful:
            raise
        except Exception as problem:
            # Its own loop cannot be written, by our fault: there are other ways.
            told = f"{type(problem).__name__}: {problem}"
            reason = f"an error inside tfmigrate, please report it ({told})"
            found = _not_written(parsed, reason)
        facts.recent[key] = found
    return found


def _lost_by_others(
    parsed: ParsedModule, found: ProgramsRewrite, facts: ProjectFacts
) -> str | None:
    """What other files may take from a file that a loop in place would take away."""
    users = facts.importers(parsed.path) if found.plans else ()
    if not users:
        return None
    before = set(parsed.resolver.scopes.module_scope.bindings)
    gone = before - set(build_scopes(found.module).module_scope.bindings)
    for user in sorted(users):
        words = set(_WORD.findall(user.read_text("utf-8", "replace")))
        taken = sorted(gone & words)
        if taken:
            return f"{user.name} may use `{taken[0]}` of it"
    return None


def _read_by_name(parsed: ParsedModule, found: ProgramsRewrite) -> str | None:
    """What reads checkpoints by names, which those of the loop module keep."""
    readers = checkpoint_readers(Tree(parsed.module, parsed.resolver), ())
    if not found.plans or not readers:
        return None
    return f"line {readers[0].line} reads its checkpoints by the names of variables"


def _not_written(parsed: ParsedModule, reason: str) -> ProgramsRewrite:
    """A file whose programs get no loop in place."""
    tree = Tree(parsed.module, parsed.resolver)
    lines = [tree.line(place) for place in legacy_places(tree).programs] or [1]
    findings = tuple(
        Finding(
            path=parsed.path,
            line=line,
            column=1,
            rule=KEEPS,
            message=KEPT,
            outcome=Outcome.LEFT,
            safety=Safety.NEEDS_REVIEW,
            tier=Tier.COMPAT,
            reason=reason,
        )
        for line in lines
    )
    return ProgramsRewrite(parsed.module, findings)


def _answer(
    group: Group,
    parsed: ParsedModule,
    options: RewriteOptions,
    facts: ProjectFacts,
    allowed: Allowed,
) -> Answer:
    key = ("around", group, digest(parsed.source.raw), options)
    if len(group.all) > 1:
        key = ("around", group, "", options)
    found = facts.recent.get(key)
    if not isinstance(found, Answer):
        found = _decided(group, parsed, options, facts, allowed)
        facts.recent[key] = found
    return found


def _decided(
    group: Group,
    asked: ParsedModule,
    options: RewriteOptions,
    facts: ProjectFacts,
    allowed: Allowed,
) -> Answer:
    """Inline where all of it becomes native, else the loop module, else neither."""
    try:
        files = [_load(path, asked, facts) for path in group.all]
    except (OSError, SourceError) as problem:
        return Answer(why=f"a file of the program cannot be read: {problem}")
    estimators = files[: len(group.files)]
    today = {
        str(one.path): inline(one, options=options, facts=facts, allowed=allowed)
        for one in estimators
    }
    modules = OnModule(group, files, today, options, facts)
    native = all(
        _is_native(result) and not _needs_copies(result, modules.known)
        for result in today.values()
    )
    forced = options.module_because is not None
    here = native and options.style == "auto" and not forced
    here = here and options.model_because is None
    if here and not modules.lost_of_support():
        return Answer()
    if forced and len(group.all) > 1:
        # Its other files are asked with other options.
        return Answer()
    told = [f for result in today.values() for f in result.findings]
    together = options.strategy in ON_MODULE
    if not together and any(f.rule == CHOICE_NOT_OFFERED for f in told):
        # To ignore an option in silence would be worse than to leave the program.
        return Answer()
    choice = _choice(options)
    if choice is not None:
        reason = f"`{choice}` is for loops that are written in place"
        return Answer(why=reason)
    if group.missing:
        name = group.missing[0].name
        return Answer(why=f"{name}, which belongs to it, is not among the files given")
    return modules.answer(native)


def _choice(options: RewriteOptions) -> str | None:
    """What was asked for of loops that the loop module has not."""
    default = RewriteOptions()
    for name in ("loop", "keras"):
        value = getattr(options, name)
        if value != getattr(default, name):
            return f"--{name} {value}"
    return "--mixed-precision" if options.mixed_precision else None


def _load(path: Path, asked: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    if path == asked.path:
        return asked
    return facts.load(path, facts.as_python3(path, read_file(path)))


def _is_native(result: ProgramsRewrite) -> bool:
    return all(
        f.outcome is not Outcome.LEFT and f.tier in (None, Tier.NATIVE)
        for f in result.findings
    )


def _needs_copies(result: ProgramsRewrite, known: Known) -> bool:
    """A written-out loop has words left that only a copy of TF 1's code can mean.

    It would not run; the program does when the copy stands beside it.
    """
    text = code_of(result.module) if result.text is None else result.text
    if not any(word in text for word in COPIED):
        return False
    resolver = Resolver(result.module)
    symbols = {resolver.resolve(use.node) for use in resolver.scopes.uses}
    return any(
        isinstance(known.home(symbol, for_tf2=True), Brought)
        for symbol in symbols
        if symbol is not None
    )
