"""One word of TF 1 in a file, and what all of its handlers do."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import libcst as cst

from ..project.text import Edit, apply_edits
from ..symbols.scopes import Use
from .code import Code
from .page import Page

__all__ = [
    "Handler",
    "Word",
    "arguments",
    "is_none",
    "named",
    "placed",
    "plain",
    "root_of",
    "taken",
]


@dataclass(frozen=True)
class Word:
    """A chain that means a symbol; ``call`` is the call of it, if it is called.

    ``stays`` says that the statement which binds it is renamed, and the chain is not.
    """

    node: cst.Name | cst.Attribute
    symbol: str
    use: Use
    call: cst.Call | None
    stays: bool

    def spell(self, page: Page, text: str) -> None:
        """Gives the word another name."""
        if not self.stays:
            page.rename(self.node, text)


Handler = Callable[[Page, Word], None]


def taken(name: str, adjust: Handler | None = None) -> Handler:
    """A word for which training.py has a name of its own."""

    def handle(page: Page, word: Word) -> None:
        if word.stays:
            page.words.add(name)
        else:
            word.spell(page, page.take(name))
        if adjust is not None:
            adjust(page, word)

    return handle


def arguments(
    page: Page,
    call: cst.Call,
    parameters: Sequence[str],
    gone: Collection[cst.Arg] = (),
) -> dict[str, cst.Arg] | None:
    """The arguments of a call by parameter, unless some are hidden by stars."""
    found: dict[str, cst.Arg] = {}
    for index, arg in enumerate(one for one in call.args if one not in gone):
        if arg.star:
            return None
        if arg.keyword is not None:
            found[arg.keyword.value] = arg
        elif index < len(parameters):
            found[parameters[index]] = arg
        else:
            return None
    return found


def named(page: Page, call: cst.Call, args: dict[str, cst.Arg], since: int) -> None:
    """Gives keywords to positional arguments from a place on."""
    for index, arg in enumerate(call.args):
        name = next((name for name, one in args.items() if one is arg), None)
        if index >= since and arg.keyword is None and name is not None:
            start = page.outer(arg.value)[0]
            page.put_span(start, start, f"{name}=")


def is_none(node: cst.BaseExpression | None) -> bool:
    """The argument is left out, or is None."""
    return node is None or (isinstance(node, cst.Name) and node.value == "None")


def root_of(node: cst.BaseExpression) -> cst.Name:
    """The first name of a chain."""
    while isinstance(node, cst.Attribute):
        node = node.value
    assert isinstance(node, cst.Name)
    return node


def plain(page: Page, node: cst.CSTNode) -> str:
    """The text of an expression in which TensorFlow is called tf."""
    start, end = page.outer(node)
    edits = []
    for use in page.scopes.uses:
        first, last = page.span(use.node)
        symbol = page.symbol(use.node)
        if first >= start and last <= end and symbol is not None and use.root:
            edits.append(Edit(first - start, last - start, symbol))
    return apply_edits(page.text[start:end], edits)


def placed(page: Page, node: cst.CSTNode, code: Code) -> None:
    """Puts an expression of the tables in the place of a node."""
    text = code.text
    if re.search(r"\btf_keras\.", text):
        text = re.sub(r"\btf_keras\.", f"{page.keras()}.", text)
    if re.search(r"(?<![\w.])tf\.", text):
        inner = page.tf(node, "keep").rpartition(".")[0]
        text = re.sub(r"(?<![\w.])tf\.", f"{inner}.", text)
    for name in code.training:
        text = re.sub(rf"(?<![\w.]){name}\b", page.take(name), text)
    for one in code.notes:
        page.note(node, one)
    page.put(node, text)
