"""Names that statements read and assign, and the slices that follow from them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from ...symbols.nodes import children
from .tree import Statement, Tree, only_small, statements_of, walk

# Methods of lists and dicts that change them.
_CHANGING = ("append", "extend", "insert", "setdefault", "update")

__all__ = [
    "assigned",
    "backward_slice",
    "binds",
    "flat",
    "is_docstring",
    "latest",
    "loads",
    "names_in",
    "ordered",
    "own_statements",
]


def latest(
    tree: Tree, statements: Sequence[Statement], node: cst.BaseExpression | None
) -> cst.BaseExpression | None:
    """What a name stands for after the statements of one mode."""
    if isinstance(node, cst.Name):
        for statement in reversed(list(flat(statements))):
            small = only_small(statement)
            if (
                isinstance(small, cst.Assign)
                and assigned(statement) == [node.value]
                and isinstance(small.targets[0].target, cst.Name)
            ):
                return small.value
    return tree.value(node)


def flat(statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statements, and those inside ``with`` blocks."""
    for statement in statements:
        yield statement
        if isinstance(statement, cst.With) and isinstance(
            statement.body, cst.IndentedBlock
        ):
            yield from flat(statements_of(statement.body))


def is_docstring(statement: Statement) -> bool:
    small = only_small(statement)
    return isinstance(small, cst.Expr) and isinstance(
        small.value, (cst.SimpleString, cst.ConcatenatedString)
    )


# Asking isinstance of a node of another class goes through the Python code of ABCMeta.
_ASSIGNING: frozenset[type[cst.CSTNode]] = frozenset(
    {
        cst.AnnAssign,
        cst.Assign,
        cst.AugAssign,
        cst.Expr,
        cst.For,
        cst.FunctionDef,
        cst.SimpleStatementLine,
    }
)


def assigned(statement: cst.CSTNode) -> list[str]:
    """The names that one statement assigns, without those inside of blocks."""
    if statement.__class__ not in _ASSIGNING:
        return []
    small: cst.CSTNode = statement
    if isinstance(statement, cst.SimpleStatementLine):
        small = only_small(statement) or statement
    targets: list[cst.BaseExpression] = []
    if isinstance(small, cst.Assign):
        targets = [target.target for target in small.targets]
    elif isinstance(small, (cst.AugAssign, cst.AnnAssign, cst.For)):
        targets = [small.target]
    elif isinstance(small, cst.FunctionDef):
        return [small.name.value]
    elif isinstance(small, cst.Expr):
        # x.append(...): x changes
        call = small.value
        function = call.func if isinstance(call, cst.Call) else None
        if isinstance(function, cst.Attribute) and function.attr.value in _CHANGING:
            targets = [function.value]
    found: list[str] = []
    for target in targets:
        if isinstance(target, (cst.Tuple, cst.List)):
            inner = [e.value for e in target.elements]
            found += [
                n.value for e in inner for n in walk(e) if isinstance(n, cst.Name)
            ]
        else:
            # x, and x[...] or x.attr of an x that changes
            root = target
            while isinstance(root, (cst.Attribute, cst.Subscript)):
                root = root.value
            if isinstance(root, cst.Name):
                found.append(root.value)
    return found


def ordered(statements: Sequence[Statement]) -> list[str]:
    return [name for statement in statements for name in assigned(statement)]


def names_in(code: str) -> set[str]:
    if not code:
        return set()
    return {n.id for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Name)}


def loads(tree: Tree, node: cst.CSTNode) -> set[str]:
    """Every name that is read somewhere below the node."""
    known = tree.resolver.scopes.loads
    return {n.value for n in walk(node) if isinstance(n, cst.Name) and n in known}


def binds(statement: Statement) -> set[str]:
    """Every name that a statement, or one inside of it, assigns."""
    return {name for inner in walk(statement) for name in assigned(inner)}


def backward_slice(
    tree: Tree, statements: Sequence[Statement], wanted: set[str]
) -> list[Statement]:
    """The statements that make the wanted names, and what these need."""
    chosen: list[Statement] = []
    wanted = set(wanted)
    for statement in reversed(statements):
        names = binds(statement)
        if not names & wanted:
            continue
        chosen.append(statement)
        if isinstance(only_small(statement), (cst.Assign, cst.AnnAssign)):
            wanted -= names
        wanted |= loads(tree, statement)
    return chosen[::-1]


def own_statements(defined: cst.FunctionDef) -> Iterator[Statement]:
    """The statements of a function, in order, without those of inner ones."""
    body = defined.body
    waiting: list[cst.CSTNode] = (
        list(reversed(body.body)) if isinstance(body, cst.IndentedBlock) else []
    )
    while waiting:
        node = waiting.pop()
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            continue
        if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            yield node
        if not isinstance(node, cst.SimpleStatementLine):
            waiting += reversed(children(node))
