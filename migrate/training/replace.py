"""A RunConfig with some settings changed."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import core


@dataclasses.dataclass(frozen=True)
class RunConfig(core.RunConfig):
    """Settings that can be changed."""

    def replace(self, **changes: Any) -> RunConfig:
        """Returns the same settings, but for some."""
        return dataclasses.replace(self, **changes)
