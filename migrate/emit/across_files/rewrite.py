"""Training programs spread over files: all their files move together.

Files are processed one by one, maybe in several processes. So that they agree,
each file asks the same question: what does the program of this main module make
of all its files? The answer depends on the files' content only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ...options import RewriteOptions
from ...plan.code.tree import Tree
from ...plan.estimator.legacy import legacy_places
from ...project.facts import ParsedModule, ProjectFacts
from ...project.guard import GuardError, check_output
from ...project.parsing import parse
from ...project.selection import file_is_ignored, ignored_lines, is_silenced
from ...project.sources import SourceError
from ...report.findings import Finding, Outcome, Safety
from ..rewrite import ProgramsRewrite, rewrite_programs
from .join import CannotJoin, Joined, Part, join
from .split import split

__all__ = ["rewrite_across_files", "why_alone"]

Allowed = Callable[[Iterable[str]], bool]

_WORD = re.compile(rb"[Ee]stimator")


@dataclass(frozen=True)
class _Shared:
    """What one main module's program makes of its files."""

    texts: dict[str, str]
    findings: dict[str, tuple[Finding, ...]]


def rewrite_across_files(
    parsed: ParsedModule,
    *,
    options: RewriteOptions,
    facts: ProjectFacts,
    allowed: Allowed,
) -> ProgramsRewrite | None:
    """The file as part of a program that other files belong to as well.

    None when there is no such program, or it keeps its Estimator; the file is then
    a matter of its own.
    """
    source = parsed.source
    if source.notebook is not None or not _is_as_on_disk(parsed, facts):
        return None
    own = os.path.abspath(parsed.path)
    for main in _mains(parsed, facts):
        shared = _shared(main, options, facts, allowed)
        if shared is not None and own in shared.texts:
            text = shared.texts[own]
            module = source.module if text == source.text else parse(text)
            return ProgramsRewrite(module, shared.findings.get(own, ()))
    return None


def why_alone(
    parsed: ParsedModule, *, options: RewriteOptions, facts: ProjectFacts
) -> str | None:
    """Why a file with an Estimator was not moved together with those it imports."""
    key = ("alone", str(parsed.path), options)
    reason = facts.answers.get(key)
    return reason if isinstance(reason, str) else None


def _is_as_on_disk(parsed: ParsedModule, facts: ProjectFacts) -> bool:
    """A second round over a file that was rewritten has nothing to join."""
    try:
        return facts.load(parsed.path, parsed.source.raw).source.text == (
            parsed.source.text
        )
    except SourceError:
        return False


def _mains(parsed: ParsedModule, facts: ProjectFacts) -> list[Path]:
    """What names Estimators of the file and all that import it, however far."""
    key = "mains of each file"
    if key not in facts.answers:
        facts.answers[key] = _mains_by_file(facts)
    table = facts.answers[key]
    assert isinstance(table, dict)
    own = os.path.abspath(parsed.path)
    found: dict[str, Path] = {
        os.path.abspath(main): main for main in table.get(own, ())
    }
    if own not in found and _names_estimators(parsed.path):
        found[own] = parsed.path
    return [path for _, path in sorted(found.items())]


def _mains_by_file(facts: ProjectFacts) -> dict[str, list[Path]]:
    """For every given file, the given files that name Estimators and reach it.

    Asked once for all: to walk from each file to all that import it would take a
    time that grows with the square of the project.
    """
    table: dict[str, list[Path]] = {}
    for main in facts.files:
        if not _names_estimators(main):
            continue
        start = os.path.abspath(main)
        seen, pending = {start}, [start]
        while pending:
            for target in facts.imports(pending.pop()):
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
        for path in seen:
            table.setdefault(path, []).append(main)
    return table


def _names_estimators(main: Path) -> bool:
    try:
        raw = main.read_bytes()
    except OSError:
        return False
    return _WORD.search(raw) is not None and not file_is_ignored(raw)


def _shared(
    main: Path, options: RewriteOptions, facts: ProjectFacts, allowed: Allowed
) -> _Shared | None:
    # The files of a project stay as they are while it is looked at.
    key = ("across files", str(main), options)
    if key not in facts.answers:
        try:
            parsed = facts.load(main, main.read_bytes())
            found = _rewritten(parsed, options, facts, allowed)
        except (OSError, SourceError):
            found = None
        except CannotJoin as problem:
            found = f"its files cannot be read as one program: {problem}"
        except Exception as error:
            # Each of its files gets on without the others.
            kind = type(error).__name__
            found = f"its files cannot be read as one program ({kind}: {error})"
        if isinstance(found, str):
            alone = ("alone", *key[1:])
            facts.answers[alone] = found
            found = None
        facts.answers[key] = found
    answer = facts.answers[key]
    assert answer is None or isinstance(answer, _Shared)
    return answer


