"""Whether lifted code does what the code before it did, told by evaluating both."""

from __future__ import annotations

from itertools import zip_longest

import libcst as cst

from ...model.tracing import Step, Tracer
from ...project.facts import ParsedModule

_LONGEST = 80


def again(
    parsed: ParsedModule, defined: cst.FunctionDef, now: ParsedModule
) -> cst.FunctionDef:
    """A function of a file in what the file is now; others may have its name."""
    place = _named(parsed, defined.name.value).index(defined)
    return _named(now, defined.name.value)[place]


def _named(parsed: ParsedModule, name: str) -> list[cst.FunctionDef]:
    return [node for node in parsed.each(cst.FunctionDef) if node.name.value == name]


def difference(before: Tracer, after: Tracer) -> str | None:
    """How a lifted model function differs, or None if it does not.

    The same layers have to be called in the same order, on the same tensors, with the
    same arguments, initializers and regularizers, in the same scopes, loops and
    branches. So has everything else that is made of what they give: losses, metrics,
    predictions, updates, specifications.
    """
    if before.gave_up or after.gave_up:
        return "it calls too much code"
    for old, new in zip_longest(before.steps, after.steps):
        if old is None or new is None or (old.done, old.path) != (new.done, new.path):
            where = "its end" if old is None else _shown(old)
            return f"rewritten layers cannot be proved to be the same from {where} on"
    return None


def _shown(step: Step) -> str:
    """What a step is in the source, whose lines may have moved since they were read."""
    code = step.module.module.code_for_node(step.node).strip().partition("\n")[0]
    return f"`{code[:_LONGEST]}` of {step.module.path.name}"
