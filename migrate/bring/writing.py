"""The text of a bundled module: imports, and definitions under their new names."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import libcst as cst

from ..project.long_lines import WIDTH, with_short_lines
from ..project.positions import code_of
from .parts import Imported, Item, Part
from .reach import Entity, Reach

__all__ = ["write_body", "write_imports", "write_module"]


def write_imports(
    reach: Reach, names: Mapping[Entity, str], bound: Mapping[str, str | None]
) -> list[str]:
    """The import sections that the definitions need beside those already bound."""
    return _imports(
        {
            site.entity: names[site.entity]
            for kept in reach.kept.values()
            for site in kept.sites
            if isinstance(site.entity, Imported) and names[site.entity] not in bound
        }
    )


def write_body(reach: Reach, parts: Sequence[Part], names: Mapping[Entity, str]) -> str:
    """The definitions, each part's below a comment that says what it is about."""
    text = ""
    for part in parts:
        kept = [item for item in part.items if item in reach.kept]
        if text:
            text += "\n\n"
        if len(parts) > 1 and part.doc:
            text += _comment(part.doc)
            text += "\n" if kept[0].is_simple else "\n\n"
        text += _definitions(reach, part, kept, names)
    return with_short_lines(text, "\n".join(part.module.code for part in parts))


def write_module(doc: str, imports: Sequence[str], body: str) -> str:
    """The text of a module of its own."""
    text = f'"""{doc}"""\n\nfrom __future__ import annotations\n'
    text += "".join(f"\n{section}" for section in imports)
    below = body.startswith(("def ", "class ", "@", "async "))
    return text + ("\n\n" if below else "\n") + body


def _comment(doc: str) -> str:
    """A part's docstring as the comment above its definitions."""
    paragraphs = textwrap.dedent("    " + doc).strip().split("\n\n")
    lines: list[str] = []
    for paragraph in paragraphs:
        if lines:
            lines.append("#")
        words = " ".join(paragraph.split())
        lines += textwrap.wrap(
            words,
            WIDTH,
            initial_indent="# ",
            subsequent_indent="# ",
            break_on_hyphens=False,
            break_long_words=False,
        )
    return "\n".join(lines) + "\n"


def _definitions(
    reach: Reach, part: Part, kept: Sequence[Item], names: Mapping[Entity, str]
) -> str:
    text = ""
    last: Item | None = None
    for item in kept:
        code = _code(reach, item, names)
        if last is not None:
            adjacent = (
                last.is_simple
                and item.is_simple
                and item.index == last.index + 1
                and not any(
                    line.comment is None for line in item.node.leading_lines[:1]
                )
            )
            blank = 0 if adjacent else 1 if last.is_simple and item.is_simple else 2
            text += "\n" * blank
        text += code
        last = item
    return text


def _code(reach: Reach, item: Item, names: Mapping[Entity, str]) -> str:
    """One item's text, its comments above it, no blank lines around."""
    part, kept = item.part, reach.kept[item]
    changed: dict[cst.CSTNode, str] = {
        site.node: names[site.entity] for site in kept.sites
    }
    own = {
        name: names[(part.by_name[name][-1], name)]
        for name in item.names
        if names[(part.by_name[name][-1], name)] != name
    }
    left_out = {method for methods in kept.waiting.values() for method in methods}
    gone = {node for other, node in reach.dissolved if other is part}
    node = item.node.visit(_Edit(part, changed, own, left_out, gone))
    assert isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    lines = list(node.leading_lines)
    while lines and lines[0].comment is None:
        lines.pop(0)
    # A comment with a blank line below it is a heading of more than this item.
    last_blank = max(
        (i for i, line in enumerate(lines) if not line.comment), default=-1
    )
    lines = lines[last_blank + 1 :]
    return code_of(part.module, node.with_changes(leading_lines=lines))


