"""Names for generated code that clash with nothing in the module."""

from __future__ import annotations

from ..plan.tree import Tree

__all__ = ["Names"]


class Names:
    """Hands out identifiers that the module does not use yet."""

    def __init__(self, tree: Tree) -> None:
        scopes = tree.resolver.scopes
        self._taken = {name.value for name in scopes.loads}
        for scope in scopes.opened.values():
            self._taken.update(scope.bindings)

    def fresh(self, wanted: str) -> str:
        """``wanted`` itself when free, else with the smallest number after it."""
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted}_{number}", number + 1
        self._taken.add(name)
        return name
