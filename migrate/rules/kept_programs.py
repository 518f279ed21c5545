"""Why programs are kept, and what to change: reasons and advice stand in kept.toml."""

from __future__ import annotations

import re

from ..tables import table_of

_TABLE = table_of(__package__, "kept.toml")
# Whole reasons for which the layers of a model function keep its program.
OF_LAYERS: dict[str, str] = _TABLE["layers"]
# What reasons hold where a Task or the words around it stop.
OF_TASKS: dict[str, str] = _TABLE["tasks"]
# What follows in these is a reason of its own.
WITH_ANOTHER = (
    "`...` may make variables: ...",
    "no layers are seen, for `...` is not followed: ...",
)
_SAID = re.compile(
    r": ((?:use|pass|give|call|name|write|make|move|return|load|take|compute) .+?)"
    r"(?: \([^()]*\))?$"
)


def advice_for(reason: str) -> str | None:
    """What to change, for a reason that the evaluation, lifting or a Task gave."""
    for known, advice in OF_LAYERS.items():
        pattern = re.escape(known).replace(re.escape("..."), ".+")
        if re.search(rf"(^|: ){pattern}( \(|$)", reason):
            return advice
    said = _SAID.search(reason)
    if said is not None:
        return said[1]
    return next((one for key, one in OF_TASKS.items() if key in reason), None)


def kept_section() -> str:
    """What the page says of the layers of a model function."""
    asked = dict.fromkeys(WITH_ANOTHER, "what the reason behind the colon asks for")
    told = (
        f"- {reason}\n  change: {change}\n"
        for reason, change in {**asked, **OF_LAYERS}.items()
    )
    return (
        "## What keeps the layers of a model function\n\n"
        "What the report may say, `...` standing for what is the program's own, and "
        f"the change after which its layers become a Keras model:\n\n{''.join(told)}"
    )
