"""What kept forward code may use, where it calls the module's own functions too."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import libcst as cst

from ...symbols.scopes import BindingKind
from ...symbols.table import lookup, needs_nothing
from ..code.tree import Statement, Tree, walk
from .source import Source

__all__ = [
    "KERAS_OBJECT",
    "KERAS_VALUES",
    "RNN_CELLS",
    "check_kept",
    "elsewhere",
    "has_home",
    "makes_variables",
    "reachable",
]

KERAS_OBJECT = "makes a Keras object in each call"

# Cells that tf.contrib.rnn only passed on from tf.nn.rnn_cell.
RNN_CELLS = (
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "GRUCell",
    "LSTMCell",
    "LSTMStateTuple",
    "MultiRNNCell",
    "RNNCell",
    "ResidualWrapper",
)
# Homes of what the emitted module imports from tf_keras instead.
_MOVED = (
    "tf.layers.",
    "tf.nn.rnn_cell.",
    "tf.contrib.layers.l1_regularizer",
    "tf.contrib.layers.l2_regularizer",
    *(f"tf.contrib.rnn.{name}" for name in RNN_CELLS),
)
_MAKERS = (
    "tf.get_variable",
    "tf.layers.",
    "tf.keras.",
    "tf.contrib.layers.",
    "tf.contrib.rnn.",
    "tf.contrib.slim.",
    "tf.contrib.seq2seq.",
    "tf.contrib.cudnn_rnn.",
    "tf.feature_column.input_layer",
    "tf.feature_column.linear_model",
    "tf.nn.bidirectional_dynamic_rnn",
    "tf.nn.dynamic_rnn",
    "tf.nn.raw_rnn",
    "tf.nn.static_rnn",
    "tf.nn.static_bidirectional_rnn",
    "tf.Variable",
)
# Symbols that would work, but not mean the same inside a TF2 model.
_FOREIGN = {
    "tf.Variable": "makes a variable that the shim does not keep",
    "tf.get_local_variable": "makes a local variable",
    "tf.placeholder": "is fed by a session",
    "tf.placeholder_with_default": "is fed by a session",
    "tf.add_to_collection": "uses graph collections",
    "tf.get_collection": "uses graph collections",
    "tf.get_collection_ref": "uses graph collections",
    "tf.get_default_graph": "works on the graph",
    "tf.global_variables": "lists the graph's variables",
    "tf.local_variables": "lists the graph's variables",
    "tf.model_variables": "lists the graph's variables",
    "tf.trainable_variables": "lists the graph's variables",
    "tf.Session": "opens a session",
    "tf.fixed_size_partitioner": "splits variables into parts",
    "tf.min_max_variable_partitioner": "splits variables into parts",
    "tf.variable_axis_size_partitioner": "splits variables into parts",
}
_FOREIGN_BELOW = {
    "tf.data.": "reads data",
    "tf.keras.": KERAS_OBJECT,
    "tf.lookup.": "makes a table in each call",
    "tf.losses.": "uses graph collections",
    "tf.metrics.": "makes local variables",
    "tf.train.": "belongs to the graph's training",
}
KERAS_VALUES = (
    "tf.keras.activations.",
    "tf.keras.backend.",
    "tf.keras.initializers.",
    "tf.keras.regularizers.",
)
_KNOWN_PACKAGES = {"numpy", "six", "scipy", "absl"}


def makes_variables(tree: Tree, statement: Statement) -> bool:
    """The statement, or a function of this module it calls, makes variables."""
    for node in reachable(tree, [statement]):
        if isinstance(node, cst.Call):
            symbol = tree.symbol(node.func)
            if symbol is not None and symbol.endswith(".optimize_loss"):
                continue
            if symbol is not None and symbol.startswith(_MAKERS):
                return True
            if symbol is None and elsewhere(tree, node) is not None:
                return True
    return False


def reachable(tree: Tree, roots: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """Nodes below the roots and in the module's functions that they name."""
    seen: set[cst.CSTNode] = set()
    pending = list(roots)
    while pending:
        for node in walk(pending.pop()):
            if node in seen:
                continue  # a function inside another one that names it
            seen.add(node)
            yield node
            if isinstance(node, cst.Name) and node in tree.resolver.scopes.loads:
                defined = tree.resolver.definition(node)
                if defined is not None:
                    pending.append(defined)


def check_kept(source: Source, statements: Sequence[Statement]) -> frozenset[str]:
    """The symbols that the code uses; Blocked where it cannot leave its graph."""
    tree = source.tree
    symbols: set[str] = set()
    inner: set[cst.CSTNode] = set()
    for node in reachable(tree, statements):
        if isinstance(node, cst.Arg) and (
            node.keyword is not None and node.keyword.value == "partitioner"
        ):
            raise source.stop(node, "variables are split into parts")
        if isinstance(node, (cst.Yield, cst.Global, cst.Nonlocal)):
            raise source.stop(node, "the forward pass has effects outside")
        if isinstance(node, cst.Call):
            foreign = elsewhere(tree, node)
            if foreign is not None:
                raise source.stop(node, f"`{foreign}` is defined in another module")
        if not isinstance(node, (cst.Attribute, cst.Name)) or node in inner:
            continue
        symbol = tree.symbol(node)
        if symbol is None or symbol == "tf":
            continue
        inner.update(walk(node))
        symbols.add(symbol)
        reason = _reason(symbol)
        if reason is not None:
            raise source.stop(node, f"`{symbol}` {reason}")
    return frozenset(symbols)


def _reason(symbol: str) -> str | None:
    """Why a symbol cannot stay in the forward pass."""
    if symbol.startswith(_MOVED) or symbol.startswith("tf.estimator.ModeKeys"):
        return None
    if symbol in _FOREIGN:
        return _FOREIGN[symbol]
    if not symbol.startswith(KERAS_VALUES):
        for prefix, reason in _FOREIGN_BELOW.items():
            if symbol.startswith(prefix):
                return reason
    return None if has_home(symbol) else "has no home in TensorFlow 2"


def has_home(symbol: str) -> bool:
    """The symbol, or what it is an attribute of, is in today's TensorFlow."""
    parts = symbol.split(".")
    names = (".".join(parts[:end]) for end in range(len(parts), 1, -1))
    return any(needs_nothing(name) or lookup(name) is not None for name in names)


def elsewhere(tree: Tree, call: cst.Call) -> str | None:
    """The dotted name of a called function that another module defines."""
    root: cst.BaseExpression = call.func
    while isinstance(root, cst.Attribute):
        root = root.value
    if not isinstance(root, cst.Name) or tree.symbol(call.func) is not None:
        return None
    imports = [
        binding
        for binding in tree.resolver.bindings(root)
        if binding.kind is BindingKind.IMPORT
    ]
    for binding in imports:
        package = (binding.target or "").split(".")[0]
        if binding.relative or (
            package not in _KNOWN_PACKAGES and package not in sys.stdlib_module_names
        ):
            return tree.resolver.qualified(call.func) or tree.code(call.func)
    return None
