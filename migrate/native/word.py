"""One word of TF 1 in a file, and what all of its handlers do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst

from ..symbols.scopes import Use
from .page import Page

__all__ = ["Handler", "Word", "arguments", "is_none", "named", "taken"]


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
    page: Page, call: cst.Call, parameters: Sequence[str]
) -> dict[str, cst.Arg] | None:
    """The arguments of a call by parameter; refuses what cannot be told."""
    found: dict[str, cst.Arg] = {}
    for index, arg in enumerate(call.args):
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
        if index >= since and arg.keyword is None:
            name = next(name for name, one in args.items() if one is arg)
            start = page.outer(arg.value)[0]
            page.put_span(start, start, f"{name}=")


def is_none(node: cst.BaseExpression | None) -> bool:
    """The argument is left out, or is None."""
    return node is None or (isinstance(node, cst.Name) and node.value == "None")
