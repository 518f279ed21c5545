"""What a rewrite makes of the text of one file."""

from __future__ import annotations

from pathlib import Path

from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job


def rewritten(folder: Path, text: str) -> str:
    """The new text of a program of one file, which changes."""
    path = folder / "program.py"
    path.write_text(text, "utf-8")
    report = run_job([path], Job())
    (new,) = (one.new for one in report.changed if one.path == path)
    assert new is not None
    return new.decode("utf-8")
