"""The HTML report: one page without outside parts, to share and to keep."""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from .. import __version__
from ..report.findings import Finding, Outcome, ProgramOutcome
from ..report.model import FileResult, FileStatus, Report


def html_report(report: Report, *, written: bool) -> str:
    """The whole page; every number in it comes from the report model."""
    folder = resources.files(__package__)
    style = folder.joinpath("report.css").read_text("utf-8")
    script = folder.joinpath("report.js").read_text("utf-8")
    body = "\n".join(
        [
            _programs(report),
            _overview(report, written=written),
            _filters(report),
            *(_file(result, report) for result in _in_order(report)),
        ]
    )
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>tfmigrate report</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>tfmigrate report</h1>\n{body}\n"
        f"<footer>tfmigrate {html.escape(__version__)}</footer>\n</main>\n"
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )


def _in_order(report: Report) -> list[FileResult]:
    """Files that have something to show, in path order."""
    return [
        result
        for result in report.results
        if result.findings or result.status is FileStatus.FAILED
    ]


def _overview(report: Report, *, written: bool) -> str:
    files = report.files_by_status()
    findings = report.findings_by_outcome()
    new = len(report.to_create)
    changed, added = ("changed", "added") if written else ("would change", "to add")
    cards = [
        ("files", len(report.results) - new),
        (changed, files[FileStatus.CHANGED] - new),
        (added, new),
        ("failed", files[FileStatus.FAILED]),
        ("findings", sum(findings.values())),
        ("rewritten" if written else "can be rewritten", findings[Outcome.REWRITTEN]),
        ("advice", findings[Outcome.ADVICE]),
        ("left", findings[Outcome.LEFT]),
    ]
    shown = "".join(
        f'<div class="card"><b>{number}</b> {html.escape(label)}</div>'
        for label, number in cards
    )
    rows = "".join(
        f"<tr><td><code>{rule}</code></td><td>{html.escape(_rule_text(rule))}</td>"
        + "".join(f"<td>{outcomes[outcome] or ''}</td>" for outcome in Outcome)
        + "</tr>"
        for rule, outcomes in report.findings_by_rule().items()
    )
    heads = "".join(f"<th>{outcome.value}</th>" for outcome in Outcome)
    table = (
        '<div class="scroll"><table><thead><tr><th>rule</th><th>what</th>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        if rows
        else "<p>No legacy TensorFlow code was found.</p>"
    )
    return f'<div class="cards">{shown}</div>\n{table}'


def _programs(report: Report) -> str:
    """A row for each program: what becomes of it, why, what would change that."""
    rows = []
    worst_first = sorted(report.programs, key=lambda one: -one[1].outcome.rank)
    for path, program in worst_first:
        row = [path.as_posix(), program.outcome.value, str(program.review or "")]
        if program.reason:
            row.append(f"why: {program.place}: {program.reason}")
        if program.advice:
            row.append(f"what would change it: {program.advice}")
        rows.append(row)
    rows += [[a.path.as_posix(), "added", str(a.new_lines)] for a in report.added]
    proofs = "".join(f"<li>{html.escape(p.sentence)}</li>" for p in report.proofs)
    trials = f'<ul class="proofs">{proofs}</ul>' if proofs else ""
    if not rows:
        return trials
    heads = ("program", "becomes", "lines to review")
    head = "".join(f"<th>{text}</th>" for text in heads)
    body = "".join(
        f"<tr><td><code>{html.escape(path)}</code>"
        f"{''.join(f'<div>{_code(line)}</div>' for line in more)}</td>"
        f"<td>{outcome}</td><td>{lines}</td></tr>"
        for path, outcome, lines, *more in rows
    )
    counts = report.programs_by_outcome().items()
    told = ", ".join(f"{n} {outcome.value}" for outcome, n in counts if n)
    return (
        f"<p><b>Training programs: {told or 'none'}</b></p>\n"
        f'<div class="scroll programs"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>\n{trials}"
    )


def _rule_text(rule_id: str) -> str:
    from ..rules.registry import all_rules

    return next((rule.summary for rule in all_rules() if rule.id == rule_id), "")


def _filters(report: Report) -> str:
    def options(values: list[str]) -> str:
        return "".join(f"<option>{html.escape(value)}</option>" for value in values)

    rules = list(report.findings_by_rule())
    # Those of findings: a program counts once, as the worst of its files.
    found = {finding.program for finding in report.findings}
    programs = options([one.value for one in ProgramOutcome if one in found])
    return (
        '<form id="filters" onsubmit="return false">'
        f'<label>rule <select id="rule"><option value="">all</option>{options(rules)}'
        "</select></label>"
        f'<label>program <select id="program"><option value="">all</option>{programs}'
        "</select></label>"
        '<label>outcome <select id="outcome"><option value="">all</option>'
        f"{options([o.value for o in Outcome])}</select></label>"
        '<label>path or text <input id="text" type="search"></label>'
        f'<output id="shown">{len(report.findings)} findings shown</output></form>'
    )


