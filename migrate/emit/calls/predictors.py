"""``tf.contrib.predictor``: a loaded export that is asked with NumPy arrays."""

from __future__ import annotations

import keyword

import libcst as cst

from ...plan.code.arguments import UnknownArguments, is_none, match_arguments
from ...plan.code.tree import Tree, walk
from ...plan.program import TF
from ...symbols.scopes import Binding

__all__ = ["predictors", "single_name"]

_PREDICTOR = "tf.contrib.predictor.from_saved_model"
_PARAMETERS = (
    "export_dir",
    "signature_def_key",
    "signature_def",
    "input_names",
    "output_names",
    "tags",
    "graph",
    "config",
)


def predictors(tree: Tree) -> list[tuple[cst.BaseExpression, str]]:
    """Expressions of the module and their source text from now on.

    A predictor goes all the way, with every place that asks it, or stays as it is.
    """
    found: list[tuple[cst.BaseExpression, str]] = []
    for node in walk(tree.module):
        if isinstance(node, cst.Call) and tree.symbol(node.func) == _PREDICTOR:
            found += _predictor(tree, node) or []
    return found


def _predictor(
    tree: Tree, call: cst.Call
) -> list[tuple[cst.BaseExpression, str]] | None:
    try:
        given = match_arguments(call, _PARAMETERS)
    except UnknownArguments:
        return None
    directory = given.get("export_dir")
    others = [name for name in _PARAMETERS[2:] if not is_none(given.get(name))]
    binding = single_name(tree, call)
    if directory is None or others or binding is None:
        return None
    key = '"serving_default"'
    if not is_none(given.get("signature_def_key")):
        key = tree.code(given["signature_def_key"])
    path = _decoded(tree, directory)
    found: list[tuple[cst.BaseExpression, str]] = [
        (call, f"{TF}.saved_model.load({path}).signatures[{key}]")
    ]
    for use in tree.uses(binding):
        asked = tree.parent(use)
        if not isinstance(asked, cst.Call) or asked.func is not use:
            return None
        inputs = _inputs(tree, asked)
        if inputs is None:
            return None
        code = f"{tree.code(use)}({inputs})"
        outer = tree.parent(asked)
        if isinstance(outer, cst.Subscript) and outer.value is asked:
            key_code = tree.module.code_for_node(outer)
            key_code = key_code.removeprefix(tree.module.code_for_node(asked))
            found.append((outer, f"{code}{key_code}.numpy()"))
        else:
            each = "key: value.numpy() for key, value in"
            found.append((asked, f"{{{each} {code}.items()}}"))
    return found


def _inputs(tree: Tree, asked: cst.Call) -> str | None:
    """The features of a request as arguments of a signature."""
    if len(asked.args) != 1 or asked.args[0].star or asked.args[0].keyword is not None:
        return None
    value = asked.args[0].value
    if isinstance(value, cst.Dict):
        pairs = []
        for element in value.elements:
            key = element.key if isinstance(element, cst.DictElement) else None
            name = str(key.evaluated_value) if isinstance(key, cst.SimpleString) else ""
            if not name.isidentifier() or keyword.iskeyword(name):
                return f"**{tree.code(value)}"
            pairs.append(f"{name}={tree.code(element.value)}")
        return ", ".join(pairs)
    atom = isinstance(value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))
    return f"**{tree.code(value)}" if atom else f"**({tree.code(value)})"


def _decoded(tree: Tree, node: cst.BaseExpression) -> str:
    """A path that was bytes once: the loop's own export gives a string."""
    inner = decoded_name(tree, node)
    binding = None if inner is None else tree.assigned(inner)
    if inner is not None and binding is not None and only_decoded(tree, binding):
        return inner.value
    return tree.code(node)


def single_name(tree: Tree, node: cst.BaseExpression) -> Binding | None:
    """The only binding of the variable that an expression is assigned to."""
    parent = tree.parent(node)
    if not isinstance(parent, cst.Assign) or len(parent.targets) != 1:
        return None
    target = parent.targets[0].target
    if not isinstance(target, cst.Name):
        return None
    for scope in tree.resolver.scopes.opened.values():
        bindings = scope.bindings.get(target.value, ())
        if any(binding.value is node for binding in bindings):
            return bindings[0] if len(bindings) == 1 else None
    return None


def decoded_name(tree: Tree, node: cst.BaseExpression) -> cst.Name | None:
    """``path`` of ``path.decode()`` or ``tf.compat.as_str(path)``."""
    if not isinstance(node, cst.Call):
        return None
    function = node.func
    if (
        isinstance(function, cst.Attribute)
        and function.attr.value == "decode"
        and isinstance(function.value, cst.Name)
    ):
        return function.value
    symbol = tree.symbol(function)
    if symbol in ("tf.compat.as_str", "tf.compat.as_text") and len(node.args) == 1:
        value = node.args[0].value
        return value if isinstance(value, cst.Name) else None
    return None


def only_decoded(tree: Tree, binding: Binding) -> bool:
    """Every place that reads a path decodes it first."""
    return all(_decoding(tree, use) is not None for use in tree.uses(binding))


def _decoding(tree: Tree, use: cst.Name) -> cst.Call | None:
    for outer in list(tree.ancestors(use))[:2]:
        if isinstance(outer, cst.Call) and decoded_name(tree, outer) is use:
            return outer
    return None


def decodings(tree: Tree, binding: Binding) -> list[cst.Call]:
    """The calls that decode a path."""
    found = (_decoding(tree, use) for use in tree.uses(binding))
    return [call for call in found if call is not None]


__all__ += ["decodings", "only_decoded"]
