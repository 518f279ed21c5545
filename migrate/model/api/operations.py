"""Functions of tensors, and what stands around a model: it makes no weights."""

from __future__ import annotations

from ...code.pure import is_pure
from ..values import Const, Tensor, Value, loose
from . import Call, handles


@handles("tf.")
def operation(call: Call) -> Value:
    """Anything that has no handler of its own."""
    if _is_pure(call.symbol) or call.symbol.endswith(("EstimatorSpec", "ModelFnOps")):
        return Tensor()
    return call.unknown(f"`{call.symbol}` may make variables")


def _is_pure(symbol: str) -> bool:
    """Also by the door of the module in which TensorFlow defines it."""
    if is_pure(symbol):
        return True
    if not symbol.startswith("tf.python.ops."):
        return False
    _, _, name = symbol.rpartition(".")
    return any(is_pure(f"tf.{place}{name}") for place in ("", "nn.", "math."))


# Functions of tensors, variables and graphs; a dot is for all below a name.
_AROUND = """
add_check_numerics_ops add_to_collection add_to_collections all_variables arg_max
arg_min Assert assert_equal assert_greater assert_greater_equal assert_integer
assert_less assert_less_equal assert_near assert_negative assert_non_negative
assert_non_positive assert_none_equal assert_positive assert_proper_iterable
assert_rank assert_rank_at_least assert_rank_in assert_same_float_dtype assert_scalar
assert_type assign assign_add assign_sub batch_gather batch_scatter_update betainc
bincount broadcast_dynamic_shape broadcast_static_shape cholesky_solve
clip_by_global_norm compat. confusion_matrix conj contrib.distributions.
contrib.estimator. contrib.framework.argsort contrib.framework.nest.
contrib.framework.sort contrib.image. contrib.lookup. contrib.losses. contrib.metrics.
contrib.opt. contrib.signal. contrib.slim.learning.create_train_op contrib.summary.
contrib.tpu. contrib.training. convert_to_tensor_or_indexed_slices
convert_to_tensor_or_sparse_tensor count_nonzero custom_gradient data. debugging.
decode_compressed decode_csv distributions. ensure_shape estimator.
extract_image_patches extract_volume_patches fft fft2d fft3d get_default_graph
global_variables global_variables_initializer gradients GradientTape group
guarantee_const hessians histogram_fixed_width histogram_fixed_width_bins ifft ifft2d
ifft3d igammac IndexedSlices is_nan is_non_decreasing is_numeric_tensor
is_strictly_increasing is_tensor lbeta lin_space local_variables
local_variables_initializer lookup. losses. matching_files math.confusion_matrix
matrix_determinant matrix_solve matrix_solve_ls matrix_square_root
matrix_triangular_solve metrics. model_variables moving_average_variables multinomial
nest. no_gradient no_op norm numpy_function parse_example parse_single_example
parse_single_sequence_example parse_tensor placeholder placeholder_with_default
polygamma Print print profiler. py_func py_function python.util.nest. qr quantize
random. random_crop random_gamma random_poisson read_file repeat saved_model.
scalar_mul scan scatter_add scatter_div scatter_max scatter_min scatter_mul
scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update
self_adjoint_eig self_adjoint_eigvals serialize_sparse serialize_tensor sparse_add
sparse_concat sparse_fill_empty_rows sparse_mask sparse_matmul sparse_maximum
sparse_merge sparse_minimum sparse_placeholder sparse_reduce_max sparse_reduce_sum
sparse_reorder sparse_reset_shape sparse_reshape sparse_retain sparse_segment_mean
sparse_segment_sqrt_n sparse_segment_sum sparse_slice sparse_softmax sparse_split
sparse_tensor_dense_matmul sparse_to_indicator sparse_transpose SparseTensor
SparseTensorValue string_to_hash_bucket_strong summary. svd switch_case
tables_initializer tensor_scatter_add tensor_scatter_nd_add tensor_scatter_nd_sub
tensor_scatter_nd_update tensor_scatter_sub tensor_scatter_update TensorArray
timestamp to_complex128 to_complex64 tpu. train. trainable_variables tuple
unravel_index unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
variables_initializer verify_tensor_all_finite where_v2 write_file
"""


@handles(*(f"tf.{name}" for name in _AROUND.split()))
def around(call: Call) -> Value:
    """Losses, metrics, optimizers, summaries and the like."""
    return Tensor()


@handles("tf.python.training.moving_averages.assign_moving_average")
def moved_average(call: Call) -> Value:
    """An update; without bias it counts in variables of its own, as it does unasked."""
    if call.given("zero_debias", 3) == Const(False):
        return Tensor()
    return call.unknown(f"`{call.symbol}` makes variables to correct its start")


_PLAIN = """
app. ConfigProto constant_initializer contrib.training.HParams DeviceSpec
dimension_value distribute.get_strategy distribute.has_strategy errors.
executing_eagerly FixedLenFeature flags. gfile. glorot_normal_initializer
glorot_uniform_initializer GPUOptions initializers. io.FixedLenFeature
io.VarLenFeature logging. no_regularizer ones_initializer orthogonal_initializer
random_normal_initializer random_uniform_initializer set_random_seed sysconfig.
TensorShape TensorSpec test. truncated_normal_initializer
uniform_unit_scaling_initializer variance_scaling_initializer VarLenFeature
zeros_initializer
"""


@handles(*(f"tf.{name}" for name in _PLAIN.split()))
def plain(call: Call) -> Value:
    """Values of Python, known before the graph if their arguments are."""
    return loose(call.time)
