"""Methods that make layers without their object: functions above the class."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from ...project.reading import read_or_nothing
from .local_functions import makes_layers


def with_static_methods_apart(
    parsed: ParsedModule, facts: ProjectFacts, files: Sequence[ParsedModule]
) -> ParsedModule:
    """The file with ``block(x)`` for ``self.block(x)`` where that needs no object."""
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    texts = ""
    for kind in parsed.each(cst.ClassDef):
        if tree.parent(kind) is not parsed.module:
            continue
        found = {
            one: _words(tree, one)
            for one in statements_of(kind.body)  # type: ignore[arg-type]
            if isinstance(one, cst.FunctionDef)
            and makes_layers(tree, one)
            and _needs_no_object(tree, one)
        }
        # Read for those alone that may move.
        texts = texts or (_texts(parsed, facts, files) if found else "")
        moved = [
            one
            for one, words in found.items()
            if all(_is_call(tree, word, kind) for word in words)
            # No text has it either, as in `getattr(self, "block")`.
            and len(re.findall(rf"\b{one.name.value}\b", texts)) == len(words) + 1
        ]
        for word in (word for one in moved for word in found[one]):
            edits[tree.parent(word)] = word  # type: ignore[index]
        if moved:
            edits[kind] = _Apart(tree, kind, moved)
    return changed(parsed, facts, edits) if edits else parsed


def _texts(
    parsed: ParsedModule, facts: ProjectFacts, files: Sequence[ParsedModule]
) -> str:
    """What the files of the program say, and those that import this one of them."""
    own = {one.path: one.source.text for one in files}
    path = parsed.path
    users = {*facts.importers(path), *facts.importers_besides(path)} - {*own}
    told = [read_or_nothing(one).decode("utf-8", "replace") for one in users]
    return "\n".join([*own.values(), *told])


def _words(tree: Tree, method: cst.FunctionDef) -> list[cst.Name]:
    """Where its name is read."""
    name = method.name
    words = [one for one in tree.each(cst.Name) if one.value == name.value]
    return [one for one in words if one is not name]


def _needs_no_object(tree: Tree, method: cst.FunctionDef) -> bool:
    """A static method, or one that could be one, without texts of several lines."""
    selves = [one for one in walk(method, cst.Name) if one.value == "self"]
    told = [tree.code(one.decorator) for one in method.decorators]
    texts = [*walk(method, cst.SimpleString, cst.FormattedString)]
    texts = [one for one in texts if not isinstance(tree.parent(one), cst.Expr)]
    return not any("\n" in tree.code(one) for one in texts) and (
        told == ["staticmethod"]
        or (not told and selves == [one.name for one in method.params.params[:1]])
    )


def _is_call(tree: Tree, word: cst.Name, kind: cst.ClassDef) -> bool:
    """``self.block(...)``, ``cls.block(...)`` or ``Net.block(...)``."""
    node = tree.parent(word)
    called = tree.parent(node) if node is not None else None
    if not isinstance(node, cst.Attribute) or not isinstance(called, cst.Call):
        return False
    holder = tree.code(node.value)
    own = holder in ("self", "cls") and kind in tree.ancestors(node)
    return called.func is node and (own or holder == kind.name.value)


class _Apart:
    """Puts functions above a class that had them as methods."""

    def __init__(
        self, tree: Tree, kind: cst.ClassDef, methods: Sequence[cst.FunctionDef]
    ) -> None:
        self.names = {one.name.value for one in methods}
        holders = f"self|cls|{kind.name.value}"
        self.calls = re.compile(rf"\b({holders})\.({'|'.join(self.names)})\(")
        self.functions = [self._function(tree, one) for one in methods]

    def _function(self, tree: Tree, method: cst.FunctionDef) -> cst.BaseStatement:
        """A method as a function of its own."""
        text = tree.excerpt(method)
        margin = tree.text[: tree.text.index(text)].rpartition("\n")[2]
        text = re.sub(rf"^{margin}", "", text, flags=re.M)
        text = text[re.search(r"^(async )?def ", text, re.M).start() :]  # type: ignore[union-attr]
        text = re.sub(r"\(\s*self\s*(,\s*)?", "(", text, count=1)
        code = cst.parse_statement(self.calls.sub(r"\2(", text))
        comments = [
            one
            for one in method.leading_lines
            if one.comment is not None and re.search(r"\w", one.comment.value)
        ]
        above = [*[cst.EmptyLine(indent=False)] * 2, *comments]
        return code.with_changes(leading_lines=above)

    def __call__(self, now: cst.ClassDef) -> list[cst.BaseStatement]:
        left = [
            one
            for one in now.body.body
            if not isinstance(one, cst.FunctionDef) or one.name.value not in self.names
        ]
        body = left or [cst.SimpleStatementLine([cst.Pass()])]
        return [
            *self.functions,
            now.with_changes(body=now.body.with_changes(body=body)),
        ]
