"""What kept code uses of ``tf.contrib`` and other parts of TF1 without a home.

compat has nearly all of it in terms of today's TensorFlow. A program that leaves
compat takes along what it uses, copied definition by definition into one module of
its own; names that TensorFlow or tf_keras still have are used from there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from ..compat.contrib._homes import PACKAGES, SINGLE_NAMES
from ..compat.surface.contrib_aliases import CONTRIB_PATHS
from ..compat.surface.estimator_names import ESTIMATOR_PATHS_V1
from ..project.files import is_ours
from .bundle import Bundle, bundle
from .homes import Defined, Home, home_of
from .parts import CannotBundle, Imported
from .reach import Reach, Stays
from .sources import Sources, installed_sources

__all__ = [
    "MODULE",
    "Brought",
    "Elsewhere",
    "Missing",
    "bring",
    "has_layers",
    "held",
    "place",
]

# The module of a project that holds what was brought along. There is one: layer
# functions and arg_scope share state.
MODULE = "tf_contrib"
# What a project's training loop is called unless the user says otherwise.
LOOP_MODULE = "training_loop"

_COMPAT = "tfmigrate.compat"
_LEGACY = "tf_keras.api._v1.keras.__internal__.legacy"
_PRIVATE = ("tensorflow.python.", "tf_keras.src.")
# Whole namespaces that are today's by another name.
_NAMESPACES = {
    "tf.layers": f"{_LEGACY}.layers",
    "tf.nn.rnn_cell": f"{_LEGACY}.rnn_cell",
    "tf.contrib.keras": "tf_keras",
    "tf.keras": "tf_keras",
}
# The Estimator itself and what runs it: a program that needs these needs a training
# loop, not a copy of ours.
_STAYS = tuple(
    f"{_COMPAT}.{module}"
    for module in (
        "contrib.distribute",
        "contrib.timeseries",
        "engine.arrays",
        "engine.devices",
        "engine.evaluation",
        "engine.event_files",
        "engine.inputs",
        "engine.prediction",
        "engine.replication",
        "engine.scaffolds",
        "engine.short_steps",
        "engine.strategies",
        "engine.training",
        "estimator.cluster",
        "estimator.early_stopping",
        "estimator.estimator",
        "estimator.export.saved_model",
        "estimator.exporters",
        "estimator.keras_model",
        "estimator.memory_evaluator",
        "estimator.run_config",
        "estimator.saved_model_estimator",
        "estimator.tpu.config",
        "estimator.tpu.estimator",
        "estimator.tpu.spec",
        "estimator.train_specs",
        "estimator.training",
        "hooks",
        "launcher",
        "surface",
    )
)
# What the loop module of a project has under the same name.
_IN_LOOP = {
    f"{_COMPAT}.{path}": path.rpartition(".")[2].removesuffix("V2")
    for path in (
        "engine.iterators.make_one_shot_iterator",
        "estimator.estimator.Estimator",
        "estimator.estimator.EstimatorV2",
        "estimator.export.ClassificationOutput",
        "estimator.export.PredictOutput",
        "estimator.export.RegressionOutput",
        "estimator.export.receivers.ServingInputReceiver",
        "estimator.inputs.numpy_input_fn",
        "estimator.inputs.pandas_input_fn",
        "estimator.mode_keys.ModeKeys",
        "estimator.run_config.RunConfig",
        "estimator.spec.EstimatorSpec",
    )
}
# What canned models have Keras layers by, for the functions that compat has instead.
_CANNED = "tfmigrate.canned"
_WITH_LAYERS = {
    f"{_COMPAT}.estimator.canned.{module}._model_fn": f"{_CANNED}.model_fns.{name}"
    for module, name in (
        ("baseline", "baseline_model_fn"),
        ("combined", "combined_model_fn"),
        ("dnn", "deep_model_fn"),
        ("linear", "linear_model_fn"),
    )
} | {
    f"{_COMPAT}.contrib.learn.networks.{name}": f"{_CANNED}.learn.learn_{name}"
    for name in ("deep_logits", "wide_logits")
}
# Where classes of canned models are, of which all are made of these.
_ALL_WITH_LAYERS = f"{_COMPAT}.contrib.learn.canned"
_CANNED_NAMES = ("tf.estimator.", "tf.contrib.estimator.", "tf.contrib.learn.")
# What these take of the loop module.
_LAYERS_IN_LOOP = (
    "scoped_layers.FunctionLayer",
    "scoped_layers.ScopedModel",
    "partitions.one_part",
)
# Where compat has what stands directly in a package of Estimators: TF 2's canned
# classes, and helpers of TF 1 that were private.
_PACKAGES = {
    "tf.compat.v2.estimator": "estimator.canned.v2",
    "tf.estimator": "estimator.private_names",
}
# What would run on a loop of the project's own, but not as it did.
_OTHERWISE = {
    "tf.contrib.estimator.RNNClassifier": "it divides its variables into parts.",
    "tf.contrib.estimator.RNNEstimator": "it divides its variables into parts.",
    "tf.estimator.experimental.KMeans": "its centers are moved by its own hooks.",
    "tf.estimator.experimental.LinearSDCA": "what it remembers of each example is in "
    "tables that only its own Estimator saves.",
}
_STANDS_FOR = re.compile(r"\n\nStands for\n((?:.|\n)*?)\n\n")


@dataclass(frozen=True)
class Brought:
    """The symbol can be copied into the project.

    ``below`` is what was asked for of it: a method of a class, say.
    """

    symbol: str
    below: str = ""

    @property
    def is_namespace(self) -> bool:
        """Whether it is a module of TF1; the project's module stands for it."""
        return isinstance(_find(self.symbol)[0], str)


