"""One definition cut out of the text it stands in, under its new names.

The text is edited, not the tree: a module of ours is read once in a process, and what
a project leaves out of it, or calls otherwise, is a few places of each definition.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache

import libcst as cst

from ..project.text import Edit, apply_edits
from ..symbols.nodes import children
from .parts import Item, Part
from .reach import Entity, Reach

__all__ = ["cut_out"]

_SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda)
_TARGETS = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)


def cut_out(reach: Reach, item: Item, names: Mapping[Entity, str]) -> str:
    """One item's text, its comments above it, no blank lines around."""
    cut = _Cut(reach, item, names)
    cut.edit(item.node, depth=0)
    return cut.text()


class _Places:
    """Where everything of a module stands, and what no project needs of it."""

    def __init__(self, part: Part) -> None:
        self.regions = part.regions
        self.text = self.regions.text
        self.comments = [
            edit
            for line in self.regions.lines
            if line.comment is not None and "type: ignore" in line.comment.value
            for edit in self._without_type_ignore(line, line.comment)
        ]

    def _without_type_ignore(
        self, line: cst.TrailingWhitespace | cst.EmptyLine, comment: cst.Comment
    ) -> list[Edit]:
        """Comments for our type checker mean nothing in the user's project."""
        rest = [
            f"# {piece.strip()}"
            for piece in comment.value.split("#")
            if piece.strip() and not piece.strip().startswith("type: ignore")
        ]
        start, end = self.regions.whole(comment)
        if not rest:
            start, _ = self.regions.whole(line.whitespace)
        return [Edit(start, end, "  ".join(rest))]


@lru_cache(maxsize=256)
def _places(part: Part) -> _Places:
    return _Places(part)


class _Cut:
    """The edits of one item."""

    def __init__(self, reach: Reach, item: Item, names: Mapping[Entity, str]) -> None:
        part, kept = item.part, reach.kept[item]
        self.item = item
        self.places = _places(part)
        self.regions = self.places.regions
        # By identity: nodes hash through a Python function.
        self.said = {id(site.node): names[site.entity] for site in kept.sites}
        self.own = {
            name: new
            for name in item.names
            if (new := names[(part.by_name[name][-1], name)]) != name
        }
        self.gone = {
            id(method) for methods in kept.waiting.values() for method in methods
        } | {id(node) for other, node in reach.dissolved if other is part}
        # Where something changes or goes: what has no such place stays as it is.
        concerned: list[cst.CSTNode] = [site.node for site in kept.sites]
        concerned += [one for some in kept.waiting.values() for one in some]
        concerned += [node for other, node in reach.dissolved if other is part]
        self.concerned = sorted(self.regions.code(node)[0] for node in concerned)
        self.edits: list[Edit] = []

    def text(self) -> str:
        """The text of the item with its edits."""
        node = self.item.node
        start, end = self.regions.whole(node)
        lines = node.leading_lines
        # A comment with a blank line below it is a heading of more than this item.
        for line in lines:
            if line.comment is None:
                _, start = self.regions.whole(line)
        removed = [(edit.start, edit.end) for edit in self.edits if not edit.new]
        comments = [
            edit
            for edit in self.places.comments
            if start <= edit.start < end
            and not any(first <= edit.start < last for first, last in removed)
        ]
        moved = [
            Edit(edit.start - start, edit.end - start, edit.new)
            for edit in (*self.edits, *comments)
        ]
        return apply_edits(self.places.text[start:end], moved)

    def edit(self, node: cst.CSTNode, depth: int) -> None:
        """Note what changes in and below a node that stays."""
        new = self.said.get(id(node))
        if new is not None:
            self.edits.append(Edit(*self.regions.code(node), new))
            return
        if isinstance(node, _SCOPES):
            if depth == 0 and not isinstance(node, cst.Lambda):
                self._rename(node.name)
            depth += 1
        elif depth == 0 and self.own and isinstance(node, _TARGETS):
            self._rename(node.target)
        elif isinstance(node, cst.SimpleStatementLine):
            self._line(node)
        elif isinstance(node, cst.IndentedBlock):
            self._block(node)
        for child in children(node):
            if self._concerns(child) and not self._goes(child):
                self.edit(child, depth)

    def _concerns(self, node: cst.CSTNode) -> bool:
        if self.own:
            return True
        start, end = self.regions.whole(node)
        first = bisect_left(self.concerned, start)
        return first < len(self.concerned) and self.concerned[first] < end

    def _goes(self, node: cst.CSTNode) -> bool:
        if id(node) in self.gone:
            return True
        return node.__class__ is cst.SimpleStatementLine and all(
            id(small) in self.gone for small in node.body
        )

    def _rename(self, target: cst.BaseExpression) -> None:
        """The names of a target, without what attributes and subscripts read."""
        if isinstance(target, cst.Name):
            if target.value in self.own:
                span = self.regions.code(target)
                self.edits.append(Edit(*span, self.own[target.value]))
        elif not isinstance(target, (cst.Attribute, cst.Subscript)):
            for child in children(target):
                self._rename(child)  # type: ignore[arg-type]

    def _line(self, line: cst.SimpleStatementLine) -> None:
        """Leaves out imports of parts of ours that stand beside other statements."""
        _, end = self.regions.whole(line.trailing_whitespace)
        starts = [self.regions.code(small)[0] for small in line.body]
        ends = [*starts[1:], end]
        for small, start, after in zip(line.body, starts, ends, strict=True):
            if id(small) in self.gone:
                self.edits.append(Edit(start, after, ""))

    def _block(self, block: cst.IndentedBlock) -> None:
        """Takes out what goes; a block that has nothing left gets a ``pass``."""
        kept = [statement for statement in block.body if not self._goes(statement)]
        if not kept and block.body:
            start, _ = self.regions.code(block.body[0])
            line = self.places.text.rfind("\n", 0, start) + 1
            begin, _ = self.regions.whole(block.body[0])
            indented = f"{self.places.text[line:start]}pass\n"
            self.edits.append(Edit(begin, begin, indented))
        elif kept:
            for blank in getattr(kept[0], "leading_lines", ()):
                if blank.comment is not None:
                    break
                self.edits.append(Edit(*self.regions.whole(blank), ""))
        self.edits += [
            Edit(*self.regions.whole(statement), "")
            for statement in block.body
            if self._goes(statement)
        ]
