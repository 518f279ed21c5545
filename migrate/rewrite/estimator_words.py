"""The words of the Estimator years: which they are, and where a module has them."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..names.dotted import imported_names
from ..names.names import Door, canonical
from ..names.resolver import Resolver

_HOOK = "tf.train.SessionRunHook"
_ROOTS = (
    "tf.estimator", "tf.contrib.estimator", "tf.keras.estimator", "tf.contrib.learn",
    "tf.contrib.tpu.TPUEstimator", "tf.contrib.tpu.RunConfig",
    "tf.contrib.tpu.TPUConfig", "tf.contrib.tpu.InputPipelineConfig",
    "tf.contrib.distribute.DistributeConfig", "tf.contrib.predictor",
    "tf.contrib.timeseries", "tf.contrib.factorization.KMeansClustering",
)  # fmt: skip
# Below `tf.contrib.learn` there is much that has nothing to do with training.
_NOT_ESTIMATORS = ("tf.contrib.learn.datasets",)
# A module that has one of these, or runs one of tf.contrib.learn, is part of a program.
_MENTIONS = ("tf.estimator.", "tf.contrib.estimator.", "tf.keras.estimator.")
_MODES = ("tf.estimator.ModeKeys", "tf.contrib.learn.ModeKeys")
_CLASS_ROOTS = (
    "tf.estimator.", "tf.compat.v1.estimator.", "tf.contrib.estimator.",
    "tf.contrib.learn.", "tf.contrib.tpu.", "tf.contrib.timeseries.",
    "tf.contrib.factorization.",
)  # fmt: skip
CLASS_ENDINGS = ("Estimator", "Classifier", "Regressor", "KMeansClustering")
_MAKERS = (
    "tf.keras.estimator.model_to_estimator",
    "tf.estimator.experimental.KMeans",
)
_RUNNERS = ("train_and_evaluate", "Experiment", "learn_runner")


@dataclass(frozen=True)
class EstimatorPlaces:
    """Calls that make an Estimator, and all mentions of its API but the modes."""

    made: tuple[cst.Call, ...]
    mentions: tuple[cst.CSTNode, ...]

    @property
    def first(self) -> cst.CSTNode | None:
        """The place to tell about: an Estimator that is made, or else a mention."""
        return next(iter((*self.made, *self.mentions)), None)


def is_estimator_word(symbol: str) -> bool:
    """Whether a canonical symbol is part of the Estimator's own vocabulary."""
    inside = any(f"{symbol}.".startswith(f"{root}.") for root in _ROOTS)
    return inside and not symbol.startswith(_NOT_ESTIMATORS)


def _makes_an_estimator(symbol: str) -> bool:
    """Whether a canonical name is a class or function that makes an Estimator."""
    name = symbol.rpartition(".")[2]
    is_class = name.endswith(CLASS_ENDINGS) and name[:1].isupper()
    return symbol in _MAKERS or (is_class and symbol.startswith(_CLASS_ROOTS))


def _runs_an_estimator(symbol: str) -> bool:
    return is_estimator_word(symbol) and symbol.rpartition(".")[2] in _RUNNERS


def _is_mention(symbol: str) -> bool:
    if symbol.startswith(_MENTIONS) or symbol == _HOOK:
        return True
    return _runs_an_estimator(symbol) or _makes_an_estimator(symbol)


def names_estimators(resolver: Resolver) -> bool:
    """Whether a module names anything of the Estimator API, or derives a hook."""
    for use in resolver.scopes.uses:
        symbol = resolver.resolve(use.node)
        if symbol is not None and (is_estimator_word(symbol) or symbol == _HOOK):
            return True
    for found in resolver.scopes.imports:
        symbols = map(canonical, imported_names(found.node))
        if any(one is not None and is_estimator_word(one) for one in symbols):
            return True
    return False


def only_todays_hooks(resolver: Resolver) -> bool:
    """Whether a module has hooks of today's TensorFlow, and no Estimator's word."""
    found = False
    for use in resolver.scopes.uses:
        symbol = resolver.resolve(use.node)
        if symbol is None:
            continue
        if is_estimator_word(symbol):
            return False
        if symbol == _HOOK:
            if resolver.door(use.node) is not Door.COMPAT_V1:
                return False
            found = True
    return found


def runs_estimators(resolver: Resolver) -> bool:
    """Whether a module makes, derives or runs Estimators, beyond their vocabulary."""
    symbols = (resolver.resolve(use.node) for use in resolver.scopes.uses)
    return any(
        symbol is not None
        and (_makes_an_estimator(symbol) or _runs_an_estimator(symbol))
        for symbol in symbols
    )


def estimator_places(resolver: Resolver) -> EstimatorPlaces:
    """All Estimator code of a module, in order of evaluation."""
    made: list[cst.Call] = []
    mentions: list[cst.CSTNode] = []
    scopes = resolver.scopes
    for use in scopes.uses:
        # The whole chain means nothing of TensorFlow's unless its start does.
        symbol = resolver.resolve(use.node)
        if symbol is None:
            continue
        call = scopes.calls.get(use.node)
        if call is not None and _makes_an_estimator(symbol):
            made.append(call)
        if any(symbol == mode or symbol.startswith(mode + ".") for mode in _MODES):
            continue
        node: cst.BaseExpression = use.node
        while symbol is not None:
            if _is_mention(symbol):
                mentions.append(node)
                break
            if not isinstance(node, cst.Attribute):
                break
            node = node.value
            symbol = resolver.resolve(node)
    return EstimatorPlaces(tuple(made), tuple(mentions))
