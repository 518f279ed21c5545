"""Training in one process only."""

from __future__ import annotations

import dataclasses
import json
import os

from . import core


@dataclasses.dataclass(frozen=True)
class RunConfig(core.RunConfig):
    """Settings of a program that is no part of a cluster."""

    def __post_init__(self) -> None:
        tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        if sum(map(len, tf_config.get("cluster", {}).values())) > 1:
            told = "TF_CONFIG names a cluster: this program trains alone. "
            told += "`tfmigrate rewrite --strategy multiworker` makes one for workers."
            raise ValueError(told)
