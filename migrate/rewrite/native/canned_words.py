"""Canned Estimators, whose models come to stand in the program."""

from __future__ import annotations

import libcst as cst

from .canned import SIGNATURES, SIGNATURES_2, canned
from .code import Refused
from .page import Page
from .word import Handler, Word, arguments, placed, plain, root_of

__all__ = ["WORDS"]

# What is written for arguments that stay as they are, with their own words changed.
_STAND = {"model_dir": "MODEL_DIR_ARGUMENT", "config": "CONFIG_ARGUMENT"}


def _canned(page: Page, word: Word) -> None:
    signatures = SIGNATURES_2 if page.for_tf2 else SIGNATURES
    call = word.call
    args = None if call is None else arguments(page, call, signatures[word.symbol])
    if call is None or args is None or word.stays:
        page.refuse(word.node, f"`{word.symbol}` ({{}}) is not called in plain sight")
        return
    given: dict[str, str] = {}
    kept: dict[str, cst.CSTNode] = {}
    for name, arg in args.items():
        value: cst.BaseExpression = arg.value
        if name in _STAND:
            given[name] = _STAND[name]
            kept[_STAND[name]] = value
            continue
        if name.endswith("optimizer") or name == "head":
            value = page.value(value) or value
            if _is_made_elsewhere(page, value):
                why = f"whose {name} is not made in its call"
                page.refuse(word.node, f"`{word.symbol}` ({{}}) {why}")
                return
        given[name] = plain(page, value)
    texts = [one.source.text for one in (page.parsed, *page.beside)]
    rows = any("embedding" in text for text in texts)
    shared = any("shared_embedding_column" in text for text in texts)
    try:
        code = canned(
            word.symbol, given, tf2=page.for_tf2, rows=rows, shared_columns=shared
        )
    except Refused as refused:
        page.refuse(word.node, f"{refused} ({{}})")
        return
    page.replaced.add(root_of(word.node))
    for name, arg in args.items():
        if name.endswith("optimizer") or name == "head":
            page.drop_made(arg.value)
    placed(page, call, code, kept)


def _is_made_elsewhere(page: Page, value: cst.BaseExpression) -> bool:
    """A function makes it that no file of the program defines."""
    made = value.body if isinstance(value, cst.Lambda) else value
    if not isinstance(made, cst.Call) or not isinstance(made.func, cst.Name):
        return False
    if page.symbol(made.func) is not None:
        return False
    name = made.func.value
    return not any(
        isinstance(one, cst.FunctionDef) and one.name.value == name
        for parsed in (page.parsed, *page.beside)
        for one in parsed.nodes
    )


WORDS: dict[str, Handler] = dict.fromkeys(SIGNATURES, _canned)
