"""Names that statements read and assign."""

from __future__ import annotations

import ast
from functools import lru_cache

import libcst as cst

from ..names.ast_nodes import tree_of
from ..names.ast_nodes import walk as walk_ast
from .tree import Statement, Tree, only_small, statements_of, walk

# Methods of lists, dicts and HParams that change them.
FILLING = ("append", "extend", "insert", "setdefault", "update")
_CHANGING = (
    *FILLING,
    *("add_hparam", "override_from_dict", "parse", "parse_json", "set_hparam"),
)


def is_docstring(statement: cst.CSTNode) -> bool:
    """A statement that is a text alone."""
    small = only_small(statement)
    return isinstance(small, cst.Expr) and isinstance(
        small.value, (cst.SimpleString, cst.ConcatenatedString)
    )


def without_docstring(body: cst.BaseSuite) -> list[Statement]:
    """The statements of a block, but not its docstring; none of a body in one line."""
    every = statements_of(body) if isinstance(body, cst.IndentedBlock) else ()
    return [one for one in every if not is_docstring(one)]


def returned_alone(function: cst.FunctionDef) -> cst.BaseExpression | None:
    """What a function returns that does nothing besides; None of any other."""
    lines = without_docstring(function.body)
    last = only_small(lines[0]) if len(lines) == 1 else None
    return last.value if isinstance(last, cst.Return) else None


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
    if type(statement) is cst.SimpleStatementLine:
        small = only_small(statement) or statement
    targets: list[cst.BaseExpression] = []
    if type(small) is cst.Assign:
        targets = [target.target for target in small.targets]
    elif isinstance(small, (cst.AugAssign, cst.AnnAssign, cst.For)):
        targets = [small.target]
    elif type(small) is cst.FunctionDef:
        return [small.name.value]
    elif type(small) is cst.Expr:
        # x.append(...): x changes
        call = small.value
        function = call.func if isinstance(call, cst.Call) else None
        if isinstance(function, cst.Attribute) and function.attr.value in _CHANGING:
            targets = [function.value]
    found: list[str] = []
    for target in targets:
        if isinstance(target, (cst.Tuple, cst.List)):
            inner = [e.value for e in target.elements]
            found += [n.value for e in inner for n in walk(e, cst.Name)]
        else:
            # x, and x[...] or x.attr of an x that changes
            root = target
            while isinstance(root, (cst.Attribute, cst.Subscript)):
                root = root.value
            if isinstance(root, cst.Name):
                found.append(root.value)
    return found


def names_in(code: str) -> set[str]:
    if not code:
        return set()
    return {n.id for n in walk_ast(tree_of(code), ast.Name)}


def loads(tree: Tree, node: cst.CSTNode) -> set[str]:
    """Every name that is read somewhere below the node."""
    known = tree.resolver.scopes.loads
    return {n.value for n in walk(node, cst.Name) if n in known}


@lru_cache(maxsize=1024)
def binds(statement: Statement) -> frozenset[str]:
    """Every name that a statement, or one inside of it, assigns."""
    return frozenset(name for inner in walk(statement) for name in assigned(inner))


def lets_go(node: cst.CSTNode) -> bool:
    """``del name``: no entry and no attribute is gone afterwards."""
    small = node if isinstance(node, cst.Del) else only_small(node)
    return isinstance(small, cst.Del) and not any(
        isinstance(one, (cst.Subscript, cst.Attribute)) for one in walk(small)
    )
