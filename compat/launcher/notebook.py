"""Runs the code cells of a Jupyter notebook from top to bottom."""

from __future__ import annotations

import ast
import json
import linecache
import os
import subprocess
import sys
from typing import Any

from .execute import LaunchError, new_main

__all__ = ["run_notebook"]


def run_notebook(path: str, args: list[str], *, shell_lines: bool) -> None:
    """Execute the notebook in one namespace, like a kernel would.

    ``%magic`` lines are left out. ``!shell`` lines are left out too unless
    ``shell_lines`` is set: in old notebooks they mostly install an old
    TensorFlow over the present one.
    """
    try:
        with open(path, encoding="utf-8") as stream:
            notebook = json.load(stream)
    except ValueError as error:
        raise LaunchError(f"{path} is not a notebook: {error}") from error
    sys.argv = [path, *args]
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    main = new_main(None)
    for number, cell in enumerate(_code_cells(notebook), start=1):
        source = _plain_python(cell, path, number, shell_lines=shell_lines)
        _run_cell(source, f"{path}[{number}]", main.__dict__)


def _code_cells(notebook: Any) -> list[str]:
    cells = notebook.get("cells")
    if cells is None:  # format 3 and older kept them in worksheets
        cells = [
            cell
            for sheet in notebook.get("worksheets", [])
            for cell in sheet.get("cells", [])
        ]
    found = []
    for cell in cells:
        if cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            found.append("".join(source) if isinstance(source, list) else source)
    return found


def _plain_python(source: str, path: str, number: int, *, shell_lines: bool) -> str:
    lines = source.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%"):
        if first.split()[0] in ("%%time", "%%timeit", "%%capture", "%%prun"):
            place = lines.index(first)
            lines[place] = ""
        else:
            _note(path, number, first)
            return ""
    result = []
    for line in lines:
        bare = line.lstrip()
        indent = line[: len(line) - len(bare)]
        if bare.startswith("!"):
            if shell_lines:
                result.append(f"{indent}__tfmigrate_shell__({bare[1:]!r})")
                continue
            _note(path, number, bare)
            result.append(f"{indent}pass")
        elif bare.startswith("%") and _is_magic(bare):
            result.append(f"{indent}pass")
        else:
            result.append(line)
    return "\n".join(result)


def _is_magic(bare: str) -> bool:
    # A continuation line such as `% (a, b)` starts with % as well; a magic
    # has its name right after the sign.
    return len(bare) > 1 and (bare[1].isalpha() or bare[1] == "%")


def _note(path: str, number: int, line: str) -> None:
    print(f"{path}[{number}]: not run: {line.strip()}", file=sys.stderr)


def _shell(command: str) -> None:
    subprocess.run(command, shell=True, check=False)


def _run_cell(source: str, filename: str, scope: dict[str, Any]) -> None:
    # Lets tracebacks show the cell's lines.
    linecache.cache[filename] = (
        len(source),
        None,
        source.splitlines(keepends=True),
        filename,
    )
    scope["__tfmigrate_shell__"] = _shell
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
