"""Runs `scan` and `rewrite --out` over a whole tree of real code and checks them.

    python tests/project/whole_tree.py FOLDER [--jobs N] [--probe] [--record FILE]
        [--rewrite-only]

Of every file: neither command crashes, both report the same, a file without a
finding keeps every byte, changes stay at statements that have a finding, and
what Python compiled before it compiles afterwards.

Most files of most trees have no legacy code, so little of the tool would run.
With ``--probe`` each file is also taken with one legacy line added at its end:
then everything runs on it, and that line is all that may change.

With ``--record`` the entries of the folder are taken one after the other, the
count of each is added to the file as a line of JSON when it is done, and what
the file has already is not done again: a long run can be stopped and go on. With
``--rewrite-only`` the other command, which shares all but the writing, is left out.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.files import find_files
from tfmigrate.report.model import FileStatus
from tfmigrate.rewrite.pipeline import Job, process_source

PROBE = "\nimport tensorflow as tfm_probe\n\ntfm_probe.log(1.0)\n"
PROBED = "\nimport tensorflow as tfm_probe\n\ntfm_probe.math.log(1.0)\n"
# Every program of these rules moves as a whole, wherever its lines are.
_WHOLE_PROGRAM = ("TFM101", "TFM106", "TFM107")
_KEEPS_ESTIMATOR = "TFM103"
# Reasons for which a file may be refused; anything else is a failure.
_REFUSED = re.compile(
    r"LibCST cannot parse|not valid Python|Python 2 only|unknown encoding|not valid [\w-]+:|null bytes"
    r"|bytes do not survive|too deeply nested|does not reproduce|moved a line with a form"
)

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True)
class Seen:
    """What became of one file; ``problem`` is None when all promises held."""

    path: str
    lines: int
    status: str
    problem: str | None = None


def compiles(raw: bytes) -> bool:
    """Whether Python itself takes the source."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(raw, "<file>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return False
    return True


def statement_lines(raw: bytes, findings: Iterable[int]) -> set[int]:
    """The lines of the statements (or their headers) that have a finding."""
    owner: dict[int, tuple[int, int]] = {}
    joined: dict[int, tuple[int, int]] = {}
    for node in ast.walk(ast.parse(raw)):
        if not isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            continue
        body = getattr(node, "body", None)
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        if isinstance(body, list) and body:
            # A compound statement owns its header only.
            parts = {id(n) for name in _BLOCKS for n in getattr(node, name, [])}
            last = max(
                first,
                body[0].lineno - 1,
                *(
                    getattr(child, "end_lineno", 0)
                    for child in ast.iter_child_nodes(node)
                    if id(child) not in parts
                ),
            )
            first = min(
                [first, *(d.lineno for d in getattr(node, "decorator_list", []))]
            )
        simple = not isinstance(body, list)
        if simple:
            # Statements behind one another on a line are taken together.
            for line in (first, last):
                if line in joined:
                    first = min(first, joined[line][0])
                    last = max(last, joined[line][1])
            joined.update(dict.fromkeys(range(first, last + 1), (first, last)))
        for line in range(first, last + 1):
            if line not in owner or last - first < owner[line][1] - owner[line][0]:
                owner[line] = first, last
    owner.update(joined)
    found: set[int] = set()
    for line in findings:
        first, last = owner.get(line, (line, line))
        found.update(range(first, last + 1))
    return found


