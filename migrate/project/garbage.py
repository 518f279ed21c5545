"""When memory that nothing refers to is looked for: between files, and seldom."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Objects made and not gone since the last look; a hundred bytes each, or less.
_MANY = 300_000
# A look takes as long as there is much to keep, so that has to grow by this before it.
_GROWTH = 2
_kept = 0


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No garbage collection during one piece of work.

    A syntax tree is a hundred thousand objects that all stay alive; looking
    through them again and again costs a fifth of the time and frees nothing. Where
    the collector is off altogether, this looks when there may be something to find.
    """
    global _kept
    active = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if active:
            gc.enable()
        elif gc.get_count()[0] > _MANY and sys.getallocatedblocks() > _kept * _GROWTH:
            gc.collect()
            _kept = sys.getallocatedblocks()
