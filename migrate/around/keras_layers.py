"""Keras models of a program on the loop module: whether their layers are today's (T1).

The loop of a compiled model is the module's and the model the program's own, so nothing
of TensorFlow 1 is left where all of its layers are those of tf_keras. They are not
where a layer or an initializer stays as Keras had it in TF 1 (and has no twin today),
where layers are made by
functions of TF 1 or copied from tf.contrib, and where nobody sees them because the
model is read from a file. Copies that read data or hold settings are none of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ..plan.code.tree import Tree
from ..project.facts import ParsedModule
from ..rules.written_for import written_for_tf2
from ..symbols.scopes import Use
from .homes import Known
from .keras_twins import Twins, has_plain_norms, twins_of
from .keras_v1 import KERAS_V1
from .vocabulary import Brought, Installed

__all__ = ["MODEL_TO_ESTIMATOR", "KerasLayers", "loaded_model"]

MODEL_TO_ESTIMATOR = "tf.keras.estimator.model_to_estimator"
_OF_TF1 = ("tf.layers.", "tf.get_variable", "tf.variable_scope")
# Packages of data, settings and training.
_AROUND = tuple(
    f"tf.contrib.{package}."
    for package in (
        "data",
        "distribute",
        "estimator",
        "learn",
        "lookup",
        "predictor",
        "saved_model",
        "training",
    )
)
_PATH = 1  # of the arguments: where the file of a model is


def loaded_model(call: cst.Call) -> bool:
    """Whether `model_to_estimator` is given the file of a model."""
    positional = [one for one in call.args if one.keyword is None and not one.star]
    named = {one.keyword.value for one in call.args if one.keyword is not None}
    return len(positional) > _PATH or "keras_model_path" in named


class KerasLayers:
    """The layers that the files of a group make of `tf.keras`."""

    def __init__(
        self, files: Sequence[ParsedModule], known: Known, of_tf2: bool
    ) -> None:
        self.known = known
        self.of_tf2 = of_tf2
        self.plain_norms = has_plain_norms(one.source.text for one in files)
        self.compiled = any("model_to_estimator" in one.source.text for one in files)

    def twins(self, parsed: ParsedModule, kept: str | None = None) -> Twins | None:
        """What stands in for those of TF 1, unless something is kept of TF 1."""
        if not self.compiled or kept is not None or self._is_of_today(parsed):
            return None
        return twins_of(Tree(parsed.module, parsed.resolver), self.plain_norms)

    def old(self, parsed: ParsedModule) -> tuple[int, str] | None:
        """The line of what is not a layer of today, and what is said of it."""
        tree = Tree(parsed.module, parsed.resolver)
        for_tf2 = written_for_tf2(parsed.resolver)
        keras_1 = not self._is_of_today(parsed)
        twins = self.twins(parsed)
        for use in parsed.resolver.scopes.uses:
            for node, symbol in _chain(tree, use):
                if symbol.startswith(_OF_TF1):
                    said = f"`{symbol}` makes layers of TensorFlow 1"
                    return tree.line(node), said
                if twins is not None and symbol in twins.homes:
                    continue
                home = self.known.home(symbol, for_tf2=for_tf2, keras_1=keras_1)
                if isinstance(home, Installed) and home.module == KERAS_V1:
                    said = f"`{symbol}` stays as it was in TensorFlow 1"
                    return tree.line(node), said
                if isinstance(home, Brought) and _may_make_layers(symbol, self.known):
                    return tree.line(node), f"`{symbol}` is copied from TensorFlow 1"
        return None

    def _is_of_today(self, parsed: ParsedModule) -> bool:
        return self.of_tf2 or written_for_tf2(parsed.resolver)


def _may_make_layers(symbol: str, known: Known) -> bool:
    """Whether a copy can be part of a model, and is not of what is around models."""
    return (
        symbol.startswith("tf.contrib.")
        and not symbol.startswith(_AROUND)
        and not known.is_package(symbol)
    )


def _chain(tree: Tree, use: Use) -> Iterator[tuple[cst.CSTNode, str]]:
    """A name and the longer ones that it is the beginning of: `tf`, `tf.keras`, ..."""
    node: cst.CSTNode | None = use.node
    while node is not None:
        symbol = tree.symbol(node)
        if symbol is None:
            return
        yield node, symbol
        above = tree.parent(node)
        goes_on = isinstance(above, cst.Attribute) and above.value is node
        node = above if goes_on else None
