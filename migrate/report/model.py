"""The account of a run: every file and every finding ends somewhere, once."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from .findings import Finding, Outcome, ProgramOutcome
from .needs import Need
from .proofs import Proof, ProofOutcome

Kind = TypeVar("Kind", bound=enum.Enum)


class FileStatus(enum.Enum):
    """What became of a file."""

    CHANGED = "changed"  # rewritten, or would be
    UNCHANGED = "unchanged"  # examined; nothing to do or nothing that could be done
    SKIPPED = "skipped"  # no legacy word in it; not parsed
    FAILED = "failed"  # could not be processed; untouched


@dataclass(frozen=True)
class Lack:
    """A name that a file will ask ``maker`` for in vain: where, and which.

    ``owners`` are the file's definitions of which one must be used for that to
    happen; with none of them it happens whenever the file runs.
    """

    place: str
    what: str
    maker: str
    owners: frozenset[str] = frozenset()


@dataclass(frozen=True)
class FileFacts:
    """What of a file matters to the programs that it is part of.

    ``tf1`` and ``tf2`` say that it names what only one of them had; ``gone`` is an
    import that cannot succeed on the compat layer, with its place; ``starts`` that
    running or importing the file does something, so that a program may begin here;
    ``raises`` is a call that raises on the compat layer, if it is reached.
    """

    tf1: bool = False
    tf2: bool = False
    gone: tuple[str, str] | None = None
    starts: bool = False
    # What it becomes runs on either TensorFlow and means the same there.
    both: bool = False
    # It imports modules by names that only it knows: how these begin, up to a dot. One
    # that begins unknown is any file beside or below it.
    searches: tuple[str, ...] = ()
    # What it becomes asks for names that plain TensorFlow does not have.
    lacks: tuple[Lack, ...] = ()
    # Where it opens a session of TF 1 on the default graph: line, cell and the call.
    session: tuple[int, int | None, str] | None = None
    raises: tuple[str, str] | None = None


@dataclass(frozen=True)
class ProgramResult:
    """A program that begins in a file: what became of it, and which file decided.

    ``line`` and ``cell`` are the place in that file, ``reason`` why it is not native,
    ``advice`` what to change to get further, ``review`` how many lines of its files
    are new.
    """

    outcome: ProgramOutcome
    where: Path
    line: int = 1
    cell: int | None = None
    reason: str | None = None
    advice: str | None = None
    review: int = 0

    @property
    def place(self) -> str:
        """File and line, or cell and line of a notebook."""
        cell = f"cell {self.cell}:" if self.cell is not None else ""
        return f"{self.where}:{cell}{self.line}"


@dataclass(frozen=True)
class FileResult:
    """One file: what was found, what it was and what it becomes."""

    path: Path
    status: FileStatus
    findings: tuple[Finding, ...] = ()
    old: bytes = b""
    new: bytes | None = None
    error: str | None = None
    # TODO(tfmigrate) notes in the file as it will stand.
    notes: int = 0
    lines: int = 0
    # What the new text asks of training modules that the run adds to the project.
    needs: tuple[Need, ...] = ()
    # The file is one that the run adds.
    added: bool = False
    # The text before anything is moved, where that is not ``old``: of a Python 2
    # file, its conversion.
    base: bytes | None = None
    # None where the file was not parsed.
    file_facts: FileFacts | None = None
    # The program that begins here, told once all results are known.
    program: ProgramResult | None = None

    @property
    def new_lines(self) -> int:
        """How many lines the file has that it did not have."""
        if self.new is None:
            return 0
        lines = Counter(self.new.splitlines())
        lines.subtract(Counter(self.old.splitlines()))
        return sum(number for number in lines.values() if number > 0)

    def __post_init__(self) -> None:
        changed = self.new is not None
        if (self.status is FileStatus.CHANGED) != changed:
            raise ValueError(f"{self.path}: {self.status.value} does not fit its bytes")
        if self.new is not None and self.new == self.old:
            raise ValueError(f"{self.path}: called changed, but no byte differs")
        if (self.status is FileStatus.FAILED) != (self.error is not None):
            raise ValueError(f"{self.path}: a failure needs a reason, and only one")
        rewritten = [f for f in self.findings if f.outcome is Outcome.REWRITTEN]
        if rewritten and not changed:
            raise ValueError(f"{self.path}: a rewritten finding in an unchanged file")
        if changed and not self.findings:
            raise ValueError(f"{self.path}: changed without a finding")
        silent = [
            f
            for f in self.findings
            if f.outcome in (Outcome.LEFT, Outcome.FAILED) and not f.reason
        ]
        if silent:
            raise ValueError(f"{self.path}:{silent[0].line}: left without a reason")


@dataclass(frozen=True)
class Report:
    """All results of a run, in path order."""

    results: tuple[FileResult, ...]
    # What trials of its programs showed, where there were any.
    proofs: tuple[Proof, ...] = ()
    # Where the new files went that left the originals as they were.
    mirror: Path | None = None
    # Git has the files as they were.
    committed: bool = False
    # The paths that the command named, as a shell reads them.
    asked: str = ""

    def __post_init__(self) -> None:
        paths = [str(result.path) for result in self.results]
        if len(set(paths)) != len(paths):
            raise ValueError("a file is accounted for twice")

    @property
    def findings(self) -> list[Finding]:
        """Every finding, in the order of places."""
        return sorted(f for result in self.results for f in result.findings)

    def unproved(self) -> list[Proof]:
        """The trials that showed nothing either way."""
        return [one for one in self.proofs if one.outcome is ProofOutcome.OPEN]

    @property
    def failed(self) -> list[FileResult]:
        """The files that could not be processed."""
        return [r for r in self.results if r.status is FileStatus.FAILED]

    @property
    def changed(self) -> list[FileResult]:
        """The files that change."""
        return [r for r in self.results if r.status is FileStatus.CHANGED]

    def files_by_status(self) -> dict[FileStatus, int]:
        """How many files ended as what; the sum is the number of files."""
        return _counts(FileStatus, (result.status for result in self.results))

    def findings_by_outcome(self) -> dict[Outcome, int]:
        """How many findings ended as what; the sum is their number."""
        return _counts(Outcome, (finding.outcome for finding in self.findings))

    def findings_by_rule(self) -> dict[str, dict[Outcome, int]]:
        """Outcomes per rule id, rules in order."""
        table: dict[str, list[Outcome]] = {}
        for finding in self.findings:
            table.setdefault(finding.rule, []).append(finding.outcome)
        return {rule: _counts(Outcome, table[rule]) for rule in sorted(table)}

    @property
    def programs(self) -> list[tuple[Path, ProgramResult]]:
        """The training programs, each with the file in which it begins."""
        return [(r.path, r.program) for r in self.results if r.program is not None]

    @property
    def added(self) -> list[FileResult]:
        """The files that the run adds, or adds to."""
        return [r for r in self.results if r.added and r.new is not None]

    @property
    def to_create(self) -> list[FileResult]:
        """The files that were not there before the run."""
        return [result for result in self.added if not result.old]

    @property
    def places(self) -> list[Finding]:
        """The findings in files that are there, which other tools can show."""
        new = {result.path for result in self.to_create}
        return [finding for finding in self.findings if finding.path not in new]

    def programs_by_outcome(self) -> dict[ProgramOutcome, int]:
        """How many training programs ended as what."""
        return _counts(ProgramOutcome, (one.outcome for _, one in self.programs))

    def leftovers(self) -> int:
        """What still asks for a person: unresolved findings and notes."""
        counts = self.findings_by_outcome()
        unresolved = counts[Outcome.LEFT] + counts[Outcome.FAILED]
        return unresolved + counts[Outcome.ADVICE] + sum(r.notes for r in self.results)


def _counts(kinds: type[Kind], found: Iterable[Kind]) -> dict[Kind, int]:
    """How many there are of each kind, in the order of kinds."""
    counts = Counter(found)
    return {kind: counts[kind] for kind in kinds}


def merge(parts: Sequence[FileResult]) -> Report:
    """A report with its results in path order, whatever order they came in."""
    return Report(tuple(sorted(parts, key=lambda result: str(result.path))))
