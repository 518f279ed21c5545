"""Initialisers and regularisers of TF1 as those of tf_keras, same distribution."""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst

from ...code.arguments import UnknownArguments, is_none, match_arguments
from ...code.source import Source
from ...code.statements import is_docstring, names_in
from ...code.texts import source_text
from ...code.tree import Tree, only_small, statements_of
from .draws import draws
from .layer_class import TF

__all__ = ["initializer", "regularizer"]

Text = Callable[[cst.BaseExpression], str]

# canonical name -> (Keras class, its parameters in TF1's order, defaults of TF1
# that Keras does not share)
_INITIALIZERS: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "zeros_initializer": ("Zeros", ("dtype",), {}),
    "ones_initializer": ("Ones", ("dtype",), {}),
    "constant_initializer": (
        "Constant",
        ("value", "dtype", "verify_shape"),
        {"value": "0"},
    ),
    "random_normal_initializer": (
        "RandomNormal",
        ("mean", "stddev", "seed", "dtype"),
        {"stddev": "1.0"},
    ),
    "truncated_normal_initializer": (
        "TruncatedNormal",
        ("mean", "stddev", "seed", "dtype"),
        {"stddev": "1.0"},
    ),
    "random_uniform_initializer": (
        "RandomUniform",
        ("minval", "maxval", "seed", "dtype"),
        {"minval": "0.0", "maxval": "1.0"},
    ),
    "variance_scaling_initializer": (
        "VarianceScaling",
        ("scale", "mode", "distribution", "seed", "dtype"),
        {},
    ),
    "glorot_uniform_initializer": ("GlorotUniform", ("seed", "dtype"), {}),
    "glorot_normal_initializer": ("GlorotNormal", ("seed", "dtype"), {}),
    "orthogonal_initializer": ("Orthogonal", ("gain", "seed", "dtype"), {}),
    "initializers.he_normal": ("HeNormal", ("seed", "dtype"), {}),
    "initializers.he_uniform": ("HeUniform", ("seed", "dtype"), {}),
    "initializers.lecun_normal": ("LecunNormal", ("seed", "dtype"), {}),
    "initializers.lecun_uniform": ("LecunUniform", ("seed", "dtype"), {}),
}
_FOLDED = {
    "initializers.zeros": "zeros_initializer",
    "initializers.ones": "ones_initializer",
    "initializers.constant": "constant_initializer",
    "initializers.random_normal": "random_normal_initializer",
    "initializers.truncated_normal": "truncated_normal_initializer",
    "initializers.random_uniform": "random_uniform_initializer",
    "initializers.variance_scaling": "variance_scaling_initializer",
    "initializers.glorot_uniform": "glorot_uniform_initializer",
    "initializers.glorot_normal": "glorot_normal_initializer",
    "initializers.orthogonal": "orthogonal_initializer",
    "keras.initializers.he_normal": "initializers.he_normal",
    "keras.initializers.he_uniform": "initializers.he_uniform",
    "keras.initializers.lecun_normal": "initializers.lecun_normal",
    "keras.initializers.lecun_uniform": "initializers.lecun_uniform",
    "keras.initializers.glorot_uniform": "glorot_uniform_initializer",
    "keras.initializers.glorot_normal": "glorot_normal_initializer",
    "keras.initializers.zeros": "zeros_initializer",
    "keras.initializers.Zeros": "zeros_initializer",
    "keras.initializers.ones": "ones_initializer",
    "keras.initializers.Ones": "ones_initializer",
    "keras.initializers.constant": "constant_initializer",
    "keras.initializers.Constant": "constant_initializer",
}
_XAVIER = (
    "tf.contrib.layers.xavier_initializer",
    "tf.contrib.layers.xavier_initializer_conv2d",
)
# Classes of tf.keras that mean the same in tf_keras.
_SAME = (
    "TruncatedNormal",
    "RandomNormal",
    "RandomUniform",
    "VarianceScaling",
    "Orthogonal",
)


def initializer(source: Source, node: cst.BaseExpression, text: Text) -> str:
    """Source of the Keras initialiser for one of TF1."""
    tree = source.tree
    value = tree.value(node)
    if isinstance(value, cst.SimpleString):
        return text(node)
    if value is not None and draws(tree, value):
        raise source.stop(node, "an initialiser draws from a state")
    own = _own_helper(tree, value)
    if own is not None:
        returned, own_parameters = own

        def from_caller(part: cst.BaseExpression) -> str:
            """The helper's parameters as its caller gives them."""
            if isinstance(part, cst.Name) and part.value in own_parameters:
                given = own_parameters[part.value]
                return text(given[0]) if given[1] else source_text(given[0])
            if names_in(source_text(part)) & set(own_parameters):
                raise source.stop(node, "an initialiser of a helper that computes")
            return source_text(part)

        return initializer(source, returned, from_caller)
    made = isinstance(value, cst.Call)
    function = value.func if isinstance(value, cst.Call) else value
    symbol = tree.symbol(function) or ""
    if symbol in _XAVIER and isinstance(value, cst.Call):
        return _xavier(source, value, text)
    if symbol == "tf.contrib.layers.variance_scaling_initializer":
        assert isinstance(value, cst.Call)
        return _contrib_variance_scaling(source, value, text)
    short = symbol.removeprefix("tf.")
    short = _FOLDED.get(short, short)
    if short.startswith("keras.initializers.") and short.endswith(_SAME):
        return text(value if value is not None else node)
    if short not in _INITIALIZERS:
        shown = symbol or tree.code(node)
        raise source.stop(node, f"the initialiser `{shown}` has no Keras twin")
    keras, parameters, defaults = _INITIALIZERS[short]
    arguments = dict(defaults)
    if isinstance(value, cst.Call):
        given = _given(source, value, parameters)
        for name in ("dtype", "verify_shape"):
            given.pop(name, None)
        arguments.update({n: text(a) for n, a in given.items()})
        ordered = [n for n in parameters if n in arguments]
        arguments = {n: arguments[n] for n in ordered}
    elif not made and not symbol:
        raise source.stop(node, "an initialiser that is not seen")
    if keras in ("Zeros", "Ones") and not arguments:
        return f'"{keras.lower()}"'
    if keras == "Constant":
        return f"{TF}.keras.initializers.Constant({arguments['value']})"
    inside = ", ".join(f"{n}={a}" for n, a in arguments.items())
    return f"{TF}.keras.initializers.{keras}({inside})"


