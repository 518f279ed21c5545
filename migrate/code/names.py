"""Names for generated code that clash with nothing in the module."""

from __future__ import annotations

from ..names.scopes import Scope
from .tree import Body, Tree

__all__ = ["Names", "fresh"]


def fresh(wanted: str, taken: set[str]) -> str:
    """``wanted`` itself when free, else with the smallest number after it; takes it."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    taken.add(name)
    return name


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
        return fresh(wanted, self._taken)

    def reserve(self, *names: str) -> None:
        """Keep names from being handed out."""
        self._taken.update(names)
