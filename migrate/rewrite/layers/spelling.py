"""Names and arguments of lifted code."""

from __future__ import annotations

import keyword
import re

import libcst as cst

from ...code.tree import walk

# Stands for the program's name of TensorFlow in code of a constructor.
TF = "__tf__"
# Attributes of Keras models and layers that an attribute of ours must not hide.
_RESERVED = """
activity_regularizer add_loss add_metric add_weight autotune_steps_per_execution
build built call compile compiled_loss compiled_metrics compute_dtype compute_loss
compute_mask compute_metrics count_params distribute_strategy dtype dtype_policy
dynamic evaluate export finalize_state fit get_config get_layer get_weights
inbound_nodes input input_mask input_shape input_spec inputs jit_compile layers
load_weights loss losses make_predict_function make_test_function
make_train_function metrics metrics_names name name_scope non_trainable_variables
non_trainable_weights optimizer outbound_nodes output output_mask output_names
output_shape outputs predict predict_function predict_on_batch predict_step
reset_metrics reset_states run_eagerly save save_spec save_weights set_weights
state_updates stateful stop_training submodules summary supports_masking
test_function test_on_batch test_step to_json train_function train_on_batch
train_step trainable trainable_variables trainable_weights updates variable_dtype
variables weights with_name_scope
"""
RESERVED = frozenset([*_RESERVED.split(), *keyword.kwlist])
# What programs call the flag that Keras calls `training`.
FLAGS = (
    "is_training", "is_train", "train", "training", "is_training_phase", "phase_train",
    "train_phase", "training_phase",
)  # fmt: skip


def names_of(node: cst.CSTNode) -> set[str]:
    return {one.value for one in walk(node, cst.Name)}


def pairs_of(
    iterated: cst.BaseExpression, target: cst.BaseExpression
) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Of ``for x, y in zip(xs, ys)``: xs with x, ys with y; else the one pair."""
    if (
        not isinstance(iterated, cst.Call)
        or not isinstance(iterated.func, cst.Name)
        or iterated.func.value != "zip"
        or not isinstance(target, cst.Tuple)
        or len(target.elements) != len(iterated.args)
        or any(one.star or one.keyword for one in iterated.args)
    ):
        return [(iterated, target)]
    values = [one.value for one in iterated.args]
    return list(zip(values, (one.value for one in target.elements), strict=True))


def parameter(name: str) -> str:
    return "owner" if name == "self" else name


def with_owner(node: cst.CSTNode, code: str) -> str:
    if not any(isinstance(n, cst.Name) and n.value == "self" for n in walk(node)):
        return code
    return re.sub(r"\bself\b", "owner", code)


def argument_of(value: cst.BaseExpression, keyword: cst.Name | None) -> cst.Arg:
    if keyword is None:
        return cst.Arg(value)
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, keyword, equal=tight)


def spaced(call: cst.Call) -> cst.Call:
    """The arguments with one space between them."""
    args = [one.with_changes(comma=cst.MaybeSentinel.DEFAULT) for one in call.args]
    return call.with_changes(args=args)
