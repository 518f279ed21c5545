"""The choices a user has for the emitted loop, and where they end."""

from __future__ import annotations

import re

import libcst as cst

from ...options import RewriteOptions
from ...plan.code.tree import Tree
from ...plan.program import KerasModelPlan, ModelFnPlan
from ...plan.sites import Program
from ...symbols.table import lookup, needs_nothing
from ..calls.mixed_precision import own_float32
from .optimizers import is_of_tf1

__all__ = ["not_offered", "numbers_changed"]

# Strategies that need more than another constructor, and what to do instead.
_ELSEWHERE = {
    "multiworker": (
        "workers train together on the loop module, where this program cannot go: "
        "`tfmigrate run` trains it unedited in a cluster (TF_CONFIG)"
    ),
    "parameter_server": (
        "a chief coordinates workers on the loop module, where this program cannot go: "
        "`tfmigrate run` trains it unedited with parameter servers"
    ),
    "tpu": (
        "TPUs are for the loop module, where this program cannot go: use "
        "`--strategy keep`"
    ),
}


def not_offered(tree: Tree, options: RewriteOptions, program: Program) -> str | None:
    """Which of the user's choices no loop can be written for, and why."""
    if options.strategy in _ELSEWHERE:
        return f"`--strategy {options.strategy}`: {_ELSEWHERE[options.strategy]}"
    model = program.plan.model
    if isinstance(model, KerasModelPlan) and is_of_tf1(model.optimizer):
        name = model.optimizer.symbol.rpartition(".")[2]
        only = f"only tf_keras has the `{name}` of TF 1.15, in float32"
        if options.keras == "keras3":
            return f"`--keras keras3`: {only}"
        if options.mixed_precision:
            return f"`--mixed-precision`: {only}"
    if options.keras == "keras3":
        if any(tree.calls(tree.module, ("tf.feature_column.input_layer",))):
            return "`--keras keras3`: Keras 3 has no layer for feature columns"
        if options.strategy == "central":
            return (
                "`--keras keras3`: batch normalization of Keras 3 cannot train with "
                "central variables; use `--strategy mirrored`"
            )
        gone = _not_in_keras3(tree)
        if gone is not None:
            return f"`--keras keras3`: Keras 3 has no `{gone}`"
    if options.mixed_precision:
        if options.strategy == "central":
            return (
                "`--mixed-precision`: Keras has none with central variables; use "
                "`--strategy mirrored`"
            )
        if isinstance(model, ModelFnPlan):
            line = own_float32(model)
            if line is not None:
                return f"`--mixed-precision`: `{line}` computes in float32 by itself"
    return None


def numbers_changed(options: RewriteOptions) -> list[tuple[str, str]]:
    """Rule and message of each choice after which losses are other losses."""
    found = []
    if options.strategy != "keep":
        found.append(
            (
                "TFM133",
                f"`--strategy {options.strategy}` replaces the program's own: "
                "another number of replicas is another global batch",
            )
        )
    if options.mixed_precision:
        found.append(
            (
                "TFM134",
                "`--mixed-precision` computes in float16: losses differ in the third "
                "digit, and steps whose gradients overflow are left out",
            )
        )
    return found


def _not_in_keras3(tree: Tree) -> str | None:
    """The first symbol of ``tf.keras`` that today's ``tf.keras`` lacks."""
    for node in tree.nodes:
        if not isinstance(node, (cst.Attribute, cst.Name)):
            continue
        symbol = tree.symbol(node)
        if (
            symbol is None
            or not re.fullmatch(r"tf\.keras\.[\w.]+", symbol)
            or symbol.startswith("tf.keras.estimator")
        ):
            continue
        if not needs_nothing(symbol) and lookup(symbol) is None:
            return symbol
    return None
