"""Programs in plainer words, so that one reader understands them all.

Each step takes away one habit and leaves a program that means the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..code.tree import Tree
from ..keras.program import KERAS_ESTIMATORS
from ..model_fn.factory import read_factory
from ..program import Difference
from ..sites import Blocked
from .calls import with_helpers_written_out
from .methods import without_methods
from .models import with_named_model
from .modes import with_one_forward_pass
from .optimizers import with_named_optimizer
from .shapes import without_dimensions
from .variables import with_variables_written_out

__all__ = ["PlainProgram", "model_fn_of", "plainer"]

_WITH_MODEL_FN = ("tf.estimator.Estimator",)


@dataclass(frozen=True)
class PlainProgram:
    """The module in other words; ``what`` is said of a program that stays."""

    module: cst.Module
    what: str
    differences: tuple[Difference, ...] = ()
    # The model_fn itself was put in other words.
    body: bool = False


def plainer(tree: Tree, call: cst.Call, *, shared: bool = False) -> PlainProgram | None:
    """The first step that applies to an Estimator's program, or None.

    ``shared`` tells that other files import the module.
    """
    symbol = tree.symbol(call.func)
    if symbol in KERAS_ESTIMATORS:
        module = with_named_model(tree, call)
        return None if module is None else PlainProgram(module, "the model has no name")
    if symbol not in _WITH_MODEL_FN:
        return None
    model_fn = model_fn_of(call)
    if model_fn is not None:
        module = without_methods(tree, model_fn)
        if module is not None:
            return PlainProgram(module, "the model_fn is a method")
    defined = _definition(tree, model_fn)
    if defined is not None:
        written = with_helpers_written_out(tree, defined)
        if written is not None:
            return PlainProgram(written, "helpers of the model_fn", body=True)
        written = with_variables_written_out(tree, shared=shared)
        if written is not None:
            return PlainProgram(written, "functions that make variables", body=True)
        written = without_dimensions(tree)
        if written is not None:
            return PlainProgram(written, "sizes of tensors", body=True)
        written = with_named_optimizer(tree, defined)
        if written is not None:
            return PlainProgram(written, "an optimizer without a name", body=True)
        written = with_one_forward_pass(tree, defined)
        if written is not None:
            return PlainProgram(written, "a forward pass in each mode", body=True)
    return None


def _definition(tree: Tree, node: cst.BaseExpression | None) -> cst.FunctionDef | None:
    """The model_fn behind an argument."""
    made = tree.value(node)
    if isinstance(made, cst.Call):
        try:
            return read_factory(tree, made).model_fn
        except Blocked:
            return None
    defined = tree.resolver.definition(node)
    return defined if isinstance(defined, cst.FunctionDef) else None


def model_fn_of(call: cst.Call) -> cst.BaseExpression | None:
    """The argument of an Estimator that is its model_fn."""
    for index, argument in enumerate(call.args):
        name = argument.keyword.value if argument.keyword is not None else None
        if not argument.star and (name == "model_fn" or (name is None and not index)):
            return argument.value
    return None
