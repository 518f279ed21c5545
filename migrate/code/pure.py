"""TensorFlow functions without state: they mean the same inside a Keras model."""

from __future__ import annotations

_FOLDERS_NAMES = """
audio. bitwise. dtypes. fake_quant_ io.decode_ io.encode_ io.parse_ image. linalg.
manip. math. nn. quantization. ragged. sets. signal. sparse. spectral. strings.
"""
_FOLDERS = tuple(f"tf.{name}" for name in _FOLDERS_NAMES.split())
_IMPURE = (
    "tf.nn.bidirectional_dynamic_rnn", "tf.nn.dynamic_rnn", "tf.nn.raw_rnn",
    "tf.nn.rnn_cell", "tf.nn.static_", "tf.math.confusion",
)  # fmt: skip
_FUNCTIONS_NAMES = """
abs accumulate_n acos acosh add add_n angle argmax argmin argsort as_dtype as_string
asin asinh atan atan2 atanh batch_to_space batch_to_space_nd bitcast boolean_mask
broadcast_to case cast ceil check_numerics cholesky clip_by_average_norm
clip_by_norm clip_by_value complex concat cond constant convert_to_tensor cos cosh
cross cumprod cumsum decode_base64 decode_json_example decode_raw depth_to_space
dequantize diag diag_part digamma div div_no_nan divide dynamic_partition
dynamic_stitch edit_distance einsum encode_base64 equal erf erfc exp expand_dims
expm1 eye fill floor floor_div floordiv floormod foldl foldr gather gather_nd
global_norm greater greater_equal identity identity_n igamma imag invert_permutation
is_finite is_inf is_nan less less_equal lgamma linspace log log1p log_sigmoid
logical_and logical_not logical_or logical_xor map_fn matmul matrix_band_part
matrix_diag matrix_diag_part matrix_inverse matrix_set_diag matrix_transpose maximum
meshgrid minimum mod multiply negative norm not_equal one_hot ones ones_like pad
parallel_stack polyval pow range rank real real_div realdiv reciprocal reduce_all
reduce_any reduce_join reduce_logsumexp reduce_max reduce_mean reduce_min
reduce_prod reduce_sum regex_replace reshape reverse reverse_sequence reverse_v2
rint roll round rsqrt saturate_cast scatter_nd searchsorted segment_max segment_mean
segment_min segment_prod segment_sum sequence_mask setdiff1d shape shape_n sigmoid
sign sin sinh size slice sort space_to_batch space_to_batch_nd space_to_depth split
sqrt square squared_difference squeeze stack stop_gradient strided_slice string_join
string_split string_strip string_to_hash_bucket string_to_hash_bucket_fast
string_to_number substr subtract tan tanh tensordot tile to_bfloat16 to_double
to_float to_int32 to_int64 trace transpose truediv truncatediv truncatemod unique
unique_with_counts unsorted_segment_max unsorted_segment_mean unsorted_segment_sum
unstack vectorized_map where while_loop zeros zeros_like zeta TensorShape
sparse_tensor_to_dense sparse_to_dense random_normal random_uniform truncated_normal
random_shuffle
"""
_FUNCTIONS = frozenset(_FUNCTIONS_NAMES.split())
_RANDOM = ("tf.random.normal", "tf.random.uniform", "tf.random.truncated_normal")


def is_pure(symbol: str) -> bool:
    """The function makes no variables and has no effects."""
    if symbol.startswith(_IMPURE):
        return False
    short = symbol.removeprefix("tf.").removeprefix("compat.v1.")
    return symbol.startswith(_FOLDERS) or short in _FUNCTIONS or symbol in _RANDOM
