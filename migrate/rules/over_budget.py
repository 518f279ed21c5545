"""Says that a file was left because it took more than a file may take."""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

# Found by the process that watches over the others; see rewrite/run.py.
OVER_BUDGET = Rule(
    id="TFM504",
    name="over-budget",
    summary="A file that takes too long, or too much memory, is left as it is.",
    why=(
        "A file is worked on in a process that can be ended: after 120 seconds of "
        "work (`--timeout SECONDS` sets another limit) or with 4 GB of memory. A generated "
        "file of many megabytes can take more, and so can a call chain of thousands "
        "of links, which the parser reads in quadratic time. The file keeps every "
        "byte, and so do the files of its program. Give it more time, take it out of "
        "the run with `--exclude`, or divide it."
    ),
    safety=Safety.NEEDS_REVIEW,
    advice_only=True,
)
