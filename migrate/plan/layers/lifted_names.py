"""The result of lifting: a Keras class as plain data."""

from __future__ import annotations

import re

import libcst as cst

from ...project.positions import code_of

_COPIED = re.compile(r"(.*?)((?:__\d+)?)")

__all__ = ["RESERVED", "RESERVED_OF_LAYERS", "camel", "source_text"]

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
RESERVED = frozenset(_RESERVED.split())
# Of these a layer that is no model has none.
_MODELS_NAMES = """
autotune_steps_per_execution compile compiled_loss compiled_metrics compute_loss
compute_metrics distribute_strategy evaluate export fit get_layer jit_compile
load_weights loss make_predict_function make_test_function make_train_function
metrics_names optimizer output_names predict predict_function predict_on_batch
predict_step reset_metrics reset_states run_eagerly save save_spec save_weights
state_updates stop_training summary test_function test_on_batch test_step to_json
train_function train_on_batch train_step
"""
RESERVED_OF_LAYERS = RESERVED - frozenset(_MODELS_NAMES.split())


_PLAIN = cst.Module([])


def source_text(node: cst.CSTNode) -> str:
    """Source of a statement or expression, in four-space indentation."""
    if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
        lines = [line for line in node.leading_lines if line.comment is not None]
        node = node.with_changes(leading_lines=lines)
        return code_of(_PLAIN, node)
    return code_of(_PLAIN, node).strip()


def camel(name: str) -> str:
    """A class name after the name of a function."""
    name, number = _COPIED.fullmatch(name).groups()  # type: ignore[union-attr]
    name = (name.removesuffix("_fn").strip("_") or "model") + number
    words = [w[:1].upper() + w[1:] for w in name.split("_") if w]
    return "".join(words)
