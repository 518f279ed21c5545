"""Writes a model class around forward code that stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.code.statements import names_in
from ...plan.code.tree import Statement
from ...plan.program import ModelFnPlan
from ..module.notes import note
from ..module.template import parse_statements
from .model_class import finished_class

if TYPE_CHECKING:
    from .model_fn import ModelFnEmitter

__all__ = ["KERAS_V1", "kept_class", "kept_values"]

RULE = "TFM102"
# The module of tf_keras that holds what tf.compat.v1.keras held.
KERAS_V1 = "tf_keras.api._v1.keras"


def kept_values(model: ModelFnPlan) -> tuple[str, ...]:
    """Values from outside that the forward code reads: ``params``, a closure's."""
    names = _names(model)
    outside = [name for name, _ in model.closure]
    if model.has_params:
        outside.append("params")
    return tuple(name for name in outside if name in names)


def kept_class(emitter: ModelFnEmitter, model: ModelFnPlan) -> Statement:
    """The class that holds the forward code, under a note why it is kept."""
    local = emitter.names.fresh("keras_v1")
    values = kept_values(model)
    keeps = [f"self.{name} = {name}\n" for name in values]
    gives = [f"{name} = self.{name}\n" for name in values]
    emitter.packages.add(f"{KERAS_V1} as {local}")
    (made,) = emitter.fill(
        "kept_class",
        names={"LiftedModel": emitter.class_name, "keras_v1": local},
        expressions={"X_OUTPUTS": ", ".join(model.outputs)},
        statements={
            "X_FORWARD": parse_statements(emitter.text("".join(model.forward))),
            "X_KEEP_VALUES": parse_statements("".join(keeps)),
            "X_KEPT_VALUES": parse_statements("".join(gives)),
        },
        parameters={"X_PARAMETERS": ", ".join(["self", *values])},
        flags={
            "X_NEEDS_VALUES": bool(values),
            "X_NEEDS_MODE": "mode" in _names(model),
        },
    )
    made = finished_class(emitter.tree.module, made, model.docstring)
    reason = f"the forward pass is kept as it was ({model.kept})"
    return note(made, RULE, reason, 0)


def _names(model: ModelFnPlan) -> set[str]:
    return set().union(*(names_in(code) for code in model.forward))