@dataclass(frozen=True)
class Elsewhere:
    """An installed package has it: ``name`` in the module ``module``.

    The name is empty where the symbol is the module itself.
    """

    module: str
    name: str


@dataclass(frozen=True)
class Missing:
    """It cannot come along; ``why`` completes "it stays, because ..."."""

    symbol: str
    why: str


@functools.cache
def place(symbol: str) -> Brought | Elsewhere | Missing:
    """Where kept code finds a symbol of TF1, given by its ``tf.`` name."""
    for module in ("tf.python.ops.rnn_cell.", "tf.python.ops.rnn_cell_impl."):
        if symbol.startswith(module):
            return place("tf.contrib.rnn." + symbol[len(module) :])
    for namespace, module in _NAMESPACES.items():
        if symbol == namespace or symbol.startswith(namespace + "."):
            return Elsewhere(module, symbol[len(namespace) + 1 :])
    if symbol in _OTHERWISE:
        return Missing(symbol, _OTHERWISE[symbol])
    path = CONTRIB_PATHS.get(symbol)
    if path is not None:
        return Elsewhere("tensorflow.compat.v1", path)
    public = _public(symbol)
    if public != symbol:
        return place(public)
    found, below = _find(symbol)
    if found is None:
        return Missing(symbol, _advice(symbol))
    if below:
        holder = place(symbol[: -len(below) - 1])
        if isinstance(holder, Elsewhere):
            return Elsewhere(holder.module, f"{holder.name}.{below}")
        if isinstance(holder, Brought):
            return Brought(holder.symbol, below)
        return Missing(symbol, holder.why)
    if isinstance(found, str):
        return Brought(symbol)
    alias = _alias(found)
    # Private names stand in one module of the project, not in all.
    if alias is not None and not alias.module.startswith(_PRIVATE):
        return alias
    if isinstance(found, Imported):
        return Missing(symbol, f"it is private to TensorFlow ({found.path}).")
    reach = Reach(
        _sources(), given=_given(LOOP_MODULE), instead=_WITH_LAYERS, stay=_STAYS
    )
    try:
        wanted = reach.want(found.module, found.name)
        if isinstance(wanted, Imported):
            return Missing(symbol, "a loop module has it under its own name.")
        reach.finish()
        reach.parts()
    except CannotBundle as problem:
        return Missing(symbol, _reason(problem))
    return Brought(symbol)


def has_layers(symbol: str) -> bool:
    """Whether a symbol is a canned Estimator whose copy is made of Keras layers."""
    if not symbol.startswith(_CANNED_NAMES):
        return False
    found, below = _find(symbol)
    if not isinstance(found, Defined) or below:
        return False
    module = found.module
    return found.is_class and (
        module == _ALL_WITH_LAYERS or f"{module}._model_fn" in _WITH_LAYERS
    )


