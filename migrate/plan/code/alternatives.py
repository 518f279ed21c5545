"""What a name may stand for when conditions choose its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from ...symbols.scopes import Binding, BindingKind
from .tree import Statement, Tree, only_small, statements_of, walk

__all__ = [
    "Alternatives",
    "Choice",
    "Found",
    "Value",
    "is_repeatable",
    "leaves",
    "only_asks",
]


@dataclass(frozen=True, eq=False)
class Choice:
    """One of two values, as a test tells."""

    test: cst.BaseExpression
    yes: Value
    no: Value


@dataclass(frozen=True, eq=False)
class Found:
    """An expression, and what the name that it reads for itself stood for before.

    ``config = config.replace(...)`` is the one shape with an ``earlier`` value.
    """

    expression: cst.BaseExpression
    earlier: Value | None = None


Value = Choice | Found


class _Unclear(Exception):
    """The value depends on more than tests and plain assignments."""


@dataclass
class Alternatives:
    """Reads an expression's value; ``statements`` are those that decide it.

    ``statements`` are siblings, in source order. ``function`` is a function of the
    program whose return statements give the value.
    """

    tree: Tree
    statements: list[Statement] = field(default_factory=list)
    variable: Binding | None = None
    function: cst.FunctionDef | None = None
    call: cst.Call | None = None

    def read(self, node: cst.BaseExpression) -> Value | None:
        """The value, or None where it is not understood."""
        try:
            return self._read(node)
        except _Unclear:
            return None

    def _read(self, node: cst.BaseExpression) -> Value:
        if isinstance(node, cst.IfExp):
            return Choice(node.test, self._read(node.body), self._read(node.orelse))
        if isinstance(node, cst.Name) and node.value != "None":
            found = self.tree.resolver.bindings(node)
            if not found or self.variable is not None:
                raise _Unclear
            return self._assigned(found[0])
        if isinstance(node, cst.Call):
            defined = self.tree.resolver.definition(node.func)
            if isinstance(defined, cst.FunctionDef):
                if self.function is not None:
                    raise _Unclear
                self.function, self.call = defined, node
                return self._returned(defined)
        return Found(node)

    def values(self, statement: Statement) -> list[cst.BaseExpression]:
        """What the assignments in a statement give the variable."""
        name = None if self.variable is None else self.variable.name
        return [
            node.value
            for node in walk(statement)
            if isinstance(node, cst.Assign)
            and isinstance(node.targets[0].target, cst.Name)
            and node.targets[0].target.value == name
        ]

    def only_sets(self, statement: Statement) -> bool:
        """The statement assigns the variable and does nothing else."""
        nodes = list(walk(statement))
        small = [n for n in nodes if isinstance(n, cst.BaseSmallStatement)]
        blocks = [n for n in nodes if isinstance(n, cst.BaseCompoundStatement)]
        return len(self.values(statement)) == len(small) and all(
            isinstance(block, cst.If) for block in blocks
        )

    # -- a variable --------------------------------------------------------------

    def _assigned(self, binding: Binding) -> Value:
        """What the assignments of one scope leave in a name."""
        tree, scope = self.tree, binding.scope
        bindings = scope.bindings[binding.name]
        if any(b.kind is not BindingKind.ASSIGN or b.value is None for b in bindings):
            raise _Unclear
        shared = [
            s.global_names | s.nonlocal_names
            for s in tree.resolver.scopes.opened.values()
        ]
        if any(binding.name in names for names in shared):
            raise _Unclear
        nodes = {id(b.value): b for b in bindings}
        owner = scope.node
        body = owner if isinstance(owner, cst.Module) else getattr(owner, "body", None)
        if not isinstance(body, (cst.Module, cst.IndentedBlock)):
            raise _Unclear
        self.variable = binding
        found = self._block(statements_of(body), None, nodes, top=True)
        if found is None or nodes:
            raise _Unclear
        return found

    def _block(
        self,
        statements: Sequence[Statement],
        earlier: Value | None,
        nodes: dict[int, Binding],
        *,
        top: bool = False,
    ) -> Value | None:
        value = earlier
        for statement in statements:
            inside = [node for node in walk(statement) if isinstance(node, cst.Assign)]
            if not any(id(node.value) in nodes for node in inside):
                continue
            if top:
                self.statements.append(statement)
            small = only_small(statement)
            if isinstance(small, cst.Assign) and len(small.targets) == 1:
                nodes.pop(id(small.value))
                value = self._one(small.value, value)
            elif isinstance(statement, cst.If):
                value = self._if(statement, value, nodes)
            else:
                raise _Unclear
        return value

    def _one(self, node: cst.BaseExpression, earlier: Value | None) -> Value:
        """The right-hand side of one assignment."""
        assert self.variable is not None
        name = self.variable.name
        if not any(isinstance(n, cst.Name) and n.value == name for n in walk(node)):
            return self._read_inner(node)
        # Only a method of the earlier value is followed.
        function = node.func if isinstance(node, cst.Call) else None
        if (
            earlier is None
            or not isinstance(function, cst.Attribute)
            or not isinstance(function.value, cst.Name)
        ):
            raise _Unclear
        return Found(node, earlier)

    def _read_inner(self, node: cst.BaseExpression) -> Value:
        if isinstance(node, cst.Name) and node.value != "None":
            value = self.tree.value(node)
            return Found(node if value is None else value)
        return self._read(node)

    def _if(
        self, statement: cst.If, earlier: Value | None, nodes: dict[int, Binding]
    ) -> Value:
        if not isinstance(statement.body, cst.IndentedBlock):
            raise _Unclear
        yes = self._block(statements_of(statement.body), earlier, nodes)
        no = earlier
        if isinstance(statement.orelse, cst.If):
            no = self._if(statement.orelse, earlier, nodes)
        elif statement.orelse is not None:
            if not isinstance(statement.orelse.body, cst.IndentedBlock):
                raise _Unclear
            no = self._block(statements_of(statement.orelse.body), earlier, nodes)
        if yes is None or no is None:
            # Where it is not set, another branch of the program must have ended it.
            raise _Unclear
        return yes if yes is no else Choice(statement.test, yes, no)

    # -- a function --------------------------------------------------------------

    def _returned(self, function: cst.FunctionDef) -> Value:
        if not isinstance(function.body, cst.IndentedBlock) or function.asynchronous:
            raise _Unclear
        count = sum(isinstance(n, cst.Return) for n in walk(function.body))
        seen: list[cst.Return] = []
        found = self._ends(statements_of(function.body), seen)
        if found is None or count != len(seen):
            raise _Unclear
        return found

    def _ends(
        self, statements: Sequence[Statement], seen: list[cst.Return]
    ) -> Value | None:
        """What statements return; None where they only raise."""
        for index, statement in enumerate(statements):
            small = only_small(statement)
            if isinstance(small, cst.Return):
                seen.append(small)
                if small.value is None:
                    raise _Unclear
                return self._read_inner(small.value)
            if isinstance(small, cst.Raise):
                return None
            if isinstance(statement, cst.If) and any(
                isinstance(n, cst.Return) for n in walk(statement)
            ):
                return self._branches(statement, statements[index + 1 :], seen)
        raise _Unclear

    def _branches(
        self, statement: cst.If, rest: Sequence[Statement], seen: list[cst.Return]
    ) -> Value | None:
        if not isinstance(statement.body, cst.IndentedBlock):
            raise _Unclear
        yes = self._ends(statements_of(statement.body), seen)
        orelse = statement.orelse
        if orelse is None:
            no = self._ends(rest, seen)
        elif isinstance(orelse, cst.If):
            no = self._branches(orelse, rest, seen)
        elif isinstance(orelse.body, cst.IndentedBlock):
            no = self._ends(statements_of(orelse.body), seen)
        else:
            raise _Unclear
        if yes is None or no is None:
            return no if yes is None else yes
        return Choice(statement.test, yes, no)


def leaves(value: Value) -> list[Found]:
    """Every value that may be chosen, from left to right."""
    if isinstance(value, Choice):
        return [*leaves(value.yes), *leaves(value.no)]
    return [value]


_ASKING = ("os.environ.get", "os.getenv", "os.path.exists", "os.path.isdir")
_BUILTINS = ("bool", "float", "getattr", "hasattr", "int", "isinstance", "len", "str")


def only_asks(tree: Tree, call: cst.Call) -> bool:
    """The call looks at something and changes nothing."""
    function = call.func
    builtin = isinstance(function, cst.Name) and function.value in _BUILTINS
    if isinstance(function, cst.Name) and tree.resolver.bindings(function):
        builtin = False
    return builtin or tree.resolver.qualified(function) in _ASKING


def is_repeatable(tree: Tree, test: cst.BaseExpression) -> bool:
    """The test gives the same wherever it stands after its own place."""
    for node in walk(test):
        if isinstance(node, cst.Call):
            if not only_asks(tree, node):
                return False
        elif isinstance(node, cst.Name) and node in tree.resolver.scopes.loads:
            for binding in tree.resolver.bindings(node):
                if len(binding.scope.bindings[binding.name]) != 1:
                    return False
        elif isinstance(
            node, (cst.NamedExpr, cst.Await, cst.Lambda, cst.BaseComp, cst.Yield)
        ):
            return False
    return not _set_later(tree, test)


def _set_later(tree: Tree, test: cst.BaseExpression) -> bool:
    """``args.gpus = 2`` stands behind the test that reads ``args.gpus``."""
    read = {n.attr.value for n in walk(test) if isinstance(n, cst.Attribute)}
    line = tree.line(test)
    return any(
        isinstance(node, cst.AssignTarget)
        and isinstance(node.target, cst.Attribute)
        and node.target.attr.value in read
        and tree.line(node) >= line
        for node in walk(tree.module)
    )
