"""Source files as modules to analyse, and the way back to their bytes.

A Python file is one module. The code cells of a notebook are one module too:
cells are joined with marker statements between them, magics and shell lines
become placeholder statements, and both are undone when the result is put back
cell by cell. Whatever is not edited keeps its bytes.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import libcst as cst
from tfmigrate.compat.launcher.python2 import looks_like_python2
from tfmigrate.compat.notebooks import Notebook, NotebookError

from .deep import bracket_depth
from .parsing import parse
from .reparsing import parse_again
from .text import Lines

_FORM_FEED_LINE = re.compile(r"(?m)^[ \t]*\x0c[ \t\x0c]*(?=\r?$)")
_MOST_BRACKETS = 190  # CPython's tokenizer gives up at 200
_FORM_FEED_MARK = "# __tfmigrate_form_feed__"


class SourceError(Exception):
    """A file that cannot be taken as Python source; the text says why."""

    def __init__(self, reason: str, *, python2: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.python2 = python2


@dataclass(frozen=True, eq=False)
class Source:
    """One parsed file: ``text`` is what ``module`` was parsed from."""

    path: Path
    raw: bytes
    text: str
    module: cst.Module
    encoding: str = "utf-8"
    notebook: Notebook | None = None
    form_feeds: tuple[str, ...] = ()

    @property
    def lines(self) -> Lines:
        """Offsets of ``text``."""
        return Lines(self.text)

    def render(self, text: str) -> bytes:
        """The file's new bytes for a new analysis text."""
        if text == self.text:
            return self.raw
        if self.notebook is not None:
            return bytes(self.notebook.render(text))
        return self._feed_forms(text).encode(self.encoding)

    def _feed_forms(self, text: str) -> str:
        if not self.form_feeds:
            return text
        if text.count(_FORM_FEED_MARK) != len(self.form_feeds):
            raise SourceError("the rewrite moved a line with a form feed")
        parts = text.split(_FORM_FEED_MARK)
        joined = [parts[0]]
        for original, part in zip(self.form_feeds, parts[1:], strict=True):
            joined += [original, part]
        return "".join(joined)

    def locate(self, line: int) -> tuple[int | None, int]:
        """(cell number or None, line in the file or cell) of an analysis line."""
        if self.notebook is None:
            return None, line
        cell, inside = self.notebook.locate(line)
        return cell, inside

    def with_text(self, text: str) -> Source:
        """The same file with another analysis text, parsed again."""
        module = parse_again(text, self.text, self.module)
        return replace(self, text=text, module=module)


def load_source(path: Path, raw: bytes) -> Source:
    """Parse a ``.py`` or ``.ipynb`` file; raise SourceError if it cannot be."""
    if path.suffix == ".ipynb":
        try:
            notebook = Notebook.parse(raw)
        except NotebookError as error:
            raise SourceError(str(error)) from None
        text = notebook.text
        module = _parse(text, notebook)
        return Source(path, raw, text, module, notebook=notebook)
    text, encoding = decode(raw)
    form_feeds = tuple(_FORM_FEED_LINE.findall(text))
    if form_feeds:
        text = _FORM_FEED_LINE.sub(_FORM_FEED_MARK, text)
    module = _parse(text)
    return Source(path, raw, text, module, encoding=encoding, form_feeds=form_feeds)


# Words that TensorFlow 1's first Pythons took as names of arguments and attributes.
_NAMES_ONCE = re.compile(r"(?:[(,]\s*|\.|^\s*)(async|await)\s*[=,).]")


def decode(raw: bytes) -> tuple[str, str]:
    """Text and encoding of Python source bytes (PEP 263, BOM)."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise SourceError(f"unknown encoding: {error} (without one: UTF-8)") from None
    try:
        text = raw.decode(encoding)
        if text.encode(encoding) != raw:
            raise SourceError(f"the bytes do not survive decoding as {encoding}")
    except (UnicodeError, LookupError) as error:
        raise SourceError(f"not valid {encoding}: {error}") from None
    if "\0" in text:
        raise SourceError("the file contains null bytes")
    return text, encoding


def _parse(text: str, notebook: Notebook | None = None) -> cst.Module:
    if bracket_depth(text) > _MOST_BRACKETS:
        # Python's own parser knows which of them stand in strings.
        try:
            compile(text, "<source>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise SourceError("too deeply nested, or not valid Python") from None
    try:
        module = parse(text)
    except (cst.ParserSyntaxError, cst.CSTValidationError) as error:
        problem = _first_error(text)
        if problem is None:
            # A few oddities, all in tests of Python's own grammar.
            line = getattr(error, "raw_line", 1)
            raise SourceError(
                f"line {line}: LibCST cannot parse this, though Python can"
            ) from None
        python2 = looks_like_python2(text)
        if python2 is not None:
            raise SourceError(
                f"Python 2 only: {python2}; convert it with `2to3` or try --py2",
                python2=True,
            ) from None
        line, message = problem
        word = _NAMES_ONCE.search(text.split("\n")[line - 1])
        if word is not None:
            message += (
                f" (`{word[1]}` may not be a name since Python 3.7: call it else)"
            )
        place = f"line {line}"
        if notebook is not None:
            place = "cell {}, line {}".format(*notebook.locate(line))
        raise SourceError(f"{place}: not valid Python: {message}") from None
    except RecursionError:
        raise SourceError("too deeply nested to parse") from None
    if _PYTHON2_EXCEPT.search(text) and _first_error(text) is not None:
        # Newer grammars read ``except A, e:`` as two exceptions.
        raise SourceError(
            "Python 2 only: `except X, e`; convert it with `2to3` or try --py2",
            python2=True,
        )
    return module


_PYTHON2_EXCEPT = re.compile(r"(?m)^[ \t]*except[ \t]+[^:\n(]+,[^:\n]+:")


def _first_error(text: str) -> tuple[int, str] | None:
    """Where Python itself stops reading a text and why; None when it does not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(
                text,
                "<source>",
                "exec",
                ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
                dont_inherit=True,
            )
    except SyntaxError as error:
        return error.lineno or 1, error.msg
    except (ValueError, MemoryError, RecursionError) as error:
        return 1, str(error)
    return None
