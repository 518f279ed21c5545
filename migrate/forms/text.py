"""Reports for people: one line per finding, then a summary."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from ..report.findings import Finding, Outcome, ProgramOutcome, Safety
from ..report.model import FileResult, FileStatus, Report
from ..report.printable import printable, quoted_name
from ..report.proofs import ProofOutcome


def finding_line(finding: Finding) -> str:
    """``path:line:col RULE message``, with what became of it."""
    place = f"{finding.path}:"
    if finding.cell is not None:
        place += f"cell {finding.cell}:"
    place += f"{finding.line}:{finding.column}"
    text = f"{place} {finding.rule} {finding.message}"
    if finding.outcome is Outcome.REWRITTEN:
        if finding.safety is not Safety.EXACT:
            text += f" [{finding.safety.value}]"
    elif finding.outcome is Outcome.ADVICE:
        text += " [advice]"
    else:
        said = finding.advice is None or finding.advice in (finding.reason or "")
        advice = "" if said else f"; {finding.advice}"
        text += f" [{finding.outcome.value}: {finding.reason}{advice}]"
    return printable(text)


def program_lines(report: Report) -> Iterator[str]:
    """What becomes of each program, why, and what there is to read."""
    programs = report.programs_by_outcome()
    if any(programs.values()):
        parts = [f"{n} {outcome.value}" for outcome, n in programs.items() if n]
        total = sum(programs.values())
        yield f"{_count(total, 'training program')}: {', '.join(parts)}"
    for path, program in report.programs:
        lines = (
            f", {_count(program.review, 'line')} to review" if program.review else ""
        )
        yield printable(f"  {path}: {program.outcome.value}{lines}")
        if program.reason:
            yield printable(f"    why: {program.place}: {program.reason}")
        if program.advice:
            yield printable(f"    what would change it: {program.advice}")
    for added in report.added:
        lines = f"{_count(added.new_lines, 'line')} to review"
        yield printable(f"  {added.path}: added, {lines}")
    for proof in report.proofs:
        yield printable(proof.sentence)


def summary_lines(
    report: Report, *, written: bool, steps: bool = True
) -> Iterator[str]:
    """The account of the run, in a fixed order."""
    findings = report.findings_by_outcome()
    total = sum(findings.values())
    verb = "rewritten" if written else "can be rewritten"
    if total:
        yield (
            f"{_count(total, 'finding')}: {findings[Outcome.REWRITTEN]} {verb}, "
            f"{findings[Outcome.ADVICE]} advice, {findings[Outcome.LEFT]} left, "
            f"{findings[Outcome.FAILED]} failed"
        )
        for rule, outcomes in report.findings_by_rule().items():
            parts = [
                f"{number} {outcome.value}"
                for outcome, number in outcomes.items()
                if number
            ]
            yield f"  {rule}  {', '.join(parts)}"
    files = report.files_by_status()
    changed, added = ("changed", "added") if written else ("would change", "to add")
    new = len(report.to_create)
    yield (
        f"{_count(len(report.results) - new, 'file')}:"
        f" {files[FileStatus.CHANGED] - new} {changed},"
        f" {files[FileStatus.UNCHANGED]} unchanged,"
        f" {files[FileStatus.SKIPPED]} without legacy code,"
        f" {files[FileStatus.FAILED]} failed{f'; {new} {added}' if new else ''}"
    )
    notes = sum(result.notes for result in report.results)
    if notes:
        yield f"{_count(notes, 'TODO(tfmigrate) note')} to resolve"
    if steps:
        yield from _next_steps(report, written=written)


def _next_steps(report: Report, *, written: bool) -> Iterator[str]:
    """What to do now, one line for each thing there is to do."""
    programs = report.programs_by_outcome()
    rewrite = f"tfmigrate rewrite {report.asked}".strip()
    if not report.results:
        yield (
            "next: name another folder; here is no .py or .ipynb file "
            "but what .gitignore names"
        )
    elif not (report.findings or report.failed):
        yield "next: nothing; no use of TensorFlow 1 was found"
    old = [r for r in report.failed if (r.error or "").startswith("Python 2 only")]
    if old:
        files = _count(len(old), "file")
        yield (
            f"next: {files} of Python 2: --py2 converts them first "
            "(`scan --py2` shows what becomes of them)"
        )
    if len(report.failed) > len(old):
        yield ("next: mend what cannot be processed, or leave it out with --exclude")
    if report.changed and not written:
        yield f"next: `{rewrite}` writes this; --diff shows it, `undo` takes it back"
    if report.unproved():
        undo = "`tfmigrate undo`, " if report.changed and written else ""
        yield (
            f"next: {undo}mend what stopped a proof and prove again; --prove-command "
            "gives the program arguments"
        )
    if report.changed and written:
        proved = any(p.outcome is ProofOutcome.PROVED for p in report.proofs)
        before = ""
        if report.mirror is None:
            yield "next: run your tests; `tfmigrate undo` takes it all back"
            if report.committed:
                before = "; `git worktree add OLD HEAD` has the old one"
        else:
            there = printable(str(report.mirror))
            yield f"next: run your tests on {there}; the originals are as they were"
        if programs[ProgramOutcome.NATIVE] and not (proved or report.unproved()):
            yield f"next: `tfmigrate verify OLD NEW` proves a program{before}"
    if any(f.rule == "TFM503" and f.cell is None for f in report.findings):
        if written and report.findings_by_rule()["TFM503"][Outcome.REWRITTEN]:
            yield "next: mend versions that TensorFlow 2.16 does not take: numpy<1.23"
        else:
            commit = "commit, then " if report.changed and report.committed else ""
            yield f"next: {commit}`{rewrite} --requirements` edits what is installed"
    if programs[ProgramOutcome.KEPT]:
        yield (
            "next: kept programs run by plain Python with tfmigrate installed "
            "(`explain TFM103`)"
        )
    if programs[ProgramOutcome.UNTOUCHED]:
        yield (
            "next: untouched programs need a change by hand first (`explain TFM104`)"
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def failure_line(result: FileResult) -> str:
    """One line for a file that could not be processed."""
    return printable(f"{result.path}: cannot process: {result.error}")


def text_report(
    report: Report, *, written: bool, quiet: bool = False, steps: bool = True
) -> str:
    """The whole text report: programs, then places, then the account, then next steps.

    ``quiet`` leaves out the places; what only passed through has no next ``steps``.
    """
    places = [] if quiet else [finding_line(finding) for finding in report.findings]
    places += [failure_line(result) for result in report.failed]
    parts = [
        [*program_lines(report)],
        places,
        [*summary_lines(report, written=written, steps=steps)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def diff_text(result: FileResult) -> str:
    """A unified diff of a changed file (of the JSON text, for a notebook)."""
    if result.new is None:
        return ""
    old = result.old.decode("utf-8", "replace")
    new = result.new.decode("utf-8", "replace")
    name = Path(result.path).as_posix()
    parts = []
    for line in difflib.unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        quoted_name(f"a/{name.lstrip('/')}"),
        quoted_name(f"b/{name.lstrip('/')}"),
    ):
        parts.append(line)
        if not line.endswith("\n"):
            parts.append("\n\\ No newline at end of file\n")
    return "".join(parts)
