"""What ``tfmigrate run`` was asked for, handed on to child processes too."""

from __future__ import annotations

import dataclasses
import json
import os

__all__ = ["ENVIRONMENT_NAME", "Settings"]

ENVIRONMENT_NAME = "TFMIGRATE_RUN"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """Options of one run; travels in an environment variable as JSON."""

    replicas: int | None = None
    trace_legacy: bool = False
    full_traceback: bool = False
    shell_lines: bool = False
    # The TensorFlow that the program was written for: 1 (TF 1.15) or 2 (TF 2.15).
    version: int = 1

    @classmethod
    def from_environment(cls) -> Settings:
        """The settings of the process that started this one."""
        return cls(**json.loads(os.environ.get(ENVIRONMENT_NAME, "{}")))
