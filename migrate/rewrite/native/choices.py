"""Functions that make layers, told by a dict and a name, are called behind tests."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from ...code.edits import Put, changed
from ...code.tree import Tree
from ...names.scopes import Binding
from ...project.facts import ParsedModule, ProjectFacts

_MAKES = re.compile(r"\blayers\.|\bslim\.|\bget_variable\b|_rnn\b|Cell\b")
_PLAIN = re.compile(r"[\w.\[\]'\"]+")
_OF_KEYS = re.compile(r"sorted|list|tuple|set|len|.*\.join")

Pairs = list[tuple[str, cst.Name]]
Uses = list[tuple[Tree, cst.CSTNode]]


def with_choices_as_tests(
    parsed: ParsedModule, facts: ProjectFacts, files: Sequence[ParsedModule]
) -> ParsedModule:
    """The file with ``if key == "cnn": x = cnn(...)`` for ``x = MODELS[key](...)``.

    Each function is then called by its name, and its layers are those of one class.
    """
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    names: dict[Binding, Pairs] = {}
    gone: set[cst.CSTNode] = set()
    for call in parsed.nodes:
        if not isinstance(call, cst.Call) or tree.function(call) is None:
            continue
        chosen = tree.value(call.func)
        if not isinstance(chosen, cst.Subscript):
            continue
        pairs, key = _functions(tree, chosen.value), tree.code(chosen.slice[0])
        line = tree.statement(call)
        if (
            not pairs
            or not isinstance(line, cst.SimpleStatementLine)
            or not _PLAIN.fullmatch(key)
        ):
            continue
        bare = line.with_changes(leading_lines=[])
        raised = cst.parse_statement(f"raise KeyError({key})")
        rest: cst.If | cst.Else = cst.Else(cst.IndentedBlock([raised]))
        for name, function in reversed(pairs):
            said = bare.visit(Put({call.func: function}, bare))
            assert isinstance(said, cst.SimpleStatementLine)
            test = cst.parse_expression(f"{key} == {name}")
            rest = cst.If(test, cst.IndentedBlock([said]), orelse=rest)
        edits[line] = rest.with_changes(leading_lines=line.leading_lines)
        gone |= {call.func, chosen.value}
        told = (tree.assigned(call.func), tree.assigned(chosen.value))
        names |= {one: pairs for one in told if one is not None}
    for bound, pairs in names.items():
        uses: Uses = [(tree, one) for one in tree.uses(bound) if one not in gone]
        if bound.scope is tree.resolver.scopes.module_scope:
            uses += _uses_of_others(bound.name, parsed, files)
        if not uses:
            edits[tree.statement(bound.node)] = []
        elif bound.value is not None and all(_asks_for_keys(*one) for one in uses):
            keys = [cst.Element(cst.parse_expression(name)) for name, _ in pairs]
            edits[bound.value] = cst.Tuple(keys)
    return changed(parsed, facts, edits) if edits else parsed


def _uses_of_others(
    name: str, parsed: ParsedModule, files: Sequence[ParsedModule]
) -> Uses:
    """What other files call by a name, with the module that it is an attribute of."""
    found: Uses = []
    for other in files:
        if other.path != parsed.path and name in other.source.text:
            tree = Tree(other.module, other.resolver)
            for one in other.nodes:
                if isinstance(one, cst.Name) and one.value == name:
                    above = tree.parent(one)
                    held = isinstance(above, cst.Attribute) and above.attr is one
                    found.append((tree, above if held and above is not None else one))
    return found


def _asks_for_keys(tree: Tree, node: cst.CSTNode) -> bool:
    """What it is part of does the same with a tuple of the keys of a dict."""
    above = tree.parent(node)
    if isinstance(above, cst.ComparisonTarget):
        return isinstance(above.operator, (cst.In, cst.NotIn))
    call = tree.parent(above) if isinstance(above, cst.Arg) else None
    return isinstance(above, cst.ImportAlias) or (
        isinstance(call, cst.Call)
        and _OF_KEYS.fullmatch(tree.code(call.func)) is not None
    )


def _functions(tree: Tree, table: cst.BaseExpression) -> Pairs:
    """Keys and functions of a dict of functions that make layers; none of others."""
    bound = tree.assigned(table)
    value = tree.value(table)
    if not isinstance(value, cst.Dict) or (
        bound is not None and any(_changes(tree, one) for one in tree.uses(bound))
    ):
        return []
    found, made = [], []
    for one in value.elements:
        function = one.value
        defined = tree.resolver.definition(function)
        if (
            not isinstance(one, cst.DictElement)
            or not isinstance(one.key, (cst.SimpleString, cst.Integer))
            or not isinstance(defined, cst.FunctionDef)
            or not isinstance(function, cst.Name)
        ):
            return []
        found.append((tree.code(one.key), function))
        made.append(_MAKES.search(tree.code(defined)) is not None)
    return found if any(made) else []


def _changes(tree: Tree, use: cst.Name) -> bool:
    """A use of a dict gives it others, as far as that is seen."""
    above = tree.parent(use)
    holder = tree.parent(above) if above is not None else None
    return isinstance(holder, (cst.AssignTarget, cst.AugAssign, cst.Del)) or (
        isinstance(above, cst.Attribute)
        and above.attr.value in ("clear", "pop", "setdefault", "update")
    )
