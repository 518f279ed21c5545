"""Which kinds of feature columns an expression gives, as far as it is seen."""

from __future__ import annotations

import libcst as cst

from ...symbols.scopes import Binding, BindingKind
from ..code.tree import Tree, walk
from ..sites import Blocked

__all__ = ["check_columns", "column_kinds"]

_PREFIX = "tf.feature_column."
# Constructor -> what it is to a linear model (and whether it has an embedding).
_KINDS = {
    "numeric_column": "numeric",
    "indicator_column": "numeric",
    "embedding_column": "embedding",
    "bucketized_column": "categorical",
    "crossed_column": "categorical",
    "weighted_categorical_column": "categorical",
    "categorical_column_with_hash_bucket": "categorical",
    "categorical_column_with_identity": "categorical",
    "categorical_column_with_vocabulary_file": "categorical",
    "categorical_column_with_vocabulary_list": "categorical",
}
_GONE = {
    "shared_embedding_columns": "shares an embedding between columns",
    "input_layer": "makes the variables of columns by itself",
    "linear_model": "makes the variables of columns by itself",
}
# Parameters whose order differs between TF 1 and TF 2 begin at this place.
_SAME_ORDER = {
    "categorical_column_with_vocabulary_file": 3,
    "embedding_column": 9,
}
_COPIES = ("list", "tuple", "sorted", "set")
_DEPTH = 12


def check_columns(tree: Tree) -> None:
    """Stop at a feature column that today's TensorFlow would not take."""
    for node in walk(tree.module):
        if not isinstance(node, cst.Call):
            continue
        symbol = tree.symbol(node.func)
        if symbol is None or not symbol.startswith(_PREFIX):
            continue
        name = symbol.removeprefix(_PREFIX)
        line = tree.line(node)
        if name in _GONE:
            raise Blocked("TFM118", line, f"`{symbol}` {_GONE[name]}")
        limit = _SAME_ORDER.get(name)
        positional = [a for a in node.args if a.keyword is None and not a.star]
        if limit is not None and len(positional) > limit:
            raise Blocked(
                "TFM118",
                line,
                f"the arguments of `{symbol}` stand in another order today: "
                "give them by keyword",
            )


def column_kinds(tree: Tree, node: cst.BaseExpression | None) -> frozenset[str] | None:
    """``numeric``, ``embedding``, ``categorical``; None where it is not seen."""
    if node is None:
        return frozenset()
    return _Kinds(tree).of(node, 0)


class _Kinds:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def of(self, node: cst.BaseExpression, depth: int) -> frozenset[str] | None:
        if depth > _DEPTH:
            return None
        depth += 1
        if isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            return self._all([e.value for e in node.elements], depth)
        if isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.SetComp)):
            return self.of(node.elt, depth)
        if isinstance(node, cst.BinaryOperation):
            return self._all([node.left, node.right], depth)
        if isinstance(node, cst.Call):
            return self._call(node, depth)
        if isinstance(node, cst.Name):
            return self._name(node, depth)
        return None

    def _all(
        self, nodes: list[cst.BaseExpression], depth: int
    ) -> frozenset[str] | None:
        found: set[str] = set()
        for node in nodes:
            kinds = self.of(node, depth)
            if kinds is None:
                return None
            found |= kinds
        return frozenset(found)

    def _call(self, node: cst.Call, depth: int) -> frozenset[str] | None:
        symbol = self.tree.symbol(node.func)
        if symbol is not None and symbol.startswith(_PREFIX):
            kind = _KINDS.get(symbol.removeprefix(_PREFIX))
            return None if kind is None else frozenset({kind})
        if (
            isinstance(node.func, cst.Name)
            and node.func.value in _COPIES
            and len(node.args) >= 1
            and not self.tree.resolver.bindings(node.func)
        ):
            return self.of(node.args[0].value, depth)
        returned = self._returned(node)
        if returned is None or any(isinstance(n, cst.Tuple) for n in returned):
            return None
        return self._all(returned, depth)

    def _returned(self, node: cst.Call) -> list[cst.BaseExpression] | None:
        """What the function of this module that is called returns."""
        defined = self.tree.resolver.definition(node.func)
        if not isinstance(defined, cst.FunctionDef):
            return None
        values = [n.value for n in walk(defined.body) if isinstance(n, cst.Return)]
        if not values or any(value is None for value in values):
            return None
        return [value for value in values if value is not None]

    def _name(self, node: cst.Name, depth: int) -> frozenset[str] | None:
        bindings = self.tree.resolver.bindings(node)
        if not bindings:
            return None
        found: set[str] = set()
        for binding in bindings:
            kinds = self._bound(binding, depth)
            if kinds is None:
                return None
            found |= kinds
        return frozenset(found)

    def _bound(self, binding: Binding, depth: int) -> frozenset[str] | None:
        values: list[cst.BaseExpression] = []
        if binding.kind is BindingKind.ASSIGN and binding.value is not None:
            values.append(binding.value)
        elif isinstance(binding.node, cst.AugAssign):
            values.append(binding.node.value)
        elif isinstance(binding.node, cst.Assign):
            part = self._unpacked(binding.node, binding.name)
            if part is None:
                return None
            values += part
        else:
            return None
        for use in self.tree.uses(binding):
            attribute = self.tree.parent(use)
            if not isinstance(attribute, cst.Attribute) or attribute.value is not use:
                continue
            call = self.tree.parent(attribute)
            if (
                attribute.attr.value not in ("append", "extend")
                or not isinstance(call, cst.Call)
                or call.func is not attribute
                or len(call.args) != 1
            ):
                return None
            values.append(call.args[0].value)
        return self._all(values, depth)

    def _unpacked(self, node: cst.Assign, name: str) -> list[cst.BaseExpression] | None:
        """The part of a tuple that ``a, b = f()`` gives to one name."""
        target = node.targets[0].target
        if not isinstance(target, cst.Tuple) or len(node.targets) != 1:
            return None
        names = [
            e.value.value if isinstance(e.value, cst.Name) else None
            for e in target.elements
        ]
        if name not in names:
            return None
        values: list[cst.BaseExpression] | None = [node.value]
        if isinstance(node.value, cst.Call):
            values = self._returned(node.value)
        found = []
        for value in values or ():
            if not isinstance(value, cst.Tuple) or len(value.elements) != len(names):
                return None
            found.append(value.elements[names.index(name)].value)
        return found or None
