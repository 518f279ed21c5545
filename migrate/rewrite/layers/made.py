"""Calls that make layers, as layers of a class and calls of these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from ...code.blocked import Blocked
from ...code.texts import source_text
from ...model.api.hub import MODULE as HUB_MODULE
from ...model.api.hub import NAMES as HUB_NAMES
from ...model.contrib_functions import WITHOUT_WEIGHTS, contrib_name
from ...model.layer_functions import CLASSES, EMPTY, LAYERS
from ...model.spelling import snake
from ...model.values import Function, Time
from .conversion import constructor_of, matched, name_in
from .notices import Stays
from .spelling import FLAGS, TF, argument_of, spaced

if TYPE_CHECKING:
    from .bodies import Body

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
    if made.kind == "DenseFeatures" and (body.by_call or _as_in_tensorflow_1(node)):
        method = "make_input_layer"
    known = method is not None or contrib_name(made.symbol) in WITHOUT_WEIGHTS
    if made.kind == "called" or (body.by_call and not known):
        if made.kind == "object":
            raise body.stop(node, "an object with variables in a loop over tensors")
        shown = body.tree.code(node.func)
        raise body.stop(node, f"`{shown}` makes variables where it is called")
    if made.kind == "function":
        return function_layer(body, node)
    if method is not None:
        args = [one.with_changes(value=body.moved(one.value)) for one in node.args]
        return node.with_changes(func=cst.parse_expression(f"self.{method}"), args=args)
    if made.kind == "object":
        return _object(body, node)
    try:
        return layer_of_keras(body, node)
    except Blocked:
        # It depends on what only the call knows, or says what Keras cannot be told.
        if made.kind == "DenseFeatures":
            raise
        return function_layer(body, node)


def layer_of_keras(body: Body, node: cst.Call) -> cst.BaseExpression:
    """A layer of Keras for a function of tf.layers, called in its place."""
    symbol = body.notes.made[node].symbol
    known = LAYERS[symbol]
    reads: set[str] = set()

    def text(part: cst.BaseExpression) -> str:
        reads.update(body.reads(part))
        return body.text(part)

    plain = node.with_changes(args=[one for one in node.args if not one.star])
    options = [f"**{text(one.value)}" for one in node.args if one.star]
    given = matched(body.source, plain, (known.inputs, *known.parameters))
    inputs = given.pop(known.inputs, None)
    if inputs is None:
        raise body.stop(node, "a layer without input")
    told = {name: given.pop(name, cst.Name("False")) for name in known.at_call}
    named = name_in(given.get("name"))
    constructor = constructor_of(known, given, plain, body.source, text, inputs=1)
    if options:
        joined = "" if constructor.endswith("(") else ", "
        constructor = f"{constructor[:-1]}{joined}{', '.join(options)})"
    wanted = named or _result(body, node) or symbol.rpartition(".")[2]
    weights = EMPTY.search(symbol) is None
    args = [cst.Arg(body.moved(inputs))]  # layers are made as they are called
    stands = body.make(wanted, constructor, node, reads, weights=weights)
    func = cst.parse_expression(stands)
    args += [argument_of(body.moved(one), cst.Name(name)) for name, one in told.items()]
    return cst.Call(func, args)


def _result(body: Body, node: cst.Call) -> str | None:
    """The name of what a layer gives, where it has no other meaning."""
    statement = body.tree.parent(node)
    if body.loops or not isinstance(statement, cst.Assign):
        return None
    if len(statement.targets) > 1:
        return None
    target = statement.targets[0].target
    if not isinstance(target, cst.Name) or len(target.value) == 1:
        return None
    usable = target.value not in body.taken_names
    return (
        target.value if usable and len(body.scope.bindings[target.value]) == 1 else None
    )


def _object(body: Body, node: cst.Call) -> cst.BaseExpression:
    """A layer that is made here and called elsewhere."""
    reads: set[str] = set()

    def text(part: cst.BaseExpression) -> str:
        reads.update(body.reads(part))
        return body.text(part)

    symbol = body.notes.made[node].symbol
    if symbol.startswith("tf.keras."):
        parts = [
            f"{one.keyword.value}={text(one.value)}" if one.keyword else text(one.value)
            for one in node.args
        ]
        constructor = f"{source_text(node.func)}({', '.join(parts)})"
    elif symbol == HUB_MODULE:
        given = matched(body.source, node, HUB_NAMES)
        parts = [text(given["spec"])]
        if "name" in given:
            parts.append(f"name={text(given['name'])}")
        loader = source_text(node.func).removesuffix("Module")
        constructor = f"{loader}KerasLayer({', '.join(parts)})"
    else:
        names = tuple(n for n in CLASSES[symbol].parameters_of_class if n != "reuse")
        given = matched(body.source, node, names)
        constructor = constructor_of(CLASSES[symbol], given, node, body.source, text)
    wanted = snake(source_text(node.func).rpartition(".")[2])
    statement = body.tree.parent(node)
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        target = statement.targets[0].target
        wanted = target.value if isinstance(target, cst.Name) else wanted
    weights = EMPTY.search(symbol) is None
    stands = body.make(wanted, constructor, node, reads, weights=weights)
    return cst.parse_expression(stands)


def function_layer(body: Body, node: cst.Call) -> cst.BaseExpression:
    """A layer that calls the function as it is, with its own variables.

    What is known before the graph goes to the constructor, all else to the call.
    """
    function = body.text(node.func)
    if not isinstance(node.func, (cst.Name, cst.Attribute)):
        raise body.stop(node, f"`{function}` makes variables where it is called")
    reads = body.reads(node.func)
    plain = [one for one in node.args if one.keyword is None and one.star != "**"]
    early = [_early_text(body, one) for one in plain]
    # Places behind the last one that only the call knows; the first is the input.
    first = max((n for n, one in enumerate(early) if one is None or not n), default=-1)
    given = [one for one in early[first + 1 :] if one is not None]
    late = plain[: first + 1]
    weights = contrib_name(body.notes.made[node].symbol) not in WITHOUT_WEIGHTS
    wanted = snake(source_text(node.func).rpartition(".")[2])
    wanted = wanted if weights else _result(body, node) or wanted
    for one in node.args:
        if one in plain:
            continue
        # What tells whether it trains is told by the call.
        told = (*FLAGS, "normalizer_params")
        flag = one.keyword is not None and one.keyword.value in told
        code = None if flag else _early_text(body, one)
        if code is None:
            late.append(one)
            continue
        given.append(code)
        if one.keyword is not None and one.keyword.value in ("name", "scope"):
            wanted = name_in(one.value) or wanted
    for one in node.args:
        if one not in late:
            reads = reads | body.reads(one.value)
    constructor = f"{TF}.estimator.FunctionLayer({', '.join([function, *given])})"
    args = [one.with_changes(value=body.moved(one.value)) for one in late]
    stands = body.make(wanted, constructor, node, reads, weights=weights)
    return spaced(cst.Call(cst.parse_expression(stands), args))


def _early_text(body: Body, argument: cst.Arg) -> str | None:
    """An argument for the constructor, or None where it cannot stand there."""
    if body.notes.time(argument.value) is Time.GRAPH:
        return None
    try:
        code = body.text(argument.value)
    except Blocked:
        return None
    if argument.keyword is not None:
        return f"{argument.keyword.value}={code}"
    return f"{argument.star}{code}"


def _wanted(function: Function, given: Mapping[str, cst.Arg]) -> str:
    """`tower`, or `genre_tower` where the function is given a name for its scope."""
    defined = function.node
    plain = snake(defined.name.value if isinstance(defined, cst.FunctionDef) else "")
    for name in ("scope", "name"):
        told = name_in(given[name].value) if name in given else None
        if told is not None:
            alike = {*plain.split("_")} & {*re.findall("[a-z]+", told)}
            return told if alike else f"{told}_{plain}"
    return plain


def _as_in_tensorflow_1(node: cst.Call) -> bool:
    """Columns that Keras' layer does not take."""
    return any(
        one.keyword is not None and one.keyword.value in _FILLED for one in node.args
    )


def helped(body: Body, node: cst.Call, function: Function) -> cst.BaseExpression:
    """What the call says instead of calling a function that makes layers."""
    if body.by_call:
        raise Stays(function.node)
    helper = body.helper(node, function)
    parameters = [one.name.value for one in function.node.params.params]
    given: dict[str, cst.Arg] = {}
    for place, one in enumerate(node.args):
        if one.star:
            # Which of them are known early is not written there.
            raise Stays(function.node)
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
    args: list[cst.Arg] = []
    skipped = False
    for name in helper.graph:
        if name not in given:
            skipped = True
            continue
        one = given[name]
        value = body.moved(one.value)
        named = cst.Name("training" if name == helper.flag else name)
        said = name == helper.flag and source_text(one.value) in ("False", "True")
        keyword = named if said or skipped or one.keyword is not None else None
        skipped = skipped or keyword is not None
        args.append(argument_of(value, keyword))
    stands = body.make(_wanted(function, given), constructor, node, reads)
    call = cst.parse_expression(f"{stands}()")
    assert isinstance(call, cst.Call)
    return spaced(call.with_changes(args=args))
