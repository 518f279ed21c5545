"""Converts Python 2 files to Python 3 when ``--py2`` asks for it."""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

# Works on whole files before anything is parsed; see rewrite/python2.py.
PYTHON2 = Rule(
    id="TFM502",
    name="python2-source",
    summary="With --py2, a Python 2 file is converted to Python 3 first.",
    why=(
        "A file that only Python 2 can parse, or a notebook with such a cell, is "
        "otherwise left alone and reported. The conversion is the one of 2to3, with "
        "all of its usual fixers. What it cannot know is told place by place: "
        "divisions that may have been of integers (`/` keeps the fraction today), "
        "names and methods of Python 2 that are still there. What was text and what "
        "was bytes needs a person's eye."
    ),
    safety=Safety.NEEDS_REVIEW,
)
