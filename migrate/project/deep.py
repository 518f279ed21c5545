"""Room for deeply nested programs: a thread with a large stack.

LibCST's parser recurses in native code, and a long chain of ``elif`` or of
parentheses ends in a segmentation fault on the usual 8 MB stack (observed at
3,000 levels). CPython itself refuses 200 open brackets; up to that, and far
beyond it for other nesting, this stack suffices.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_STACK = 512 * 1024 * 1024  # reserved, not used: pages are touched as needed
_RECURSION = 20_000
_BRACKET = re.compile(r"[()\[\]{}]")

_lock = threading.Lock()
_here = threading.local()


def call_deep(function: Callable[[], T]) -> T:
    """Call a function on a large stack and give back what it gives."""
    if getattr(_here, "deep", False):
        return function()
    outcome: list[T] = []
    failure: list[BaseException] = []

    def target() -> None:
        _here.deep = True
        try:
            outcome.append(function())
        except BaseException as error:
            failure.append(error)

    # The stack size is a setting of the whole process, read at thread start.
    with _lock:
        old_stack, old_limit = threading.stack_size(), sys.getrecursionlimit()
        sys.setrecursionlimit(max(old_limit, _RECURSION))
        try:
            threading.stack_size(_STACK)
            thread = threading.Thread(target=target)
            thread.start()
        finally:
            threading.stack_size(old_stack)
    thread.join()
    sys.setrecursionlimit(old_limit)
    if failure:
        raise failure[0]
    return outcome[0]


def bracket_depth(text: str) -> int:
    """The most brackets open at once; those inside strings count as well."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        if bracket in "([{":
            depth += 1
            if depth > deepest:
                deepest = depth
        elif depth:
            depth -= 1
    return deepest
