"""Functions with layers that nothing calls, or nothing any more: each call of a layer
makes it there, as one of Keras.

They are the networks that an author has tried before the one that is trained.
"""

from __future__ import annotations

import re

from ...code.arguments import UnknownArguments, is_none, match_arguments
from ...model.layer_functions import LAYERS
from .page import Page, Part
from .word import Word

# Arguments that Keras' layers take as they are, or that say nothing there.
_ALIKE = re.compile(
    r"(filters|units|\w*size|strides|padding|dilation_rate|activation|use_bias|rate"
    r"|trainable|name|momentum|epsilon|center|scale|axis)$"
)


def layer(page: Page, word: Word) -> bool:
    """Makes and calls a layer of Keras in its place; tells whether it could."""
    call, known = word.call, LAYERS.get(word.symbol)
    if call is None or known is None:
        return False
    try:
        given = match_arguments(call, (known.inputs, *known.parameters))
    except UnknownArguments:
        return False
    inputs = given.pop(known.inputs, None)
    told = {name: given.pop(name) for name in known.at_call if name in given}
    given = {name: one for name, one in given.items() if not is_none(one)}
    if inputs is None or not all(map(_ALIKE.match, given)):
        return False
    made: list[Part] = []
    if known.keras == "Dropout" and "rate" not in given:
        made = ["0.5"]
    named = {one.keyword.value for one in call.args if one.keyword is not None}
    for place, (name, one) in enumerate(given.items()):
        plain = place < known.plain and name not in named
        made += [", " if made else "", "" if plain else f"{name}=", one]
    flags = [part for name, one in told.items() for part in (f", {name}=", one)]
    start = f"{page.keras()}.layers.{known.keras}("
    page.forget(word.node)
    page.put(call, start, *made, ")(", inputs, *flags, ")")
    return True
