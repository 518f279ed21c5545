"""Line breaks for generated statements that would be too long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

import libcst as cst

from ..names.table import lookup
from ..project.long_lines import WIDTH
from ..project.positions import code_of
from .tree import Statement, statements_of

__all__ = ["fit", "one_line"]


def one_line(code: str) -> str:
    """An expression's source on one line, for a place with another indentation.

    Text with comments inside stays as it is.
    """
    if "\n" not in code or "#" in code:
        return code
    expression = cst.parse_expression(code).visit(_OneLine())
    assert isinstance(expression, cst.BaseExpression)
    return code_of(cst.Module([]), expression)


class _OneLine(cst.CSTTransformer):
    """Takes the line breaks out of what it visits."""

    def leave_ParenthesizedWhitespace(
        self,
        original_node: cst.ParenthesizedWhitespace,
        updated_node: cst.ParenthesizedWhitespace,
    ) -> cst.SimpleWhitespace:
        return cst.SimpleWhitespace(" ")

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        nothing = cst.SimpleWhitespace("")
        args = list(updated_node.args)
        if args:
            args[-1] = args[-1].with_changes(
                comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=nothing
            )
        return updated_node.with_changes(args=args, whitespace_before_args=nothing)

    def leave_LeftParen(
        self, original_node: cst.LeftParen, updated_node: cst.LeftParen
    ) -> cst.LeftParen:
        return updated_node.with_changes(whitespace_after=cst.SimpleWhitespace(""))

    def leave_RightParen(
        self, original_node: cst.RightParen, updated_node: cst.RightParen
    ) -> cst.RightParen:
        return updated_node.with_changes(whitespace_before=cst.SimpleWhitespace(""))

    def leave_LeftCurlyBrace(
        self, original_node: cst.LeftCurlyBrace, updated_node: cst.LeftCurlyBrace
    ) -> cst.LeftCurlyBrace:
        return updated_node.with_changes(whitespace_after=cst.SimpleWhitespace(""))

    def leave_Dict(self, original_node: cst.Dict, updated_node: cst.Dict) -> cst.Dict:
        if not updated_node.elements:
            return updated_node
        entries = list(updated_node.elements)
        entries[-1] = entries[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(elements=entries, rbrace=cst.RightCurlyBrace())

    def leave_Dot(self, original_node: cst.Dot, updated_node: cst.Dot) -> cst.Dot:
        nothing = cst.SimpleWhitespace("")
        return updated_node.with_changes(
            whitespace_before=nothing, whitespace_after=nothing
        )


def _today(code: str) -> str:
    """The code with TF2's names, which the symbol rules write later: for measuring."""

    def name_today(found: re.Match[str]) -> str:
        move = lookup(found[0])
        return move.to if move is not None else found[0]

    return re.sub(r"\btf(?:\.[A-Za-z_]\w*)+", name_today, code)


def _longest(code: str) -> int:
    """How wide the widest line of some code will be."""
    return max(len(line) for line in _today(code).splitlines() or [""])


def fit(
    module: cst.Module, statements: Sequence[Statement], indent: int
) -> list[Statement]:
    """The statements, with calls broken over lines where a line is too long.

    ``indent`` is the depth of the statements in the module, in columns.
    """
    step = len(module.default_indent.expandtabs(8))
    return [_fit_statement(module, s, indent, step) for s in statements]


def _fit_statement(
    module: cst.Module, statement: Statement, indent: int, step: int
) -> Statement:
    if isinstance(statement, cst.SimpleStatementLine):
        code = code_of(module, statement.with_changes(leading_lines=[]))
        if "\n" in code.rstrip("\n") or _longest(code) + indent <= WIDTH:
            return statement
        return _break_line(module, statement, indent, step)
    if isinstance(statement, cst.FunctionDef):
        statement = _fit_parameters(module, statement, indent, step)
        statement = _fit_decorators(module, statement, indent, step)
    if isinstance(statement, cst.For):
        head = statement.with_changes(body=cst.SimpleStatementSuite([cst.Pass()]))
        code = module.code_for_node(head.with_changes(leading_lines=[], orelse=None))
        room = WIDTH - indent + len(" pass")
        broken = _broken_expression(statement.iter, code, room, step)
        statement = statement.with_changes(iter=broken)
    body = getattr(statement, "body", None)
    if isinstance(body, cst.IndentedBlock):
        inner = fit(module, statements_of(body), indent + step)
        statement = statement.with_changes(body=body.with_changes(body=inner))
    orelse = getattr(statement, "orelse", None)
    if isinstance(orelse, (cst.If, cst.Else)):
        other = _fit_statement(module, cast("Statement", orelse), indent, step)
        statement = statement.with_changes(orelse=other)
    return statement


