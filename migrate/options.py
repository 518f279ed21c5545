"""The choices a user has for a rewrite, as one immutable value."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from .project.selection import Selection


@dataclass(frozen=True)
class Refuted:
    """Files of a program that a trial showed to train otherwise, and how."""

    files: frozenset[str]
    because: str


@dataclass(frozen=True)
class RewriteOptions:
    """Options of ``tfmigrate rewrite`` that change the emitted code."""

    # Programs that are kept, for a trial showed that they train otherwise.
    refuted: tuple[Refuted, ...] = ()
    # What native programs train on, as --strategy says it; "keep": as they say it.
    strategy: str = "keep"

    def kept_because(self, files: Collection[str]) -> str | None:
        """Why a program of these files, absolute paths, is kept; None if it is not."""
        found = (one.because for one in self.refuted if not one.files.isdisjoint(files))
        return next(found, None)


@dataclass(frozen=True)
class Job:
    """What a run does with each file."""

    options: RewriteOptions = field(default_factory=RewriteOptions)
    selection: Selection = field(default_factory=Selection)
    py2: bool = False
    # Requirements that install an old TensorFlow are edited.
    requirements: bool = False
