"""What in a module belongs to the Estimator years."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..code.tree import Tree
from ..hooks.own import HOOK_BASES
from ..sites import ModelFnSites, Program

__all__ = ["PLAIN_ESTIMATORS", "LegacyPlaces", "legacy_places"]

# Those whose model function the program gives.
PLAIN_ESTIMATORS = (
    "tf.contrib.tpu.TPUEstimator",
    "tf.estimator.Estimator",
    "tf.estimator.tpu.TPUEstimator",
)

_PREFIXES = ("tf.estimator.", "tf.contrib.estimator.", "tf.keras.estimator.")
_ESTIMATOR_ENDINGS = ("Estimator", "Classifier", "Regressor")
_RUNNERS = ("train_and_evaluate", "Experiment", "learn_runner")
_LEARN = "tf.contrib.learn."


@dataclass
class LegacyPlaces:
    """Calls that make an Estimator, and every other mention of that API."""

    programs: list[cst.Call] = field(default_factory=list)
    mentions: list[cst.CSTNode] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.programs or self.mentions)

    def strays(self, tree: Tree, programs: Sequence[Program]) -> list[cst.CSTNode]:
        """Mentions that are not part of any of the given programs."""
        gone: set[cst.CSTNode] = set()
        for program in programs:
            sites = program.sites
            gone.update(sites.drop)
            gone.add(sites.estimator_statement)
            if isinstance(sites, ModelFnSites):
                gone.add(sites.model_fn)
            gone.update(sites.hook_classes)
            gone.update(made.statement for made in sites.inputs.made)
            gone.update(node for _, node in sites.calls)
        return [
            node
            for node in self.mentions
            if not any(a in gone for a in (node, *tree.ancestors(node)))
        ]


def is_estimator_class(symbol: str) -> bool:
    """Canonical names of classes and functions that make an Estimator."""
    name = symbol.rpartition(".")[2]
    if symbol == "tf.keras.estimator.model_to_estimator":
        return True
    if symbol.startswith(("tf.estimator.", "tf.contrib.estimator.")):
        return name.endswith(_ESTIMATOR_ENDINGS) and name[:1].isupper()
    if symbol.startswith((_LEARN, "tf.contrib.tpu.", "tf.compat.v1.estimator.")):
        return name.endswith(_ESTIMATOR_ENDINGS) and name[:1].isupper()
    return False


def runs_estimators(tree: Tree) -> bool:
    """Whether a module makes, derives or runs Estimators, beyond their vocabulary."""
    for use in tree.resolver.scopes.uses:
        symbol = tree.symbol(use.node)
        if symbol is not None and (
            is_estimator_class(symbol) or symbol.rpartition(".")[2] in _RUNNERS
        ):
            return True
    return False


def legacy_places(tree: Tree) -> LegacyPlaces:
    """All Estimator code of a module, in order of evaluation."""
    found = LegacyPlaces()
    scopes = tree.resolver.scopes
    for use in scopes.uses:
        # The whole chain means nothing of TensorFlow's unless its start does.
        symbol = tree.symbol(use.node)
        if symbol is None:
            continue
        call = scopes.calls.get(use.node)
        if call is not None and is_estimator_class(symbol):
            found.programs.append(call)
        node: cst.BaseExpression = use.node
        while symbol is not None:
            if symbol.startswith(_PREFIXES) or symbol in HOOK_BASES:
                found.mentions.append(node)
                break
            if not isinstance(node, cst.Attribute):
                break
            node = node.value
            symbol = tree.symbol(node)
    return found