def stray_change(old: bytes, new: bytes, findings: list[dict[str, Any]]) -> str | None:
    """A change that no finding explains, or None."""
    if any(f["rule"] in _WHOLE_PROGRAM for f in findings):
        return None
    allowed = statement_lines(old, (f["line"] for f in findings))
    encoding, _ = tokenize.detect_encoding(io.BytesIO(old).readline)
    before, after = (
        raw.decode(encoding).splitlines(keepends=True) for raw in (old, new)
    )
    keeps = any(f["rule"] == _KEEPS_ESTIMATOR for f in findings)
    # Lines that may change are no landmarks when the two texts are laid together.
    landmarks = [
        f"\0{n}" if n + 1 in allowed else line for n, line in enumerate(before)
    ]
    matcher = difflib.SequenceMatcher(None, landmarks, after, autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag == "equal":
            continue
        inserted = after[new_first:new_last]
        if tag == "insert" and all(
            line.lstrip().startswith("#") or re.match(r"\s*import tensorflow", line)
            for line in inserted
        ):
            continue  # a note, or an import that the new names need
        for number in range(first, max(last, first + 1)):
            line = before[number] if number < len(before) else ""
            if number + 1 in allowed:
                continue
            if keeps and re.match(r"\s*(from|import)\b", line):
                continue
            return f"line {number + 1} changed without a finding: {line.strip()!r}"
    return None


def check_rewrite(old: bytes, new: bytes, entry: dict[str, Any]) -> str | None:
    """What is wrong with the rewrite of one file, or None."""
    if entry["status"] == "failed":
        if not _REFUSED.search(entry["error"]):
            return f"refused: {entry['error']}"
        if "not valid Python" in entry["error"] and compiles(old):
            return f"Python takes this file: {entry['error']}"
        return None if new == old else "a refused file was changed"
    if new == old:
        return None
    if not entry["findings"]:
        return "changed without a finding"
    if entry["path"].endswith(".ipynb"):
        json.loads(new)
        return None
    if compiles(old):
        if not compiles(new):
            return "the rewrite does not compile"
        return stray_change(old, new, entry["findings"])
    return None


def check_probe(path: Path) -> Seen:
    """A file with one legacy line at its end: only that line may change."""
    raw = path.read_bytes()
    lines = raw.count(b"\n")
    if path.suffix != ".py" or b"tfm_probe" in raw:
        return Seen(str(path), lines, "skipped")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        newline = "\r\n" if b"\r\n" in raw[:2000] else "\n"
        old = raw + PROBE.replace("\n", newline).encode(encoding.replace("-sig", ""))
    except (SyntaxError, LookupError):
        return Seen(str(path), lines, "skipped")
    if not compiles(old):
        return Seen(str(path), lines, "does not compile")
    result = process_source(path, old, Job(), ProjectFacts())
    problem = None
    if result.status is FileStatus.FAILED:
        if not _REFUSED.search(result.error or ""):
            problem = f"refused: {result.error}"
    elif result.new is None:
        problem = "the legacy line was not rewritten"
    elif b"tensorflow" not in raw:
        wanted = raw + PROBED.replace("\n", newline).encode(
            encoding.replace("-sig", "")
        )
        if result.new != wanted:
            problem = "something else than the legacy line changed"
    elif not compiles(result.new):
        problem = "the rewrite does not compile"
    status = "refused" if result.status is FileStatus.FAILED else "probed"
    return Seen(str(path), lines, status, problem)


def _cli(*arguments: str) -> tuple[dict[str, Any], float]:
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "tfmigrate", *arguments, "--format", "json"],
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr:
        raise SystemExit(f"tfmigrate {arguments[0]} crashed:\n{done.stderr[-4000:]}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report, time.perf_counter() - begin


def check_commands(folder: Path, jobs: int, *, scan_too: bool = True) -> list[Seen]:
    """Run both commands over a folder and look at every file."""
    seen: list[Seen] = []
    with tempfile.TemporaryDirectory() as scratch:
        rewrite, rewritten = _cli(
            "rewrite", str(folder), "-j", str(jobs), "--out", scratch
        )
        scan, scanned = rewrite, 0.0
        if scan_too:
            scan, scanned = _cli("scan", str(folder), "-j", str(jobs))
        for entry, other in zip(rewrite["files"], scan["files"], strict=True):
            path = Path(entry["path"])
            # A module that the run adds is not there yet.
            old = path.read_bytes() if path.exists() else b""
            inside = path.relative_to(folder) if path != folder else path.name
            new = (Path(scratch) / inside).read_bytes()
            if entry != other:
                problem: str | None = "scan and rewrite report differently"
            else:
                problem = check_rewrite(old, new, entry)
            seen.append(Seen(str(path), entry["lines"], entry["status"], problem))
    lines = sum(s.lines for s in seen)
    print(
        f"scan {scanned:.0f} s, rewrite --out {rewritten:.0f} s: "
        f"{len(seen)} files, {lines:,} lines",
        flush=True,
    )
    return seen


def check_probes(folder: Path, jobs: int) -> list[Seen]:
    """Take every file of a folder with one legacy line at its end."""
    paths = [candidate.path for candidate in find_files([folder])]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(check_probe, paths, chunksize=16))


CHECKS: dict[str, Callable[[Path, int], list[Seen]]] = {
    "commands": check_commands,
    "rewrite": partial(check_commands, scan_too=False),
    "probe": check_probes,
}


def check_with_record(folder: Path, jobs: int, what: str, record: Path) -> list[str]:
    """Check the entries of a folder one by one; return all problems on record."""
    lines = record.read_text("utf-8").splitlines() if record.exists() else []
    done = [entry for entry in map(json.loads, lines) if entry["what"] == what]
    known = {entry["entry"] for entry in done}
    entries = sorted(
        path
        for path in folder.iterdir()
        if path.is_dir() or path.suffix in (".py", ".ipynb")
    )
    for number, path in enumerate(entries, 1):
        if str(path) in known or path.name == "__pycache__":
            continue
        print(f"[{number}/{len(entries)}] {path.name}", flush=True)
        seen = CHECKS[what](path, jobs)
        entry = {
            "entry": str(path),
            "what": what,
            "lines": sum(s.lines for s in seen),
            "status": Counter(s.status for s in seen),
            "problems": [f"{s.path}: {s.problem}" for s in seen if s.problem],
        }
        done.append(entry)
        with record.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")
        for problem in entry["problems"]:
            print(f"PROBLEM {problem}", flush=True)
    total: Counter[str] = Counter()
    for entry in done:
        total.update(entry["status"])
    problems = [problem for entry in done for problem in entry["problems"]]
    print(
        f"{what}: {len(done)} entries, {total.total()} files, "
        f"{sum(entry['lines'] for entry in done):,} lines: "
        + ", ".join(f"{n} {status}" for status, n in sorted(total.items()))
        + f"; {len(problems)} problems",
        flush=True,
    )
    return problems


def main() -> None:
    """Check a tree and say what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--probe", action="store_true")
    parser.add_argument("--rewrite-only", action="store_true")
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    folder = options.folder.resolve()
    failed = False
    command = "rewrite" if options.rewrite_only else "commands"
    for what in [command, "probe"] if options.probe else [command]:
        if options.record is not None:
            problems = check_with_record(folder, options.jobs, what, options.record)
            failed = failed or bool(problems)
        else:
            seen = CHECKS[what](folder, options.jobs)
            tell(what, seen)
            failed = failed or any(s.problem for s in seen)
    sys.exit(failed)


def tell(what: str, seen: list[Seen]) -> None:
    """Print the counts and each problem."""
    for found in seen:
        if found.problem is not None:
            print(f"PROBLEM {found.path}: {found.problem}")
    counts = Counter(found.status for found in seen)
    lines = sum(found.lines for found in seen)
    problems = sum(found.problem is not None for found in seen)
    summary = ", ".join(f"{n} {status}" for status, n in sorted(counts.items()))
    print(
        f"{what}: {len(seen)} files, {lines:,} lines: {summary}; {problems} problems",
        flush=True,
    )


if __name__ == "__main__":
    main()
