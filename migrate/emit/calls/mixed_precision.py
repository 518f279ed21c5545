"""Mixed precision in an emitted loop: float16 inside the model, float32 around it.

The model computes in float16 and keeps its weights in float32. Its outputs are
float32, so that softmax and loss keep their digits, and the loss is scaled up
while gradients are taken.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import libcst as cst

from ...plan.code.tree import Statement, Tree, only_small, walk
from ...plan.program import TF, ModelFnPlan
from ...plan.sites import KerasSites

__all__ = [
    "LOSS_SCALING",
    "POLICY",
    "float32_outputs",
    "in_float32",
    "output_layer",
    "own_float32",
]

POLICY = f'{TF}.keras.mixed_precision.set_global_policy("mixed_float16")'
LOSS_SCALING = f"{TF}.keras.mixed_precision.LossScaleOptimizer"

_MODELS = ("tf.keras.Model", "tf.keras.models.Model")
_SEQUENTIAL = ("tf.keras.Sequential", "tf.keras.models.Sequential")
# Makes a tensor that is float32 unless told otherwise.
_MADE = re.compile(r"\btf\.(constant|zeros|ones|eye|range|fill|linspace|random)\b")
# A layer of Keras, or the parameters: not a variable, a list or a class of ours.
_PLAIN_LAYER = re.compile(
    r"self\.\w+ = (__tf__\.keras\.layers\.\w+\(|params$)|\w+ = ", re.MULTILINE
)
_CAST = re.compile(r"float32|to_float")


def output_layer(tree: Tree, sites: KerasSites) -> cst.Call | None:
    """The constructor call of the layer that makes a model's output, if seen."""
    made = getattr(only_small(sites.model_ready), "value", None)
    statements: Sequence[Statement] = sites.model_statements
    defined = (
        tree.resolver.definition(made.func) if isinstance(made, cst.Call) else None
    )
    if isinstance(defined, cst.FunctionDef) and isinstance(
        defined.body, cst.IndentedBlock
    ):
        returned = [n.value for n in walk(defined.body) if isinstance(n, cst.Return)]
        if len(returned) != 1:
            return None
        made = tree.value(returned[0])
        statements = [s for s in defined.body.body if isinstance(s, Statement)]
    if not isinstance(made, cst.Call):
        return None
    symbol = tree.symbol(made.func)
    if symbol in _MODELS:
        return _layer_of(tree, tree.value(_argument(made, "outputs", 1)))
    if symbol in _SEQUENTIAL:
        return _last_of_sequence(tree, made, statements)
    return None


def _argument(call: cst.Call, name: str, place: int) -> cst.BaseExpression | None:
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == name:
            return argument.value
    if len(call.args) > place and call.args[place].keyword is None:
        return call.args[place].value
    return None


def _layer_of(tree: Tree, tensor: cst.BaseExpression | None) -> cst.Call | None:
    """The ``Dense(...)`` of ``Dense(...)(x)``."""
    if isinstance(tensor, cst.Call) and isinstance(tensor.func, cst.Call):
        return _checked(tree, tensor.func)
    return None


def _last_of_sequence(
    tree: Tree, made: cst.Call, statements: Sequence[Statement]
) -> cst.Call | None:
    added = [
        small.value
        for small in map(only_small, statements)
        if isinstance(small, cst.Expr)
        and isinstance(small.value, cst.Call)
        and isinstance(small.value.func, cst.Attribute)
        and small.value.func.attr.value == "add"
    ]
    if added:
        return _checked(tree, added[-1].args[0].value) if added[-1].args else None
    layers = _argument(made, "layers", 0)
    if isinstance(layers, cst.List) and layers.elements:
        return _checked(tree, layers.elements[-1].value)
    return None


def _checked(tree: Tree, node: cst.BaseExpression) -> cst.Call | None:
    """The call, if it makes a plain Keras layer without a dtype of its own."""
    if not isinstance(node, cst.Call):
        return None
    if not (tree.symbol(node.func) or "").startswith("tf.keras.layers."):
        return None
    for argument in node.args:
        named = argument.keyword is not None and argument.keyword.value == "dtype"
        if argument.star or named:
            return None
    return node


def in_float32(layer: cst.Call) -> cst.Call:
    """The same constructor call with ``dtype="float32"``."""
    args = list(layer.args)
    last = cst.Arg(
        cst.SimpleString('"float32"'),
        keyword=cst.Name("dtype"),
        equal=cst.AssignEqual(
            whitespace_before=cst.SimpleWhitespace(""),
            whitespace_after=cst.SimpleWhitespace(""),
        ),
    )
    if args:
        old = args[-1]
        last = last.with_changes(whitespace_after_arg=old.whitespace_after_arg)
        space = cst.SimpleWhitespace(" ")
        if isinstance(old.comma, cst.Comma):
            last = last.with_changes(comma=old.comma)
        args[-1] = old.with_changes(
            comma=cst.Comma(whitespace_after=space),
            whitespace_after_arg=cst.SimpleWhitespace(""),
        )
    return layer.with_changes(args=[*args, last])


def float32_outputs(model: ModelFnPlan) -> tuple[str, ...]:
    """A lifted model's ``__init__``; layers that end in an output stay float32."""
    assert model.model is not None
    wanted, last = set(model.outputs), set[str]()
    for line in reversed(model.model.call[:-1]):
        for statement in reversed(ast.parse(line).body):
            names = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
            targets = {
                n.id
                for n in ast.walk(statement)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
            if not targets & wanted:
                continue
            wanted -= targets
            layer = _outermost_layer(statement)
            if layer is not None:
                last.add(layer)
            else:
                wanted |= names - targets
    made = []
    for line in model.model.init:
        target, _, code = line.partition(" = ")
        if target.removeprefix("self.") in last:
            line = f"{target} = {_with_float32(code.strip())}\n"
        made.append(line)
    return tuple(made)


def _outermost_layer(statement: ast.stmt) -> str | None:
    for node in ast.walk(statement):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "self"
        ):
            return node.func.attr
    return None


def _with_float32(code: str) -> str:
    call = cst.parse_expression(code)
    if not isinstance(call, cst.Call) or "dtype=" in code:
        return code
    return cst.Module([]).code_for_node(in_float32(call))


def own_float32(model: ModelFnPlan) -> str | None:
    """A line of a lifted forward pass that would mix float32 and float16."""
    assert model.model is not None
    for line in model.model.init:
        if not _PLAIN_LAYER.match(line):
            return line.strip().splitlines()[-1].strip()
    forward = model.model.call[:-1]
    casts = any(_CAST.search(line) for line in forward)
    for line in forward:
        text = line.strip().splitlines()[-1]
        if _MADE.search(line.replace(TF, "tf")):
            return text
        operators = any(isinstance(n, ast.BinOp) for n in ast.walk(ast.parse(line)))
        if casts and operators and "features" not in line:
            return text
    return None
