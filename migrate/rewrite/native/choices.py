"""Functions that make layers, told by a dict and a name, are called behind tests."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from ...code.edits import Put, changed
from ...code.names import fresh
from ...code.tree import Tree, walk
from ...project.facts import ParsedModule, ProjectFacts
from .code import LAYER_WORDS

# A test, if it is not the last one, and a function or an error.
Case = tuple[cst.BaseExpression | None, cst.BaseExpression | cst.Raise]
_PLAIN = re.compile(r"[\w.\[\]'\"]+")
# Keys that are looked up once: the tests ask a name for them.
_LOOKED_UP = re.compile(r"[\w.]+\.get\([\w.'\"]+(, [\w.'\"]+)?\)")
# Where a tuple of its keys does what a dict did.
_OF_KEYS = r"import.*\b{0}\b|(sorted|list|tuple|set|len|join)\((\w+\.)*{0}\)|"
_OF_KEYS += r"\bin (\w+\.)*{0}\b(?![.(\[])"


def with_choices_as_tests(
    parsed: ParsedModule, facts: ProjectFacts, files: Sequence[ParsedModule]
) -> ParsedModule:
    """The file with ``if key == "cnn": x = cnn(...)`` for ``x = MODELS[key](...)``.

    Each function is then called by its name, and its layers are those of one class.
    """
    if not any(map(_holds_names, parsed.each(cst.Dict))):
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    others = [one.source.text for one in files if one.path != parsed.path]
    edits: dict[cst.CSTNode, object] = {}
    for call in parsed.each(cst.Call):
        function = tree.function(call)
        if function is None:
            continue
        name, chosen = tree.assigned(call.func), tree.value(call.func)
        line = tree.statement(call)
        if (
            not isinstance(chosen, cst.Subscript)
            or not (pairs := _functions(tree, tree.value(chosen.value)))
            or not (
                _PLAIN.fullmatch(key := tree.code(chosen.slice[0]))
                or _LOOKED_UP.fullmatch(key)
            )
            or not isinstance(line, cst.SimpleStatementLine)
            or (name is not None and len(tree.uses(name)) > 1)
        ):
            continue
        table = tree.assigned(chosen.value)
        if table is not None and table.value is not None:
            local = tree.function(table.node)
            texts = [tree.code(local)] if local else [tree.text, *others]
            listed = _count(_OF_KEYS.format(table.name), texts)
            if _count(rf"\b{table.name}\b", texts) != listed + 2:
                continue
            keys = [cst.Element(cst.parse_expression(one)) for one, _ in pairs]
            gone = tree.statement(table.node)
            edits[table.value if listed else gone] = cst.Tuple(keys) if listed else []
        if name is not None:
            edits[tree.statement(name.node)] = []
        named: list[cst.BaseStatement] = []
        if not _PLAIN.fullmatch(key):
            inside = {one.value for one in walk(function, cst.Name)}
            asked, key = key, fresh("kind", inside)
            named = [cst.parse_statement(f"{key} = {asked}")]
        cases: list[Case] = [
            (cst.parse_expression(f"{key} == {text}"), one) for text, one in pairs
        ]
        error = cst.Raise(cst.parse_expression(f"KeyError({key})"))
        chosen_call = called_behind_tests(line, call, [*cases, (None, error)])
        first, *behind = (*named, chosen_call)
        first = first.with_changes(leading_lines=line.leading_lines)
        edits[line] = [first, *behind]
    return changed(parsed, facts, edits) if edits else parsed


def called_behind_tests(
    line: cst.SimpleStatementLine, call: cst.Call, cases: Sequence[Case]
) -> cst.If:
    """A line for each test, with another function in the place of the one called."""
    bare = line.with_changes(leading_lines=[])
    rest: cst.If | cst.Else | None = None
    for test, chosen in reversed(cases):
        said = cst.SimpleStatementLine([chosen])  # type: ignore[list-item]
        if not isinstance(chosen, cst.Raise):
            said = bare.visit(Put({call.func: chosen}, bare))  # type: ignore[assignment]
        body = cst.IndentedBlock([said])
        rest = cst.Else(body) if test is None else cst.If(test, body, orelse=rest)
    assert isinstance(rest, cst.If)
    return rest


def _holds_names(node: cst.Dict) -> bool:
    """A dict in which functions may stand."""
    return any(isinstance(one.value, cst.Name) for one in node.elements)


def _count(pattern: str, texts: Sequence[str]) -> int:
    return sum(len(re.findall(pattern, one)) for one in texts)


def _functions(tree: Tree, table: cst.CSTNode | None) -> list[tuple[str, cst.Name]]:
    """Keys and functions of a dict of functions that make layers; none of others."""
    found, made = [], []
    for one in table.elements if isinstance(table, cst.Dict) else ():
        name = one.value
        defined = tree.resolver.definition(name)
        key = one.key if isinstance(one, cst.DictElement) else None
        constant = isinstance(key, (cst.SimpleString, cst.Integer))
        if not (constant and isinstance(defined, cst.FunctionDef)):
            return []
        if key is not None and isinstance(name, cst.Name):
            found.append((tree.code(key), name))
            made.append(LAYER_WORDS.search(tree.code(defined)) is not None)
    return found if any(made) else []
