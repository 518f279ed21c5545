"""An object that holds one of several functions with layers holds a name for it.

``self.block_fn = basic if depth < 50 else deep`` is handed to `block_layer`, which
calls it. Which of them is called, a test of the name tells then.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Sequence
from typing import Any

import libcst as cst

from ...code.arguments import UnknownArguments, match_arguments
from ...code.edits import changed
from ...code.texts import camel
from ...code.tree import Tree, walk
from ...names.ast_nodes import parents_of
from ...names.ast_nodes import walk as walk_ast
from ...project.facts import ParsedModule, ProjectFacts
from .choices import called_behind_tests
from .local_functions import makes_layers
from .text import Text, attribute_of_self

_Places = dict[cst.CSTNode, Any]


def with_names_held(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file whose objects hold names in the place of functions with layers."""
    tree = Tree(parsed.module, parsed.resolver)
    given: dict[str, list[cst.Assign]] = {}
    for one in parsed.each(cst.Assign):
        target = one.targets[0].target
        if len(one.targets) == 1 and isinstance(target, cst.Attribute):
            given.setdefault(target.attr.value, []).append(one)
    places: _Places = {}
    for name, assigned in given.items():
        leaves = [leaf for one in assigned for leaf in _leaves(one.value)]
        if len(leaves) > 1 and all(isinstance(one, cst.Name) for one in leaves):
            others = [*facts.texts_of_importers(parsed.path)]
            targets = {one.targets[0].target for one in assigned}
            places |= _Held(tree, name, others).places(leaves, targets) or {}
    return changed(parsed, facts, places) if places else parsed


class _Held:
    """An attribute that holds one of several functions."""

    def __init__(self, tree: Tree, name: str, others: Sequence[str]) -> None:
        self.tree = tree
        self.name = name
        self.others = others

    def places(
        self, leaves: Sequence[cst.BaseExpression], targets: Container[cst.CSTNode]
    ) -> _Places | None:
        """The edits for what it is given and for those that call it."""
        functions = {leaf: self._function(leaf) for leaf in leaves}
        known = dict.fromkeys(f for f in functions.values() if f is not None)
        if (
            None in functions.values()
            or len(known) < 2
            or self._is_elsewhere(self.name)
        ):
            return None
        calls: dict[cst.Call, cst.BaseExpression] = {}
        for one in self.tree.each(cst.Attribute):
            if one.attr.value != self.name:
                continue
            found = {} if one in targets else self._called(one)
            if self.tree.code(one.value) != "self" or found is None:
                return None
            calls |= found
        said = {f: f'"{f.name.value.strip("_")}"' for f in known}
        edits: _Places = {
            leaf: cst.SimpleString(said[f]) for leaf, f in functions.items() if f
        }
        for call, held in calls.items():
            line = self.tree.statement(call)
            if not isinstance(line, cst.SimpleStatementLine) or line in edits:
                return None
            cases: list[tuple[cst.BaseExpression | None, Any]] = [
                (
                    cst.parse_expression(f"{self.tree.code(held)} == {said[f]}"),
                    cst.Name(f.name.value),
                )
                for f in known
            ]
            cases[-1] = (None, cases[-1][1])
            tests = called_behind_tests(line, call, cases)
            edits[line] = tests.with_changes(leading_lines=line.leading_lines)
        return edits

    def _function(self, node: cst.BaseExpression) -> cst.FunctionDef | None:
        """A function with layers of the file, by its name."""
        found = self.tree.resolver.definition(node)
        if not isinstance(found, cst.FunctionDef):
            return None
        top = self.tree.parent(found) is self.tree.module
        return found if top and makes_layers(self.tree, found) else None

    def _is_elsewhere(self, name: str) -> bool:
        return any(name in text for text in self.others)

    def _called(self, read: cst.Attribute) -> dict[cst.Call, cst.BaseExpression] | None:
        """Calls of what is read here, by the name that has it where it is called."""
        above = self.tree.parent(read)
        if isinstance(above, cst.Call):
            return {above: read}
        call = self.tree.parent(above) if isinstance(above, cst.Arg) else None
        helper = (
            self.tree.resolver.definition(call.func)
            if isinstance(call, cst.Call)
            else None
        )
        if not isinstance(helper, cst.FunctionDef):
            return None
        names = [one.name.value for one in helper.params.params]
        every = self.tree.calls_of(helper)
        if every is None or self._is_elsewhere(helper.name.value):
            return None
        try:
            told = [match_arguments(one, names) for one in every]
        except UnknownArguments:
            return None
        parameter = next(
            (key for one in told for key, value in one.items() if value is read), None
        )
        given = [one[parameter] for one in told if parameter in one]
        if parameter is None or len(given) < len(told):
            return None
        if any(self.tree.code(one) != f"self.{self.name}" for one in given):
            return None
        found: dict[cst.Call, cst.BaseExpression] = {}
        for node in walk(helper.body, cst.Name):
            if node.value != parameter:
                continue
            used = self.tree.parent(node)
            if isinstance(used, cst.Call) and used.func is node:
                found[used] = node
            elif not (isinstance(used, cst.Arg) and used.keyword is node):
                return None
        return found