def bring(
    symbols: Iterable[str],
    *,
    loop_module: str | None = LOOP_MODULE,
    used: Collection[str] | None = None,
    bound: Mapping[str, str | None] | None = None,
) -> Bundle:
    """The project's module for symbols that `place` says can be brought.

    ``loop_module`` is the project's training loop, which has Estimator, EstimatorSpec
    and their relatives; None: there is none, and what can be copied is. ``used`` and
    ``bound`` are as for `bundle`. The names of the result are by symbol.
    """
    wanted = sorted(set(symbols))
    homes = {}
    for symbol in wanted:
        found, below = _find(symbol)
        assert isinstance(found, Defined), symbol
        assert not below, symbol
        homes[symbol] = f"{found.module.removeprefix(_COMPAT + '.')}.{found.name}"
    lines = "\n".join(f"  {symbol}" for symbol in wanted)
    made = bundle(
        _sources(),
        homes.values(),
        doc="What this project uses of TensorFlow 1 that TensorFlow 2 has not.\n\n"
        f"Stands for\n{lines}",
        used=used,
        given=_given(loop_module) if loop_module else {},
        instead=_WITH_LAYERS if loop_module else {},
        stay=_STAYS,
        bound=bound,
    )
    names = {symbol: made.names[home] for symbol, home in homes.items()}
    return replace(made, names=names)


def held(text: str) -> list[str] | None:
    """The symbols that a module of ours stands for, or None if it is not ours."""
    if not is_ours(text):
        return None
    match = _STANDS_FOR.search(text)
    return match.group(1).split() if match else []


def _given(loop_module: str) -> dict[str, str]:
    layers = {
        f"tfmigrate.runtime.{path}": path.rpartition(".")[2] for path in _LAYERS_IN_LOOP
    }
    return {path: f"{loop_module}.{name}" for path, name in (_IN_LOOP | layers).items()}


@functools.cache
def _sources() -> Sources:
    return installed_sources(_COMPAT, beside=installed_sources(_CANNED))


def _find(symbol: str) -> tuple[Home, str]:
    """What a symbol is in compat, and the attributes asked of that.

    It is something defined or imported there, or a module.
    """
    path = ESTIMATOR_PATHS_V1.get(symbol)
    if path is not None:
        module, _, name = path.partition(":")
        return home_of(_sources(), module, name), ""
    for package, module in _PACKAGES.items():
        name = symbol.removeprefix(f"{package}.")
        if name != symbol and "." not in name:
            there = home_of(_sources(), f"{_COMPAT}.{module}", name)
            # Not what the module itself imports, or what the loop module has.
            if isinstance(there, Defined):
                known = f"{there.module}.{name}" in _IN_LOOP
                return (None if known else there), ""
            return None, ""
    root, _, rest = symbol.partition(".")
    if root != "tf" or not rest.startswith(("contrib.", "examples.")):
        return None, ""
    found: Home = _COMPAT
    steps = rest.split(".")
    while steps and isinstance(found, str):
        found = home_of(_sources(), found, steps.pop(0))
    return found, ".".join(steps)


def _public(symbol: str) -> str:
    """A symbol of a private module of a package by the name it is public under."""
    package, private, rest = symbol.partition(".python.")
    if not private or not package.startswith("tf.contrib."):
        return symbol
    steps = rest.split(".")
    for start in reversed(range(len(steps))):
        public = ".".join([package, *steps[start:]])
        if public in CONTRIB_PATHS or _find(public)[0] is not None:
            return public
    # What never was public, and programs are made of.
    hidden = f"{package}.private.{steps[-1]}"
    return symbol if _find(hidden)[0] is None else hidden


def _alias(found: Defined | Imported) -> Elsewhere | None:
    """The place of a name that only stands for something installed."""
    steps: list[str] = []
    while not isinstance(found, Imported):
        dotted = found.alias
        if dotted is None:
            return None
        root, *below = dotted.split(".")
        steps = [*below, *steps]
        home = home_of(_sources(), found.module, root)
        while isinstance(home, str) and steps:
            home = home_of(_sources(), home, steps.pop(0))
        if home is None or isinstance(home, str):
            return None
        found = home
    if found.attribute is None:
        return Elsewhere(found.module, ".".join(steps))
    if _is_module(found):
        return Elsewhere(found.path, ".".join(steps))
    return Elsewhere(found.module, ".".join([found.attribute, *steps]))


def _is_module(imported: Imported) -> bool:
    """Whether ``from package import name`` names a module, by its spelling."""
    name = imported.attribute or ""
    return name.islower() and (
        imported.module.startswith("tensorflow.python") or imported.module == _LEGACY
    )


def _reason(problem: CannotBundle) -> str:
    """Why something of compat cannot be copied, in the user's words."""
    return (
        "it is part of what runs Estimators."
        if isinstance(problem, Stays)
        else f"{problem}."
    )


def _advice(symbol: str) -> str:
    package, _, name = symbol.removeprefix("tf.contrib.").partition(".")
    advice = SINGLE_NAMES.get(f"{package}.{name}", PACKAGES.get(package))
    return f"nothing stands for it. {advice}" if advice else "nothing stands for it."
