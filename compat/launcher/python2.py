"""Tells Python 2 source from a plain typing mistake."""

from __future__ import annotations

import os
import re
import tokenize

__all__ = ["looks_like_python2", "python2_message"]

_PYTHON2 = (
    (re.compile(r"(?m)^[ \t]*print[ \t]+[^\s=(.,:)\[]"), "print statement"),
    (re.compile(r"(?m)^[ \t]*print[ \t]*>>"), "print >> statement"),
    (
        re.compile(r"(?m)^[ \t]*except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:"),
        "except X, e",
    ),
    (
        re.compile(r"(?m)^[ \t]*except[ \t]*\([^)\n]*\)[ \t]*,[ \t]*\w+[ \t]*:"),
        "except (X, Y), e",
    ),
    (re.compile(r"(?m)^[ \t]*raise[ \t]+[\w.]+[ \t]*,"), "raise X, message"),
    (re.compile(r"(?m)^[ \t]*exec[ \t]+[\"'\w]"), "exec statement"),
    (re.compile(r"<>"), "the <> operator"),
    (re.compile(r"(?<![\w.])\d+[lL]\b"), "a long integer literal"),
    (
        # Neither 0.05 nor 1e-05; and 00 is a valid zero.
        re.compile(r"(?<![\w.])(?<![\d.][eE][-+])0+[1-7][0-7]*\b(?!\.)"),
        "an octal literal without 0o",
    ),
    (re.compile(r"\bur['\"]"), "a ur'' string"),
    (re.compile(r"`[^`\n]+`"), "backquotes for repr"),
    (re.compile(r"(?m)^[ \t]*print[ \t]*$"), "a bare print statement"),
    (
        re.compile(
            r"\b(?:def[ \t]+\w+[ \t]*\(|lambda\b)(?:[\w \t,=*]*,)?[ \t]*"
            r"\([ \t]*\w+[ \t]*,[\w \t,]*\)[ \t]*[,:)]"
        ),
        "tuple parameters",
    ),
)
# What stands in strings and comments says nothing.
_INERT = re.compile(
    r"\"{3}.*?\"{3}|'{3}.*?'{3}|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*",
    re.DOTALL,
)


def _emptied(match: re.Match[str]) -> str:
    """A string without its text, on as many lines as it had."""
    found = match.group()
    return "" if found[0] == "#" else "''" + "\n" * found.count("\n")


def looks_like_python2(text: str) -> str | None:
    """What makes a file that does not parse Python 2, or None.

    Only what no Python 3 allows anywhere counts: a missing bracket does not make
    a file old.
    """
    text = _INERT.sub(_emptied, text)
    for pattern, what in _PYTHON2:
        match = pattern.search(text)
        if match:
            line = text.count("\n", 0, match.start()) + 1
            return f"{what} in line {line}"
    return None


def python2_message(error: SyntaxError) -> str | None:
    """One sentence naming 2to3 when the file is Python 2, else None."""
    try:
        with tokenize.open(error.filename or "") as stream:
            found = looks_like_python2(stream.read())
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None
    if found is None and not isinstance(error, TabError):
        return None
    name = os.path.relpath(error.filename or "?")
    return (
        f"{name}, line {error.lineno} is Python 2: {(error.text or '').strip()}\n"
        f"hint: convert a copy first with `2to3 -w {name}` "
        "(it comes with Python up to 3.12), then run that"
    )