_Given = dict[str, tuple[cst.BaseExpression, bool]]


def _own_helper(
    tree: Tree, value: cst.BaseExpression | None
) -> tuple[cst.BaseExpression, _Given] | None:
    """What ``def create_initializer(range=0.02)`` returns, and its parameters.

    Each is told with its value, and whether the caller gave it.
    """
    if not isinstance(value, cst.Call):
        return None
    helper = tree.resolver.definition(value.func)
    if not isinstance(helper, cst.FunctionDef) or helper.decorators:
        return None
    if not isinstance(helper.body, cst.IndentedBlock):
        return None
    body = [s for s in statements_of(helper.body) if not is_docstring(s)]
    last = only_small(body[0]) if len(body) == 1 else None
    if not isinstance(last, cst.Return) or not isinstance(last.value, cst.Call):
        return None
    names = [p.name.value for p in helper.params.params]
    try:
        given = match_arguments(value, names)
    except UnknownArguments:
        return None
    found: _Given = {}
    for parameter in helper.params.params:
        name = parameter.name.value
        if name in given:
            found[name] = (given[name], True)
        elif parameter.default is not None:
            found[name] = (parameter.default, False)
        else:
            return None
    return last.value, found


def _xavier(source: Source, call: cst.Call, text: Text) -> str:
    given = _given(source, call, ("uniform", "seed", "dtype"))
    uniform = given.get("uniform")
    if uniform is not None and not isinstance(uniform, cst.Name):
        raise source.stop(call, "xavier_initializer with a computed `uniform`")
    normal = isinstance(uniform, cst.Name) and uniform.value == "False"
    seed = f"seed={text(given['seed'])}" if not is_none(given.get("seed")) else ""
    keras = "GlorotNormal" if normal else "GlorotUniform"
    return f"{TF}.keras.initializers.{keras}({seed})"


def _contrib_variance_scaling(source: Source, call: cst.Call, text: Text) -> str:
    """Uniform is exact; the truncated normal of contrib is 0.3 % wider."""
    given = _given(source, call, ("factor", "mode", "uniform", "seed", "dtype"))
    uniform = given.get("uniform")
    distribution = "truncated_normal"
    if isinstance(uniform, cst.Name) and uniform.value == "True":
        distribution = "uniform"
    elif not is_none(uniform) and tree_name(uniform) != "False":
        raise source.stop(call, "variance_scaling_initializer with a computed flag")
    mode = "fan_in"
    if isinstance(given.get("mode"), cst.SimpleString):
        literal = given["mode"]
        assert isinstance(literal, cst.SimpleString)
        mode = str(ast.literal_eval(literal.value)).lower()
    elif "mode" in given:
        raise source.stop(call, "variance_scaling_initializer with a computed mode")
    factor = text(given["factor"]) if "factor" in given else "2.0"
    arguments = f'scale={factor}, mode="{mode}", distribution="{distribution}"'
    if not is_none(given.get("seed")):
        arguments += f", seed={text(given['seed'])}"
    return f"{TF}.keras.initializers.VarianceScaling({arguments})"


def tree_name(node: cst.BaseExpression | None) -> str | None:
    """The identifier that an expression is, if it is one."""
    return node.value if isinstance(node, cst.Name) else None


def _given(
    source: Source, call: cst.Call, parameters: tuple[str, ...]
) -> dict[str, cst.BaseExpression]:
    try:
        return match_arguments(call, parameters)
    except UnknownArguments as problem:
        raise source.stop(call, f"an initialiser or regulariser with {problem}") from (
            None
        )


def regularizer(source: Source, node: cst.BaseExpression, text: Text) -> str:
    """Source of the Keras regulariser for one of TF1.

    contrib's l2 is half the sum of squares, Keras' the whole.
    """
    tree: Tree = source.tree
    value = tree.value(node)
    symbol = tree.symbol(value.func) if isinstance(value, cst.Call) else None
    if symbol is not None and symbol.startswith("tf.keras.regularizers."):
        return text(node)
    assert value is not None
    if symbol in ("tf.contrib.layers.l2_regularizer", "tf.contrib.slim.l2_regularizer"):
        assert isinstance(value, cst.Call)
        given = _given(source, value, ("scale", "scope"))
        return f"{TF}.keras.regularizers.L2(0.5 * {_factor(given['scale'], text)})"
    if symbol in ("tf.contrib.layers.l1_regularizer", "tf.contrib.slim.l1_regularizer"):
        assert isinstance(value, cst.Call)
        given = _given(source, value, ("scale", "scope"))
        return f"{TF}.keras.regularizers.L1({text(given['scale'])})"
    shown = symbol or tree.code(node)
    raise source.stop(node, f"the regulariser `{shown}` has no Keras twin")


def _factor(node: cst.BaseExpression, text: Text) -> str:
    plain = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Float, cst.Integer)
    code = text(node)
    return code if isinstance(node, plain) else f"({code})"
