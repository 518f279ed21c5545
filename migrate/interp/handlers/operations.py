"""Functions of tensors, and what stands around a model: it makes no weights."""

from __future__ import annotations

from ...plan.code.pure import is_pure
from ..values import Config, Tensor, Time, Value
from . import Call, handles


@handles("tf.")
def operation(call: Call) -> Value:
    """Anything that has no handler of its own."""
    if _is_pure(call.symbol) or call.symbol.endswith("EstimatorSpec"):
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


@handles(
    "tf.add_to_collection",
    "tf.assert_equal",
    "tf.assert_rank",
    "tf.assign",
    "tf.assign_add",
    "tf.compat.",
    "tf.contrib.estimator.",
    "tf.clip_by_global_norm",
    "tf.confusion_matrix",
    "tf.contrib.lookup.",
    "tf.contrib.losses.",
    "tf.contrib.metrics.",
    "tf.contrib.opt.",
    "tf.contrib.summary.",
    "tf.contrib.tpu.",
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
    "tf.test.",
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


@handles(
    "tf.DeviceSpec",
    "tf.TensorShape",
    "tf.app.",
    "tf.flags.",
    "tf.gfile.",
    "tf.logging.",
    "tf.ConfigProto",
    "tf.GPUOptions",
    "tf.set_random_seed",
    "tf.contrib.training.HParams",
    "tf.initializers.",
    "tf.uniform_unit_scaling_initializer",
)
def plain(call: Call) -> Value:
    """Values of Python, known before the graph if their arguments are."""
    return Tensor() if call.time is Time.GRAPH else Config(call.time is Time.MODE)