def _break_sum(
    module: cst.Module, line: cst.SimpleStatementLine, indent: int, inside: str
) -> Statement:
    """A product or sum, broken inside its last pair of parentheses."""
    value = getattr(line.body[0], "value", None)
    if not isinstance(value, cst.BinaryOperation):
        return line
    right = value.right
    if getattr(right, "lpar", None):
        new = right.with_changes(
            lpar=[*right.lpar[:-1], cst.LeftParen(whitespace_after=_newline(inside))],
            rpar=[cst.RightParen(whitespace_before=_newline("")), *right.rpar[1:]],
        )
        changed = line.deep_replace(cast("cst.CSTNode", right), new)
        assert isinstance(changed, cst.SimpleStatementLine)
        code = code_of(module, changed.with_changes(leading_lines=[]))
        if _longest(code) + indent <= WIDTH:
            return changed
    if value.lpar or not isinstance(value.operator, (cst.Add, cst.Subtract)):
        return line
    whole = _broken_terms(value, inside).with_changes(
        lpar=[cst.LeftParen(whitespace_after=_newline(inside))],
        rpar=[cst.RightParen(whitespace_before=_newline(""))],
    )
    changed = line.deep_replace(cast("cst.CSTNode", value), whole)
    assert isinstance(changed, cst.SimpleStatementLine)
    return changed


def _broken_terms(node: cst.BinaryOperation, inside: str) -> cst.BinaryOperation:
    """A sum with each of its terms on a line of its own."""
    left = node.left
    if (
        isinstance(left, cst.BinaryOperation)
        and not left.lpar
        and isinstance(left.operator, (cst.Add, cst.Subtract))
    ):
        left = _broken_terms(left, inside)
    operator = node.operator.with_changes(
        whitespace_before=_newline(inside), whitespace_after=cst.SimpleWhitespace(" ")
    )
    return node.with_changes(left=left, operator=operator)


def _fit_parameters(
    module: cst.Module, function: cst.FunctionDef, indent: int, step: int
) -> cst.FunctionDef:
    """A function whose parameters stand on a line below where they are too many."""
    params = function.params.params
    plain = len(params) == len(function.params.children)
    code = f"def {function.name.value}({code_of(module, function.params)}):"
    if not params or not plain or "\n" in code or len(code) + indent <= WIDTH:
        return function
    inside = " " * max(step, 4)
    if len(code_of(module, function.params)) + len(inside) + indent > WIDTH:
        # Each on a line of its own.
        below = cst.Comma(whitespace_after=_newline(inside))
        every = [one.with_changes(comma=below) for one in params[:-1]]
        every.append(
            params[-1].with_changes(comma=cst.Comma(whitespace_after=_newline("")))
        )
    else:
        last = params[-1].with_changes(
            comma=cst.MaybeSentinel.DEFAULT, whitespace_after_param=_newline("")
        )
        every = [*params[:-1], last]
    return function.with_changes(
        whitespace_before_params=_newline(inside),
        params=function.params.with_changes(params=every),
    )


def _fit_decorators(
    module: cst.Module, function: cst.FunctionDef, indent: int, step: int
) -> cst.FunctionDef:
    decorators = []
    for one in function.decorators:
        code = module.code_for_node(one.with_changes(leading_lines=[]))
        broken = _broken_expression(one.decorator, code, WIDTH - indent, step)
        decorators.append(one.with_changes(decorator=broken))
    return function.with_changes(decorators=decorators)


def _broken_expression(
    node: cst.BaseExpression, line: str, room: int, step: int
) -> cst.BaseExpression:
    """A call in a line of its own, broken where the line is too long."""
    if not isinstance(node, cst.Call) or not node.args or "\n" in line.rstrip("\n"):
        return node
    if _longest(line) <= room:
        return node
    inside = " " * max(step, 4)
    for one_line in (True, False):
        broken = _broken_call(node, inside, room=room, one_line=one_line)
        if _fits(broken, inside, room):
            break
    return broken


def _break_line(
    module: cst.Module, line: cst.SimpleStatementLine, indent: int, step: int
) -> Statement:
    listed = getattr(line.body[0], "value", None)
    if isinstance(listed, cst.Dict) and listed.elements:
        entries: cst.CSTNode = _broken_dict(listed, " " * max(step, 4))
        whole = line.deep_replace(cast("cst.CSTNode", listed), entries)
        assert isinstance(whole, cst.SimpleStatementLine)
        return whole
    inside = " " * max(step, 4)
    if isinstance(listed, cst.IfExp) and not listed.lpar:
        whole = line.deep_replace(
            cast("cst.CSTNode", listed),
            _broken_condition(listed, inside, WIDTH - indent),
        )
        assert isinstance(whole, cst.SimpleStatementLine)
        return whole
    call = _outer_call(line.body[0])
    if call is None or not call.args:
        return _break_sum(module, line, indent, inside)
    for one_line in (True, False):
        broken = _broken_call(call, inside, room=WIDTH - indent, one_line=one_line)
        changed = line.deep_replace(call, broken)
        assert isinstance(changed, cst.SimpleStatementLine)
        code = code_of(module, changed.with_changes(leading_lines=[]))
        if _longest(code) + indent <= WIDTH or not one_line:
            return changed
    return line


