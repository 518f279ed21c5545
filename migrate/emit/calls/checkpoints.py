"""Where a loop saves, and what it goes on from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...plan.code.tree import Statement
from ..module.spacing import with_blank_lines

if TYPE_CHECKING:
    from ..programs.loop import LoopEmitter

__all__ = ["makes_directory", "manager", "restore"]


def restore(emitter: LoopEmitter) -> list[Statement]:
    """What goes on from the latest checkpoint."""
    return emitter.fill("restore", names=emitter.site_names("latest", "like"))


def makes_directory(emitter: LoopEmitter) -> bool:
    """Checkpoints go to a directory that is made just then: nothing is in it."""
    return emitter.plan.config.model_dir is None


def manager(emitter: LoopEmitter) -> list[Statement]:
    """The checkpoint manager and the restore."""
    keep = emitter.plan.config.keep_max or "5"
    result = emitter.fill(
        "manager",
        expressions={
            "X_MODEL_DIR": _model_dir(emitter),
            "X_KEEP_MAX": "None" if keep == "0" else keep,
        },
        statements={"X_RESTORE": restore(emitter)},
        flags={
            "X_RESTORES": not makes_directory(emitter),
            "X_EVALUATES": emitter.evaluates,
        },
    )
    result[0] = with_blank_lines(result[0], 1)
    return result


def _model_dir(emitter: LoopEmitter) -> str:
    """The checkpoint directory; a new one each time, as before, when not given."""
    code = emitter.plan.config.model_dir
    temporary = (
        f"{emitter.module('tempfile')}.mkdtemp()"
        if (code is None or emitter.plan.config.model_dir_optional)
        else ""
    )
    if code is None:
        return temporary
    if not temporary:
        return code
    code = re.sub(r"\s+or\s+None$", "", code)
    return f"{code} or {temporary}"
