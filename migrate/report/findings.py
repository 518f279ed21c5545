"""What a rule or the rewriter has to say about one place in a source file."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# The rules of training programs: what became native, what is kept and runs on compat,
# what even that cannot run, the module that is added, what a native program does
# otherwise than the Estimator.
NATIVE, KEEPS, STAYS, ADDED, DIFFERS = "TFM101", "TFM103", "TFM104", "TFM107", "TFM130"
KEPT = "this program is kept and runs on tfmigrate.compat"
# Those of whole files: Python 2, requirements of an old TensorFlow, too much work.
PYTHON2, PINNED, OVER_BUDGET = "TFM502", "TFM503", "TFM504"


class Outcome(enum.Enum):
    """What became of a finding; every finding ends as exactly one of these."""

    REWRITTEN = "rewritten"
    ADVICE = "advice"
    LEFT = "left"
    FAILED = "failed"


class Safety(enum.Enum):
    """How much a rewrite can be trusted without reading it."""

    EXACT = "exact"
    CHANGES_NUMBERS = "changes numbers"
    NEEDS_REVIEW = "needs review"


class ProgramOutcome(enum.Enum):
    """What becomes of a training program, best first."""

    # Plain TensorFlow 2: a Task and its Trainer, nothing of ours imported.
    NATIVE = "native"
    # As its author wrote it, on tfmigrate.compat.
    KEPT = "kept"
    # As it was, byte for byte: not even compat can run it.
    UNTOUCHED = "untouched"

    @property
    def rank(self) -> int:
        """0 for the best; a program of several files is as its worst one."""
        return [*ProgramOutcome].index(self)


@dataclass(frozen=True)
class Replacement:
    """A part of a fix: the region (1-based, end exclusive) and its new text."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True)
class Finding:
    """One diagnosis, ordered by place so that reports are stable.

    ``line`` and ``column`` count from 1 and refer to the file before any
    rewrite (in a notebook: to the cell, whose number is ``cell``). ``reason``
    says, for anything but REWRITTEN, why it stopped there. ``symbol`` is the
    canonical TF1 name the finding is about, when it is about one; ``fix`` the
    local replacements, when the rewrite is local. ``program`` is set where a
    training program is made.
    """

    path: Path
    line: int
    column: int
    rule: str
    message: str
    outcome: Outcome
    safety: Safety = Safety.EXACT
    program: ProgramOutcome | None = None
    reason: str | None = None
    cell: int | None = None
    symbol: str | None = None
    fix: tuple[Replacement, ...] = ()
    # What to change in the program, where there is something.
    advice: str | None = None
    # The line, of the text that was analysed, of the statement a note belongs to.
    note_at: int | None = None

    @property
    def is_native(self) -> bool:
        """The file became part of a program that needs nothing but TensorFlow."""
        return self.rule == NATIVE and self.outcome is Outcome.REWRITTEN

    # Enums do not order; findings at one place keep the order of rule and text.
    def __lt__(self, other: Finding) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[str, int, int, int, str, str]:
        return (
            str(self.path),
            self.cell or 0,
            self.line,
            self.column,
            self.rule,
            self.message,
        )


def told(
    path: Path, rule: str, message: str, outcome: Outcome, line: int = 1, **more: Any
) -> Finding:
    """What a person has to know of a line, or of a file as a whole."""
    found = Finding(path, line, 1, rule, message, outcome, Safety.NEEDS_REVIEW)
    return replace(found, **more)
