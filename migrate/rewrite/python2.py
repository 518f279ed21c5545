"""Python 2 sources as Python 3, by the classic converter, and what it leaves.

``lib2to3`` left the standard library with Python 3.13; its fork ``fissix`` has the
same interface and is used when it is installed, which it is from 3.13 on.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import logging
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tfmigrate.compat.notebooks import Notebook, NotebookError

from ..names.ast_nodes import walk as walk_ast
from ..project.sources import SourceError, decode
from ..report.findings import PYTHON2, Finding, Outcome, told

_CELL = re.compile(r"(?m)^(__tfmigrate_cell_\d+__[ \t]*(?:\r?\n|\Z))")
# A tab at the start of a line went to the next multiple of eight.
_INDENT = re.compile(r"(?m)^[ \t]*\t[ \t]*")
# What no fixer replaces in every place: names, methods by any object, dotted names.
_GONE_NAMES = """
apply buffer cmp coerce execfile file intern long raw_input reduce reload unichr unicode
xrange basestring
"""
_GONE = frozenset(_GONE_NAMES.split())
_TODAY = {
    **dict.fromkeys((".iteritems", ".viewitems"), "items"),
    **dict.fromkeys((".iterkeys", ".viewkeys"), "keys"),
    **dict.fromkeys((".itervalues", ".viewvalues"), "values"),
    ".has_key": "in",
    "string.letters": "string.ascii_letters",
    "string.lowercase": "string.ascii_lowercase",
    "string.uppercase": "string.ascii_uppercase",
    "string.maketrans": "str.maketrans",
    "sys.maxint": "sys.maxsize",
    "os.getcwdu": "os.getcwd",
}
# Why a text may not be Python 3.
_NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)


def converted(path: Path, raw: bytes) -> bytes:
    """A file as Python 3; raises SourceError when that is not possible."""
    if path.suffix == ".ipynb":
        try:
            notebook = Notebook.parse(raw)
            return bytes(notebook.render(_cells_converted(path, notebook.text)))
        except NotebookError as error:
            raise SourceError(str(error)) from None
    text, encoding = decode(raw)
    return _converted(path, text).encode(encoding)


def _cells_converted(path: Path, text: str) -> str:
    """The cells that need it converted; one that cannot be is left as it is."""
    pieces = _CELL.split(text)
    for place in range(2, len(pieces), 2):
        if not _is_python3(pieces[place]):
            with contextlib.suppress(SourceError):
                pieces[place] = _converted(path, pieces[place])
    return "".join(pieces)


def _is_python3(text: str) -> bool:
    try:
        _parsed(text)
    except _NO_PYTHON:
        return False
    return True


def _converted(path: Path, text: str) -> str:
    package, refactor = _converter()
    fixers = refactor.get_fixers_from_package(f"{package}.fixes")
    logging.getLogger("lib2to3").setLevel(logging.ERROR)
    tool = refactor.RefactoringTool(fixers, {"print_function": False})
    ended = text if text.endswith("\n") else text + "\n"
    problem = ""
    for spelled in dict.fromkeys((ended, _without_tabs(ended))):
        try:
            # By its path a fixer tells modules beside the file from others.
            new = str(tool.refactor_string(spelled, str(path.absolute())))
        except Exception as error:  # the converter raises several kinds of its own
            problem = problem or str(error)
            continue
        if _has_mixed_indents(new):
            new = _without_tabs(new)
        return new if text.endswith("\n") else new[:-1]
    raise SourceError(f"neither Python 3 nor Python 2: {problem}")


def _without_tabs(text: str) -> str:
    return _INDENT.sub(lambda match: match.group().expandtabs(8), text)


def _converter() -> tuple[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for package in ("fissix", "lib2to3"):
            try:
                return package, importlib.import_module(f"{package}.refactor")
            except ImportError:
                continue
    raise SourceError("--py2 needs the fissix package: pip install fissix")


def _has_mixed_indents(text: str) -> bool:
    try:
        _parsed(text)
    except _NO_PYTHON as error:
        return isinstance(error, TabError)
    return False


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def remains(path: Path, old: str, new: str) -> list[Finding]:
    """What a person has to look at in a converted text, place by place."""
    if not _is_python3(new):
        return []
    tree = _parsed(new)
    found = list(_gone_names(tree))
    if not re.search(r"(?m)^from __future__ import .*\bdivision\b", old):
        found += _divisions(tree)
    return [
        told(path, PYTHON2, message, Outcome.ADVICE, line)
        for line, message in sorted(set(found))
    ]


def _gone_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    bound = set()
    for node in walk_ast(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {alias.asname or alias.name for alias in node.names}
    for node in walk_ast(tree):
        if isinstance(node, ast.Name) and node.id in _GONE - bound:
            yield node.lineno, f"`{node.id}` is a name of Python 2"
        if isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            method = f".{node.attr}"
            if dotted in _TODAY:
                yield node.lineno, f"`{dotted}` is `{_TODAY[dotted]}` today"
            elif method in _TODAY:
                yield node.lineno, f"`{method}` of Python 2: use `{_TODAY[method]}`"
        if isinstance(node, ast.Call) and any(k.arg == "cmp" for k in node.keywords):
            yield node.lineno, "`cmp=` of a sort: use functools.cmp_to_key"


def _divisions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Divisions that may have been of integers, which dropped the fraction."""
    for node in walk_ast(tree, ast.BinOp, ast.AugAssign):
        if isinstance(node, ast.BinOp):
            parts = node.left, node.right
        else:
            parts = node.target, node.value
        if isinstance(node.op, ast.Div) and not any(map(_is_fraction, parts)):
            text = ast.unparse(node)
            text = text if len(text) <= 60 else f"{text[:57]}..."
            said = "dropped the fraction if both are integers: then use `//`"
            yield node.lineno, f"`{text}` {said}"


def _is_fraction(node: ast.expr) -> bool:
    """An operand that is no integer, as far as can be seen."""
    for inner in walk_ast(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, float):
            return True
        if isinstance(inner, ast.Call):
            name = ast.unparse(inner.func)
            if name == "float" or name.startswith(("tf.", "np.", "math.", "numpy.")):
                return True
    return False
