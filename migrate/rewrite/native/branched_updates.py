"""Updates in both branches of a test become one, of gradients that the test changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from ...code.arguments import UnknownArguments, match_arguments
from ...code.edits import Put, changed
from ...code.names import fresh
from ...code.statements import binds, loads
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts

_MINIMIZED = ("loss", "global_step", "var_list")
_COMPUTED = ("loss", "var_list")
_APPLIED = ("grads_and_vars", "global_step", "name")


def with_one_update(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with one `apply_gradients` behind a test that changes the gradients.

    ``if clip: ... train_op = opt.apply_gradients(...)`` has ``else: train_op =
    opt.minimize(loss)``, or another such update of the same optimizer.
    """
    if "apply_gradients" not in parsed.source.text:
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    places: dict[cst.CSTNode, Any] = {}
    for node in parsed.each(cst.If):
        if isinstance(node.orelse, cst.Else):
            found = _joined(tree, node, node.orelse)
            if found is not None:
                places[node] = found
    return changed(parsed, facts, places) if places else parsed


@dataclass
class _Branch:
    """The statements of a branch that end in an update."""

    lines: list[Statement]
    update: cst.Call
    optimizer: str
    loss: cst.BaseExpression
    # The texts of other arguments, and what has its value.
    others: tuple[str | None, ...]
    # The call that asks for gradients, and what is applied; None for `minimize`.
    asked: cst.Call | None = None
    applied: cst.BaseExpression | None = None


def _read(tree: Tree, block: cst.BaseSuite) -> _Branch | None:
    """What a branch does, if it ends in an update by an optimizer made before."""
    if not isinstance(block, cst.IndentedBlock):
        return None
    lines = statements_of(block)
    small = only_small(lines[-1])
    if not isinstance(small, cst.Assign | cst.Return):
        return None
    update, func = small.value, getattr(small.value, "func", None)
    if not isinstance(update, cst.Call) or not isinstance(func, cst.Attribute):
        return None
    minimizes = func.attr.value == "minimize"
    if not minimizes and func.attr.value != "apply_gradients":
        return None
    targets = [tree.code(one.target) for one in getattr(small, "targets", ())]
    optimizer = tree.code(func.value)
    asked = [
        one
        for one in walk(block, cst.Call)
        if tree.code(one.func) == f"{optimizer}.compute_gradients"
    ]
    if len(asked) != (not minimizes):
        return None
    try:
        given = match_arguments(update, _MINIMIZED if minimizes else _APPLIED)
        told = given if minimizes else match_arguments(asked[0], _COMPUTED)
    except UnknownArguments:
        return None
    known = {"loss", "global_step", "var_list", "grads_and_vars"}
    if {*given, *told} - known or "loss" not in told:
        return None
    more = [given.get("global_step"), told.get("var_list")]
    others = (*(tree.code(one) if one is not None else None for one in more), *targets)
    bound = {name for line in lines for name in binds(line)}
    needed = [func.value, told["loss"], *(one for one in more if one is not None)]
    if any(bound & loads(tree, one) for one in needed):
        return None
    applied = None if minimizes else given.get("grads_and_vars")
    first = None if minimizes else asked[0]
    return _Branch(lines, update, optimizer, told["loss"], others, first, applied)


def _joined(tree: Tree, node: cst.If, other: cst.Else) -> list[Statement] | None:
    """What stands for a test with an update in each branch."""
    one, two = _read(tree, node.body), _read(tree, other.body)
    if one is None or two is None or (one.asked is None and two.asked is None):
        return None
    if (one.optimizer, one.others) != (two.optimizer, two.others):
        return None
    loss, test = tree.code(one.loss), tree.code(node.test)
    if loss != tree.code(two.loss):
        bound = {name for line in (*one.lines, *two.lines) for name in binds(line)}
        if any(walk(node.test, cst.Call)) or bound & loads(tree, node.test):
            return None
        loss = f"{loss} if {test} else {tree.code(two.loss)}"
    step, variables, *_ = one.others
    name = fresh("grads_and_vars", {name.value for name in tree.each(cst.Name)})
    given = ", ".join(filter(None, [loss, variables]))
    applied = ", ".join(filter(None, [name, step]))
    made = cst.parse_statement(f"{name} = {one.optimizer}.compute_gradients({given})")
    update = cst.parse_expression(f"{one.optimizer}.apply_gradients({applied})")
    last: Any = one.lines[-1].visit(Put({one.update: update}, one.lines[-1]))
    first, second = _changed(tree, one, name), _changed(tree, two, name)
    tested: Any = node.test
    if not first:
        no = isinstance(tested, cst.UnaryOperation) and tested.operator
        plain = isinstance(no, cst.Not)
        tested = tested.expression if plain else cst.parse_expression(f"not ({test})")
        first, second = second, first
    tests = node.with_changes(
        test=tested,
        body=node.body.with_changes(body=first),
        orelse=other.with_changes(body=node.body.with_changes(body=second)),
        leading_lines=(),
    )
    if not second:
        tests = tests.with_changes(orelse=None)
    above = made.with_changes(leading_lines=node.leading_lines)
    below = last.with_changes(leading_lines=())
    return [above, tests, below] if first else [above, below]


def _changed(tree: Tree, branch: _Branch, name: str) -> list[Statement]:
    """What a branch does to the gradients, which have a name before and behind."""
    lines = branch.lines[:-1]
    if branch.asked is None or branch.applied is None:
        return lines
    places: dict[cst.CSTNode, Any] = {branch.asked: cst.Name(name)}
    inside = {node for line in branch.lines for node in walk(line)}
    for line in lines:
        small = only_small(line)
        if isinstance(small, cst.Assign) and small.value is branch.asked:
            reads = tree.loads(tree.code(small.targets[0].target))
            if reads and {*reads} <= inside:
                places |= dict.fromkeys(reads, cst.Name(name))
                lines = [one for one in lines if one is not line]
    found: list[Any] = [line.visit(Put(places, line)) for line in lines]
    applied: Any = branch.applied.visit(Put(places, branch.applied))
    held = cst.Name(name)
    last = only_small(found[-1]) if found else None
    if not applied.deep_equals(held):
        targets: Any = getattr(last, "targets", ())
        plain = [one.target.deep_equals(applied) for one in targets] == [True]
        if plain and len(tree.loads(applied.value)) == 1:
            found[-1] = found[-1].visit(Put({targets[0].target: held}, found[-1]))
        else:
            given = cst.Assign([cst.AssignTarget(held)], applied)
            found.append(cst.SimpleStatementLine([given]))
    return found
