"""The last lines of a terminal: how far each task has come."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

_STEP = re.compile(rb"\[(\w+ \d+)\] .*\bloss = (\S+), step = (\d+)")
_UP = b"\x1b[F\x1b[K"  # to the line above, which is made empty


class Foot:
    """Writes lines above one line for each task: its step, its loss, steps a second."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._lines: dict[bytes, bytes] = {}
        self._seen: dict[bytes, tuple[float, int]] = {}

    def write(self, line: bytes) -> None:
        """Writes a line of a task; one that says a loss changes the foot alone."""
        up = _UP * len(self._lines)
        found = _STEP.match(line)
        if found is not None:
            task, loss, step = found[1], found[2], int(found[3])
            now = time.monotonic()
            then, before = self._seen.get(task, (now, step))
            self._seen[task] = now, step
            told = f"step {step}, loss {loss.decode()}"
            if step > before:
                told += f", {(step - before) / (now - then):.3g} steps/s"
            self._lines[task] = b"%s: %s\n" % (task, told.encode())
            line = b""
        self._write(up + line + b"".join(self._lines.values()))

    def say(self, text: str) -> None:
        """Writes what the launcher says."""
        self.write(f"tfmigrate: {text}\n".encode())