def _file(result: FileResult, report: Report) -> str:
    lines = result.new_lines
    effort = f"{lines} line{'s' if lines != 1 else ''} to review" if lines else ""
    path = html.escape(result.path.as_posix())
    status = "added" if result.added else result.status.value
    parts = [
        f'<details class="file" data-path="{path}" open>',
        f"<summary><code>{path}</code> "
        f'<span class="status">{status}</span> '
        f'<span class="effort">{effort}</span></summary>',
    ]
    if result.error is not None:
        parts.append(f'<p class="error">{html.escape(result.error)}</p>')
    if result.findings:
        parts.append("<ul>")
        parts += [_finding(finding) for finding in sorted(result.findings)]
        parts.append("</ul>")
    if result.new is not None:
        like, old = _nearest(result, report)
        title = f"diff to {html.escape(like.as_posix())}" if like else "diff"
        parts.append(f'<details class="diff"><summary>{title}</summary>')
        parts.append(f"{_diff(result, old)}</details>")
    parts.append("</details>")
    return "\n".join(parts)


def _finding(finding: Finding) -> str:
    place = f"{finding.line}:{finding.column}"
    if finding.cell is not None:
        place = f"cell {finding.cell}, {place}"
    program = finding.program.value if finding.program is not None else ""
    told = finding.reason or ""
    if finding.advice and finding.advice not in told:
        told += f"; {finding.advice}" if told else finding.advice
    reason = f" <i>{_code(told)}</i>" if told else ""
    safety = finding.safety.value if finding.outcome is Outcome.REWRITTEN else ""
    tags = "".join(
        f'<span class="tag {html.escape(tag.replace(" ", "-"))}">{tag}</span>'
        for tag in (finding.outcome.value, safety, program)
        if tag
    )
    return (
        f'<li class="finding" data-rule="{finding.rule}" data-program="{program}" '
        f'data-outcome="{finding.outcome.value}">'
        f'<span class="place">{place}</span> <code>{finding.rule}</code> {tags} '
        f'<span class="message">{_code(finding.message)}{reason}</span></li>'
    )


def _code(message: str) -> str:
    """Backquoted parts as code."""
    parts = html.escape(message).split("`")
    if len(parts) % 2 == 0:
        return html.escape(message)
    return "".join(
        f"<code>{part}</code>" if index % 2 else part
        for index, part in enumerate(parts)
    )


def _nearest(result: FileResult, report: Report) -> tuple[Path | None, bytes]:
    """What an added file is shown beside: the one above that is most like it."""
    if not result.added or result.old:
        return None, result.old
    lines = set((result.new or b"").splitlines())
    above = [one for one in report.added if str(one.path) < str(result.path)]
    alike = [(len(lines & set((one.new or b"").splitlines())), one) for one in above]
    if not alike:
        return None, b""
    shared, best = max(alike, key=lambda pair: pair[0])
    return (best.path, best.new or b"") if shared > len(lines) / 2 else (None, b"")


def _diff(result: FileResult, before: bytes) -> str:
    """Old and new side by side, with the colours of the code."""
    assert result.new is not None
    python = result.path.suffix == ".py"
    old = _coloured(before.decode("utf-8", "replace"), python)
    new = _coloured(result.new.decode("utf-8", "replace"), python)
    rows = "".join(_diff_rows(old, new))
    return f'<div class="sides{" one" * (not before)}">{rows}</div>'


def _diff_rows(old: list[str], new: list[str]) -> Iterator[str]:
    """Blocks in pairs, left and right; between them where the next ones are."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(3):
        yield f"<p>line {group[0][1] + 1}</p>"
        change: tuple[list[str], list[str]] = [], []
        for place, (tag, old_start, old_end, new_start, new_end) in enumerate(group):
            left, right = old[old_start:old_end], new[new_start:new_end]
            inside = 0 < place < len(group) - 1 and not "".join(left).strip()
            if tag != "equal" or inside:
                change[0].extend(left)
                change[1].extend(right)
                continue
            yield from _change(*change)
            change = [], []
            same = "\n".join(left)
            yield f"<pre>{same}</pre><pre>{same}</pre>"
        yield from _change(*change)


def _change(old: list[str], new: list[str]) -> Iterator[str]:
    if old or new:
        yield "<del>{}</del><ins>{}</ins>".format("\n".join(old), "\n".join(new))


# Keywords, strings, comments, numbers: short, for a page has thousands.
_TAGS = {"k": "b", "s": "i", "c": "em", "m": "u"}


def _coloured(text: str, python: bool) -> list[str]:
    """HTML of each line; a token that spans lines is closed and opened again."""
    if not python:
        return [html.escape(line) for line in text.split("\n")]
    from pygments.lexers import PythonLexer
    from pygments.token import STANDARD_TYPES, Token, _TokenType

    def css(kind: _TokenType) -> str:
        while kind not in STANDARD_TYPES and kind is not Token:
            kind = kind.parent
        return str(STANDARD_TYPES.get(kind, ""))[:1]

    lines = [""]
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        name = css(kind)
        for index, piece in enumerate(value.split("\n")):
            if index:
                lines.append("")
            if piece:
                escaped = html.escape(piece)
                tag = _TAGS.get(name)
                lines[-1] += f"<{tag}>{escaped}</{tag}>" if tag else escaped
    return lines
