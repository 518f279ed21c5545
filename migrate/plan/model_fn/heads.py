"""Heads that a model_fn hands its logits to, as plans of loss and metrics."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..canned.plan import REDUCTIONS, HeadPlan, ModelHead, Task
from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Statement, Tree, walk
from ..sites import Blocked

__all__ = [
    "SPEC_PARAMETERS",
    "Heads",
    "head_call",
    "head_statements",
    "is_head_spec",
    "read_heads",
    "units_of",
]

_RULE = "TFM103"
_CONTRIB = "tf.contrib.estimator."
# Parameters in order, as TF 1.12 and 1.15 have them.
_SIGNATURES: dict[str, tuple[str, tuple[str, ...]]] = {
    _CONTRIB + "binary_classification_head": (
        Task.BINARY,
        (
            "weight_column",
            "thresholds",
            "label_vocabulary",
            "loss_reduction",
            "loss_fn",
            "name",
        ),
    ),
    _CONTRIB + "multi_class_head": (
        Task.MULTI_CLASS,
        (
            "n_classes",
            "weight_column",
            "label_vocabulary",
            "loss_reduction",
            "loss_fn",
            "name",
        ),
    ),
    _CONTRIB + "regression_head": (
        Task.REGRESSION,
        (
            "weight_column",
            "label_dimension",
            "loss_reduction",
            "loss_fn",
            "inverse_link_fn",
            "name",
        ),
    ),
}
_MODERN = {
    "tf.estimator.BinaryClassHead": _CONTRIB + "binary_classification_head",
    "tf.estimator.MultiClassHead": _CONTRIB + "multi_class_head",
    "tf.estimator.RegressionHead": _CONTRIB + "regression_head",
}
_SEVERAL = {
    _CONTRIB + "multi_head": ("heads", "head_weights"),
}
_OTHERS = (
    "logistic_regression_head",
    "multi_label_head",
    "poisson_regression_head",
    "LogisticRegressionHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
)
SPEC_PARAMETERS = (
    "features",
    "mode",
    "logits",
    "labels",
    "optimizer",
    "train_op_fn",
    "regularization_losses",
)


@dataclass(frozen=True)
class Heads:
    """The heads behind one expression; ``several`` of a multi_head."""

    heads: tuple[HeadPlan, ...]
    weights: tuple[str, ...] = ()
    several: bool = False


def head_call(tree: Tree, node: cst.BaseExpression | None) -> cst.Call | None:
    """The call that makes the head an expression stands for, or None."""
    value = tree.value(node)
    symbol = tree.symbol(value.func) if isinstance(value, cst.Call) else None
    if symbol is None or not isinstance(value, cst.Call):
        return None
    known = symbol in _SIGNATURES or symbol in _MODERN or symbol in _SEVERAL
    others = symbol.startswith((_CONTRIB, "tf.estimator.")) and symbol.endswith(_OTHERS)
    return value if known or others else None


def is_head_spec(tree: Tree, node: cst.BaseExpression | None) -> bool:
    """``head.create_estimator_spec(...)`` of one of TensorFlow's heads."""
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "create_estimator_spec"
        and head_call(tree, node.func.value) is not None
    )


def read_heads(tree: Tree, call: cst.Call) -> Heads:
    """The heads behind the call of a head's constructor, or Blocked."""
    symbol = tree.symbol(call.func) or ""
    line = tree.line(call)
    if symbol in _SEVERAL:
        given = _given(tree, call, _SEVERAL[symbol])
        listed = tree.value(given.get("heads"))
        if not isinstance(listed, (cst.List, cst.Tuple)):
            raise _stop(tree, call, "heads that are not spelled out")
        found = []
        for element in listed.elements:
            inner = head_call(tree, element.value)
            if inner is None or tree.symbol(inner.func) in _SEVERAL:
                raise _stop(tree, call, "heads that are not seen")
            found.append(_head(tree, inner))
        names = [head.name for head in found]
        if None in names or len(set(names)) != len(names):
            raise _stop(tree, call, "heads of a multi_head need names of their own")
        weights: tuple[str, ...] = ()
        if not is_none(given.get("head_weights")):
            spelled = tree.value(given["head_weights"])
            if not isinstance(spelled, (cst.List, cst.Tuple)) or (
                len(spelled.elements) != len(found)
            ):
                raise _stop(tree, call, "head weights that are not spelled out")
            weights = tuple(_text(tree, e.value) for e in spelled.elements)
        return Heads(tuple(found), weights, several=True)
    if symbol not in _SIGNATURES and symbol not in _MODERN:
        raise Blocked(_RULE, line, f"no loop yet for the head `{symbol}`")
    return Heads((_head(tree, call),))


def units_of(tree: Tree, call: cst.Call) -> str | None:
    """``logits_dimension`` of a head as source text, where it is seen."""
    try:
        heads = read_heads(tree, call)
    except Blocked:
        return None
    return None if heads.several else heads.heads[0].units


def head_statements(tree: Tree, function: cst.FunctionDef) -> list[Statement]:
    """Statements around a model_fn that make its heads, and nothing else reads."""
    found: list[Statement] = []
    for node in walk(function.body):
        if not is_head_spec(tree, node):  # type: ignore[arg-type]
            continue
        assert isinstance(node, cst.Call)
        assert isinstance(node.func, cst.Attribute)
        _follow(tree, node.func.value, function, found)
    return found


