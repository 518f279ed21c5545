"""Tells Python 2 source from a plain typing mistake."""

from __future__ import annotations

import os
import re

__all__ = ["python2_message"]

# Wording of CPython's own syntax errors for constructs that Python 2 allowed.
_MESSAGES = (
    "missing parentheses in call to 'print'",
    "missing parentheses in call to 'exec'",
    "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals",
    "inconsistent use of tabs",
    "invalid decimal literal",
    "invalid hexadecimal literal",
)

# The offending line, for errors that CPython reports as "invalid syntax".
_LINES = re.compile(
    r"""
      ^\s*print\s+(["'\w%]|>>)            # print x, print >>file, x
    | ^\s*except\s+[\w.()\s,]+,\s*\w+\s*: # except Error, e:
    | ^\s*raise\s+[\w.]+\s*,              # raise Error, "text"
    | ^\s*exec\s+["'\w]                   # exec "code"
    | <>                                  # a <> b
    | `[^`]+`                             # `x`
    | \b0[0-7]+\b                         # 0644
    | \b\d+[lL]\b                         # 10L
    | \b[uU][rR]["']                      # ur"text"
    | ^\s*def\s+\w+\(.*\([\w\s,]+\).*\):  # def f(a, (b, c)):
    | lambda\s*\([\w\s,]+\)\s*:           # lambda (a, b):
    """,
    re.VERBOSE,
)


def python2_message(error: SyntaxError) -> str | None:
    """One sentence naming 2to3 when the file is Python 2, else None."""
    text = error.text or ""
    told = (error.msg or "").lower()
    by_message = any(
        known in told
        for known in _MESSAGES
        if known != "invalid decimal literal" or _LINES.search(text)
    )
    if not by_message and not _LINES.search(text):
        return None
    name = os.path.relpath(error.filename or "?")
    return (
        f"{name}, line {error.lineno} is Python 2: {text.strip()}\n"
        f"hint: convert a copy first with `2to3 -w {name}` "
        "(it comes with Python up to 3.12), then run that"
    )
