"""Pairing the weights of two programs by order and shape."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["MatchError", "Weight", "match_weights", "plain_name", "told_apart"]

# A weight as far as matching is concerned: its name and its shape.
Weight = tuple[str, tuple[int, ...]]


class MatchError(Exception):
    """The two programs do not have the same weights."""


# What contrib's layers called their scopes.
_CONTRIB = {
    "BatchNorm": "batch_normalization",
    "LayerNorm": "layer_normalization",
}


def plain_name(name: str) -> str:
    """A name without what generations and frameworks add to it.

    >>> plain_name("sequential_1/dense_2/kernel:0")
    'dense/kernel'
    >>> plain_name("encoder/LayerNorm/gamma")
    'layer_normalization/gamma'
    """
    name = re.sub(r":\d+$", "", name)
    name = re.sub(r"/\.ATTRIBUTES/VARIABLE_VALUE$", "", name)
    parts = [re.sub(r"_\d+$", "", part) for part in name.split("/")]
    parts = [_CONTRIB.get(part, part) for part in parts]
    return "/".join(parts[-2:])


def told_apart(names: Sequence[str]) -> list[str]:
    """Names of weights, numbered where several have the same, as in Keras 3.

    >>> told_apart(["model/kernel", "model/bias", "model/kernel"])
    ['model/kernel', 'model/bias', 'model/kernel#2']
    """
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found


def match_weights(first: Sequence[Weight], second: Sequence[Weight]) -> list[int]:
    """For each weight of ``first``, the index of its partner in ``second``.

    The same names decide; else order of creation and shape. Where the orders
    differ (a rewritten program may build its layers elsewhere) parts of names
    decide, but only where they leave no choice. Anything else is an error, since
    a wrong pairing would make every later number meaningless.
    """
    if dict(first) == dict(second) and len(dict(first)) == len(first) == len(second):
        names = [name for name, _ in second]
        return [names.index(name) for name, _ in first]
    if [shape for _, shape in first] == [shape for _, shape in second]:
        return list(range(len(first)))
    if Counter(shape for _, shape in first) != Counter(shape for _, shape in second):
        raise MatchError(_difference(first, second))
    keys_first = [(plain_name(name), shape) for name, shape in first]
    keys_second = [(plain_name(name), shape) for name, shape in second]
    # A shape that only one weight has says enough, whatever its name.
    count = Counter(shape for _, shape in first)
    for keys in (keys_first, keys_second):
        keys[:] = [("", s) if count[s] == 1 else (name, s) for name, s in keys]
    # Layers of one kind in one order keep their relative order.
    if Counter(keys_first) == Counter(keys_second):
        places: dict[Weight, list[int]] = {}
        for index, key in enumerate(keys_second):
            places.setdefault(key, []).append(index)
        return [places[key].pop(0) for key in keys_first]
    raise MatchError(
        "both programs have weights of the same shapes, but neither their order "
        "nor their names tell which belongs to which"
    )


def _difference(first: Sequence[Weight], second: Sequence[Weight]) -> str:
    count_first = Counter(shape for _, shape in first)
    count_second = Counter(shape for _, shape in second)
    only_first = [w for w in first if count_first[w[1]] > count_second[w[1]]]
    only_second = [w for w in second if count_second[w[1]] > count_first[w[1]]]

    def told(weights: Sequence[Weight]) -> str:
        return ", ".join(f"{name} {list(shape)}" for name, shape in weights[:5]) or "-"

    return (
        f"the programs have different weights ({len(first)} and {len(second)}): "
        f"only or more often in the first: {told(only_first)}; "
        f"in the second: {told(only_second)}"
    )
