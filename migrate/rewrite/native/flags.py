"""Models that ask for the mode are told whether they train instead."""

from __future__ import annotations

import libcst as cst

from ...code.edits import changed
from ...code.statements import assigned
from ...code.tree import Tree, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .slices import refused

_LIFTED = ("tf.estimator.ScopedModel", "tf.estimator.ScopedLayer")
_TRAIN = ("tf.estimator.ModeKeys.TRAIN", "tf.contrib.learn.ModeKeys.TRAIN")


def with_one_flag(
    parsed: ParsedModule,
    facts: ProjectFacts,
) -> ParsedModule:
    """The file whose model functions ask for training once, where they name it.

    Calls after ``training = mode == TRAIN`` are given the name, not the question anew.
    """
    tree = Tree(parsed.module, parsed.resolver)
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    for defined in filter(is_model_fn, parsed.each(cst.FunctionDef)):
        bound = tree.resolver.scopes.opened[defined].bindings
        named: dict[str, str] = {}
        for one in walk(defined, cst.Assign, cst.Arg):
            if not isinstance(one.value, cst.Comparison):
                continue
            asked = tree.code(one.value).strip("()")
            if isinstance(one, cst.Assign):
                names = assigned(tree.statement(one))
                if len(names) == 1 and len(bound.get(names[0], ())) == 1:
                    named.setdefault(asked, names[0])
            elif asked in named and "mode" in asked:
                found[one.value] = cst.Name(named[asked])
    return changed(parsed, facts, found) if found else parsed


def with_training_flag(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``training`` in the place of ``mode`` in calls of its models."""
    tree = Tree(parsed.module, parsed.resolver)
    flagged: dict[cst.CSTNode, cst.CSTNode] = {}
    for one in parsed.each(cst.ClassDef):
        if not any(tree.symbol(base.value) in _LIFTED for base in one.bases):
            continue
        for method in walk(one.body, cst.FunctionDef):
            if any(param.name.value == "mode" for param in method.params.params):
                new = method.visit(_Flagged(tree))
                assert isinstance(new, cst.FunctionDef)
                for node in walk(new, cst.Name):
                    if node.value == "mode":
                        reason = f"`{one.name.value}` asks for more than training"
                        raise refused(tree, method, reason)
                flagged[method] = new
    if not flagged:
        return parsed
    return changed(parsed, facts, flagged)


class _Flagged(cst.CSTTransformer):
    """Tests of the mode as the flag; the mode handed on, as well."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        if len(original_node.comparisons) != 1:
            return updated_node
        (one,) = original_node.comparisons
        sides = (original_node.left, one.comparator)
        if not any(
            isinstance(side, cst.Name) and side.value == "mode" for side in sides
        ):
            return updated_node
        if not any(self.tree.symbol(side) in _TRAIN for side in sides):
            return updated_node
        if isinstance(one.operator, (cst.Equal, cst.Is)):
            return cst.Name("training")
        if isinstance(one.operator, (cst.NotEqual, cst.IsNot)):
            return cst.parse_expression("(not training)")
        return updated_node

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.If:
        test = updated_node.test
        if test is original_node.test or not isinstance(test, cst.UnaryOperation):
            return updated_node
        return updated_node.with_changes(test=test.with_changes(lpar=[], rpar=[]))

    def leave_Param(
        self, original_node: cst.Param, updated_node: cst.Param
    ) -> cst.Param:
        if original_node.name.value != "mode":
            return updated_node
        usual, symbol = original_node.default, self.tree.symbol(original_node.default)
        if symbol in _TRAIN:
            usual = cst.Name("True")
        elif symbol is not None and ".ModeKeys." in symbol:
            usual = cst.Name("False")
        return updated_node.with_changes(name=cst.Name("training"), default=usual)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        value = original_node.value
        if not isinstance(value, cst.Name) or value.value != "mode":
            return updated_node
        changed = updated_node.with_changes(value=cst.Name("training"))
        if updated_node.keyword is not None and updated_node.keyword.value == "mode":
            return changed.with_changes(keyword=cst.Name("training"))
        return changed
