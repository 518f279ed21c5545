"""``tf.get_variable`` and the scopes that variables are named and made in."""

from __future__ import annotations

from ..arguments import written_out
from ..values import Const, Tensor, Value
from . import Call, handles


@handles("tf.get_variable")
def get_variable(call: Call) -> Value:
    """A variable by its name."""
    if any(one.star for one in call.arguments):
        return call.unknown("a variable with arguments that are not written out")
    return call.makes("variable")


@handles("tf.Variable")
def variable(call: Call) -> Value:
    """A variable that cannot be had again by its name."""
    trainable, start = call.given("trainable", 1), call.given("initial_value", 0)
    if trainable == Const(False) and isinstance(start, Const | Tensor):
        # A counter or the like: no weight of the model.
        return Tensor()
    if any(one.star for one in call.arguments):
        return call.unknown("a variable with arguments that are not written out")
    return call.makes("new variable")


@handles("tf.variable_scope", "tf.variable_op_scope")
def variable_scope(call: Call) -> Value:
    """A scope for names, for first values and for regularizers."""
    for one in written_out(call.arguments):
        if one.keyword == "regularizer":
            call.evaluator.notes.regularized.append(call)
        if one.star or one.keyword in (
            "partitioner",
            "custom_getter",
            "caching_device",
        ):
            shown = one.keyword or "star"
            return call.unknown(f"a variable_scope with `{shown}=`")
    return Tensor()


@handles(
    "tf.colocate_with",
    "tf.control_dependencies",
    "tf.device",
    "tf.get_variable_scope",
    "tf.init_scope",
    "tf.name_scope",
    "tf.python.framework.ops.colocate_with",
)
def other_scope(call: Call) -> Value:
    """Scopes that say nothing about variables, and the one around."""
    return Tensor()
