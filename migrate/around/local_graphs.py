"""Sessions that look at data in passing: what they run can have a graph of its own.

batch = input_fn()
with tf.Session() as sess:
    print(sess.run(batch))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from ..plan.code.tree import Body, Statement, Tree, only_small, statements_of
from ..project.text import Edit
from ..symbols.nodes import walk

__all__ = ["LocalGraph", "local_graph"]

_SESSION = "tf.Session"


@dataclass(frozen=True)
class LocalGraph:
    """Statements that build a graph and run it, and that nothing else needs."""

    statements: tuple[Statement, ...]
    # ``tf.Graph().as_default()``
    opened: str

    def edits(self, tree: Tree) -> Iterator[Edit]:
        """What puts them below a graph of their own."""
        first = self.statements[0]
        # A block ends where the next line begins.
        end = max(
            tree.end_line(node)
            for node in walk(self.statements[-1])
            if isinstance(node, cst.BaseSmallStatement)
        )
        lines = tree.text.splitlines(keepends=True)
        indent = " " * (tree.column(first) - 1)
        place = sum(map(len, lines[: tree.line(first) - 1]))
        yield Edit(place, place, f"{indent}with {self.opened}:\n")
        for line in lines[tree.line(first) - 1 : end]:
            if line.strip():
                yield Edit(place, place, "    ")
            place += len(line)


def local_graph(tree: Tree, session: cst.Call) -> LocalGraph | None:
    """The statements around a session that can stand in a graph of their own."""
    item = tree.parent(session)
    block = None if item is None else tree.parent(item)
    if not isinstance(block, cst.With) or tree.symbol(session.func) != _SESSION:
        return None
    body = tree.body(block)
    if body is None or any(not isinstance(one.item, cst.Call) for one in block.items):
        return None
    statements = statements_of(body)
    index = next(i for i, one in enumerate(statements) if one is block)
    start = _first(tree, statements, index)
    found = statements[start : index + 1]
    if start == index or _has_long_texts(found):
        return None
    made = {name for one in found[:-1] for name in _bound(one)}
    if not _runs_only(tree, block, made):
        return None
    if any(_needed_elsewhere(tree, body, name, found) for name in made):
        return None
    assert isinstance(session.func, cst.Attribute)
    return LocalGraph(
        tuple(found), f"{tree.code(session.func.value)}.Graph().as_default()"
    )


def _first(tree: Tree, statements: Sequence[Statement], index: int) -> int:
    """Where the lines begin that lead to the session, without another between them."""
    wanted = _loaded(statements[index])
    start = index
    while start > 0 and set(_bound(statements[start - 1])) & wanted:
        start -= 1
        wanted |= _loaded(statements[start])
    return start


def _bound(statement: Statement) -> list[str]:
    """The names that a plain assignment binds."""
    small = only_small(statement)
    if not isinstance(small, cst.Assign):
        return []
    names: list[str] = []
    for target in small.targets:
        parts: list[cst.BaseExpression] = [target.target]
        if isinstance(target.target, (cst.Tuple, cst.List)):
            parts = [one.value for one in target.target.elements]
        if not all(isinstance(one, cst.Name) for one in parts):
            return []
        names += [one.value for one in parts if isinstance(one, cst.Name)]
    return names


def _loaded(node: cst.CSTNode) -> set[str]:
    return {one.value for one in walk(node) if isinstance(one, cst.Name)}


def _has_long_texts(statements: Sequence[Statement]) -> bool:
    """A text of several lines would have other blanks in it."""
    texts = (cst.SimpleString, cst.FormattedString)
    return any(
        isinstance(node, texts) and "\n" in cst.Module([]).code_for_node(node)
        for one in statements
        for node in walk(one)
    )


def _runs_only(tree: Tree, block: cst.With, made: set[str]) -> bool:
    """The session runs what was made for it, or what is made below it."""
    sessions = {
        item.asname.name.value
        for item in block.items
        if item.asname is not None and isinstance(item.asname.name, cst.Name)
    }
    own = made | {
        target.target.value
        for node in walk(block.body)
        if isinstance(node, cst.Assign)
        for target in node.targets
        if isinstance(target.target, cst.Name)
    }
    ran = False
    for node in walk(block.body):
        if not isinstance(node, cst.Name) or node.value not in sessions:
            continue
        attribute = tree.parent(node)
        call = tree.parent(attribute) if attribute is not None else None
        if not (
            isinstance(attribute, cst.Attribute)
            and attribute.attr.value == "run"
            and isinstance(call, cst.Call)
            and len(call.args) == 1
        ):
            return False
        for name in walk(call.args[0].value):
            if isinstance(name, cst.Name) and name in tree.resolver.scopes.loads:
                known = name.value in own or tree.symbol(name) is not None
                if not known:
                    return False
        ran = True
    return ran


def _needed_elsewhere(
    tree: Tree, body: Body, name: str, statements: Sequence[Statement]
) -> bool:
    """What the lines bind may be read by another line of the program."""
    inside = {node for one in statements for node in walk(one)}
    first, last = tree.line(statements[0]), tree.line(statements[-1])
    again = [
        tree.line(one)
        for one in statements_of(body)
        if tree.line(one) > last and name in _bound(one)
    ]
    for load in tree.resolver.scopes.loads:
        if load.value != name or load in inside:
            continue
        if not any(one.node in inside for one in tree.resolver.bindings(load)):
            continue
        if tree.function(load) is not tree.function(statements[0]):
            return True
        line = tree.line(load)
        if line >= first and not any(line > one for one in again):
            return True
    return False
