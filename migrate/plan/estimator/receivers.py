"""Serving input receiver functions as signatures and what makes the features."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.modern import modern_call
from ..code.pure import is_pure
from ..code.statements import assigned, is_docstring
from ..code.tree import Tree, only_small, statements_of, walk
from ..program import TF, ReceiverPlan
from ..sites import Blocked

__all__ = ["BUILDERS", "Entries", "built", "receiver_function"]

_RULE = "TFM110"
_FOLDER = "tf.estimator.export."
_PARSING = _FOLDER + "build_parsing_serving_input_receiver_fn"
_RAW = _FOLDER + "build_raw_serving_input_receiver_fn"
BUILDERS = (_PARSING, _RAW)
_RECEIVERS = (
    _FOLDER + "ServingInputReceiver",
    _FOLDER + "TensorServingInputReceiver",
)
_PARSERS = ("tf.parse_example", "tf.io.parse_example")
_LOOKS = ("copy", "get", "items", "keys", "values")
# The name of a receiver's only tensor when it has no other.
_SINGLE = "input"


@dataclass
class Entries:
    """A dict of placeholders: key -> (dtype, shape) as source text."""

    found: dict[str, tuple[str, cst.BaseExpression | None]] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, tree: Tree, node: cst.Dict, *, named: bool = False) -> Entries | None:
        """The entries of a dict display, or None when it holds anything else.

        They may be ``named``: variables that a placeholder was assigned to.
        """
        made = cls()
        for element in node.elements:
            if not isinstance(element, cst.DictElement):
                return None
            key = element.key
            value = tree.value(element.value) if named else element.value
            spec = placeholder(tree, value)
            if not isinstance(key, cst.SimpleString) or spec is None:
                return None
            made.found[str(key.evaluated_value)] = spec
        return made


def placeholder(
    tree: Tree, node: cst.BaseExpression | None
) -> tuple[str, cst.BaseExpression | None] | None:
    """Dtype and shape of ``tf.placeholder(...)``, or None."""
    if not isinstance(node, cst.Call) or tree.symbol(node.func) != "tf.placeholder":
        return None
    try:
        given = match_arguments(node, ("dtype", "shape", "name"))
    except UnknownArguments:
        return None
    if "dtype" not in given:
        return None
    shape = given.get("shape")
    return tree.code(given["dtype"]), None if is_none(shape) else shape


def _input(
    tree: Tree, line: int, key: str, spec: tuple[str, cst.BaseExpression | None]
) -> tuple[str, str]:
    """Name and TensorSpec of one input of the signature."""
    if not key.isidentifier() or keyword.iskeyword(key):
        raise Blocked(_RULE, line, f"a receiver tensor named `{key}`")
    dtype, shape = spec
    shown = "None" if shape is None else tree.code(shape)
    return key, f'{TF}.TensorSpec({shown}, {dtype}, name="{key}")'


def built(
    tree: Tree, call: cst.Call, entries: cst.BaseExpression | None, line: int
) -> ReceiverPlan:
    """The receiver that one of TensorFlow's two builders makes."""
    symbol = tree.symbol(call.func)
    first = "feature_spec" if symbol == _PARSING else "features"
    try:
        given = match_arguments(call, (first, "default_batch_size"))
    except UnknownArguments as problem:
        raise Blocked(_RULE, line, f"a receiver function with {problem}") from None
    if first not in given or not is_none(given.get("default_batch_size")):
        raise Blocked(_RULE, line, "a receiver function with a fixed batch size")
    if symbol == _PARSING:
        string: tuple[str, cst.BaseExpression] = (
            f"{TF}.string",
            cst.parse_expression("[None]"),
        )
        code = tree.code(given[first])
        return ReceiverPlan(
            inputs=(_input(tree, line, "examples", string),),
            features=f"{TF}.io.parse_example(examples, {code})",
        )
    found = None
    if isinstance(entries, cst.Dict):
        found = Entries.of(tree, entries, named=True)
    if found is None:
        raise Blocked(_RULE, line, "raw features that are not placeholders")
    inputs = []
    for key, (dtype, shape) in found.found.items():
        if not isinstance(shape, (cst.List, cst.Tuple)) or not shape.elements:
            raise Blocked(_RULE, line, f"the shape of `{key}` is not seen")
        # The builder left the number of examples open.
        free = shape.elements[0].with_changes(value=cst.Name("None"))
        shape = shape.with_changes(elements=[free, *shape.elements[1:]])
        inputs.append(_input(tree, line, key, (dtype, shape)))
    inside = ", ".join(f'"{key}": {key}' for key in found.found)
    return ReceiverPlan(inputs=tuple(inputs), features=f"{{{inside}}}")


