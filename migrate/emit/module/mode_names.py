"""``ModeKeys`` in the code around a native loop: plain strings."""

from __future__ import annotations

import libcst as cst

from ...plan.code.tree import walk
from ...plan.inputs.datasets import MODE_NAMES
from ...project.parsing import parse
from ...project.positions import code_of
from ...symbols.nodes import CodeTransformer
from ...symbols.resolver import Resolver

__all__ = ["MODE_KEYS", "name_modes"]

MODE_KEYS = ("tf.estimator.ModeKeys", "tf.contrib.learn.ModeKeys")


def name_modes(text: str, module: cst.Module) -> tuple[str, cst.Module]:
    """A module with every mode as the string that it is, also in new code."""
    if "ModeKeys" not in text:
        return text, module
    resolver = Resolver(module)
    changed: dict[cst.CSTNode, cst.BaseExpression] = {}
    for node in walk(module):
        if isinstance(node, cst.Attribute):
            home, _, name = (resolver.resolve(node) or "").rpartition(".")
            if home in MODE_KEYS and name in MODE_NAMES:
                changed[node] = cst.SimpleString(MODE_NAMES[name])
    edited = module.visit(_Replace(changed))
    assert isinstance(edited, cst.Module)
    text = code_of(edited)
    return text, parse(text)


class _Replace(CodeTransformer):
    def __init__(self, changed: dict[cst.CSTNode, cst.BaseExpression]) -> None:
        self.changed = changed

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        return self.changed.get(original_node, updated_node)
