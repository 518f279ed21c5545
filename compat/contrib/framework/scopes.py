"""``arg_scope``: default arguments for the layer functions called inside it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

__all__ = [
    "add_arg_scope",
    "arg_scope",
    "arg_scoped_arguments",
    "current_arg_scope",
    "has_arg_scope",
]

F = TypeVar("F", bound=Callable[..., Any])
Scope = dict[Any, dict[str, Any]]

_stack: list[Scope] = [{}]
_arguments: dict[Any, tuple[str, ...]] = {}


def _key(function: Any) -> Any:
    return getattr(function, "_key_op", (function.__module__, function.__name__))


def current_arg_scope() -> Scope:
    """The defaults in force now: a mapping from function to its arguments."""
    return _stack[-1]


def has_arg_scope(func: Any) -> bool:
    """Whether ``func`` was decorated with `add_arg_scope`."""
    return _key(func) in _arguments


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """Names of the arguments of ``func`` that an `arg_scope` may set."""
    if not has_arg_scope(func):
        raise AssertionError(f"{func} was not decorated with @add_arg_scope")
    return _arguments[_key(func)]


def add_arg_scope(func: F) -> F:
    """Let `arg_scope` set default arguments of ``func``."""
    key = (func.__module__, func.__name__)

    @functools.wraps(func)
    def with_defaults(*args: Any, **kwargs: Any) -> Any:
        defaults = current_arg_scope().get(key)
        if defaults:
            kwargs = {**defaults, **kwargs}
        return func(*args, **kwargs)

    with_defaults._key_op = key  # type: ignore[attr-defined]
    code = getattr(func, "__code__", None)
    if code is not None:
        count = code.co_argcount + code.co_kwonlyargcount
        names = code.co_varnames[:count]
        defaults = func.__defaults__ or ()
        _arguments[key] = tuple(names[-len(defaults) :]) if defaults else ()
    else:
        _arguments[key] = ()
    return with_defaults  # type: ignore[return-value]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Set default arguments for a list of functions, or reuse a stored scope."""
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by suppling a dictionary, "
                "kwargs must be empty."
            )
        scope: Scope = dict(list_ops_or_scope)
    else:
        if not isinstance(list_ops_or_scope, list | tuple):
            raise TypeError(
                "list_ops_or_scope must either be a list/tuple or reused scope "
                "(i.e. dict)"
            )
        scope = dict(current_arg_scope())
        for function in list_ops_or_scope:
            if not has_arg_scope(function):
                name = getattr(function, "__name__", function)
                raise ValueError(f"{name} is not decorated with @add_arg_scope")
            key = _key(function)
            scope[key] = {**scope.get(key, {}), **kwargs}
    _stack.append(scope)
    try:
        yield scope
    finally:
        _stack.pop()
