"""What a trial of a rewritten program showed (``tfmigrate rewrite --prove``)."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path


class ProofOutcome(enum.Enum):
    """How a trial ended."""

    PROVED = "proved"
    # The program trained otherwise, or no more: it is kept.
    REFUTED = "refuted"
    # Nothing could be shown either way.
    OPEN = "not proved"


@dataclass(frozen=True)
class Proof:
    """Old and new trained side by side: what was rewritten, and what came of it."""

    program: Path
    outcome: ProofOutcome
    told: str
    steps: int = 0
    # The largest relative difference of a loss.
    difference: float | None = None

    @property
    def sentence(self) -> str:
        """The trial in one line."""
        return f"{self.program}: {self.outcome.value}: {self.told}"
