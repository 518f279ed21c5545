"""Tracebacks that show the user's program, not the machinery under it."""

from __future__ import annotations

import os
import sys
import threading
import traceback
import types
from typing import Any

__all__ = ["install_hooks", "strip"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _is_machinery(filename: str) -> bool:
    return filename.startswith(
        (_PACKAGE + os.sep, "<frozen runpy", "<frozen importlib")
    )


def strip(tb: types.TracebackType | None) -> types.TracebackType | None:
    """The same traceback without frames of this package.

    When nothing else is left (an error before the program started) the
    traceback is returned as it was: an empty one would help nobody.
    """
    kept: list[types.TracebackType] = []
    entry = tb
    while entry is not None:
        if not _is_machinery(entry.tb_frame.f_code.co_filename):
            kept.append(entry)
        entry = entry.tb_next
    result: types.TracebackType | None = None
    for entry in reversed(kept):
        result = types.TracebackType(
            result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno
        )
    return result or tb


def _strip_chain(error: BaseException | None, seen: set[int]) -> None:
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        stripped = strip(error.__traceback__)
        if isinstance(error, SyntaxError) and stripped is error.__traceback__:
            stripped = None  # it names its place itself
        error.__traceback__ = stripped
        _strip_chain(error.__cause__, seen)
        error = error.__context__


def _show(kind: type[BaseException], error: BaseException, tb: Any) -> None:
    error.__traceback__ = tb
    _strip_chain(error, set())
    traceback.print_exception(kind, error, error.__traceback__)
    if hasattr(error, "node_def"):
        print(f"error: {first_words(error)}", file=sys.stderr)
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    if isinstance(error, ModuleNotFoundError) and main:
        hint = package_hint(error.name or "", os.path.abspath(main))
        if hint:
            print(hint, file=sys.stderr)


def first_words(error: BaseException) -> str:
    """What TensorFlow said first: between it and the end stand pages on its graph."""
    while hasattr(error.__context__, "node_def"):
        assert error.__context__ is not None
        error = error.__context__
    return str(getattr(error, "message", error)).partition("\n")[0]


def package_hint(missing: str, program: str) -> str | None:
    """How to start a file of a package that asks for this package by its name."""
    above, found, inside = program.rpartition(f"{os.sep}{missing}{os.sep}")
    if not (missing and found):
        return None
    module = ".".join([missing, *os.path.splitext(inside)[0].split(os.sep)])
    return f"hint: it is a module of {missing}: `tfmigrate run -m {module}` in {above}"


def _show_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is None or isinstance(args.exc_value, SystemExit):
        return
    name = args.thread.name if args.thread is not None else "?"
    print(f"Exception in thread {name}:", file=sys.stderr)
    _show(args.exc_type, args.exc_value, args.exc_traceback)


def install_hooks() -> None:
    """Show uncaught exceptions without our frames."""
    sys.excepthook = _show
    threading.excepthook = _show_in_thread