class _Edit(cst.CSTTransformer):
    def __init__(
        self,
        part: Part,
        changed: Mapping[cst.CSTNode, str],
        own: Mapping[str, str],
        left_out: Collection[cst.CSTNode],
        gone: set[cst.ImportFrom | cst.Import],
    ) -> None:
        super().__init__()
        self.part = part
        self.changed = changed
        self.own = own
        self.left_out = left_out
        self.gone = gone
        self.depth = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        if node in self.left_out:
            return False
        if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            self.depth += 1
        return True

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node in self.left_out:
            return cst.RemoveFromParent()
        result: object = updated_node
        if isinstance(original_node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            self.depth -= 1
        if original_node in self.changed:
            assert isinstance(original_node, (cst.Name, cst.Attribute))
            result = cst.Name(
                self.changed[original_node],
                lpar=original_node.lpar,
                rpar=original_node.rpar,
            )
        elif isinstance(updated_node, (cst.FunctionDef, cst.ClassDef)):
            result = self._named(updated_node)
        elif isinstance(updated_node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
            result = self._targeted(updated_node)
        elif isinstance(updated_node, (cst.TrailingWhitespace, cst.EmptyLine)):
            result = _without_type_ignore(updated_node)
        elif isinstance(updated_node, cst.SimpleStatementLine):
            assert isinstance(original_node, cst.SimpleStatementLine)
            result = self._line(original_node, updated_node)
        elif isinstance(updated_node, cst.IndentedBlock):
            result = _filled(updated_node)
        return result  # type: ignore[return-value]

    def _named(
        self, node: cst.FunctionDef | cst.ClassDef
    ) -> cst.FunctionDef | cst.ClassDef:
        if self.depth == 0 and node.name.value in self.own:
            return node.with_changes(name=cst.Name(self.own[node.name.value]))
        return node

    def _targeted(
        self, node: cst.AssignTarget | cst.AnnAssign | cst.AugAssign
    ) -> cst.CSTNode:
        if self.depth or not self.own:
            return node
        target = node.target.visit(_Renamed(self.own))
        return node.with_changes(target=target)

    def _line(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        if not any(small in self.gone for small in original.body):
            return updated
        body = [
            new
            for old, new in zip(original.body, updated.body, strict=True)
            if old not in self.gone
        ]
        return updated.with_changes(body=body) if body else cst.RemoveFromParent()


class _Renamed(cst.CSTTransformer):
    """The names of a target; what an attribute or subscript reads is not among them."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self.names = names

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        return False

    def visit_Subscript(self, node: cst.Subscript) -> bool:
        return False

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        name = updated_node.value
        return updated_node.with_changes(value=self.names.get(name, name))


def _without_type_ignore(
    node: cst.TrailingWhitespace | cst.EmptyLine,
) -> cst.TrailingWhitespace | cst.EmptyLine:
    """Comments for our type checker mean nothing in the user's project."""
    if node.comment is None or "type: ignore" not in node.comment.value:
        return node
    rest = [
        f"# {piece.strip()}"
        for piece in node.comment.value.split("#")
        if piece.strip() and not piece.strip().startswith("type: ignore")
    ]
    if rest:
        return node.with_changes(comment=cst.Comment("  ".join(rest)))
    return node.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))


def _filled(block: cst.IndentedBlock) -> cst.IndentedBlock:
    """A block that has lost all of its statements gets a ``pass``."""
    if block.body:
        first = block.body[0]
        lines = list(first.leading_lines) if hasattr(first, "leading_lines") else []
        if lines and lines[0].comment is None:
            while lines and lines[0].comment is None:
                lines.pop(0)
            changed = first.with_changes(leading_lines=lines)
            return block.with_changes(body=[changed, *block.body[1:]])
        return block
    return block.with_changes(body=[cst.SimpleStatementLine([cst.Pass()])])


def _imports(found: Mapping[Entity, str]) -> list[str]:
    """Import sections: Python's own, installed packages, the user's modules."""
    plain: dict[str, list[str]] = {}
    chosen: dict[str, list[tuple[str, str]]] = {}
    for entity, name in found.items():
        assert isinstance(entity, Imported)
        if entity.attribute is None:
            bare = entity.module.split(".")[0] == name
            line = f"import {entity.module}" + ("" if bare else f" as {name}")
            plain.setdefault(entity.module, []).append(line)
        else:
            chosen.setdefault(entity.module, []).append((entity.attribute, name))
    sections = []
    for rank in range(3):
        lines = [
            line
            for module in sorted(plain, key=_module_key)
            if _section(module) == rank
            for line in sorted(plain[module])
        ]
        for module in sorted(chosen, key=_module_key):
            if _section(module) == rank:
                lines += _from_lines(module, chosen[module])
        if lines:
            sections.append("\n".join(lines) + "\n")
    return sections


_INSTALLED = ("tensorflow", "tf_keras", "numpy", "keras", "sklearn", "google")


def _section(module: str) -> int:
    root = module.split(".")[0]
    if root in sys.stdlib_module_names:
        return 0
    return 1 if root in _INSTALLED else 2


def _module_key(module: str) -> tuple[str, ...]:
    return (module.lower(), module)


def _from_lines(module: str, members: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The imports of a module's names: those of another name each by itself."""
    ordered = sorted(set(members), key=_member_key)
    plain = [name for name, alias in ordered if name == alias]
    groups = [[one] for one in ordered if one[0] != one[1]]
    if plain:
        groups.append([(name, name) for name in plain])
    for group in sorted(groups, key=lambda one: _member_key(one[0])):
        shown = [n if n == alias else f"{n} as {alias}" for n, alias in group]
        line = f"from {module} import {', '.join(shown)}"
        if len(line) > WIDTH:
            yield f"from {module} import ("
            yield from (f"    {name}," for name in shown)
            line = ")"
        yield line


def _member_key(member: tuple[str, str]) -> tuple[int, str, str]:
    """Constants, classes, others: as import sorters have it."""
    name = member[0]
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name, member[1]
