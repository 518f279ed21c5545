"""Python 2 sources as Python 3, by the classic converter.

``lib2to3`` left the standard library with Python 3.13; its fork ``fissix`` has
the same interface and is used when it is installed.
"""

from __future__ import annotations

import importlib
import logging
from typing import Any

from .sources import SourceError

__all__ = ["to_python3"]

# Fixers that guess about types and wrap calls in list(); the code of training
# scripts reads better without them, and none is needed for it to parse.
_LEFT_OUT = {"fix_dict", "fix_filter", "fix_map", "fix_zip", "fix_import", "fix_idioms"}


def to_python3(text: str) -> str:
    """Convert a module; raise SourceError when that is not possible."""
    package, refactor = _converter()
    names = refactor.get_fixers_from_package(f"{package}.fixes")
    fixers = [name for name in names if name.rpartition(".")[2] not in _LEFT_OUT]
    logging.getLogger("lib2to3").setLevel(logging.ERROR)
    tool = refactor.RefactoringTool(fixers, {"print_function": False})
    ended = text if text.endswith("\n") else text + "\n"
    try:
        converted = str(tool.refactor_string(ended, "<python 2>"))
    except Exception as error:  # the converter raises several kinds of its own
        raise SourceError(f"neither Python 3 nor Python 2: {error}") from None
    return converted if text.endswith("\n") else converted[:-1]


def _converter() -> tuple[str, Any]:
    for package in ("fissix", "lib2to3"):
        try:
            return package, importlib.import_module(f"{package}.refactor")
        except ImportError:
            continue
    raise SourceError("--py2 needs the fissix package: pip install fissix")
