"""One word of TF 1 in a file, and what all of its handlers do."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from ...names.scopes import Use
from ...project.text import Edit, apply_edits
from .code import Code
from .page import Page


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


class Odd(Exception):
    """What a class or a function does that has no native form, and where."""

    def __init__(self, node: cst.CSTNode, why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


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


def in_sight(
    page: Page,
    word: Word,
    parameters: Sequence[str],
    needed: str = "",
    *,
    may_stay: bool = False,
) -> tuple[cst.Call, dict[str, cst.Arg]]:
    """A word's call and its arguments by parameter; raises Odd."""
    call = word.call
    args = None if call is None else arguments(page, call, parameters)
    stays = word.stays and not may_stay
    if call is None or args is None or stays or (needed and needed not in args):
        raise not_seen(word)
    return call, args


def not_seen(word: Word) -> Odd:
    """Says that a word stands where it is not seen what it is given."""
    return Odd(word.node, f"`{word.symbol}` ({{}}) is not called in plain sight")


def keyword(arg: cst.Arg) -> str:
    """The keyword of an argument, or nothing."""
    return arg.keyword.value if arg.keyword is not None else ""


def keywords(call: cst.Call) -> list[str]:
    """The keywords that a call has."""
    return [arg.keyword.value for arg in call.args if arg.keyword is not None]


def named(page: Page, call: cst.Call, args: dict[str, cst.Arg], since: int) -> None:
    """Gives keywords to positional arguments from a place on."""
    for index, arg in enumerate(call.args):
        name = next((name for name, one in args.items() if one is arg), None)
        if index >= since and arg.keyword is None and name is not None:
            page.put_before(arg.value, f"{name}=")


def moved(name: str) -> Handler:
    """A word that has another name in today's TensorFlow."""

    def handle(page: Page, word: Word) -> None:
        word.spell(page, page.tf(word.node, name))

    return handle


def nothing(page: Page, word: Word) -> None:
    """A word that is changed with what stands around it."""


_FLAG = re.compile(r"(tf(?:\.app)?\.flags)(\.FLAGS\b.*)")


def plain(page: Page, node: cst.CSTNode) -> str:
    """The text of an expression in which TensorFlow is called tf."""
    start, end = page.outer(node)
    edits = []
    for use in page.scopes.uses:
        first, last = page.span(use.node)
        symbol = page.symbol(use.node)
        if first < start or last > end or symbol is None or use.root is None:
            continue
        flag = _FLAG.match(symbol)
        if flag is not None and page.symbol(use.root) == f"{flag[1]}.FLAGS":
            continue  # FLAGS, whose statement is changed
        if flag is not None and flags_are_parsed(page):
            symbol = f"{page.bring('absl', 'flags', 'absl_flags')}{flag[2]}"
        edits.append(Edit(first - start, last - start, symbol))
    return apply_edits(page.text[start:end], edits)


def placed(
    page: Page,
    node: cst.CSTNode,
    code: Code,
    kept: Mapping[str, cst.CSTNode] | None = None,
) -> None:
    """Puts an expression of the tables in the place of a node.

    ``kept`` are words in it for which nodes of the old text stand.
    """
    text = spelled(page, node, code)
    marks = "|".join(map(re.escape, kept or ()))
    pieces = re.split(f"({marks})", text) if kept else [text]
    page.put(node, *((kept or {}).get(piece, piece) for piece in pieces))


def spelled(page: Page, node: cst.CSTNode, code: Code) -> str:
    """An expression of the tables, as a file writes it at a place."""
    text = code.text.replace("\n", page.newline + page.indent(node))
    if re.search(r"\btf_keras\.", text):
        text = re.sub(r"\btf_keras\.", f"{page.keras()}.", text)
    if re.search(r"(?<![\w.])tf\.", text):
        inner = page.tf(node, "keep").rpartition(".")[0]
        text = re.sub(r"(?<![\w.])tf\.", f"{inner}.", text)
    for name in code.training:
        page.words.add(name)
        named = rf"(?<![\w.]){name}\b(?!=)"  # and no keyword that asks for a part
        if re.search(named, text):
            text = re.sub(named, page.take(name), text)
    for one in code.notes:
        page.note(node, one)
    return text


def flags_are_parsed(page: Page) -> bool:
    """Something runs the program by app.run, and no flag is read before."""
    runs = any(
        one.resolver.resolve(use.node) == "tf.app.run"
        or one.resolver.qualified(use.node) == "absl.app.run"
        for one in page.files
        for use in one.resolver.scopes.uses
    )
    return runs and not any(
        (page.symbol(use.node) or "").partition("flags.FLAGS.")[2]
        and use.scope is page.scopes.module_scope
        for use in page.scopes.uses
    )
