"""TensorFlow functions without state: they mean the same inside a Keras model."""

from __future__ import annotations

import libcst as cst

from .source import Source
from .tree import walk

__all__ = ["is_plain_call", "is_pure"]

_FOLDERS = (
    "tf.audio.",
    "tf.bitwise.",
    "tf.image.",
    "tf.linalg.",
    "tf.math.",
    "tf.nn.",
    "tf.ragged.",
    "tf.signal.",
    "tf.sparse.",
    "tf.spectral.",
    "tf.strings.",
)
_IMPURE = (
    "tf.nn.bidirectional_dynamic_rnn",
    "tf.nn.dynamic_rnn",
    "tf.nn.raw_rnn",
    "tf.nn.rnn_cell",
    "tf.nn.static_",
    "tf.math.confusion",
)
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
_BUILTINS_NAMES = """
abs all any bool dict enumerate float format getattr hasattr int isinstance len list
map max min range reversed round set sorted str sum tuple zip
"""
_BUILTINS = frozenset(_BUILTINS_NAMES.split())
# Methods of tensors, shapes, strings, lists and dicts without an effect.
_METHODS_NAMES = """
as_list assert_has_rank assert_is_compatible_with copy count endswith format get
get_shape index is_fully_defined items join keys lookup lower merge_with replace
rsplit set_shape shape size split startswith strip upper values with_rank
with_rank_at_least append update items ndims num_elements
"""
_METHODS = frozenset(_METHODS_NAMES.split())


def is_pure(symbol: str) -> bool:
    """The function makes no variables and has no effects."""
    if symbol.startswith(_IMPURE):
        return False
    short = symbol.removeprefix("tf.").removeprefix("compat.v1.")
    return symbol.startswith(_FOLDERS) or short in _FUNCTIONS or symbol in _RANDOM


def is_plain_call(source: Source, call: cst.Call, depth: int = 0) -> bool:
    """A call without TensorFlow in it: of Python, NumPy, or a plain helper."""
    tree = source.tree
    function = call.func
    dotted = tree.resolver.qualified(function)
    if dotted is not None:
        root = dotted.split(".")[0]
        return root in (
            "math",
            "numpy",
            "os",
            "functools",
            "re",
            "collections",
            "json",
            "six",
        )
    if isinstance(function, cst.Name):
        defined = tree.resolver.definition(function)
        if isinstance(defined, cst.FunctionDef):
            return depth < 6 and plain_function(source, defined, depth + 1)
        known = function.value in _BUILTINS or function.value.endswith("Error")
        return known and not tree.resolver.bindings(function)
    return isinstance(function, cst.Attribute) and function.attr.value in _METHODS


def plain_function(source: Source, defined: cst.FunctionDef, depth: int) -> bool:
    """A function that works on plain values only."""
    for node in walk(defined.body):
        if isinstance(node, cst.Call):
            if source.tree.symbol(node.func) is not None:
                return False
            if not is_plain_call(source, node, depth):
                return False
        if isinstance(node, (cst.Global, cst.Nonlocal, cst.Yield)):
            return False
    return True


def pure_function(
    source: Source,
    defined: cst.FunctionDef,
    depth: int = 0,
    losses: tuple[str, ...] = (),
) -> bool:
    """A function of tensors without variables and effects."""
    if depth > 6:
        return False
    for node in walk(defined.body):
        if isinstance(node, (cst.Global, cst.Nonlocal, cst.Yield, cst.With)):
            return False
        if not isinstance(node, cst.Call):
            continue
        symbol = source.tree.symbol(node.func)
        if symbol is not None:
            if not is_pure(symbol) and symbol not in losses:
                return False
            continue
        called = source.tree.resolver.definition(node.func)
        if isinstance(called, cst.FunctionDef):
            if not pure_function(source, called, depth + 1, losses):
                return False
        elif not is_plain_call(source, node):
            return False
    return True


__all__ += ["pure_function"]
