"""Settings of sessions that nothing reads any more, once a loop took their place."""

from __future__ import annotations

import libcst as cst

from ...plan.code.tree import Tree, only_small, walk
from ...plan.estimator.config import session_configs
from .dropping import without_statements

__all__ = ["drop_session_settings"]

_MAKER = "ConfigProto"


def drop_session_settings(before: Tree, after: cst.Module) -> cst.Module:
    """Take out ``config = tf.ConfigProto(...)`` and ``config.x.y = ...``.

    Only for names that a RunConfig of the program was given, and only where the
    rewritten module does nothing else with the name.
    """
    names = {n.value for n in session_configs(before) if isinstance(n, cst.Name)}
    gone: set[cst.BaseSmallStatement] = set()
    for name in sorted(names):
        found = _settings(after, name)
        if found is not None:
            gone |= found
    return without_statements(after, gone)


def _settings(module: cst.Module, name: str) -> set[cst.BaseSmallStatement] | None:
    """The statements that make or set the name; None where it is used otherwise."""
    found: set[cst.BaseSmallStatement] = set()
    seen = uses = 0
    for node in walk(module):
        if isinstance(node, cst.Name) and node.value == name:
            uses += 1
        if not isinstance(node, cst.SimpleStatementLine):
            continue
        small = only_small(node)
        if not isinstance(small, cst.Assign) or len(small.targets) != 1:
            continue
        target: cst.BaseExpression = small.targets[0].target
        makes = isinstance(target, cst.Name) and _makes_config(small.value)
        while isinstance(target, cst.Attribute):
            target = target.value
            makes = True
        if makes and isinstance(target, cst.Name) and target.value == name:
            inner = [
                n for n in walk(small) if isinstance(n, cst.Name) and n.value == name
            ]
            seen += len(inner)
            if len(inner) == 1:
                found.add(small)
    return found if found and seen == uses else None


def _makes_config(value: cst.BaseExpression) -> bool:
    if not isinstance(value, cst.Call):
        return False
    function = value.func
    last = function.attr if isinstance(function, cst.Attribute) else function
    return isinstance(last, cst.Name) and last.value == _MAKER
