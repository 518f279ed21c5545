"""Arguments that arg_scopes of tf.contrib and slim give to the layers within."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...names.ast_nodes import parents_of
from ...names.ast_nodes import walk as walk_ast
from .code import Refused, dotted, parsed
from .layers import SIGNATURES, Plain, Reader, contrib_name, dictionary
from .text import (
    Text,
    attribute_of_self,
    bound_names,
    names_in,
    parameters_of,
    substituted,
)

if TYPE_CHECKING:
    from .classes import Lifted, Module

__all__ = ["Scope", "find_outer_scopes", "scopes_of"]

Symbol = Callable[[str], "str | None"]
_ARG_SCOPES = ("tf.contrib.framework.arg_scope", "tf.contrib.slim.arg_scope")


class Scope(NamedTuple):
    """Functions of contrib, and arguments that they get: source text by name."""

    functions: frozenset[str]
    given: Mapping[str, str]


def scopes_of(withs: Sequence[ast.With], lifted: Lifted) -> list[Scope]:
    """The arg_scopes among blocks, as the code around says their arguments."""
    found: list[Scope] = []
    for block in withs:
        for item in block.items:
            node = item.context_expr
            if isinstance(node, ast.Call):
                function = lifted.of(node.func)
                if lifted.symbol(function) in _ARG_SCOPES:
                    found += _scopes(node, lifted.of, lifted.module, lifted.symbol)
    return found


def _scopes(
    node: ast.Call, of: Callable[[ast.AST], str], module: Module, symbol: Symbol
) -> list[Scope]:
    """The scopes that a call of `arg_scope` enters."""
    first = node.args[0] if len(node.args) == 1 else None
    if isinstance(first, ast.Call) and not node.keywords:
        return _made_by(first, of, module, symbol)
    if not isinstance(first, (ast.List, ast.Tuple)):
        raise Refused(f"`{of(node)}` does not name its functions")
    if any(one.arg is None for one in node.keywords):
        raise Refused(f"`{of(node)}` with `**` arguments")
    names = {contrib_name(symbol(of(one))) for one in first.elts}
    given = {str(one.arg): of(one.value) for one in node.keywords}
    return [Scope(frozenset(one for one in names if one), given)]


def _made_by(
    call: ast.Call, of: Callable[[ast.AST], str], module: Module, symbol: Symbol
) -> list[Scope]:
    """The scopes of a function that enters some and returns the last."""
    function = module.function(dotted(call.func))
    shown = of(call)
    if function is None:
        raise Refused(f"`{shown}` gives a scope that is not seen")
    names = parameters_of(function)
    if len(call.args) > len(names) or any(k.arg not in names for k in call.keywords):
        raise Refused(f"`{shown}` gives a scope that is not seen")
    text: Text = module.text
    defaults = function.args.defaults
    values = dict(zip(names[::-1], map(text.of, defaults[::-1]), strict=False))
    values |= dict(zip(names, map(of, call.args), strict=False))
    values |= {str(one.arg): of(one.value) for one in call.keywords}

    def said(node: ast.AST) -> str:
        return substituted(text.of(node), values)

    found: list[Scope] = []
    pending = list(function.body)
    while pending:
        one = pending.pop(0)
        if isinstance(one, ast.Assign) and len(one.targets) == 1:
            values[text.of(one.targets[0])] = said(one.value)
        elif isinstance(one, ast.With) and len(one.items) == 1:
            inner = one.items[0].context_expr
            if not isinstance(inner, ast.Call) or (
                symbol(text.of(inner.func)) not in _ARG_SCOPES
            ):
                raise Refused(f"`{shown}` gives a scope that is not seen")
            found += _scopes(inner, said, module, symbol)
            pending = [*one.body, *pending]
        elif isinstance(one, ast.Return):
            return found
        elif not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
            break
    raise Refused(f"`{shown}` gives a scope that is not seen")


# -- scopes around the calls of a class


def find_outer_scopes(module: Module) -> dict[str, dict[str, str]]:
    """Tells each class of the scopes around its calls.

    Returns the flags that callers have to hand on: by class and by caller.
    """
    by_name = {one.name: one for one in module.classes}
    flags: dict[str, dict[str, str]] = {}
    done: set[str] = set()

    def visit(lifted: Lifted) -> None:
        if lifted.name in done:
            return
        done.add(lifted.name)
        around: list[list[Scope]] = []
        for caller in module.classes:
            for attribute, value in caller.attributes().items():
                made = walk_ast(value, ast.Call) + caller.appended(attribute)
                if lifted.name not in [dotted(one.func) for one in made]:
                    continue
                visit(caller)
                for use in caller.uses(attribute):
                    own = scopes_of(use.withs, caller)
                    scopes = [
                        *caller.outer,
                        *(_seen_within(one, caller) for one in own),
                    ]
                    around.append(_kept(scopes, lifted, by_name))
                    _flag(flags, lifted, caller.name, own, caller)
        around += _in_functions(module, lifted, by_name, flags)
        if any(one != around[0] for one in around):
            raise Refused(f"`{lifted.name}` is called in several arg_scopes")
        lifted.outer = around[0] if around else []

    for one in module.classes:
        visit(one)
    for one in module.classes:
        _check_in_file(one, by_name)
    return {name: found for name, found in flags.items() if by_name[name].outer}


def _check_in_file(caller: Lifted, by_name: Mapping[str, Lifted]) -> None:
    """Refuses scopes around what a class of another file makes: it would miss them."""
    for attribute, name in _foreign(caller, by_name):
        if caller.outer or any(
            scopes_of(use.withs, caller) for use in caller.uses(attribute)
        ):
            raise Refused(f"an arg_scope is around `{name}` of another file")


def _foreign(
    lifted: Lifted, by_name: Mapping[str, Lifted]
) -> Iterator[tuple[str, str]]:
    """Attributes that classes of other files make, and the names of these."""
    for attribute, value in lifted.attributes().items():
        made = walk_ast(value, ast.Call)
        for one in (*made, *lifted.appended(attribute)):
            name = dotted(one.func)
            known = name in by_name or name.startswith(("tf_keras.", "self."))
            is_class = name.rpartition(".")[2][:1].isupper()
            if is_class and not known and lifted.symbol(name) is None:
                yield attribute, name


def _in_functions(
    module: Module,
    lifted: Lifted,
    by_name: Mapping[str, Lifted],
    flags: dict[str, dict[str, str]],
) -> list[list[Scope]]:
    """Scopes around the calls of a class's objects in functions."""
    above = parents_of(ast.Module(module.text.body, []))
    found: list[list[Scope]] = []
    for made in above:
        if not isinstance(made, ast.Call) or dotted(made.func) != lifted.name:
            continue
        statement = above[made]
        around: ast.AST = made
        blocks: list[ast.With] = []
        while around in above and not isinstance(around, ast.FunctionDef):
            around = above[around]
            if isinstance(around, ast.With):
                blocks.insert(0, around)
        if not isinstance(around, ast.FunctionDef) or around.name == "__init__":
            continue
        hidden = bound_names(around)

        def symbol(code: str, hidden: set[str] = hidden) -> str | None:
            return module.symbol(code, hidden)

        own: list[Scope] = []
        for block in blocks:
            for item in block.items:
                node = item.context_expr
                if (
                    isinstance(node, ast.Call)
                    and symbol(module.text.of(node.func)) in _ARG_SCOPES
                ):
                    own += _scopes(node, module.text.of, module, symbol)
        if not own or not isinstance(statement, ast.Assign):
            found.append([])
            continue
        scopes = [_global(one, hidden, lifted.name) for one in own]
        found.append(_kept(scopes, lifted, by_name))
        _flag(flags, lifted, around.name, own, Plain())
    return found


