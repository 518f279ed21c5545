"""What is reached from some starts, step by step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Place = TypeVar("Place", bound=Hashable)


def reached(
    starts: Iterable[Place], near: Callable[[Place], Iterable[Place]]
) -> Iterator[Place]:
    """The starts and all that is reached from them, each once, the nearest first."""
    waiting = deque(dict.fromkeys(starts))
    seen = {*waiting}
    while waiting:
        one = waiting.popleft()
        yield one
        new = [other for other in dict.fromkeys(near(one)) if other not in seen]
        seen.update(new)
        waiting += new
