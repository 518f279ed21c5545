"""From one file to its result: load, programs, symbols, guard.

``process_file`` is a pure function of the project's content and the options. It
writes nothing, so ``scan``, ``--diff``, ``--check`` and a real rewrite share it
and cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tfmigrate.compat.notebooks import Notebook, NotebookError

from ..options import Job
from ..project.deep import call_deep
from ..project.facts import ParsedModule, ProjectFacts
from ..project.files import holds_requirements, is_ours, mentions_legacy
from ..project.garbage import collector_at_rest
from ..project.guard import GuardError, check_output
from ..project.lacks import lacks_of
from ..project.long_lines import with_short_lines
from ..project.positions import Places, Unfaithful
from ..project.reading import read_file
from ..project.selection import file_is_ignored, ignored_lines, is_silenced
from ..project.sources import Source, SourceError, decode
from ..report.findings import (
    KEEPS,
    NATIVE,
    PYTHON2,
    Finding,
    Outcome,
    Replacement,
    told,
)
from ..report.model import FileFacts, FileResult, FileStatus, Lack
from ..report.needs import Need
from ..rules.engine import POSTPONED, RulesResult, run_rules
from ..rules.written_for import written_for_tf2
from .decide import Kept, Moved, kept, part_in_programs
from .file_facts import facts_of_file, runs_on_both
from .pins import notebook_pins, with_new_requirements
from .python2 import converted, remains
from .results import failed, in_cells, line_origins, result_of

# More would be a rewrite that chases its own tail.
_MOST_ROUNDS = 3


def process_file(path: Path, job: Job, facts: ProjectFacts) -> FileResult:
    """The result of one file on disk; never raises for what is in the file."""
    try:
        raw = read_file(path)
    except OSError as error:
        return failed(path, b"", f"cannot read: {error.strerror or error}")
    return process_source(path, raw, job, facts)


def process_source(path: Path, raw: bytes, job: Job, facts: ProjectFacts) -> FileResult:
    """The result of a file's content."""
    lines = raw.count(b"\n")
    asked = job.py2 and job.selection.allows(PYTHON2)
    facts.converter = converted if asked else None
    try:
        if not (
            facts.concerns_legacy(path, raw)
            or facts.helps_legacy(path, raw)
            or _is_old(path, raw, facts)
        ):
            return FileResult(path, FileStatus.SKIPPED, lines=lines)
        if file_is_ignored(raw) or is_ours(raw):
            return result_of(path, raw, raw, ())
        if holds_requirements(path.name):
            text = raw.decode("utf-8", "surrogateescape")
            text, pins = _requirements(path, text, job)
            new = text.encode("utf-8", "surrogateescape")
            return result_of(path, raw, new, tuple(pins))
        with collector_at_rest():
            new, findings, needs = call_deep(lambda: _process(path, raw, job, facts))
        # Here, for the result checks itself: findings must fit what happened.
        result = result_of(path, raw, new, findings, needs)
        base = facts.as_python3(path, raw)
        file_facts = call_deep(lambda: _file_facts(path, base, result, facts))
        converted_first = None if base == raw else base
        return replace(result, file_facts=file_facts, base=converted_first)
    except SourceError as error:
        return failed(path, raw, error.reason)
    except (GuardError, NotebookError, Unfaithful) as error:
        return failed(path, raw, str(error))
    except RecursionError:
        return failed(path, raw, "too deeply nested to process")
    except Exception as error:
        # One file's surprise must not stop the run or be mistaken for success.
        return failed(path, raw, f"internal error: {type(error).__name__}: {error}")


def _is_old(path: Path, raw: bytes, facts: ProjectFacts) -> bool:
    """A Python 2 file without legacy words, which some program needs converted."""
    return path.suffix == ".py" and facts.as_python3(path, raw) != raw


def _text(path: Path, raw: bytes) -> str:
    if path.suffix == ".ipynb":
        return str(Notebook.parse(raw).text)
    return decode(raw)[0]