def _follow(
    tree: Tree,
    node: cst.BaseExpression,
    function: cst.FunctionDef,
    found: list[Statement],
) -> None:
    binding = tree.assigned(node)
    if binding is None or binding.value is None:
        return
    statement = tree.statement(binding.value)
    if function not in tree.ancestors(statement) and statement not in found:
        places = [function, *found, statement]
        for use in tree.uses(binding):
            if not any(place in tree.ancestors(use) for place in places):
                reason = f"the head `{binding.name}` is used elsewhere too"
                raise Blocked(_RULE, tree.line(use), f"model_fn: {reason}")
        found.append(statement)
    for inner in walk(binding.value):
        if isinstance(inner, cst.Name):
            made = head_call(tree, inner)
            inner_binding = tree.assigned(inner)
            if (made is not None and inner_binding is not None) or (
                inner_binding is not None
                and isinstance(inner_binding.value, (cst.List, cst.Tuple))
            ):
                _follow(tree, inner, function, found)


def _head(tree: Tree, call: cst.Call) -> HeadPlan:
    symbol = tree.symbol(call.func) or ""
    modern = symbol in _MODERN
    symbol = _MODERN.get(symbol, symbol)
    if symbol not in _SIGNATURES:
        raise _stop(tree, call, f"no loop yet for the head `{symbol}`")
    task, parameters = _SIGNATURES[symbol]
    given = _given(tree, call, parameters)
    for option in ("thresholds", "loss_fn", "inverse_link_fn"):
        if not is_none(given.get(option)):
            raise _stop(tree, call, f"a head with `{option}`")
    name: str | None = None
    if not is_none(given.get("name")):
        value = tree.value(given["name"])
        if not isinstance(value, cst.SimpleString):
            raise _stop(tree, call, "the head's name is not seen")
        name = str(value.evaluated_value)
    units = "1"
    if task == Task.MULTI_CLASS:
        units = _text(tree, given["n_classes"])
    elif task == Task.REGRESSION and not is_none(given.get("label_dimension")):
        units = _text(tree, given["label_dimension"])
    vocabulary = given.get("label_vocabulary")
    if not is_none(vocabulary):
        raise _stop(tree, call, "a head with `label_vocabulary`")
    return HeadPlan(
        task=task,
        units=units,
        vocabulary=None,
        weights=_weights(tree, call, given.get("weight_column")),
        reduction=_reduction(tree, call, given.get("loss_reduction")),
        name=name,
        modern=modern,
    )


def _weights(tree: Tree, call: cst.Call, node: cst.BaseExpression | None) -> str | None:
    if node is None or is_none(node) or is_none(tree.value(node)):
        return None
    value = tree.value(node)
    if isinstance(value, cst.SimpleString):
        return _text(tree, node)
    if (
        isinstance(value, cst.Call)
        and len(value.args) == 1
        and tree.symbol(value.func) == "tf.feature_column.numeric_column"
    ):
        # A numeric column of one number is its feature.
        return _text(tree, value.args[0].value)
    raise _stop(tree, call, "the weight column of the head is not seen")


def _reduction(tree: Tree, call: cst.Call, node: cst.BaseExpression | None) -> str:
    if node is None:
        return "mean"
    symbol = tree.symbol(node) or tree.symbol(tree.value(node)) or ""
    prefix, _, name = symbol.rpartition(".")
    known = ("tf.losses.Reduction", "tf.keras.losses.Reduction")
    if prefix not in known or name not in REDUCTIONS:
        raise _stop(tree, call, f"the head's loss reduction `{tree.code(node)}`")
    return REDUCTIONS[name]


def _text(tree: Tree, node: cst.BaseExpression) -> str:
    """Source of an argument that means the same inside of the loop."""
    value = tree.value(node)
    if isinstance(value, (cst.Integer, cst.Float, cst.SimpleString)):
        return tree.code(value)
    for child in walk(node):
        if not isinstance(child, cst.Name) or child.value == "params":
            continue
        for binding in tree.resolver.bindings(child):
            if binding.scope is not tree.resolver.scopes.module_scope:
                raise _stop(tree, node, f"a head depends on `{child.value}`")
    return tree.code(node)


def _given(
    tree: Tree, call: cst.Call, parameters: tuple[str, ...]
) -> dict[str, cst.BaseExpression]:
    try:
        return match_arguments(call, parameters)
    except UnknownArguments as problem:
        raise _stop(tree, call, f"a head with {problem}") from None


def _stop(tree: Tree, node: cst.CSTNode, reason: str) -> Blocked:
    return Blocked(_RULE, tree.line(node), f"model_fn: {reason}")


def model_heads(heads: Heads, logits: list[str], labels: list[str]) -> list[ModelHead]:
    """The heads with what they are given."""
    weights = heads.weights or ("",) * len(heads.heads)
    return [
        ModelHead(*parts)
        for parts in zip(heads.heads, logits, labels, weights, strict=True)
    ]


__all__ += ["model_heads"]
