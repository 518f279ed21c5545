"""``tf.contrib.layers`` and slim: functions that make variables, and others."""

from __future__ import annotations

from ..values import Const, Symbol, Tensor, Value, loose
from . import Call, handles
from .functions import by_function

_PLACES = ("tf.contrib.layers.", "tf.contrib.slim.")
_LAYER_NAMES = """
avg_pool2d avg_pool3d batch_norm bias_add conv1d conv2d conv2d_in_plane
conv2d_transpose conv3d conv3d_transpose convolution convolution1d convolution2d
convolution2d_in_plane convolution2d_transpose convolution3d convolution3d_transpose
dropout embed_sequence flatten fully_connected gdn group_norm
input_from_feature_columns instance_norm layer_norm legacy_fully_connected
legacy_linear legacy_relu linear max_pool2d max_pool3d relu relu6 repeat
separable_conv2d separable_convolution2d sequence_input_from_feature_columns
spatial_softmax stack weighted_sum_from_feature_columns
"""
_TENSOR_NAMES = """
apply_regularization dense_to_sparse elu embedding_lookup_unique images_to_sequence
maxout
one_hot_encoding optimize_loss pool safe_embedding_lookup_sparse scale_gradient
sequence_to_images softmax summarize_activation summarize_activations
summarize_collection summarize_tensor summarize_tensors unit_norm
"""
_PLAIN_NAMES = """
variance_scaling_initializer xavier_initializer xavier_initializer_conv2d
bucketized_column crossed_column embedding_column
one_hot_column real_valued_column scattered_embedding_column
shared_embedding_columns sparse_column_with_hash_bucket
sparse_column_with_integerized_feature sparse_column_with_keys
sparse_column_with_vocabulary_file sum_regularizer weighted_sparse_column
"""
_OF_GRAPH_NAMES = """
arg_scope current_arg_scope
assert_global_step assert_or_get_global_step assert_same_float_dtype assert_scalar
assert_scalar_int assign_from_checkpoint assign_from_checkpoint_fn assign_from_values
convert_to_tensor_or_sparse_tensor create_global_step filter_variables get_global_step
get_local_variables get_model_variables get_name_scope get_or_create_global_step
get_trainable_variables get_unique_variable get_variable_full_name get_variables
get_variables_by_name get_variables_by_suffix get_variables_to_restore
init_from_checkpoint is_tensor list_variables load_checkpoint load_variable
reduce_sum_n remove_squeezable_dimensions smart_cond smart_constant_value
with_same_shape with_shape
"""


def _named(names: str) -> list[str]:
    return [f"{place}{name}" for place in _PLACES for name in names.split()]


@handles(
    *_named(_LAYER_NAMES),
    "tf.contrib.nn.alpha_dropout",
    "tf.contrib.learn.models.linear_regression",
    "tf.contrib.learn.models.logistic_regression",
    "tf.contrib.framework.model_variable",
    "tf.contrib.framework.variable",
    "tf.contrib.slim.model_variable",
    "tf.contrib.slim.variable",
)
def layer(call: Call) -> Value:
    """``slim.conv2d(net, 64, [3, 3])``: it takes arguments from an arg_scope too."""
    for name in ("weights_regularizer", "biases_regularizer", "regularizer"):
        if call.given(name) not in (None, Const(None)):
            call.evaluator.notes.regularized.append(call)
    return by_function(call)


@handles(*_named("l1_regularizer l2_regularizer l1_l2_regularizer"))
def regularizer(call: Call) -> Value:
    """A function of a variable, which code may call itself."""
    made = plain(call)
    return made if isinstance(made, Tensor) else Symbol(f"{call.symbol}()")


@handles("tf.estimator.from_scope")
def from_scope(call: Call) -> Value:
    """A function that an arg_scope gives: it may be a layer."""
    return by_function(call)


@handles(
    *_named(_PLAIN_NAMES),
    "tf.contrib.layers.initializers.",
    "tf.contrib.slim.initializers.",
)
def plain(call: Call) -> Value:
    """Initializers, regularizers and columns: known when their arguments are."""
    return loose(call.time)


@handles(
    *_named(_TENSOR_NAMES),
    *_named("l1_regularizer() l2_regularizer() l1_l2_regularizer()"),
    *(
        f"tf.contrib.{place}.{name}"
        for place in ("framework", "slim")
        for name in _OF_GRAPH_NAMES.split()
    ),
    "tf.contrib.layers.utils.",
    "tf.contrib.slim.utils.",
)
def tensors(call: Call) -> Value:
    """Functions of tensors, what the graph has, and scopes, which stay."""
    return Tensor()
