"""Which results go together: nothing is worse after a rewrite than before.

Files are processed one by one; whether their results go together is decided here,
once for all, from the results and the import graph. A kept program runs on the
compat layer with all of its files: the file it starts from gets the call that
prepares the process (``kept_text.py``), and every other file it reaches keeps its
bytes. A program that would have become native but shares a file that stays as it is
stays with it. What the compat layer surely cannot run is untouched: it keeps every
byte.

Nothing large is parsed here: files are read in processes that can be given up, and
this is not one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..project.facts import ProjectFacts
from ..project.kept_text import noted, started, unstarted
from ..project.selection import Selection, file_is_ignored, is_test
from ..report.findings import (
    KEEPS,
    KEPT,
    OVER_BUDGET,
    STAYS,
    Finding,
    Outcome,
    ProgramOutcome,
    told,
)
from ..report.model import FileFacts, FileResult, FileStatus
from .graph import ImportGraph
from .results import raw_of, result_of

_WAITS = "this program is kept: run it behind tfmigrate.compat.install()"
_RAISES = "this program is kept, and calls what tfmigrate.compat lacks"
_CALL = "calls tfmigrate.compat.install()"
_UNTOUCHED = "this program stays as it is"
_WORD = re.compile(rb"[Ee]stimator|contrib[./ ]learn")
_SILENCED = re.compile(rb"#\s*tfmigrate:\s*ignore")
_PLACE = re.compile(r"\(([\w.-]+\.(?:py|ipynb)):")


def settle(
    results: Iterable[FileResult], facts: ProjectFacts, selection: Selection
) -> list[FileResult]:
    """The results with the files of kept programs as they must be."""
    files = {os.path.abspath(result.path): result for result in results}
    graph = ImportGraph(files, facts)
    if selection.allows(KEEPS):
        settlement = _Settlement(files, graph)
        settlement.spread()
        files = {key: settlement.result(key) for key in files}
    return [*files.values()]


@dataclass(frozen=True)
class _Cause:
    """Why a file stays. ``asked``: its owner says so."""

    path: Path
    line: int
    cell: int | None
    reason: str
    program: bool = True
    asked: bool = False
    # The place where the first of several linked causes lies.
    root: str | None = None

    @property
    def origin(self) -> str:
        """Place and reason, of the first cause where one led to another."""
        if self.root is not None:
            return self.root
        cell = f"cell {self.cell}:" if self.cell is not None else ""
        return f"{self.path.name}:{cell}{self.line}: {self.reason}"


@dataclass(eq=False)
class _Settlement:
    files: dict[str, FileResult]
    graph: ImportGraph
    kept: dict[str, _Cause] = field(default_factory=dict)
    # Files that keep their bytes, and files in which a program on compat begins:
    # with the file that is kept.
    held: dict[str, str] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    # Files of programs that move, which neither tests nor scripts of sessions hold.
    moved: set[str] = field(default_factory=set)

    # -- the decision -------------------------------------------------------------

    def spread(self) -> None:
        """Find which programs are kept, and whose files stay with them."""
        causes = {
            key: _own_cause(self.files[key]) or self._lacking(key)
            for key in sorted(self.files)
        }
        found = {key: one for key, one in causes.items() if one is not None}
        tests = {key for key in found if self._is_apart(key, sessions=False)}
        self._keep_all([(key, found[key]) for key in found if key not in tests])
        tests -= self._moving()
        self._keep_all([(key, found[key]) for key in found if key not in tests])
        self.moved = self._moving()
        self._keep_all([(key, found[key]) for key in sorted(tests)])
        self._keep_all(self._with_sessions())

    def _moving(self) -> set[str]:
        """The files of all programs that move."""
        starts = (key for key, one in self.files.items() if _moves(one))
        return set().union(
            *(self.graph.closure(key) for key in starts if key not in self.held)
        )

    def _is_apart(self, key: str, *, sessions: bool) -> bool:
        """A file that tests alone reach, or scripts with sessions of their own."""
        entries = self.graph.entries(key)
        return bool(entries) and all(
            is_test(self.files[one].path.name)
            or (sessions and self._told(one).session is not None)
            for one in entries
        )

    def _keep_all(self, pending: list[tuple[str, _Cause]]) -> None:
        """Keep what has a cause, and what follows from that."""
        while pending:
            for key, cause in pending:
                self._keep(key, cause)
            pending = self._drawn_in()

    def _with_sessions(self) -> list[tuple[str, _Cause]]:
        """Programs without an Estimator that run a graph by a session of their own.

        They hold no file that a program that moves needs changed.
        """
        found = []
        for key in sorted(self.files):
            session = self._told(key).session
            if session is None or key in self.held or key in self.moved:
                continue
            entries = self.graph.entries(key)
            reached = set().union(*map(self.graph.closure, entries))
            if entries and (
                self._is_apart(key, sessions=True)
                or not any(
                    _changes(self.files[one]) and not self._suits_both(one)
                    for one in reached & self.moved
                )
            ):
                line, cell, what = session
                reason = f"`{what}` runs a graph of TensorFlow 1 here"
                found.append((key, _Cause(self.files[key].path, line, cell, reason)))
        return found

    def _keep(self, key: str, cause: _Cause) -> None:
        self.kept[key] = cause
        self._hold(key, self.graph.closure(key))
        for entry in self.graph.entries(key):
            self.heads.setdefault(entry, key)
            self._hold(key, self.graph.closure(entry))
            self._hold(key, self.graph.packages(entry))

    def _hold(self, kept: str, keys: Iterable[str]) -> None:
        for key in keys:
            if key not in self.moved:
                self.held.setdefault(key, kept)

    def _lacking(self, key: str) -> _Cause | None:
        """What a program that moves would not find on plain TensorFlow, if anything."""
        result = self.files[key]
        moved = [f for f in result.findings if f.is_native]
        if not _moves(result):
            return None
        lack = self.graph.lack_of(key)
        if lack is None:
            return None
        reason = f"`{lack.what}` ({lack.place}) is not in {lack.maker}"
        return _Cause(result.path, moved[0].line, moved[0].cell, reason)

    def _drawn_in(self) -> list[tuple[str, _Cause]]:
        """Files that move or start something, and use a file that stays."""
        waiting = {
            key
            for key in self.held
            if _changes(self.files[key]) and not self._suits_both(key)
        }
        users: set[str] = set()
        for key in waiting:
            users |= self.graph.above(key)
        found = []
        for key in sorted(users - set(self.kept)):
            result = self.files[key]
            if _moves(result) or (key not in self.heads and self.graph.starts(key)):
                shared = sorted(self.graph.closure(key) & waiting)
                found.append((key, self._shared_cause(key, shared)))
        return found

    def _suits_both(self, key: str) -> bool:
        """A file that may change, for it means the same on either TensorFlow."""
        return self._told(key).both and self._gone(key) is None

    def _serves_both(self, key: str) -> bool:
        """Such a file, which a program that moves needs changed."""
        return self._suits_both(key) and any(
            one not in self.kept and _moves(self.files[one])
            for one in self.graph.above(key)
        )

    def _shared_cause(self, key: str, shared: Sequence[str]) -> _Cause:
        result = self.files[key]
        first = next((f for f in result.findings if f.is_native), None)
        other = self.held[key] if key in self.held else self.held[shared[0]]
        cause, name = self.kept[other], self.files[other].path.name
        mine = [one for one in shared if one != key]
        if other in mine:
            how = f"uses {name}"
        elif mine:
            how = f"shares {Path(mine[0]).name} with {name}"
        else:
            how = f"is used together with {name}"
        return _Cause(
            result.path,
            first.line if first is not None else 1,
            first.cell if first is not None else None,
            f"{how}, which is kept ({cause.origin})",
            root=cause.origin,
            program=first is not None,
            asked=cause.asked,
        )

    # -- the results --------------------------------------------------------------

    def result(self, key: str) -> FileResult:
        """What becomes of a file, now that its programs are known."""
        result = self.files[key]
        if key not in self.held or (
            key not in self.kept and key not in self.heads and self._serves_both(key)
        ):
            return _let_go(result)
        raw = raw_of(result)
        if raw is None or result.status is FileStatus.FAILED or file_is_ignored(raw):
            return result
        if any(f.rule == OVER_BUDGET for f in result.findings):
            # Whatever would be put in would have to be compiled, here and now.
            return result
        gone = self._gone(key)
        # Findings about the file itself stay: Python 2, requirements.
        findings = [f for f in result.findings if f.rule.startswith("TFM5")]
        new = raw if result.base is None else result.base
        if key in self.kept:
            findings += self._kept_findings(key, gone)
            if gone is None:
                left = [f for f in findings if f.rule == KEEPS]
                new = noted(result.path, new, left)
        elif result.findings and key not in self.heads:
            findings.append(self._stays(key, gone))
        if gone is None and self._begins(key) and not self._is_asked(key):
            version = 2 if self._is_for_tf2(key) else 1
            calling = started(result.path, new, version)
            if calling != new and not any(f.rule == KEEPS for f in findings):
                findings.append(self._starts_compat(key))
            new = calling
        return _with(result, raw, new, findings)

    def _begins(self, key: str) -> bool:
        """A program on compat begins here, or in a package that runs before it."""
        if key in self.heads:
            return True
        if os.path.basename(key) != "__init__.py" or not any(
            key in self.graph.packages(head) for head in self.heads
        ):
            return False
        reached = (self.files[one] for one in self.graph.closure(key))
        return any(b"tensorflow" in (raw_of(one) or b"") for one in reached)

    def _is_asked(self, key: str) -> bool:
        """Every program here stays because its owner or an option says so."""
        closure = self.graph.closure(key)
        causes = [self.kept[one] for one in closure if one in self.kept]
        return all(cause.asked for cause in causes)

    def _gone(self, key: str) -> str | None:
        """What the compat layer surely cannot do of the programs of a file."""
        for file_facts in self._facts_around(key):
            if file_facts.gone is not None:
                place, what = file_facts.gone
                return f"tfmigrate.compat cannot do {what} ({place})"
        return None

    def _facts_around(self, key: str) -> Iterator[FileFacts]:
        """What each file of the programs of a file tells."""
        found = set(self.graph.closure(key))
        for entry in self.graph.entries(key):
            found |= self.graph.closure(entry)
        for one in sorted(found):
            yield self._told(one)

    def _is_for_tf2(self, key: str) -> bool:
        all_facts = [self._told(one) for one in self.graph.closure(key)]
        return any(f.tf2 for f in all_facts) and not any(f.tf1 for f in all_facts)

    def _told(self, key: str) -> FileFacts:
        return self.files[key].file_facts or FileFacts()

    # -- what is said -------------------------------------------------------------

    def _kept_findings(self, key: str, gone: str | None) -> list[Finding]:
        """Where and why a program is kept, and what to do; nothing if it was asked."""
        result, cause = self.files[key], self.kept[key]
        own = [f for f in result.findings if f.rule == KEEPS and f.reason][:1]
        if not own and cause.program and not cause.asked:
            own = [_left(cause.path, cause.line, cause.cell, cause.reason)]
        if not self.graph.entries(key):
            own = [replace(f, message=f.message.replace(KEPT, _WAITS)) for f in own]
        own = [
            replace(f, reason=f"{f.reason}{self._way_out(key, f.reason or '')}")
            for f in own
        ]
        for place, what in [f.raises for f in self._facts_around(key) if f.raises][:1]:
            why = f"; on tfmigrate.compat it raises: {what} ({place})"
            own = [replace(f, message=_RAISES, reason=f"{f.reason}{why}") for f in own]
        return own if gone is None else [self._untouched(f, gone) for f in own]

    def _untouched(self, finding: Finding, gone: str) -> Finding:
        return replace(
            finding,
            rule=STAYS,
            message=_UNTOUCHED,
            program=finding.program and ProgramOutcome.UNTOUCHED,
            reason=f"{gone}, and it is not native: {finding.reason}",
        )

    def _way_out(self, key: str, reason: str) -> str:
        """How programs move without the one that keeps them, if it is only beside.

        For one that is beside programs that move, what of them it has to go on with.
        """
        names = set(_PLACE.findall(reason))
        mine = self.graph.closure(key)
        others = sorted(one for one in mine & self.moved if _changes(self.files[one]))
        if others:
            return f"; look at {Path(others[0]).name}, which moves with another program"
        beside = sorted(
            self.files[one].path.name
            for one in self.files
            if os.path.basename(one) in names
            and one not in mine
            and self.graph.starts(one)
            and mine & self.graph.closure(one)
        )
        entries = {self.files[one].path.name for one in self.graph.entries(key)}
        if not beside or entries <= set(beside):
            return ""
        return f"; to move the others without {beside[0]}: --exclude {beside[0]}"

    def _stays(self, key: str, gone: str | None) -> Finding:
        cause = self.kept[self.held[key]]
        reason = f"{cause.path.name} is kept and needs it so ({cause.origin})"
        return replace(
            _left(self.files[key].path, 1, None, reason),
            rule=KEEPS if gone is None else STAYS,
            message="this file stays as it is",
            program=None,
        )

    def _starts_compat(self, key: str) -> Finding:
        path = self.files[key].path
        kept = self.kept[self.heads.get(key, self.held[key])].path.name
        whose = "" if kept == path.name else f" for {kept}"
        message = f"{_CALL}{whose}, so that plain Python runs it"
        return told(path, KEEPS, message, Outcome.REWRITTEN)


def _own_cause(result: FileResult) -> _Cause | None:
    """Why a file stays by its own result, if it does."""
    path = result.path
    for finding in result.findings:
        place = path, finding.line, finding.cell
        if finding.rule == OVER_BUDGET:
            return _Cause(*place, "took too long to read")
        if finding.outcome is not Outcome.LEFT or not finding.reason:
            continue
        if finding.rule == KEEPS:
            program = finding.program is not None
            return _Cause(*place, finding.reason, program=program)
    raw = raw_of(result) or b""
    if not _WORD.search(raw):
        return None
    if result.status is FileStatus.FAILED and "Python 2" not in (result.error or ""):
        return _Cause(path, 1, None, f"cannot be processed: {result.error}")
    if not any(f.is_native for f in result.findings) and _SILENCED.search(raw):
        return _Cause(path, 1, None, "its owner asked for it", asked=True)
    return None


def _moves(result: FileResult) -> bool:
    """A file becomes native, and does not only support one that does."""
    native = any(f.is_native for f in result.findings)
    return native and (bool(result.needs) or any(f.program for f in result.findings))


def _changes(result: FileResult) -> bool:
    return result.new is not None


def _let_go(result: FileResult) -> FileResult:
    """A file that belongs to no program on compat calls it no more."""
    new = result.new
    if result.status is FileStatus.UNCHANGED and b"compat.install(" in result.old:
        new = result.old
    if new is None:
        return result
    without = unstarted(result.path, new)
    if without == new:
        return result
    message = "needs tfmigrate.compat.install() no more"
    gone = told(result.path, KEEPS, message, Outcome.REWRITTEN)
    old = result.old if result.new is not None else new
    freed = _with(result, old, without, [*result.findings, gone])
    return replace(freed, needs=result.needs)


def _with(
    result: FileResult, raw: bytes, new: bytes, findings: list[Finding]
) -> FileResult:
    """The result with other bytes and findings."""
    if new == raw:
        findings = [f for f in findings if f.outcome is not Outcome.REWRITTEN]
    made = result_of(result.path, raw, new, tuple(sorted(findings)))
    skipped = new == raw and result.status is FileStatus.SKIPPED
    return replace(
        made,
        status=result.status if skipped else made.status,
        lines=result.lines,
        base=result.base,
        file_facts=result.file_facts,
    )


def _left(path: Path, line: int, cell: int | None, reason: str) -> Finding:
    kept = ProgramOutcome.KEPT
    return told(
        path, KEEPS, KEPT, Outcome.LEFT, line, program=kept, reason=reason, cell=cell
    )