def _file_facts(
    path: Path, raw: bytes, result: FileResult, facts: ProjectFacts
) -> FileFacts | None:
    parsed = facts.parse(path, raw)
    if parsed is None:
        return None
    found = facts_of_file(parsed)
    plain = not result.needs and all(
        f.outcome is Outcome.REWRITTEN for f in result.findings
    )
    after = parsed if result.new is None else facts.parse(path, result.new)
    if after is None:
        return found
    if after is not parsed and plain:
        found = replace(found, both=runs_on_both(after))
    return replace(found, lacks=tuple(_lacks(parsed, after)))


def _lacks(before: ParsedModule, after: ParsedModule) -> Iterator[Lack]:
    """What a file will name in vain, at places of the file as it is."""
    found = list(lacks_of(after.resolver))
    if not found:
        return
    origin = line_origins(before.source.text, after.source.text)
    places = after.resolver.about(Places)
    for node, lack in found:
        line, _ = places.lines.place(places[node][0])
        cell, line = before.source.locate(origin(line))
        inside = f"cell {cell}:" if cell is not None else ""
        yield replace(lack, place=f"{before.path.name}:{inside}{line}")


_Outcome = tuple[bytes, tuple[Finding, ...], tuple[Need, ...]]


def _process(path: Path, raw: bytes, job: Job, facts: ProjectFacts) -> _Outcome:
    try:
        parsed = facts.load(path, raw)
    except SourceError as error:
        python3 = facts.as_python3(path, raw)
        if python3 == raw:
            if error.python2 and facts.converter is not None:
                facts.converter(path, raw)  # says why it cannot be converted
            raise error from None
        again = facts.load(path, python3)
        new, findings, needs = _rewrite(again, job, facts)
        said = "Python 2 source converted to Python 3"
        first = told(path, PYTHON2, said, Outcome.REWRITTEN)
        left = remains(path, _text(path, raw), again.source.text)
        # Places refer to the converted text; local fixes would not fit the old.
        rest = (replace(finding, fix=()) for finding in findings)
        found = [first, *in_cells(left, again.source), *rest]
        return new, tuple(sorted(found)), needs
    return _rewrite(parsed, job, facts)


def _rewrite(parsed: ParsedModule, job: Job, facts: ProjectFacts) -> _Outcome:
    """What becomes of a parsed file: by its programs, or else by the symbol rules.

    Where the rules fail on a file with an Estimator, that keeps it: the compat layer
    needs nothing of a program to be understood.
    """
    needs: tuple[Need, ...] = ()
    part = part_in_programs(parsed, facts, job.options)
    if part is not None and _is_wanted(part, parsed.source, job):
        new = parsed.source.raw
        if isinstance(part, Moved):
            needs = part.needs
            new = parsed.source.render(part.parsed.source.text)
            if parsed.source.notebook is None:
                facts.keep(part.parsed, new)
        findings = [f for f in part.findings if job.selection.allows(f.rule)]
    else:
        try:
            new, findings = _by_rules(parsed, job, facts)
        except (SourceError, NotebookError, Unfaithful):
            raise
        except Exception as problem:
            what = str(problem) if isinstance(problem, GuardError) else ""
            if isinstance(problem, RecursionError):
                what = "it is too deeply nested"
            what = what or type(problem).__name__
            why = f"rewriting this file failed, please report it: {what}"
            failed = kept(parsed, why)
            if failed is None or not job.selection.allows(KEEPS):
                raise
            new, findings = parsed.source.raw, [*failed.findings]
    source = parsed.source
    placed = [*in_cells(findings, source)]
    if source.notebook is not None:
        placed += _wanted(notebook_pins(source.path, source.notebook), {}, job)
    elif source.path.name == "setup.py" and new == source.raw:
        text, pins = _requirements(source.path, source.text, job)
        new = source.render(text)
        placed += pins
    return new, tuple(sorted(placed)), needs


def _is_wanted(part: Moved | Kept, source: Source, job: Job) -> bool:
    """Whether the options and comments let this become of a file's programs."""
    rule = NATIVE if isinstance(part, Moved) else KEEPS
    silenced = ignored_lines(source.text)
    return job.selection.allows(rule) and not any(
        is_silenced(f.rule, silenced.get(f.line)) for f in part.findings
    )


