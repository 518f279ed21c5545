"""The rungs below layers: kept forward code, and a model_fn that is kept whole."""

from __future__ import annotations

import re

import libcst as cst

from ..code.tree import Tree
from ..program import Blocker
from ..sites import Blocked, Program
from .kept_checks import KERAS_OBJECT
from .kept_model_fn import recognise_kept_model_fn
from .program import recognise_model_fn

__all__ = ["kept_model_fn", "model_fn_program"]

# What kept code cannot have, but a lifted model may.
_CONTRIB_LAYER = re.compile(r"`tf\.contrib\.layers\.\w+` has no home")


def model_fn_program(tree: Tree, place: cst.Call, *, whole: bool = True) -> Program:
    """A lifted model, or one that keeps its forward code, or the whole model_fn.

    Where none can be, both reasons are told. But layers of Keras and contrib are
    never kept, and hooks fetch the same from both: for them the first is enough.
    """
    try:
        return _model(tree, place)
    except Blocked as stop:
        if not whole:
            raise
        return kept_model_fn(tree, place, stop.blocker)


def kept_model_fn(tree: Tree, place: cst.Call, why: Blocker) -> Program:
    """A program around its whole model_fn, which ``why`` keeps from better."""
    try:
        return recognise_kept_model_fn(tree, place, why.reason)
    except Blocked as stop:
        raise _all(why, stop.blocker) from None


def _model(tree: Tree, place: cst.Call) -> Program:
    try:
        return recognise_model_fn(tree, place)
    except Blocked as stop:
        try:
            return recognise_model_fn(tree, place, kept=stop.blocker.reason)
        except Blocked as second:
            of_hook = stop.blocker.rule == "TFM116"
            why = second.blocker.reason
            if of_hook or why.endswith(KERAS_OBJECT) or _CONTRIB_LAYER.search(why):
                raise stop from None
            raise _both(stop.blocker, second.blocker) from None


def _all(first: Blocker, whole: Blocker) -> Blocked:
    """Why nothing of a program can be kept in a loop."""
    reason = first.reason
    kept = whole.reason.removeprefix("model_fn: ")
    # What a hook, a strategy or an input asks stands in the way of any loop.
    if whole.rule == "TFM103" and kept not in reason:
        reason += f"; nor can the whole model_fn: {kept}"
    return Blocked(first.rule, first.line, reason)


def _both(lifting: Blocker, keeping: Blocker) -> Blocked:
    """Why a model_fn becomes neither layers nor a loop around its own code."""
    if lifting.reason == keeping.reason:
        return Blocked(lifting.rule, lifting.line, lifting.reason)
    other = keeping.reason.removeprefix("model_fn: ")
    reason = f"{lifting.reason}; its code cannot stay as it is either: {other}"
    return Blocked(lifting.rule, lifting.line, reason)
