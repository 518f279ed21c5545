"""Calls that make layers, as layers of a class and calls of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..interp.values import Function, Time
from ..plan.layers.lifted_names import source_text
from ..plan.layers.made_layers import Conversion
from ..plan.program import TF
from .spelling import argument_of, looks_counted, snake, spaced

if TYPE_CHECKING:
    from .bodies import Body

__all__ = ["METHODS", "helped", "layer"]

# Methods of lifted classes that make variables as a function of TensorFlow 1 does.
METHODS = {
    "variable": "get_variable",
    "new variable": "new_variable",
    "linear_model": "make_linear_model",
}
# Arguments of columns that their layer of Keras does not have.
_FILLED = ("cols_to_vars", "cols_to_output_tensors", "weight_collections")


def layer(body: Body, node: cst.Call) -> cst.BaseExpression:
    """What the call says instead of making a layer."""
    made = body.notes.made[node]
    method = METHODS.get(made.kind)
    if made.kind == "ColumnsLayer" and _as_in_tensorflow_1(body, node):
        method = "make_input_layer"
    if method is not None:
        args = [one.with_changes(value=body.moved(one.value)) for one in node.args]
        return node.with_changes(func=cst.parse_expression(f"self.{method}"), args=args)
    reads: set[str] = set()

    def text(part: cst.BaseExpression) -> str:
        reads.update(body.reads(part))
        return body.text(part)

    def moved(part: cst.BaseExpression) -> str:
        return source_text(body.moved(part))

    conversion = Conversion(body.source, text, moved, True, as_given=True)
    plain = [one for one in node.args if not one.star]
    options = [text(one.value) for one in node.args if one.star]
    source = node if not options else node.with_changes(args=plain)
    inputs, (step,) = conversion.convert(made.symbol, source)
    constructor = step.constructor
    if options:
        more = ", ".join(f"**{one}" for one in options)
        joined = "" if constructor.endswith("(") else ", "
        constructor = f"{constructor[:-1]}{joined}{more})"
    if made.kind == "ColumnsLayer":
        _, _, inside = constructor.partition("(")
        constructor = f"{TF}.estimator.ColumnsLayer({inside}"
    if looks_counted(constructor):
        constructor = f"{TF}.estimator.named({constructor})"
    stands = body.make(step.wanted, constructor, node, reads)
    given = "".join(f", {name}={code}" for name, code in step.call_arguments)
    call = cst.parse_expression(f"{stands}(_{given})")
    assert isinstance(call, cst.Call)
    first, *rest = call.args
    # Parsed anew, the names of other arguments are no nodes of the file.
    again = [
        one
        if one.keyword is None
        else one.with_changes(value=_argument(body, node, one))
        for one in rest
    ]
    return call.with_changes(
        args=[first.with_changes(value=body.moved(inputs)), *again]
    )


def _as_in_tensorflow_1(body: Body, node: cst.Call) -> bool:
    """Columns that Keras' layer does not take."""
    return body.notes.shared_columns or any(
        one.keyword is not None and one.keyword.value in _FILLED for one in node.args
    )


def _argument(body: Body, node: cst.Call, argument: cst.Arg) -> cst.BaseExpression:
    """The argument as it stands in the file, where it does."""
    assert argument.keyword is not None
    name = argument.keyword.value
    for one in node.args:
        if one.keyword is not None and one.keyword.value == name:
            return body.moved(one.value)
    if source_text(argument.value) in ("False", "True"):
        return argument.value
    raise body.stop(node, f"`{name}` is given by its place")


def helped(body: Body, node: cst.Call, function: Function) -> cst.BaseExpression:
    """What the call says instead of calling a function that makes layers."""
    helper = body.helper(node, function)
    parameters = [one.name.value for one in function.node.params.params]
    given: dict[str, cst.Arg] = {}
    for place, one in enumerate(node.args):
        if one.star:
            raise body.stop(node, "layers of a function with `*` arguments")
        name = one.keyword.value if one.keyword is not None else parameters[place]
        given[name] = one
    reads: set[str] = set()
    parts: list[str] = []
    for name in helper.setup:
        if name not in given:
            continue
        value = given[name].value
        if body.notes.time(value) is Time.GRAPH:
            shown = body.tree.code(value)
            raise body.stop(value, f"a layer depends on `{shown}`")
        reads |= body.reads(value)
        parts.append(f"{name}={body.text(value)}")
    constructor = f"{body.class_of(node, helper)}({', '.join(parts)})"
    name = snake(helper.name)
    stands = body.make(name, constructor, node, reads)
    args: list[cst.Arg] = []
    skipped = False
    for name in helper.graph:
        if name not in given:
            skipped = True
            continue
        one = given[name]
        value = body.moved(one.value)
        keyword = cst.Name(name) if skipped or one.keyword is not None else None
        skipped = skipped or keyword is not None
        args.append(argument_of(value, keyword))
    call = cst.parse_expression(f"{stands}()")
    assert isinstance(call, cst.Call)
    return spaced(call.with_changes(args=args))
