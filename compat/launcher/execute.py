"""Runs a script, a module or a notebook as ``python`` itself would."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import io
import os
import runpy
import sys
import types

__all__ = ["LaunchError", "new_main", "run_module", "run_path"]


class LaunchError(Exception):
    """The program could not be started; told without a traceback."""


def new_main(filename: str | None) -> types.ModuleType:
    """A fresh ``__main__``, so that pickling and multiprocessing find it."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    if filename is not None:
        main.__file__ = filename
        main.__dict__["__cached__"] = None
        loader = importlib.machinery.SourceFileLoader("__main__", filename)
        main.__loader__ = loader
    main.__spec__ = None
    sys.modules["__main__"] = main
    return main


def run_path(path: str, args: list[str]) -> None:
    """``python PATH ARGS``: a file, or a folder or zip with a ``__main__``."""
    sys.argv = [path, *args]
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        sys.path.insert(0, path)
        runpy.run_path(path, run_name="__main__")
        return
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    filename = os.path.abspath(path)
    with io.open_code(filename) as stream:
        source = stream.read()
    code = compile(source, filename, "exec", dont_inherit=True)
    main = new_main(filename)
    exec(code, main.__dict__)


def run_module(name: str, args: list[str]) -> None:
    """``python -m NAME ARGS``."""
    sys.path.insert(0, os.getcwd())
    sys.argv = [name, *args]
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        # A parent package is missing; an import that fails inside one is the
        # program's own error and keeps its traceback.
        if error.name is None or not name.startswith(error.name):
            raise
        spec = None
    if spec is None:
        raise LaunchError(
            f"there is no module {name} to run: it was looked for from {os.getcwd()}"
        )
    runpy.run_module(name, run_name="__main__", alter_sys=True)
