"""Listeners of checkpoints, which are callbacks among others."""

from __future__ import annotations

import libcst as cst

from ...code.arguments import is_none
from .page import Page, Part, Region


def with_listeners(page: Page, call: cst.Call, args: dict[str, cst.Arg]) -> None:
    """Listeners of checkpoints are callbacks before the others."""
    hooks, told = args.get("hooks"), args.get("saving_listeners")
    if told is None:
        return
    if hooks is None:
        page.words.add("hooks")
        page.rename_keyword(told, "hooks")
        return
    page.drop_argument(call, told)
    lists = [one.value for one in (told, hooks) if not is_none(one.value)]
    parts = [part for one in lists for part in (", ", *_spread(page, one))]
    page.put(hooks.value, "[", *parts[1:], "]")


def _spread(page: Page, node: cst.BaseExpression) -> list[Part]:
    """What stands for a list within another one."""
    if not isinstance(node, (cst.List, cst.Tuple)) or not node.elements:
        return ["*", node]
    first, last = node.elements[0].value, node.elements[-1].value
    return [Region(page.outer(first)[0], page.outer(last)[1], 0)]
