"""Seeds: the same number gives other random draws in a loop than in TF 1.

TF 1 derived the seed of every random op from its place in the graph; Keras'
initialisers and dropout of today have generators of their own.
"""

from __future__ import annotations

import libcst as cst

from .code.arguments import is_none
from .code.tree import Tree
from .estimator.config import RUN_CONFIGS
from .program import Difference

__all__ = ["seeded_draws"]

_RULE = "TFM146"
_SETTERS = frozenset(
    {"tf.set_random_seed", "tf.random.set_random_seed", "tf.random.set_seed"}
)


def seeded_draws(tree: Tree) -> Difference | None:
    """The first place of a module that asks for draws which repeat, if any."""
    for call in tree.nodes:
        if not isinstance(call, cst.Call):
            continue
        symbol = tree.symbol(call.func)
        if symbol is None or not symbol.startswith("tf.") or "data." in symbol:
            continue
        wanted = "tf_random_seed" if symbol in RUN_CONFIGS else "seed"
        given = [
            argument.value
            for argument in call.args
            if argument.keyword is not None and argument.keyword.value == wanted
        ]
        if symbol in _SETTERS:
            given = [argument.value for argument in call.args[:1]]
        if any(not is_none(value) for value in given):
            message = (
                "a seed gives other random numbers than in TF 1: first weights, "
                "dropout and random ops repeat from run to run, but are not those of "
                "the Estimator"
            )
            return Difference(_RULE, tree.line(call), message)
    return None
