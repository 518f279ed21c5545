"""Scopes of layers that are named by their classes, as TensorFlow 1 spelled them."""

from __future__ import annotations

import functools
import re
import sys
from typing import Any

NUMBERED = re.compile(r"(?P<base>.+?)(?P<number>_\d+)?")


def spelled(name: str, word: str) -> str:
    """The scope for a class of a name, where `word` is what follows its capitals."""
    words = re.sub(rf"(.)([A-Z]{word}+)", r"\1_\2", name)
    words = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    return f"private{words}" if words.startswith("_") else words


@functools.cache
def spellings(name: str) -> tuple[str, str]:
    """What Keras makes of the name of a class today, and what TensorFlow 1 made."""
    return spelled(name, "[a-z]"), spelled(name, "[a-z0-9]")


def scopes_of_classes() -> dict[str, str]:
    """Scopes that layers of some classes have, and what TensorFlow 1 called them.

    Digits counted as part of the word before them: a `CellRNNV1` is a `cell_rnnv1`
    today and was a `cell_rnn_v1`.
    """
    found: dict[str, str] = {}
    keras: Any = sys.modules.get("tf_keras")
    waiting: list[type] = [] if keras is None else [keras.layers.Layer]
    while waiting:
        kinds: list[type] = waiting.pop().__subclasses__()
        waiting += kinds
        for today, before in (spellings(kind.__name__) for kind in kinds):
            if today != before:
                found[today] = before
    return found


def with_classes_of_tensorflow_1(name: str) -> str:
    """The name of a variable, whose scopes may be named by classes."""
    known = scopes_of_classes()
    scopes = []
    for scope in name.split("/"):
        match = NUMBERED.fullmatch(scope)
        if scope not in known and match and match["base"] in known:
            scope = known[match["base"]] + (match["number"] or "")
        scopes.append(known.get(scope, scope))
    return "/".join(scopes)
