"""Helpers that make a variable of a shape stand where they are called."""

from __future__ import annotations

import ast
import re

from ...names.ast_nodes import parents_of
from ...project.facts import ParsedModule, ProjectFacts
from .code import dotted, literal, symbol_of
from .losses import COLLECTION
from .text import Text, bound_names, loads_in, names_in, parameters_of

_VARIABLES = ("tf.Variable", "tf.get_variable")
_MOST = 100
_ADDING = re.compile(r"(^|\.)add_to_collection$")
_KEYS = re.compile(rf"{COLLECTION}|[\w.]*REGULARIZATION_LOSSES|'regularization_losses'")


def with_variables_inlined(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with variables in the place of calls like `weight_variable([3, 4])`.

    Such a function makes a variable of its arguments and gives it. In a plain class the
    variable is a weight, which is made before there is a function to call.
    """
    if "Variable(" not in parsed.source.text and "variable(" not in parsed.source.text:
        return parsed
    for _ in range(_MOST):
        code = _once(parsed, facts)
        if code is None:
            break
        parsed = facts.module_of(parsed.source.with_text(code))
    return parsed


def _once(parsed: ParsedModule, facts: ProjectFacts) -> str | None:
    """The code with one function in the places of its calls; None if there is none."""
    text = Text(parsed.source.text)
    module = ast.Module(text.body, [])
    above = parents_of(module)
    others = [*facts.texts_of_importers(parsed.path)]
    for function in text.body:
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            continue
        value = _variable(parsed, text, function)
        uses = [one for one in names_in(module) if one.id == function.name]
        calls = [above[one] for one in uses]
        word = re.compile(rf"\b{function.name}\b")
        if value is None or not uses or any(map(word.search, others)):
            continue
        edits: list[tuple[ast.Call, str]] = []
        for use, call in zip(uses, calls, strict=True):
            if isinstance(call, ast.Call) and call.func is use:
                code = _said(text, function, value, call, above)
                if code is not None:
                    edits.append((call, code))
        if len(edits) != len(uses):
            continue
        for call, code in edits:
            text.put(call, code)
        text.cut(function)
        penalized = any(_penalty(function, one) is not None for one in function.body)
        return _without_collection(text.done()) if penalized else text.done()
    return None


def _variable(
    parsed: ParsedModule, text: Text, function: ast.FunctionDef
) -> ast.Call | None:
    """What a function returns, if it makes a variable and does nothing else."""
    *before, last = function.body
    value = last.value if isinstance(last, ast.Return) else None
    if isinstance(value, ast.Name):
        made = [o for o in before if isinstance(o, ast.Assign) and _names(o, value.id)]
        value = made[0].value if len(made) == 1 else None
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        return None
    if not isinstance(value, ast.Call):
        return None
    if symbol_of(parsed.resolver, value.func) not in _VARIABLES:
        return None
    for one in before:
        docstring = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        named = (
            isinstance(one, ast.Assign)
            and len(one.targets) == 1
            and isinstance(one.targets[0], ast.Name)
        )
        if not (docstring or named or _penalty(function, one) is not None):
            return None
    return value


def _names(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and [*map(dotted, statement.targets)] == [
        name
    ]


def _penalty(function: ast.FunctionDef, statement: ast.stmt) -> ast.expr | None:
    """The factor of ``if decay: tf.add_to_collection('losses', decay * l2_loss(v))``.

    The collection may be that of regularizers, too.
    """
    last = function.body[-1]
    variable = dotted(last.value) if isinstance(last, ast.Return) and last.value else ""
    lines = [statement]
    if isinstance(statement, ast.If):
        lines = [] if statement.orelse else statement.body
    local = {dotted(o.targets[0]): o.value for o in lines if isinstance(o, ast.Assign)}
    if not lines or len(local) != len(lines) - 1 or not variable:
        return None
    call = lines[-1].value if isinstance(lines[-1], ast.Expr) else None
    if not isinstance(call, ast.Call) or not _ADDING.search(dotted(call.func)):
        return None
    if len(call.args) != 2 or not _KEYS.fullmatch(ast.unparse(call.args[0])):
        return None
    value = local.get(dotted(call.args[1]), call.args[1])
    parts: list[ast.expr] = []
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        parts = [value.left, value.right]
    elif isinstance(value, ast.Call) and dotted(value.func).endswith(
        (".multiply", "mul")
    ):
        parts = value.args
    norm = re.compile(rf"[\w.]*l2_loss\({variable}\)")
    scales = [one for one in parts if not norm.fullmatch(ast.unparse(one))]
    return scales[0] if len(parts) == 2 and len(scales) == 1 else None


def _said(
    text: Text,
    function: ast.FunctionDef,
    value: ast.Call,
    call: ast.Call,
    above: dict[ast.AST, ast.AST],
) -> str | None:
    """The variable for the arguments of a call."""
    names = parameters_of(function)
    if len(call.args) > len(names) or any(k.arg not in names for k in call.keywords):
        return None
    if any(isinstance(one, ast.Starred) for one in call.args):
        return None
    defaults = function.args.defaults
    given = dict(zip(names[::-1], defaults[::-1], strict=False))
    given |= dict(zip(names, call.args, strict=False))
    given |= {str(one.arg): one.value for one in call.keywords}
    if set(given) != set(names):
        return None
    caller: ast.AST = call
    while caller in above and not isinstance(caller, ast.FunctionDef):
        caller = above[caller]
    hidden = bound_names(caller) if isinstance(caller, ast.FunctionDef) else set()
    local = {
        one.targets[0].id: one.value  # type: ignore[attr-defined]
        for one in function.body
        if isinstance(one, ast.Assign)
    }
    if sum(isinstance(one, ast.Assign) for one in function.body) != len(local):
        return None
    if {*local} & {*names}:
        return None

    def said(node: ast.expr) -> str | None:
        part = Text(f"({text.of(node)}\n)")
        for one in names_in(part.body[0]):
            if one.id in given:
                part.put(one, text.of(given[one.id]))
            elif one.id in local:
                inner = said(local[one.id])
                if inner is None:
                    return None
                part.put(one, inner)
            elif one.id in hidden:
                return None
        return part.done()[1:-2]

    more = ""
    parts: list[ast.expr] = [one for one in local.values() if one is not value]
    for statement in function.body:
        scale = _penalty(function, statement)
        if scale is not None:
            parts.append(scale)
            factor = said(scale)
            if factor is None:
                return None
            if factor == "None" or literal(factor) == 0:
                parts.remove(scale)
            else:
                module = dotted(value.func).rpartition(".")[0]
                more = f", regularizer={module}.contrib.layers.l2_regularizer({factor})"
    reads = [one.id for part in (value, *parts) for one in loads_in(part)]
    simple = (ast.Name, ast.Constant, ast.List, ast.Tuple)
    for name in (*given, *local):
        held = given.get(name, local.get(name))
        if reads.count(name) > 1 and not isinstance(held, simple):
            return None
    code = said(value)
    return f"{code[:-1].rstrip().rstrip(',')}{more})" if code and more else code


def _without_collection(code: str) -> str:
    """The code with penalties that regularizers give, not the collection of losses."""
    if not re.search(rf"get_collection\(\s*({COLLECTION})", code):
        return code
    module = re.search(r"(\w+)\.get_collection\(", code)
    tf = module[1] if module else "tf"
    both = f"{tf}.losses.get_losses() + {tf}.losses.get_regularization_losses()"
    return re.sub(rf"{tf}\.get_collection\(\s*({COLLECTION})\s*\)", both, code)