def _flag(
    flags: dict[str, dict[str, str]],
    lifted: Lifted,
    caller: str,
    scopes: Sequence[Scope],
    reader: Reader,
) -> None:
    """Notes what a caller says of training in a scope."""
    for scope in scopes:
        for name, code in scope.given.items():
            if name == "normalizer_params":
                inside = dictionary(code, reader)
                code = inside.get("is_training", "")
            elif name != "is_training":
                continue
            if code and code not in ("True", "False"):
                flags.setdefault(lifted.name, {})[caller] = code


def _seen_within(scope: Scope, caller: Lifted) -> Scope:
    """A scope with arguments that mean the same in another class."""
    given: dict[str, str] = {}
    for name, code in scope.given.items():
        if name == "is_training":
            given[name] = _flag_text(code)
        elif name == "normalizer_params":
            inside = dictionary(code, caller)
            given[name] = _params(
                {
                    key: _flag_text(value)
                    if key == "is_training"
                    else caller.for_init(value, f"`{key}`")
                    for key, value in inside.items()
                }
            )
        else:
            given[name] = caller.for_init(caller.value(code), f"`{name}`")
    return _global(Scope(scope.functions, given), caller.init_names, caller.name)


def _global(scope: Scope, hidden: set[str], where: str) -> Scope:
    """The same scope, if its arguments depend on nothing local."""
    given: dict[str, str] = {}
    for name, code in scope.given.items():
        if name == "is_training":
            given[name] = _flag_text(code)
            continue
        if name == "normalizer_params":
            inside = dictionary(code, Plain())
            inside = {
                key: _flag_text(value) if key == "is_training" else value
                for key, value in inside.items()
            }
            code = _params(inside)
        for one in names_in(parsed(code)):
            if one.id in hidden and one.id != "training":
                raise Refused(f"an arg_scope around `{where}` depends on `{one.id}`")
        given[name] = code
    return Scope(scope.functions, given)


def _flag_text(code: str) -> str:
    return code if code in ("True", "False") else "training"


def _params(inside: Mapping[str, str]) -> str:
    return f"dict({', '.join(f'{key}={value}' for key, value in inside.items())})"


def _kept(
    scopes: Sequence[Scope], lifted: Lifted, classes: Mapping[str, Lifted]
) -> list[Scope]:
    """Scopes of functions that a class calls, or the classes that it is made of."""
    names = _functions(lifted, classes, set())
    return [one for one in scopes if one.functions & names]


def _functions(
    lifted: Lifted, classes: Mapping[str, Lifted], seen: set[str]
) -> set[str]:
    if lifted.name in seen:
        return set()
    seen.add(lifted.name)
    found: set[str] = set()
    for node in walk_ast(lifted.tree):
        if (
            isinstance(node, (ast.Name, ast.Attribute))
            and attribute_of_self(node) is None
        ):
            name = contrib_name(lifted.symbol(dotted(node)))
            if name in SIGNATURES:
                found |= {name, "batch_norm", "layer_norm"}
        if isinstance(node, ast.Name) and node.id in classes:
            found |= _functions(classes[node.id], classes, seen)
    if any(_foreign(lifted, classes)):
        found |= {*SIGNATURES}
    return found
