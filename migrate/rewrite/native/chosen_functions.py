"""Functions that make layers, which are chosen first and called later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

from ...code.arguments import values_given
from ...code.edits import Put, changed
from ...code.statements import without_docstring
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...model.arguments import parameters_of
from ...names.scopes import BindingKind
from ...project.facts import ParsedModule, ProjectFacts
from .choices import Case, called_behind_tests
from .local_functions import MAKES_LAYERS

_MOST = 8
# What tests of plain values are made of.
_PLAIN = (
    *(cst.Name, cst.Attribute, cst.Subscript, cst.SubscriptElement, cst.Index),
    *(cst.SimpleString, cst.Integer, cst.Tuple, cst.List, cst.Element),
    *(cst.Comparison, cst.ComparisonTarget, cst.BooleanOperation, cst.UnaryOperation),
)
_NAMES = (cst.Name, cst.Attribute)
_Places = dict[cst.CSTNode, object]
_Part = TypeVar("_Part", cst.BaseExpression, cst.BaseExpression | cst.Raise)


def with_choices_called(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``if name == "cnn": x = cnn(x)`` for ``x = network(x)``.

    There ``network`` was given a function in such branches, or by a helper that
    returns one of several. Each is then called by its name.
    """
    for _ in range(_MOST):
        choice = _Choice(parsed, facts)
        calls = map(choice.places, parsed.each(cst.Call))
        places = next((one for one in calls if one is not None), None)
        if places is None:
            break
        parsed = changed(parsed, facts, places)
    return parsed


def chooses_functions(tree: Tree, helper: cst.FunctionDef) -> bool:
    """A helper that returns one of several functions of its file, with layers."""
    cases = _returned(helper) or ()
    found = [tree.resolver.definition(one) for _, one in cases]
    made = [MAKES_LAYERS.search(tree.excerpt(one)) for one in found if one is not None]
    return len(made) > 1 and any(made)


@dataclass
class _Choice:
    """What is put where for one call of a function that was chosen."""

    parsed: ParsedModule
    facts: ProjectFacts

    def __post_init__(self) -> None:
        self.tree = Tree(self.parsed.module, self.parsed.resolver)

    def places(self, call: cst.Call) -> _Places | None:
        line, function = self.tree.statement(call), self.tree.function(call)
        if not isinstance(line, cst.SimpleStatementLine) or function is None:
            return None
        found = self._of_helper(call.func) or self._of_branches(call.func)
        if found is None or not self._is_understood(found[0], function):
            return None
        cases, gone = found
        above = [*(getattr(gone[0], "leading_lines", ()) if gone else ())]
        lines = [*above, *line.leading_lines]
        tests = called_behind_tests(line, call, cases)
        return {**dict.fromkeys(gone), line: tests.with_changes(leading_lines=lines)}

    def _is_understood(
        self, cases: Sequence[Case], function: cst.FunctionDef | cst.Lambda
    ) -> bool:
        """Tests of values that stay what they are, and functions that make layers."""
        bindings = self.tree.resolver.scopes.opened[function].bindings
        for test, _ in cases:
            for node in walk(test) if test is not None else ():
                if isinstance(node, cst.BaseExpression) and not isinstance(
                    node, _PLAIN
                ):
                    return False
                if isinstance(node, cst.Name) and len(bindings.get(node.value, ())) > 1:
                    return False
        chosen = [one for _, one in cases if not isinstance(one, cst.Raise)]
        told = [self.facts.definition(one, self.parsed) for one in chosen]
        texts = [
            one.module.module.code_for_node(one.node)
            for one in told
            if one is not None and isinstance(one.node, cst.FunctionDef)
        ]
        made = any(MAKES_LAYERS.search(text) for text in texts)
        return made and 1 < len(texts) == len(chosen) and cases[0][0] is not None

    def _of_branches(
        self, name: cst.BaseExpression
    ) -> tuple[list[Case], list[Statement]] | None:
        """``if test: network = one``, ``else: network = other``, and one call."""
        tree = self.tree
        bound = tree.resolver.bindings(name) if isinstance(name, cst.Name) else ()
        if len(bound) < 2 or any(one.kind is not BindingKind.ASSIGN for one in bound):
            return None
        first = tree.parent(tree.parent(tree.statement(bound[0].node)) or bound[0].node)
        cases = _branches(first, cst.Assign) if isinstance(first, cst.If) else None
        if not isinstance(first, cst.If) or cases is None or cases[-1][0] is not None:
            return None
        assigned = list(walk(first, cst.Assign))
        plain = [[tree.code(t.target) for t in one.targets] for one in assigned]
        reads = [n for one in bound for n in tree.uses(one) if n is not name]
        same = all(one == [tree.code(name)] for one in plain)
        if reads or len(assigned) != len(bound) or not same:
            return None
        return cases, [first]

    def _of_helper(
        self, func: cst.BaseExpression
    ) -> tuple[list[Case], list[Statement]] | None:
        """``network_of(name)(x)``, or with a name for what the helper returns."""
        tree, named = self.tree, self.tree.assigned(func)
        made = tree.value(func) if named is not None else func
        if not isinstance(made, cst.Call) or (named and len(tree.uses(named)) > 1):
            return None
        helper = tree.resolver.definition(made.func)
        if not isinstance(helper, cst.FunctionDef) or helper.decorators:
            return None
        others = self.facts.texts_of_importers(self.parsed.path)
        name = helper.name.value
        if len(tree.loads(name)) != 1 or any(name in text for text in others):
            return None
        cases = _returned(helper)
        params = parameters_of(helper.params)
        values = values_given(made, params)
        if cases is None or values is None or len(values) < len(params):
            return None
        said = [
            (test and _with(test, values), _with(one, values)) for test, one in cases
        ]
        gone: list[Statement] = [tree.statement(named.node)] if named else []
        return said, [*gone, helper]


def _with(part: _Part, values: dict[str, cst.BaseExpression]) -> _Part:
    """A part of a helper with arguments in the place of parameters."""
    read = [one for one in walk(part, cst.Name) if one.value in values]
    return part.visit(Put({one: values[one.value] for one in read}, part))  # type: ignore[return-value]


def _branches(first: cst.If, kind: type[cst.Assign | cst.Return]) -> list[Case] | None:
    """The tests of an `if`, and what each branch gives, or raises, and nothing else."""
    found: list[Case] = []
    branch: cst.If | cst.Else | None = first
    while branch is not None:
        block = branch.body
        inside = statements_of(block) if isinstance(block, cst.IndentedBlock) else []
        small = only_small(inside[0]) if len(inside) == 1 else None
        chosen = small if isinstance(small, cst.Raise) else None
        if isinstance(small, kind) and small.value is not None:
            chosen = small.value  # type: ignore[assignment]
        if chosen is None:
            return None
        test = branch.test if isinstance(branch, cst.If) else None
        found.append((test, chosen))
        branch = branch.orelse if isinstance(branch, cst.If) else None
    return found


def _returned(helper: cst.FunctionDef) -> list[Case] | None:
    """What a helper returns, by its tests; None if it does something else."""
    lines = without_docstring(helper.body)
    found: list[Case] = []
    for one in lines:
        small = only_small(one)
        if isinstance(one, cst.If):
            cases = _branches(one, cst.Return)
            if cases is None:
                return None
            found += cases
        elif isinstance(small, cst.Raise):
            found.append((None, small))
        elif isinstance(small, cst.Return) and isinstance(small.value, _NAMES):
            found.append((None, small.value))
        else:
            return None
    tests = [test for test, _ in found]
    whole = len(tests) > 1 and tests[-1] is None and None not in tests[:-1]
    return found if whole else None
