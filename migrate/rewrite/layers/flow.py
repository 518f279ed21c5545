"""How statements follow each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ...code.statements import assigned, binds
from ...code.tree import Statement, only_small, statements_of, walk
from ...model.notes import Notes
from ...model.values import Instance, options_of
from ...names.dotted import import_path


def bound_by(statement: cst.CSTNode, notes: Notes) -> set[str]:
    """Names that a statement, or one inside of it, binds.

    Not that of an object of the project of which an attribute is set: it stays the
    object that it was.
    """
    found: set[str] = set()
    for one in walk(statement):
        # What a line binds, its parts tell.
        line = type(one) is cst.SimpleStatementLine
        names = [] if line else assigned(one)
        if type(one) in (cst.Import, cst.ImportFrom):
            found |= imported_by(one)  # type: ignore[arg-type]
        if type(one) is cst.With:
            found |= bound_by_head(one)
        if names:
            objects = {
                word
                for root, name in _attributes(one)
                if _is_object(root, notes)
                for word in (root.value, name)
            }
            found |= {name for name in names if name not in objects}
    return found


def imported_by(node: cst.Import | cst.ImportFrom) -> set[str]:
    """Names that an import within a function binds."""
    found: set[str] = set()
    for one in () if isinstance(node.names, cst.ImportStar) else node.names:
        if one.asname is not None and isinstance(one.asname.name, cst.Name):
            found.add(one.asname.name.value)
        elif one.asname is None:
            found.add(import_path(one.name).partition(".")[0])
    return found


def bound_by_head(statement: cst.CSTNode) -> set[str]:
    """Names that the head of a loop or of a scope binds."""
    if isinstance(statement, cst.For):
        return {one.value for one in walk(statement.target, cst.Name)}
    if isinstance(statement, cst.With):
        return {
            one.value
            for item in statement.items
            if item.asname is not None
            for one in walk(item.asname, cst.Name)
        }
    return set()


def written_by(node: cst.CSTNode, notes: Notes) -> set[str]:
    """Attributes of the project's objects that code sets."""
    return {
        name
        for one in walk(node)
        for root, name in _attributes(one)
        if _is_object(root, notes)
    }


def _is_object(root: cst.Name, notes: Notes) -> bool:
    value = notes.values.get(root)
    return value is not None and all(
        isinstance(one, Instance) for one in options_of(value)
    )


def _attributes(node: cst.CSTNode) -> Iterator[tuple[cst.Name, str]]:
    """``x.name = ...``, ``x.name[...] = ...``, ``x.name.append(...)``: x and name."""
    targets: list[cst.BaseExpression] = []
    if type(node) is cst.Assign:
        targets = [one.target for one in node.targets]
    elif type(node) is cst.AugAssign or type(node) is cst.AnnAssign:
        targets = [node.target]
    elif (
        type(node) is cst.Expr
        and isinstance(node.value, cst.Call)
        and isinstance(node.value.func, cst.Attribute)
    ):
        targets = [node.value.func.value]
    while targets:
        target = targets.pop()
        if isinstance(target, (cst.Tuple, cst.List)):
            targets += [one.value for one in target.elements]
            continue
        first: cst.Attribute | None = None
        while isinstance(target, (cst.Attribute, cst.Subscript)):
            first = target if isinstance(target, cst.Attribute) else first
            target = target.value
        if isinstance(target, cst.Name) and first is not None:
            yield target, first.attr.value


def blocks(statement: Statement) -> Iterator[cst.IndentedBlock]:
    """The blocks of a statement that are gone through one after the other."""
    if isinstance(statement, (cst.If, cst.With)):
        if isinstance(statement.body, cst.IndentedBlock):
            yield statement.body
        other = statement.orelse if isinstance(statement, cst.If) else None
        if isinstance(other, cst.If):
            yield from blocks(other)
        elif other is not None and isinstance(other.body, cst.IndentedBlock):
            yield other.body
    elif (
        isinstance(statement, cst.For)
        and isinstance(statement.body, cst.IndentedBlock)
        and statement.orelse is None
    ):
        yield statement.body


def without_blocks(statement: Statement) -> cst.CSTNode:
    """The head of a statement, without its blocks."""
    if isinstance(statement, cst.If):
        return statement.test
    if isinstance(statement, cst.For):
        return statement.iter
    assert isinstance(statement, cst.With)
    return cst.Tuple([cst.Element(one.item) for one in statement.items])


def surely_bound(statements: Sequence[Statement]) -> set[str]:
    """Names that have a value behind some statements, whatever happens."""
    return _surely(statements) or set()


def _surely(statements: Sequence[Statement]) -> set[str] | None:
    """The same; None where what stands behind is never reached."""
    found: set[str] = set()
    for one in statements:
        if isinstance(one, cst.If):
            ways = [_surely(inner(one.body))]
            other = one.orelse
            if isinstance(other, cst.If):
                ways.append(_surely([other]))
            else:
                ways.append(set() if other is None else _surely(inner(other.body)))
            open_ways = [way for way in ways if way is not None]
            if not open_ways:
                return None
            found |= set.intersection(*open_ways)
        elif isinstance(one, (cst.With, cst.For)):
            more = _surely(inner(one.body))
            if more is None and isinstance(one, cst.With):
                return None
            found |= more or set()
            found |= bound_by_head(one) if isinstance(one, cst.With) else set()
        elif isinstance(only_small(one), (cst.Raise, cst.Return)):
            return None
        elif isinstance(one, cst.FunctionDef) or only_small(one) is not None:
            found |= binds(one)
    return found


def inner(body: cst.BaseSuite) -> Sequence[Statement]:
    return statements_of(body) if isinstance(body, cst.IndentedBlock) else ()
