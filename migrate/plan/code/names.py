"""Names for generated code that clash with nothing in the module."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from ...symbols.scopes import Scope
from .substitute import VariableTransformer
from .tree import Body, Tree

__all__ = ["Names", "rename"]


class Names:
    """Hands out identifiers that the module does not use yet."""

    def __init__(self, tree: Tree, body: Body) -> None:
        scopes = tree.resolver.scopes
        owner = tree.parent(body)
        here = scopes.opened.get(owner) if owner is not None else None
        visible: list[Scope] = []
        scope: Scope | None = here or scopes.module_scope
        while scope is not None:
            visible.append(scope)
            scope = scope.parent
        self._taken = {name for scope in visible for name in scope.bindings}
        for name, (inner, _) in scopes.loads.items():
            # A name that another function binds for itself is no obstacle.
            found: Scope | None = inner
            while found is not None and name.value not in found.bindings:
                found = found.parent
            if found is None or found in visible:
                self._taken.add(name.value)

    def fresh(self, wanted: str) -> str:
        """``wanted`` itself when free, else with the smallest number after it."""
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted}_{number}", number + 1
        self._taken.add(name)
        return name

    def reserve(self, *names: str) -> None:
        """Keep names from being handed out."""
        self._taken.update(names)


def rename(code: str, names: Mapping[str, str]) -> str:
    """Source text with other names for its variables."""
    changed = cst.parse_module(code).visit(_Rename(names))
    assert isinstance(changed, cst.Module)
    return changed.code


class _Rename(VariableTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        name = updated_node.value
        if name not in self.names:
            return updated_node
        return cst.parse_expression(self.names[name])
