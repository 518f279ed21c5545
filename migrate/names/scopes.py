"""Who binds which name where: the scopes of one parsed module, as plain data.

:func:`.scope_builder.build_scopes` makes them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from weakref import ReferenceType

import libcst as cst


class BindingKind(enum.Enum):
    """How a name came to be bound."""

    IMPORT = "import"
    ASSIGN = "assign"
    FUNCTION = "function"
    CLASS = "class"
    PARAMETER = "parameter"
    # for targets, with ... as, except ... as, comprehension variables, del,
    # augmented assignment, tuple unpacking: bound to something not followed.
    OTHER = "other"


class ScopeKind(enum.Enum):
    """The kinds of scope Python's name lookup distinguishes."""

    MODULE = "module"
    FUNCTION = "function"
    CLASS = "class"
    COMPREHENSION = "comprehension"


@dataclass(eq=False)
class Binding:
    """One place where a name is bound.

    ``target`` is the dotted path of an import; ``value`` the right-hand side of
    a plain assignment; ``node`` the statement or definition that binds.
    ``order`` grows with evaluation order inside the module.
    """

    name: str
    kind: BindingKind
    # The scope has its bindings: a cycle would keep the tree until it is looked for.
    home: ReferenceType[Scope]
    node: cst.CSTNode
    order: int
    target: str | None = None
    value: cst.BaseExpression | None = None
    # Bound inside an ``except`` clause: the second choice of a try/except pair.
    fallback: bool = False
    # Number of relative-import dots (the target is then relative as well).
    relative: int = 0

    @property
    def scope(self) -> Scope:
        """The scope that has it."""
        scope = self.home()
        assert scope is not None
        return scope


@dataclass(eq=False)
class Scope:
    """A scope and the names bound directly in it."""

    kind: ScopeKind
    parent: Scope | None
    node: cst.CSTNode
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    star_imports: list[str] = field(default_factory=list)

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


@dataclass(frozen=True, eq=False)
class Use:
    """A name or the longest attribute chain on it, read somewhere.

    ``root`` is None for chains on a call, such as ``getattr(tf, "app").run``.
    ``statement`` is the innermost statement that starts a line.
    """

    node: cst.Name | cst.Attribute
    root: cst.Name | None
    scope: Scope
    statement: cst.CSTNode | None


@dataclass(frozen=True, eq=False)
class ImportUse:
    """An import statement; ``guarded`` when a ``try`` catches its failure."""

    node: cst.Import | cst.ImportFrom
    scope: Scope
    statement: cst.CSTNode | None
    guarded: bool
    only: bool  # the only statement of its block


@dataclass(frozen=True, eq=False)
class ScopeTree:
    """The scopes of a module and the scope of every name used in it."""

    module_scope: Scope
    # Name node in load position -> (scope it is looked up from, order).
    loads: dict[cst.Name, tuple[Scope, int]]
    # Every chain read, in evaluation order, and the calls by what they call.
    uses: list[Use]
    calls: dict[cst.CSTNode, cst.Call]
    # Import statements with the statement line they are part of.
    imports: list[ImportUse]
    # Every statement that starts a line, outer before inner.
    statements: list[cst.CSTNode]
    # Scope opened by a Module, FunctionDef, Lambda, ClassDef or comprehension.
    opened: dict[cst.CSTNode, Scope]