def _outer_call(node: cst.CSTNode) -> cst.Call | None:
    """The call whose arguments are best put on lines of their own."""
    value = getattr(node, "value", None)
    if isinstance(node, cst.Call):
        return node if node.args else _outer_call(node.func)
    if isinstance(node, cst.List) and node.elements:
        return _outer_call(node.elements[-1].value)
    if isinstance(value, cst.CSTNode):
        return _outer_call(value)
    return None


def _broken_dict(node: cst.Dict, inside: str) -> cst.Dict:
    """A dict with each entry on a line of its own."""
    entries = []
    for number, element in enumerate(node.elements):
        last = number == len(node.elements) - 1
        after = _newline("" if last else inside)
        entries.append(element.with_changes(comma=cst.Comma(whitespace_after=after)))
    return node.with_changes(
        elements=entries,
        lbrace=cst.LeftCurlyBrace(whitespace_after=_newline(inside)),
        rbrace=cst.RightCurlyBrace(),
    )


def _broken_list(node: cst.List, inside: str, before: str) -> cst.List:
    """A list with each element on a line of its own."""
    elements = []
    for number, element in enumerate(node.elements):
        last = number == len(node.elements) - 1
        after = _newline(before if last else before + inside)
        elements.append(element.with_changes(comma=cst.Comma(whitespace_after=after)))
    return node.with_changes(
        elements=elements,
        lbracket=cst.LeftSquareBracket(whitespace_after=_newline(before + inside)),
        rbracket=cst.RightSquareBracket(),
    )


def _broken_condition(node: cst.IfExp, inside: str, room: int) -> cst.IfExp:
    """A conditional expression with each of its parts on a line of its own."""
    below = _newline(inside)
    first, other = node.body, node.orelse
    width = len(inside) + _longest(cst.Module([]).code_for_node(first))
    if isinstance(first, cst.Call) and first.args and width > room:
        first = _broken_call(first, inside, room=room, one_line=True, before=inside)
    if isinstance(other, cst.IfExp) and not other.lpar:
        other = other.with_changes(
            whitespace_before_if=below, whitespace_before_else=below
        )
    return node.with_changes(
        lpar=[cst.LeftParen(whitespace_after=below)],
        body=first,
        orelse=other,
        whitespace_before_if=below,
        whitespace_before_else=below,
        rpar=[cst.RightParen(whitespace_before=_newline(""))],
    )


def _newline(indent: str) -> cst.ParenthesizedWhitespace:
    return cst.ParenthesizedWhitespace(
        first_line=cst.TrailingWhitespace(newline=cst.Newline()),
        indent=True,
        last_line=cst.SimpleWhitespace(indent),
    )


def _fits(call: cst.Call, indent: str, room: int) -> bool:
    """The lines of a broken call's arguments are short enough."""
    inner = _today(cst.Module([]).code_for_node(call)).splitlines()[1:-1]
    return all(len(indent) + len(line.strip()) <= room for line in inner)


def _broken_call(
    call: cst.Call, inside: str, *, room: int, one_line: bool, before: str = ""
) -> cst.Call:
    """Arguments on a line below the call, or on one line each.

    ``before`` is the depth of the call's own line below its statement; an argument
    that does not fit into ``room`` columns is broken in turn.
    """
    args = []
    deeper = before + inside
    for number, argument in enumerate(call.args):
        last = number == len(call.args) - 1
        comma: cst.Comma | cst.MaybeSentinel
        if last:
            comma = cst.MaybeSentinel.DEFAULT if one_line else cst.Comma()
            after: cst.BaseParenthesizableWhitespace = _newline(before)
        else:
            space = cst.SimpleWhitespace(" ") if one_line else _newline(deeper)
            comma = cst.Comma(whitespace_after=space)
            after = cst.SimpleWhitespace("")
        if last and not one_line:
            comma = cst.Comma(whitespace_after=_newline(before))
            after = cst.SimpleWhitespace("")
        value = argument.value
        width = len(_today(code_of(cst.Module([]), argument)).rstrip(", \n"))
        too_long = len(deeper) + width + 1 > room
        if too_long and not one_line and isinstance(value, cst.Call) and value.args:
            for together in (True, False):
                broken = _broken_call(
                    value, inside, room=room, one_line=together, before=deeper
                )
                if _fits(broken, deeper + inside, room):
                    break
            argument = argument.with_changes(value=broken)
        if too_long and not one_line and isinstance(value, cst.List) and value.elements:
            listed = _broken_list(value, inside, deeper)
            argument = argument.with_changes(value=listed)
        args.append(argument.with_changes(comma=comma, whitespace_after_arg=after))
    return call.with_changes(args=args, whitespace_before_args=_newline(deeper))
