"""Functions of the program's own that layers of contrib call on their outputs."""

from __future__ import annotations

import libcst as cst

from ...code.arguments import is_none
from ...code.edits import Put, changed
from ...code.texts import source_text
from ...code.tree import Tree, walk
from ...model.contrib_functions import SIGNATURES, contrib_name
from ...project.facts import ParsedModule, ProjectFacts
from .own_scopes import ARG_SCOPES, with_arg_scopes_written_out
from .scopes import ScopeReader, why_around, with_scopes_said
from .spelling import argument_of

_RELU = cst.parse_expression("tf.nn.relu")


def with_normalizers_called(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``relu(norm(conv2d(x)))`` for ``conv2d(x, normalizer_fn=norm)``.

    Such a layer has no bias, and activates what the function returns.
    """
    if "normalizer_fn" not in parsed.source.text:
        return parsed
    parsed = _with_tests(parsed, facts)
    parsed = with_scopes_said(with_arg_scopes_written_out(parsed, facts), facts)
    tree = Tree(parsed.module, parsed.resolver)
    _check_said(parsed, facts)
    edits: dict[cst.CSTNode, object] = {}
    for call in parsed.each(cst.Call):
        symbol = tree.symbol(call.func) or ""
        if symbol not in ARG_SCOPES and contrib_name(symbol) not in SIGNATURES:
            continue
        given = {one.keyword.value: one for one in call.args if one.keyword is not None}
        norm = given.get("normalizer_fn")
        own = norm is not None and tree.resolver.definition(norm.value) is not None
        if norm is not None and own:
            around = _Around(norm.value)
            edits[call] = _without_words if symbol in ARG_SCOPES else around
    return changed(parsed, facts, edits) if edits else parsed


def _with_tests(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``if flag: x = f(x, normalizer_fn=norm)``, and else one without,
    for ``x = f(x, normalizer_fn=norm if flag else None)``.
    """
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    for call in parsed.each(cst.Call):
        chosen = {
            one.value: tree.value(one.value)
            for one in call.args
            if one.keyword is not None and one.keyword.value.startswith("normalizer_")
        }
        found = [one for one in chosen.values() if isinstance(one, cst.IfExp)]
        line = tree.statement(call)
        if not found or not isinstance(line, cst.SimpleStatementLine):
            continue
        test, sides = tree.code(found[0].test), []
        bare = line.with_changes(leading_lines=[])
        for side in ("body", "orelse"):
            places = {
                node: getattr(value, side)
                for node, value in chosen.items()
                if isinstance(value, cst.IfExp) and tree.code(value.test) == test
            }
            said = bare.visit(Put(places, bare))
            assert isinstance(said, cst.SimpleStatementLine)
            sides.append(cst.IndentedBlock([said]))
        rest = cst.Else(sides[1])
        edits[line] = cst.If(found[0].test, sides[0], rest, line.leading_lines)
        for node in chosen:
            binding = tree.assigned(node)
            if binding is not None and tree.uses(binding) == [node]:
                edits[tree.statement(binding.node)] = []
    return changed(parsed, facts, edits) if edits else parsed


def _check_said(parsed: ParsedModule, facts: ProjectFacts) -> None:
    """Raises Blocked where a scope gives something to functions that do not say it."""
    reader = ScopeReader(parsed)
    for scope in reader.scopes:
        waiting: list[cst.CSTNode] = [scope.body]
        seen: set[cst.CSTNode] = set()
        while waiting:
            for call in walk(waiting.pop(), cst.Call):
                told = facts.definition(call.func, parsed)
                if told is None or told.node in seen:
                    continue
                seen.add(told.node)
                if told.module.path == parsed.path:
                    reader.check(told.node, scope, reader)
                    waiting.append(told.node)
                elif "slim" in told.module.source.text:
                    why = why_around(source_text(call.func), ["arguments"])
                    raise reader.stop(scope, why)


def _without_words(scope: cst.Call) -> cst.Call:
    """An arg_scope without what the calls within now say themselves."""
    args = [
        one
        for one in scope.args
        if one.keyword is None or one.keyword.value not in _MOVED
    ]
    return scope.with_changes(args=args)


class _Around:
    """Calls the functions around the call of a layer."""

    def __init__(self, norm: cst.BaseExpression) -> None:
        self.norm = norm

    def __call__(self, call: cst.Call) -> cst.BaseExpression:
        given: dict[str, cst.BaseExpression] = {}
        args: list[cst.Arg] = []
        for one in call.args:
            name = one.keyword.value if one.keyword is not None else ""
            if name in _MOVED:
                given[name] = one.value
            else:
                args.append(one)
        none = cst.Name("None")
        args += [argument_of(none, cst.Name(one)) for one in _LEFT]
        found: cst.BaseExpression = call.with_changes(args=args)
        params = given.get("normalizer_params")
        more = [] if is_none(params) else [cst.Arg(params, star="**")]  # type: ignore[arg-type]
        found = cst.Call(self.norm, [cst.Arg(found), *more])
        activation = given.get("activation_fn", _RELU)
        return found if is_none(activation) else cst.Call(activation, [cst.Arg(found)])


_LEFT = ("activation_fn", "biases_initializer")
_MOVED = (*_LEFT, "normalizer_fn", "normalizer_params")
