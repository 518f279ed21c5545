"""When memory that nothing refers to is looked for: between files, and seldom."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_at_rest"]

# Objects made and not gone since the last look; a hundred bytes each, or less.
_MANY = 300_000


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No garbage collection during one piece of work.

    A syntax tree is a hundred thousand objects that all stay alive; looking
    through them again and again costs a fifth of the time and frees nothing. Where
    the collector is off altogether, this looks when there may be something to find.
    """
    active = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if active:
            gc.enable()
        elif gc.get_count()[0] > _MANY:
            gc.collect()
