"""A timer that counts seconds or steps."""

from __future__ import annotations

import time


class StepTimer:
    """Triggers every so many seconds or steps."""

    def __init__(
        self, every_secs: float | None = None, every_steps: int | None = None
    ) -> None:
        self.every_secs, self.every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Forgets when it was triggered last."""
        self.last_step: int | None = None
        self.last_time = 0.0

    def should_trigger_for_step(self, step: int) -> bool:
        """Tells whether it is time again."""
        if self.last_step is None:
            return True
        if self.every_secs is not None:
            return time.time() >= self.last_time + self.every_secs
        return (
            self.every_steps is not None and step >= self.last_step + self.every_steps
        )

    def update_last_triggered_step(
        self, step: int
    ) -> tuple[float, int] | tuple[None, None]:
        """Returns seconds and steps since the last time, of which there may be none."""
        now, last = time.time(), self.last_step
        since = (None, None) if last is None else (now - self.last_time, step - last)
        self.last_step, self.last_time = step, now
        return since

    def last_triggered_step(self) -> int | None:
        """Returns the step at which it was triggered last."""
        return self.last_step
