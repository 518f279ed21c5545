"""``eval_metrics=(function, tensors)`` as the dict that the function returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..sites import Blocked

if TYPE_CHECKING:
    from .tpu import _Edits

__all__ = ["SpecMetrics"]


class SpecMetrics:
    """Puts metric functions in the place where their specs are made."""

    def __init__(self, tree: Tree, edits: _Edits) -> None:
        self.tree = tree
        self.edits = edits
        self.functions: dict[cst.FunctionDef, set[cst.Name]] = {}

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        return Blocked("TFM103", self.tree.line(node), f"eval_metrics: {reason}")

    def inline(self, call: cst.Call, pair: cst.BaseExpression) -> cst.BaseExpression:
        """The metrics dict; what makes it goes in front of the spec's statement."""
        tree = self.tree
        value = tree.value(pair)
        if not isinstance(value, (cst.Tuple, cst.List)) or len(value.elements) != 2:
            raise self.stop(pair, "not a function with its tensors")
        function, tensors = (element.value for element in value.elements)
        given = tree.value(tensors)
        if not isinstance(given, (cst.Tuple, cst.List, cst.Dict)):
            raise self.stop(pair, "its tensors are not written out")
        parameters, statements, result = self._parts(function)
        passed = self._passed(parameters, given)
        local = {n for s in statements for n in _targets(s)}
        outer = self._names_around(call)
        clash = sorted(local & outer - set(parameters))
        if clash:
            raise self.stop(pair, f"`{clash[0]}` has two meanings")
        put = _Put(passed)
        before = []
        for statement in statements:
            changed = statement.visit(put)
            assert isinstance(changed, cst.SimpleStatementLine)
            before.append(changed)
        statement = tree.statement(call)
        self.edits.before.setdefault(statement, []).extend(before)
        found = result.visit(put)
        assert isinstance(found, cst.BaseExpression)
        return found

    def drop_functions(self) -> None:
        """Functions that nothing calls any more."""
        for defined, uses in self.functions.items():
            if set(self.tree.loads(defined.name.value)) <= uses:
                self.edits.removed.add(defined)

    def _parts(
        self, function: cst.BaseExpression
    ) -> tuple[list[str], list[Statement], cst.BaseExpression]:
        tree = self.tree
        value = tree.value(function)
        if isinstance(value, cst.Lambda):
            return [p.name.value for p in value.params.params], [], value.body
        defined = tree.resolver.definition(function)
        if not isinstance(defined, cst.FunctionDef):
            raise self.stop(function, "the function is defined somewhere else")
        assert isinstance(function, cst.Name)
        self.functions.setdefault(defined, set()).add(function)
        body = defined.body
        assert isinstance(body, cst.IndentedBlock)
        statements = [s for s in statements_of(body) if not _is_docstring(s)]
        last = only_small(statements[-1]) if statements else None
        if not isinstance(last, cst.Return) or last.value is None:
            raise self.stop(function, "the function does not end with its metrics")
        rest = statements[:-1]
        if not all(isinstance(only_small(s), cst.Assign) for s in rest):
            raise self.stop(function, "the function does more than assign")
        names = [p.name.value for p in defined.params.params]
        return names, rest, last.value

    def _passed(
        self, parameters: list[str], given: cst.Tuple | cst.List | cst.Dict
    ) -> dict[str, cst.BaseExpression]:
        if isinstance(given, cst.Dict):
            passed: dict[str, cst.BaseExpression] = {}
            for element in given.elements:
                key = element.key if isinstance(element, cst.DictElement) else None
                if not isinstance(key, cst.SimpleString):
                    raise self.stop(given, "its tensors are not written out")
                passed[str(key.evaluated_value)] = element.value
            return passed
        if len(given.elements) != len(parameters):
            raise self.stop(given, "more or fewer tensors than parameters")
        values = [element.value for element in given.elements]
        return dict(zip(parameters, values, strict=True))

    def _names_around(self, call: cst.Call) -> set[str]:
        function = self.tree.function(call)
        scope = self.tree.resolver.scopes.opened.get(function) if function else None
        return set(scope.bindings) if scope is not None else set()


def _targets(statement: Statement) -> list[str]:
    small = only_small(statement)
    assert isinstance(small, cst.Assign)
    return [
        node.value
        for target in small.targets
        for node in walk(target.target)
        if isinstance(node, cst.Name)
    ]


def _is_docstring(statement: Statement) -> bool:
    small = only_small(statement)
    return isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)


class _Put(cst.CSTTransformer):
    """Parameters become what is passed for them."""

    def __init__(self, passed: dict[str, cst.BaseExpression]) -> None:
        self.passed = passed

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        return self.passed.get(original_node.value, updated_node)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)