def _leaves(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What an expression is, whatever its tests say."""
    if isinstance(value, cst.IfExp):
        yield from _leaves(value.body)
        yield from _leaves(value.orelse)
    else:
        yield value


def with_classes_held(code: str) -> str:
    """The code of lifted classes, which hold classes where `with_names_held` put names.

    ``if block_fn == "basic": self.basic = Basic(8)`` and so on, alike in all branches
    but for the class, is ``self.block = block_fn(8)``.
    """
    if re.search(r"_fn == ['\"]", code) is None:
        return code
    text, names = Text(code), set[str]()
    for top in text.body:
        start, end = text.span(top)
        if isinstance(top, ast.ClassDef):
            known, joined = _with_one_line(code[start:end], code)
            names |= known
            if known:
                text.replace(start, end, joined)
    if not names:
        return code
    made = Text(text.done())
    above = parents_of(ast.Module(made.body, []))
    for one in [n for n in above if isinstance(n, ast.Constant) and n.value in names]:
        holder = above[one]
        while isinstance(holder, ast.IfExp):
            holder = above[holder]
        target = holder.targets[0] if isinstance(holder, ast.Assign) else None
        if attribute_of_self(target) is None:
            return code  # it is asked for in other ways
        made.put(one, camel(str(one.value)))
    return made.done()


def _with_one_line(code: str, whole: str) -> tuple[set[str], str]:
    """A class with a line in the place of such branches, and the names they test."""
    text = Text(code)
    inner = {n.orelse[0] for n in _ifs(text) if len(n.orelse) == 1}
    keys: dict[str, str] = {}
    for node in _ifs(text):
        found = None if node in inner else _joined(text, node, code, whole)
        if found is not None:
            known, common, line = found
            keys |= dict.fromkeys(known, common)
            text.put(node, line)
    if not keys:
        return set(), code
    code = text.done()
    for key, common in keys.items():
        code = _named(key, common, code)
    # Lists and iterators of each class have become one, said several times.
    lists = "|".join(sorted({*keys.values()}))
    line = rf"(?m)^( *(?:self\.)?(?:{lists})\w* = (?:\[\]|iter\(.*\))\n)\1+"
    code = re.sub(line, r"\1", code)
    loop = (
        rf"(?m)^( *)({lists})_layers = iter\(self\.\2_layers\)\n\1for (.+) in (.+):\n"
    )
    loop += r"((?:\1 +.*\n)*?)(\1 +.*)next\(\2_layers\)"
    if len(re.findall(rf"\bnext\((?:{lists})_layers\)", code)) == 1:
        over = r"\1for \3, \2 in zip(\4, self.\2_layers):\n\5\6\2"
        code = re.sub(loop, over, code)
    return {*keys}, code


def _ifs(text: Text) -> list[ast.If]:
    return [one for top in text.body for one in walk_ast(top, ast.If)]


def _joined(
    text: Text, node: ast.If, code: str, whole: str
) -> tuple[list[str], str, str] | None:
    """The names that tests ask for, that of all, and the line of all branches."""
    held, keys, lines = "", [], []
    branch: list[ast.stmt] = [node]
    while len(branch) == 1 and isinstance(branch[0], ast.If):
        test, body = branch[0].test, branch[0].body
        if not (
            isinstance(test, ast.Compare)
            and isinstance(test.comparators[0], ast.Constant)
            and isinstance(test.ops[0], ast.Eq)
            and held in ("", text.of(test.left))
            and len(body) == 1
        ):
            return None
        held = text.of(test.left)
        keys.append(str(test.comparators[0].value))
        lines.append(text.of(body[0]))
        branch = branch[0].orelse
    if len(branch) != 1 or f"class {camel(keys[0])}(" not in whole:
        return None
    lines.append(text.of(branch[0]))
    shape = re.escape(lines[0]).replace(camel(keys[0]), r"\w+")
    last = re.fullmatch(shape.replace(keys[0], r"(\w+?)", 1), lines[-1])
    name = held.rpartition(".")[2]
    common = name.removesuffix("_fn")
    if last is None or not last.groups() or common == name:
        return None
    keys.append(last[1])
    said = {
        re.sub(rf"\b{camel(key)}\b", held, _named(key, common, line))
        for key, line in zip(keys, lines, strict=True)
    }
    taken = common not in keys and re.search(rf"\bself\.{common}\b", code)
    if len(said) > 1 or taken:
        return None
    return keys, common, said.pop()


def _named(key: str, common: str, code: str) -> str:
    """Attributes and lists of the layers of one class under the name for all."""
    code = re.sub(rf"\bself\.{key}(?=(_layers|_\d+)*\b)", f"self.{common}", code)
    return re.sub(rf"\b{key}(?=(_\d+)?_layers\b)", common, code)