def _rewritten(
    main: ParsedModule, options: RewriteOptions, facts: ProjectFacts, allowed: Allowed
) -> _Shared | str | None:
    """What becomes of the files, or why they do not move together."""
    if main.source.notebook is not None or not _makes_one_estimator(main):
        return None
    joined = join(main, facts)
    if joined is None:
        return None
    source = joined.parsed.source
    result = rewrite_programs(
        source.module,
        path=main.path,
        resolver=joined.parsed.resolver,
        options=options,
        facts=facts,
    )
    found = result.findings
    if not result.plans or any(f.outcome is not Outcome.REWRITTEN for f in found):
        left = next((f for f in found if f.outcome is Outcome.LEFT and f.reason), None)
        if left is None:
            return None
        part, line = joined.place(left.line)
        return f"{left.reason} ({part.path.name}:{line})"
    # A program that starts in a part belongs to that file's own answer.
    if joined.place(result.plans[0].line)[0] is not joined.parts[-1]:
        return None
    if not allowed(finding.rule for finding in found) or _silenced(joined, found):
        return None
    texts = split(joined, result.module.code, facts)
    changed = {
        part: text for part, text in texts.items() if text != part.parsed.source.text
    }
    _check_reach(joined, changed, facts)
    _check_names(changed)
    return _Shared(
        {os.path.abspath(part.path): text for part, text in changed.items()},
        _findings(joined, changed, found, facts),
    )


def _makes_one_estimator(main: ParsedModule) -> bool:
    """Whether a program can start here: told before other files are read for it."""
    return len(legacy_places(Tree(main.module, main.resolver)).programs) == 1


def _silenced(joined: Joined, found: Iterable[Finding]) -> bool:
    for finding in found:
        part, line = joined.place(finding.line)
        lines = ignored_lines(part.parsed.source.text)
        if is_silenced(finding.rule, lines.get(line)):
            return True
    return False


def _check_reach(
    joined: Joined,
    changed: dict[Part, str],
    facts: ProjectFacts,
) -> None:
    """Every file to change must be at hand, and nobody else may miss a name."""
    given = {os.path.abspath(path) for path in facts.files}
    inside = {os.path.abspath(part.path) for part in joined.parts}
    for part, text in changed.items():
        own = os.path.abspath(part.path)
        if own not in given or file_is_ignored(part.parsed.source.raw):
            raise CannotJoin(f"{part.path.name} is not among the files to rewrite")
        gone = part.defined - _bound(text)
        for importer in facts.importers(part.path):
            if os.path.abspath(importer) in inside:
                continue
            words = set(re.findall(r"\w+", importer.read_text("utf-8", "replace")))
            for name in sorted(gone & words):
                raise CannotJoin(f"{importer.name} uses `{name}` as well")


def _check_names(changed: dict[Part, str]) -> None:
    """Every file has to run: they move together, so the answer is one for all."""
    for part, text in changed.items():
        parsed = part.parsed
        try:
            check_output(parsed.source.text, text, scopes=parsed.resolver.scopes)
        except GuardError as problem:
            raise CannotJoin(f"{part.path.name}: {problem}") from problem


def _bound(text: str) -> set[str]:
    from ...symbols.scope_builder import build_scopes

    return set(build_scopes(parse(text)).module_scope.bindings)


def _findings(
    joined: Joined,
    changed: dict[Part, str],
    found: Iterable[Finding],
    facts: ProjectFacts,
) -> dict[str, tuple[Finding, ...]]:
    placed: dict[str, list[Finding]] = {}
    shown = {os.path.abspath(path): path for path in facts.files}
    for finding in found:
        part, line = joined.place(finding.line)
        path = shown.get(os.path.abspath(part.path), part.path)
        here = replace(finding, path=path, line=line)
        placed.setdefault(os.path.abspath(part.path), []).append(here)
    main = joined.parts[-1]
    for part in changed:
        if part is not main:
            told = Finding(
                path=shown[os.path.abspath(part.path)],
                line=1,
                column=1,
                rule="TFM101",
                message=f"moves with the training program of {main.path.name}",
                outcome=Outcome.REWRITTEN,
                safety=Safety.NEEDS_REVIEW,
            )
            placed.setdefault(os.path.abspath(part.path), []).append(told)
    # Only the file with the Estimator counts as a program.
    return {
        path: tuple(
            replace(f, tier=None if path != os.path.abspath(main.path) else f.tier)
            for f in each
        )
        for path, each in placed.items()
    }
