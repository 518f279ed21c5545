"""Pieces of source code, as tables give them, and what tables need to read source."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...names.ast_nodes import expression_of
from ...names.ast_nodes import walk as walk_ast
from ...names.dotted import dotted_node
from ...names.resolver import Resolver

# Parameter name -> source text of the argument; absent parameters have their default.
Arguments = Mapping[str, str]

# What the text of a function that makes layers says.
LAYER_WORDS = re.compile(r"\blayers\.|\bslim\.|\bget_variable\b|_rnn\b|Cell\b")

# The value of an expression that is no literal.
UNKNOWN: Any = object()


@dataclass(frozen=True)
class Code:
    """An expression in the user's program.

    `tf.` and `tf_keras.` stand for these modules; a later step gives them the names
    that the program has for them.
    """

    text: str
    # Names that it takes from training.py.
    training: frozenset[str] = frozenset()
    # Differences in numbers that a user must be told.
    notes: tuple[str, ...] = ()


class Refused(Exception):
    """A program that cannot become native; str() is a reason to act on."""


def call(function: str, *positional: str, **named: str | None) -> str:
    """Source of a call; keywords whose value is None are left out."""
    keywords = (f"{name}={value}" for name, value in named.items() if value is not None)
    return f"{function}({', '.join((*positional, *keywords))})"


def parsed(text: str) -> ast.expr:
    """The expression as a tree."""
    return expression_of(f"({text}\n)")


def literal(text: str | None) -> Any:
    """The value of a literal, or UNKNOWN."""
    if text is None:
        return UNKNOWN
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return UNKNOWN


def is_absent(text: str | None) -> bool:
    """The argument is not there, or is None."""
    return text is None or text.strip() == "None"


def dotted(node: ast.expr) -> str:
    """`tf.train.AdamOptimizer` of such an expression, or an empty text."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""


def symbol_of(resolver: Resolver, node: ast.AST) -> str | None:
    """TensorFlow's name of what an expression stands for, or None."""
    name = dotted(node) if isinstance(node, ast.expr) else ""
    return resolver.resolve(dotted_node(name)) if name else None


def grouped(text: str) -> str:
    """The expression, in brackets where an operator beside it would tear it apart."""
    held = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)
    return text if isinstance(parsed(text), held) else f"({text})"


def repeatable(text: str) -> bool:
    """Whether the expression gives the same when it is evaluated twice."""
    return all(
        dotted(node.func).startswith("tf.") | (dotted(node.func) == "len")
        and not dotted(node.func).startswith(
            ("tf.random", "tf.nn.dropout", "tf.layers")
        )
        for node in walk_ast(parsed(text), ast.Call)
    )


def arguments_of(
    node: ast.Call, names: Sequence[str], function: str
) -> dict[str, ast.expr]:
    """Arguments of a call by the names of parameters; raises Refused."""
    if any(isinstance(one, ast.Starred) for one in node.args):
        raise Refused(f"`{function}` with `*` arguments")
    if len(node.args) > len(names):
        raise Refused(f"`{function}` with {len(node.args)} arguments")
    given = dict(zip(names, node.args, strict=False))
    for one in node.keywords:
        if one.arg is None or one.arg not in names:
            raise Refused(f"`{function}` with the argument `{one.arg or '**'}`")
        given[one.arg] = one.value
    return given


def matched(node: ast.Call, parameters: Sequence[str]) -> dict[str, str]:
    """Parameter name -> source of the argument, for the arguments of a call."""
    given = arguments_of(node, parameters, dotted(node.func))
    return {name: ast.unparse(value) for name, value in given.items()}
