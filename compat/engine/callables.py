"""What a user's function accepts: plain, bound, partial or callable object."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["accepts_any_keyword", "argument_names"]


def _target(fn: Callable[..., Any]) -> tuple[Any, set[str], int]:
    """The innermost function, keywords bound on the way, positionals bound."""
    bound_names: set[str] = set()
    bound_positions = 0
    while isinstance(fn, functools.partial):
        bound_names |= set(fn.keywords or {})
        bound_positions += len(fn.args)
        fn = fn.func
    return fn, bound_names, bound_positions


def _parameters(fn: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """Parameters without a bound ``self``.

    Decorators that use functools.wraps show the wrapped signature, as
    TensorFlow's own inspection does: a decorated model_fn keeps its arguments.
    """
    if inspect.isclass(fn) or inspect.isroutine(fn):
        signature = inspect.signature(fn)
    else:
        signature = inspect.signature(type(fn).__call__.__get__(fn))
    return tuple(signature.parameters.values())


def argument_names(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the arguments ``fn`` can still be given, in order."""
    target, bound_names, bound_positions = _target(fn)
    named = [
        p.name
        for p in _parameters(target)
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    return tuple(n for n in named[bound_positions:] if n not in bound_names)


def accepts_any_keyword(fn: Callable[..., Any]) -> bool:
    """Whether ``fn`` takes ``**kwargs``."""
    target, _, _ = _target(fn)
    return any(p.kind is p.VAR_KEYWORD for p in _parameters(target))