def receiver_function(tree: Tree, defined: cst.FunctionDef) -> ReceiverPlan:
    """A receiver function of the program: placeholders, and what follows them."""
    return _Function(tree, defined).read()


class _Function:
    def __init__(self, tree: Tree, defined: cst.FunctionDef) -> None:
        self.tree = tree
        self.defined = defined
        self.single: dict[str, tuple[str, cst.BaseExpression | None]] = {}
        self.dicts: dict[str, Entries] = {}
        self.inputs: list[tuple[str, str]] = []
        # Placeholders' variables -> the signature's names for them.
        self.names: dict[str, str] = {}
        self.made: set[str] = set()
        # Dicts of placeholders that other expressions read.
        self.read_dicts: list[str] = []

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        return Blocked(_RULE, self.tree.line(node), f"receiver function: {reason}")

    def read(self) -> ReceiverPlan:
        tree, defined = self.tree, self.defined
        if defined.params.params or defined.decorators or defined.asynchronous:
            raise self.stop(defined, "it takes parameters")
        assert isinstance(defined.body, cst.IndentedBlock)
        statements = statements_of(defined.body)
        if statements and is_docstring(statements[0]):
            statements = statements[1:]
        last = only_small(statements[-1]) if statements else None
        kept = []
        for statement in statements[:-1]:
            small = only_small(statement)
            if not isinstance(small, cst.Assign) or len(small.targets) != 1:
                raise self.stop(statement, "a statement that is not understood")
            names = assigned(statement)
            if set(names) & self.made or not isinstance(
                small.targets[0].target, cst.Name
            ):
                raise self.stop(statement, "a variable is assigned anew")
            self.made.update(names)
            spec = placeholder(tree, small.value)
            entries = None
            if isinstance(small.value, cst.Dict):
                entries = Entries.of(tree, small.value)
            if spec is not None:
                self.single[names[0]] = spec
            elif entries is not None and entries.found:
                self.dicts[names[0]] = entries
            else:
                kept.append((names[0], small.value))
        value = last.value if isinstance(last, cst.Return) else None
        symbol = tree.symbol(value.func) if isinstance(value, cst.Call) else None
        if not isinstance(value, cst.Call) or symbol not in _RECEIVERS:
            raise self.stop(statements[-1], "what it returns is not understood")
        try:
            given = match_arguments(value, ("features", "receiver_tensors"))
        except UnknownArguments as problem:
            raise self.stop(value, f"a receiver with {problem}") from None
        if len(given) != 2:
            raise self.stop(value, "a receiver without tensors")
        self._receive(given["receiver_tensors"])
        lines = [f"{name} = {self._code(node)}\n" for name, node in kept]
        # The dicts that these read.
        lines[:0] = [f"{name} = {self._display(name)}\n" for name in self.read_dicts]
        features = self._features(given["features"], dict(kept), symbol)
        unused = set(self.single) - set(self.names)
        if unused:
            reason = f"placeholder `{sorted(unused)[0]}` is no receiver tensor"
            raise self.stop(defined, reason)
        return ReceiverPlan(tuple(self.inputs), features, tuple(lines))

    def _receive(self, node: cst.BaseExpression) -> None:
        """The tensors that a request gives."""
        line = self.tree.line(node)
        if isinstance(node, cst.Name) and node.value in self.dicts:
            for key, spec in self.dicts[node.value].found.items():
                if key in self.made:
                    raise self.stop(node, f"it has another variable `{key}`")
                self.inputs.append(_input(self.tree, line, key, spec))
            return
        tensors = {_SINGLE: node}
        if isinstance(node, cst.Dict):
            tensors = {}
            for element in node.elements:
                if not isinstance(element, cst.DictElement) or not isinstance(
                    element.key, cst.SimpleString
                ):
                    raise self.stop(node, "the receiver tensors are not seen")
                tensors[str(element.key.evaluated_value)] = element.value
        for key, tensor in tensors.items():
            name = tensor.value if isinstance(tensor, cst.Name) else ""
            if name not in self.single or name in self.names:
                raise self.stop(tensor, "a receiver tensor that is no placeholder")
            if key in self.made and key != name:
                raise self.stop(tensor, f"it has another variable `{key}`")
            self.inputs.append(_input(self.tree, line, key, self.single[name]))
            self.names[name] = key

    def _features(
        self, node: cst.BaseExpression, kept: dict[str, cst.BaseExpression], symbol: str
    ) -> str:
        value: cst.BaseExpression = node
        if isinstance(node, cst.Name) and node.value in self.dicts:
            return self._display(node.value)
        if isinstance(node, cst.Name):
            value = kept.get(node.value, node)
        is_dict = isinstance(value, (cst.Dict, cst.DictComp)) or (
            isinstance(value, cst.Call) and self.tree.symbol(value.func) in _PARSERS
        )
        # A lone tensor was put into a dict by one of the two, by the other not.
        if is_dict is not symbol.endswith(".ServingInputReceiver"):
            raise self.stop(node, "whether the features are a dict is not seen")
        return self._code(node)

    def _display(self, name: str) -> str:
        """A dict of placeholders, with what a request gives in their places."""
        keys = self.dicts[name].found
        received = {key for key, _ in self.inputs}
        if not set(keys) <= received:
            node = self.defined
            raise self.stop(node, f"`{name}` has features that are no receiver tensors")
        inside = ", ".join(f'"{key}": {key}' for key in keys)
        return f"{{{inside}}}"

    def _code(self, node: cst.BaseExpression) -> str:
        """An expression's code with the signature's names."""
        for inner in walk(node):
            if isinstance(inner, cst.Name) and inner.value in self.dicts:
                if inner.value not in self.read_dicts:
                    self.read_dicts.append(inner.value)
                continue
            if not isinstance(inner, cst.Call):
                continue
            symbol = self.tree.symbol(inner.func)
            if symbol in _PARSERS:
                count = len(inner.args)
                named = [a.keyword.value for a in inner.args if a.keyword is not None]
                if count == 2 and set(named) <= {"serialized", "features"}:
                    continue
            if symbol is None and self._reads_dict(inner):
                continue
            if symbol is None or not is_pure(symbol):
                shown = self.tree.code(inner.func)
                raise self.stop(inner, f"`{shown}` is not understood here")
        changed = node.visit(_Modern(self.tree, self.names))
        assert isinstance(changed, cst.BaseExpression)
        return self.tree.module.code_for_node(changed)

    def _reads_dict(self, call: cst.Call) -> bool:
        """``inputs.items()``, ``dict(inputs)``: no more than a look at a dict."""
        function = call.func
        if isinstance(function, cst.Attribute) and isinstance(function.value, cst.Name):
            known = function.value.value in self.made
            return known and function.attr.value in _LOOKS
        if not isinstance(function, cst.Name) or self.tree.resolver.bindings(function):
            return False
        return function.value in ("dict", "sorted")


class _Modern(cst.CSTTransformer):
    def __init__(self, tree: Tree, names: dict[str, str]) -> None:
        self.tree = tree
        self.names = names

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        if original_node not in self.tree.resolver.scopes.loads:
            return updated_node
        name = self.names.get(original_node.value, original_node.value)
        return updated_node.with_changes(value=name)

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        symbol = self.tree.symbol(original_node.func)
        if symbol in _PARSERS:
            moved = cst.parse_expression(f"{TF}.io.parse_example")
            return updated_node.with_changes(func=moved)
        return modern_call(symbol, updated_node) or updated_node
