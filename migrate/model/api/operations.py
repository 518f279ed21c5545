"""Functions of tensors, and what stands around a model: it makes no weights."""

from __future__ import annotations

from ...code.pure import is_pure
from ..values import Config, Const, Tensor, Time, Value
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


# Functions of tensors, variables and graphs at the top of TensorFlow 1.
_FUNCTIONS_NAMES = """
GradientTape add_check_numerics_ops add_to_collection add_to_collections all_variables
arg_max arg_min assert_equal assert_greater assert_greater_equal assert_integer
assert_less assert_less_equal assert_near assert_negative assert_non_negative
assert_non_positive assert_none_equal assert_positive assert_proper_iterable assert_rank
assert_rank_at_least assert_rank_in assert_same_float_dtype assert_scalar assert_type
assign assign_add assign_sub batch_gather batch_scatter_update betainc
broadcast_dynamic_shape broadcast_static_shape cholesky_solve conj
convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor
decode_compressed ensure_shape extract_image_patches extract_volume_patches fft fft2d
fft3d get_default_graph guarantee_const histogram_fixed_width_bins ifft ifft2d ifft3d
igammac is_non_decreasing is_numeric_tensor is_strictly_increasing lbeta lin_space
local_variables matching_files matrix_determinant matrix_solve matrix_solve_ls
matrix_square_root matrix_triangular_solve model_variables moving_average_variables
multinomial no_gradient numpy_function parse_single_sequence_example parse_tensor
polygamma py_function qr quantize random_crop random_gamma random_poisson read_file
repeat scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add
scatter_nd_sub scatter_nd_update scatter_sub self_adjoint_eigvals serialize_sparse
serialize_tensor sparse_add sparse_concat sparse_fill_empty_rows sparse_mask
sparse_matmul sparse_maximum sparse_merge sparse_minimum sparse_reduce_max
sparse_reduce_sum sparse_reorder sparse_reset_shape sparse_reshape sparse_retain
sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum sparse_slice
sparse_softmax sparse_split sparse_tensor_dense_matmul sparse_to_indicator
sparse_transpose string_to_hash_bucket_strong switch_case tensor_scatter_add
tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_nd_update tensor_scatter_sub
tensor_scatter_update timestamp to_complex128 to_complex64 unravel_index
unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
verify_tensor_all_finite where_v2 write_file
"""


@handles(
    *(f"tf.{name}" for name in _FUNCTIONS_NAMES.split()),
    "tf.contrib.slim.learning.create_train_op",
    "tf.compat.",
    "tf.contrib.estimator.",
    "tf.contrib.framework.argsort",
    "tf.contrib.framework.nest.",
    "tf.contrib.framework.sort",
    "tf.contrib.image.",
    "tf.clip_by_global_norm",
    "tf.confusion_matrix",
    "tf.math.confusion_matrix",
    "tf.contrib.lookup.",
    "tf.contrib.losses.",
    "tf.contrib.metrics.",
    "tf.contrib.opt.",
    "tf.contrib.signal.",
    "tf.contrib.summary.",
    "tf.contrib.tpu.",
    "tf.tpu.",
    "tf.contrib.training.",
    "tf.data.",
    "tf.debugging.",
    "tf.estimator.",
    "tf.global_variables",
    "tf.global_variables_initializer",
    "tf.gradients",
    "tf.group",
    "tf.is_nan",
    "tf.local_variables_initializer",
    "tf.losses.",
    "tf.metrics.",
    "tf.no_op",
    "tf.placeholder",
    "tf.placeholder_with_default",
    "tf.print",
    "tf.Print",
    "tf.py_func",
    "tf.random.",
    "tf.saved_model.",
    "tf.sparse_placeholder",
    "tf.summary.",
    "tf.tables_initializer",
    "tf.train.",
    "tf.trainable_variables",
    "tf.tuple",
    "tf.Assert",
    "tf.TensorArray",
    "tf.bincount",
    "tf.contrib.distributions.",
    "tf.custom_gradient",
    "tf.distributions.",
    "tf.histogram_fixed_width",
    "tf.hessians",
    "tf.IndexedSlices",
    "tf.is_tensor",
    "tf.nest.",
    "tf.norm",
    "tf.profiler.",
    "tf.python.util.nest.",
    "tf.scalar_mul",
    "tf.scan",
    "tf.self_adjoint_eig",
    "tf.svd",
    "tf.variables_initializer",
    "tf.SparseTensor",
    "tf.SparseTensorValue",
    "tf.count_nonzero",
    "tf.decode_csv",
    "tf.lookup.",
    "tf.scatter_update",
    "tf.parse_example",
    "tf.parse_single_example",
)
def around(call: Call) -> Value:
    """Losses, metrics, optimizers, summaries and the like."""
    return Tensor()


@handles("tf.python.training.moving_averages.assign_moving_average")
def moved_average(call: Call) -> Value:
    """An update; without bias it counts in variables of its own, as it does unasked."""
    if call.given("zero_debias", 3) == Const(False):
        return Tensor()
    return call.unknown(f"`{call.symbol}` makes variables to correct its start")


_INITIALIZERS = (
    *("constant", "glorot_normal", "glorot_uniform", "ones", "orthogonal", "zeros"),
    *("random_normal", "random_uniform", "truncated_normal", "uniform_unit_scaling"),
    "variance_scaling",
)


@handles(
    "tf.DeviceSpec",
    "tf.FixedLenFeature",
    "tf.TensorShape",
    "tf.TensorSpec",
    "tf.VarLenFeature",
    "tf.dimension_value",
    "tf.errors.",
    "tf.executing_eagerly",
    "tf.io.FixedLenFeature",
    "tf.io.VarLenFeature",
    "tf.no_regularizer",
    "tf.sysconfig.",
    "tf.app.",
    "tf.flags.",
    "tf.gfile.",
    "tf.logging.",
    "tf.ConfigProto",
    "tf.GPUOptions",
    "tf.set_random_seed",
    "tf.test.",
    "tf.contrib.training.HParams",
    "tf.distribute.get_strategy",
    "tf.distribute.has_strategy",
    "tf.initializers.",
    *(f"tf.{kind}_initializer" for kind in _INITIALIZERS),
)
def plain(call: Call) -> Value:
    """Values of Python, known before the graph if their arguments are."""
    return Tensor() if call.time is Time.GRAPH else Config(call.time is Time.MODE)
