"""What else LogValues can be told."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from . import hooks
from .core import logger


class LogValues(hooks.LogValues):
    """Logs values of the first step, and then every so many steps or seconds."""

    def __init__(
        self,
        tensors: Any,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[str, Any]], str] | None = None,
    ) -> None:
        super().__init__(tensors, every_n_iter, every_n_secs)
        self.at_end, self.formatter = at_end, formatter

    def end(self) -> None:
        if self.at_end:
            self.log()

    def log(self) -> None:
        """Logs the values of the last step, and the seconds since they were logged."""
        text = ", ".join(f"{label} = {value}" for label, value in self.values.items())
        text = self.formatter(self.values) if self.formatter else text
        logger.info("%s (%.3f sec)", text, time.time() - self.time)
        self.time = time.time()