def _by_rules(
    parsed: ParsedModule, job: Job, facts: ProjectFacts
) -> tuple[bytes, list[Finding]]:
    """Apply the symbol rules until another run would change nothing.

    One round is enough nearly always. A second one takes what the first made
    visible (or had to postpone), so that no user has to run the tool twice.
    """
    source = parsed.source
    # Read once, before anything is changed: what is written is TF 2's.
    for_tf2 = written_for_tf2(parsed.resolver)
    text, findings = _round(parsed, job, for_tf2)
    rounds = 1
    last = parsed
    while text != source.text:
        last = _checked(parsed, text, facts, last.source)
        again, more = _round(last, job, for_tf2)
        if again == text:
            break
        rounds += 1
        if rounds > _MOST_ROUNDS:
            raise GuardError("the rewrite does not settle: each run changes the file")
        findings = _joined(findings, more, source.text, text)
        text = again
    short = with_short_lines(text, source.text)
    if short != text:
        text = short
        last = _checked(parsed, text, facts, last.source)
    new = source.render(text)
    if source.notebook is None:
        facts.keep(last, new)
    return new, findings


def _checked(
    parsed: ParsedModule, text: str, facts: ProjectFacts, near: Source
) -> ParsedModule:
    """A file with a new text that passes the guard; ``near`` has most of the text."""
    source = parsed.source
    module, scopes = check_output(
        source.text,
        text,
        scopes=parsed.resolver.scopes,
        near=near,
        cells=source.notebook is not None,
    )
    return facts.module_of(replace(source, text=text, module=module), scopes)


def _requirements(path: Path, text: str, job: Job) -> tuple[str, list[Finding]]:
    """The text of a file that says what to install, and what is said about it."""
    silenced = ignored_lines(text)

    def wanted(finding: Finding) -> bool:
        return bool(_wanted([finding], silenced, job))

    return with_new_requirements(path, text, wanted, write=job.requirements)


def _wanted(
    findings: Iterable[Finding], silenced: Mapping[int, tuple[str, ...]], job: Job
) -> tuple[Finding, ...]:
    return tuple(
        finding
        for finding in findings
        if job.selection.allows(finding.rule)
        and not is_silenced(finding.rule, silenced.get(finding.line))
    )


def _joined(
    first: list[Finding], later: list[Finding], old: str, new: str
) -> list[Finding]:
    """The findings of two rounds, each thing said once, at places in ``old``."""
    known = {(f.rule, f.message, f.symbol) for f in first}
    origin: Callable[[int], int] | None = None
    joined = [f for f in first if f.reason != POSTPONED]
    for finding in later:
        key = (finding.rule, finding.message, finding.symbol)
        if finding.outcome is Outcome.REWRITTEN or key not in known:
            origin = origin or line_origins(old, new)
            # A fix refers to text that the file does not have yet.
            line = origin(finding.line)
            joined.append(replace(finding, line=line, column=1, fix=()))
    return joined


def _round(parsed: ParsedModule, job: Job, for_tf2: bool) -> tuple[str, list[Finding]]:
    """One pass of the symbol rules over a text; nothing is checked yet.

    ``for_tf2`` says which TensorFlow the file was written for.
    """
    source = parsed.source
    silenced = ignored_lines(source.text)
    result = run_rules(
        source.text,
        source.module,
        parsed.resolver,
        allows=job.selection.allows,
        silenced=lambda line, rule: is_silenced(rule, silenced.get(line)),
        for_tf2=for_tf2,
        # What has no legacy words is looked at for the program that it is part of.
        helps=not mentions_legacy(source.raw),
    )
    return result.text, [*_symbol_findings(result, source)]


def _symbol_findings(result: RulesResult, source: Source) -> Iterator[Finding]:
    """Findings of the symbol rules, at their places in the text they looked at."""
    lines = source.lines
    for found in result.findings:
        diagnosis = found.diagnosis
        line, column = lines.place(found.offset)
        fix: tuple[Replacement, ...] = ()
        if source.notebook is None:
            fix = tuple(
                Replacement(*lines.place(e.start), *lines.place(e.end), e.new)
                for e in diagnosis.edits
            )
        yield Finding(
            source.path,
            line,
            column,
            diagnosis.rule,
            diagnosis.message,
            diagnosis.outcome,
            diagnosis.safety,
            reason=diagnosis.reason,
            symbol=diagnosis.symbol,
            fix=fix,
        )
