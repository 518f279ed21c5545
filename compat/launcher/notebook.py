"""Runs the code cells of a Jupyter notebook from top to bottom."""

from __future__ import annotations

import ast
import json
import linecache
import os
import subprocess
import sys
from typing import Any

from ..notebooks import PYTHON_CELL_MAGICS, Notebook, NotebookError
from .execute import LaunchError, new_main

__all__ = ["run_notebook"]


def run_notebook(path: str, args: list[str], *, shell_lines: bool) -> None:
    """Execute the notebook in one namespace, like a kernel would.

    ``%magic`` lines are left out, but for the Python behind ``%time`` and the like.
    ``!shell`` lines are left out too unless ``shell_lines`` is set: in old
    notebooks they mostly install an old TensorFlow over the present one.
    """
    try:
        with open(path, "rb") as stream:
            notebook = Notebook.parse(_as_format_4(stream.read()))
    except NotebookError as error:
        raise LaunchError(f"{path}: {error}") from error
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise LaunchError(f"{path}: not a notebook: {error}") from error
    sys.argv = [path, *args]
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    main = new_main(None)
    # Counted as a reader of the notebook counts what runs.
    numbers = {cell.number: i for i, cell in enumerate(notebook.cells, start=1)}

    def statement(cell: int, magic: str) -> str:
        return _statement(path, numbers[cell], magic, shell_lines=shell_lines)

    def value(cell: int, magic: str) -> str:
        if magic.startswith("!") and shell_lines:
            return f"__tfmigrate_output__({magic[1:]!r})"
        _note(path, numbers[cell], magic)
        return "None"

    sources = dict(notebook.python_cells(statement, value))
    for cell in notebook.cells:
        if cell.foreign:
            _note(path, numbers[cell.number], cell.source.lstrip().split("\n")[0])
        else:
            filename = f"{path}[{numbers[cell.number]}]"
            _run_cell(sources[cell.number], filename, main.__dict__)


def _as_format_4(raw: bytes) -> bytes:
    """Format 3 and older kept cells in worksheets, and their text as ``input``."""
    notebook = json.loads(raw.decode("utf-8-sig"))
    if not isinstance(notebook, dict) or "worksheets" not in notebook:
        return raw
    cells = [
        {"cell_type": cell.get("cell_type"), "source": cell.get("input", "")}
        for sheet in notebook["worksheets"]
        for cell in sheet.get("cells", [])
    ]
    return json.dumps({"cells": cells}).encode()


def _statement(path: str, number: int, magic: str, *, shell_lines: bool) -> str:
    if magic.startswith("!"):
        if shell_lines:
            return f"__tfmigrate_shell__({magic[1:]!r})"
        _note(path, number, magic)
        return "pass"
    name, _, rest = magic.lstrip("%").partition(" ")
    rest = rest.strip()
    # `%time estimator.train(...)` is a line of the program.
    is_code = magic.startswith("%") and not magic.startswith("%%") and rest
    if is_code and name in PYTHON_CELL_MAGICS and not rest.startswith("-"):
        return rest
    return "pass"


def _note(path: str, number: int, line: str) -> None:
    print(f"{path}[{number}]: not run: {line.strip()}", file=sys.stderr)


def _shell(command: str) -> None:
    subprocess.run(command, shell=True, check=False)


def _output(command: str) -> list[str]:
    done = subprocess.run(
        command, shell=True, check=False, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.splitlines()


def _run_cell(source: str, filename: str, scope: dict[str, Any]) -> None:
    # Lets tracebacks show the cell's lines.
    linecache.cache[filename] = (
        len(source),
        None,
        source.splitlines(keepends=True),
        filename,
    )
    scope["__tfmigrate_shell__"] = _shell
    scope["__tfmigrate_output__"] = _output
    tree = ast.parse(source, filename)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and not source.rstrip().endswith(";"):
        head = ast.Module(body=tree.body[:-1], type_ignores=[])
        exec(compile(head, filename, "exec", dont_inherit=True), scope)
        value = eval(
            compile(ast.Expression(last.value), filename, "eval", dont_inherit=True),
            scope,
        )
        if value is not None:
            print(repr(value))
    else:
        exec(compile(tree, filename, "exec", dont_inherit=True), scope)
