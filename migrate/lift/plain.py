"""Statements of a forward pass for a plain class of Keras, which is made once.

Such a class is called with ``training``. What needs the scopes of TensorFlow 1 is for
the loop module, whose classes have them: variables by name, layers that are shared or
regularized, functions that make layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from ..interp.in_mode import Decided, InMode
from ..interp.layer_functions import LAYERS
from ..interp.notes import Notes
from ..interp.spelling import snake
from ..interp.values import Function, Time
from ..plan.code.modern import modern_call
from ..plan.code.pure import is_plain_call, is_pure, pure_function
from ..plan.code.source import Source
from ..plan.code.statements import assigned, is_docstring
from ..plan.code.texts import source_text
from ..plan.code.tree import Statement, only_small, statements_of, walk
from .bodies import Body
from .changes import Stored
from .made import layer_of_keras
from .spelling import RESERVED, as_names, names_of
from .taken import Helper

__all__ = ["TESTS", "PlainBody", "in_scope", "said_of_mode"]

_NAMING = ("tf.variable_scope", "tf.name_scope", "tf.device", "tf.variable_op_scope")
_LOGGING = ("tf.logging.", "tf.compat.v1.logging")
TESTS = (cst.Comparison, cst.BooleanOperation, cst.UnaryOperation)
# Layers of Keras that do the same in training and outside of it.
_INDIFFERENT_NAMES = """
Activation Add Average Concatenate Dense DepthwiseConv2D Dot ELU Embedding Flatten
LayerNormalization LeakyReLU Masking Maximum Minimum Multiply PReLU Permute ReLU
RepeatVector Reshape Softmax Subtract ThresholdedReLU
"""
_INDIFFERENT = frozenset(_INDIFFERENT_NAMES.split())
_FAMILIES = (
    "AveragePooling",
    "AvgPool",
    "Conv1D",
    "Conv2D",
    "Conv3D",
    "Convolution",
    "Cropping",
    "GlobalAverage",
    "GlobalAvg",
    "GlobalMax",
    "MaxPool",
    "SeparableConv",
    "UpSampling",
    "ZeroPadding",
)
# Only their dropout looks at the flag.
_RECURRENT = ("GRU", "LSTM", "SimpleRNN")
# Layers without variables.
_STATELESS = ("dropout", "flatten", "pooling1d", "pooling2d", "pooling3d")


def in_scope(source: Source, statement: Statement) -> list[Statement] | None:
    """What stands in a ``with`` that only names variables and operations."""
    if not isinstance(statement, cst.With) or not isinstance(
        statement.body, cst.IndentedBlock
    ):
        return None
    calls = [one.item for one in statement.items if isinstance(one.item, cst.Call)]
    symbols = [source.tree.symbol(one.func) for one in calls]
    if len(calls) < len(statement.items) or not set(symbols) <= set(_NAMING):
        return None
    if any(source.tree.loads(name) for name in as_names(statement)):
        raise source.stop(statement, "a scope that is named, and used")
    for call in calls:
        for one in call.args:
            name = one.keyword.value if one.keyword is not None else ""
            if name not in ("", "name_or_scope", "default_name", "values", "name"):
                raise source.stop(call, f"variable_scope(`{name}`=)")
    return statements_of(statement.body)


def said_of_mode(modes: Mapping[str, InMode], node: cst.CSTNode) -> str | None:
    """A test of the mode in the words of a call with ``training``.

    Empty for one that tells more than training from the rest, None for anything else.
    """
    reached = {
        mode: one.notes.values[node]
        for mode, one in modes.items()
        if node in one.notes.values
    }
    if not reached or not all(isinstance(v, Decided) for v in reached.values()):
        return None
    said = {mode: getattr(one, "value", None) for mode, one in reached.items()}
    others = {value for mode, value in said.items() if mode != "TRAIN"}
    if said.get("TRAIN") is True and others <= {False}:
        return "training"
    if said.get("TRAIN") is False and others <= {True}:
        return "not training"
    return ""


class PlainBody(Body):
    """Statements of a forward pass, for a class that is made once."""

    as_given = False

    def __init__(
        self,
        source: Source,
        modes: Mapping[str, InMode],
        notes: Notes,
        statements: Sequence[Statement],
        # A class that is made once knows no mode.
        changing: frozenset[str] = frozenset(["mode"]),
    ) -> None:
        def stays(call: cst.Call, function: Function) -> Helper:
            shown = source.tree.code(call.func)
            raise self.stop(call, f"`{shown}` makes layers for the model_fn")

        def no_class(call: cst.Call, helper: Helper) -> str:
            raise NotImplementedError

        given = source.defined.params.params
        super().__init__(
            source.tree,
            source.defined,
            statements,
            notes,
            {one.name.value for one in given},
            stays,
            no_class,
            changing,
        )
        self.modes = modes

    def again(self, changing: frozenset[str]) -> Body:
        return PlainBody(self.source, self.modes, self.notes, self.statements, changing)

    def is_once(self, name: str) -> bool:
        """The function binds the name in one place."""
        return len(self.scope.bindings.get(name, ())) == 1

    def is_setup(self, statement: Statement) -> bool:
        """The constructor says it, not the call."""
        return any(statement in known for known in self.static.values())

    # -- statements

    def statement(self, node: Statement) -> list[Statement]:
        inside = in_scope(self.source, node)
        if inside is not None:
            return self.block(inside)
        if isinstance(node, cst.With):
            raise self.stop(node, "a `with` that cannot be lifted")
        small = only_small(node)
        if isinstance(small, (cst.Pass, cst.Assert)) or is_docstring(node):
            return []
        if isinstance(small, cst.Expr) and not assigned(node):
            self.leave_out(node)
            return []
        if isinstance(small, cst.Assign) and self.flag(small.value) is not None:
            for name in assigned(node):
                if not self.is_once(name):
                    raise self.stop(node, f"`{name}` is assigned anew")
            return []
        if "training" in assigned(node):
            raise self.stop(node, "`training` means something else in the model")
        return super().statement(node)

    def is_late(self, test: cst.BaseExpression) -> bool:
        return self.flag(test) is None and super().is_late(test)

    def is_alone(self, node: cst.For, body: cst.BaseSuite) -> bool:
        # Neither its rounds read what they are over, nor anything behind it.
        names = names_of(node.target)
        inside = set(walk(node))
        loads = self.tree.resolver.scopes.loads
        behind = [n for n in walk(self.defined) if n in loads and n not in inside]
        return not any(
            isinstance(one, cst.Name) and one.value in names
            for one in (*walk(body), *behind)
        )

    def leave_out(self, statement: Statement) -> None:
        """A statement without a value, which may only say something."""
        small = only_small(statement)
        value = small.value if isinstance(small, cst.Expr) else None
        if is_docstring(statement):
            return
        if isinstance(value, cst.Call):
            symbol = self.tree.symbol(value.func) or ""
            plain = self.tree.code(value.func)
            if symbol.startswith(_LOGGING) or plain == "print":
                return
            if plain.startswith("logging."):
                return
        raise self.stop(statement, "the forward pass has effects")

    def flag(self, node: cst.BaseExpression) -> str | None:
        """What a test of the mode is in the class; None for anything else."""
        said = said_of_mode(self.modes, node)
        if said == "":
            raise self.stop(node, "the forward pass depends on the mode")
        return said

    # -- layers

    def layer(self, node: cst.Call) -> cst.BaseExpression:
        made = self.notes.made[node]
        if made.kind == "keras":
            return self._layer_of_author(node)
        for one in node.args[1:] if made.symbol in LAYERS else ():
            if made.kind == "function" and self.notes.time(one.value) is Time.GRAPH:
                shown = self.tree.code(one.value)
                raise self.stop(node, f"a layer depends on `{shown}`")
        if made.symbol not in LAYERS or made.kind == "function" or self.by_call:
            shown = self.tree.code(node.func)
            raise self.stop(node, f"`{shown}` makes variables by their names")
        if self.by_size or (self.by_mode and not made.symbol.endswith(_STATELESS)):
            raise self.stop(node, "layers in a branch")
        return layer_of_keras(self, node)

    def _layer_of_author(self, node: cst.Call) -> cst.BaseExpression:
        """A layer of Keras, which the program made for itself.

        One that asks what mode it is did as outside of training, if it was not told.
        """
        name = self.notes.made[node].symbol.rpartition(".")[2]
        around = self.tree.parent(node)
        told = isinstance(around, cst.Call) and any(
            one.keyword is not None and one.keyword.value == "training"
            for one in around.args
        )
        drops = any(
            one.star or (one.keyword is not None and "dropout" in one.keyword.value)
            for one in node.args
        )
        alike = name in _INDIFFERENT or name.startswith(_FAMILIES)
        alike = alike or (name in _RECURRENT and not drops)
        if not alike and not (told and name == "Dropout"):
            raise self.stop(node, f"`{self.tree.code(node.func)}` in a loop in place")
        for one in node.args:
            self.text(one.value)
        constructor = source_text(node)
        made = self.make(snake(name), constructor, node, self.reads(node))
        return cst.parse_expression(made)

    def spelled(self, constructor: str) -> str:
        return constructor

    def make(
        self, wanted: str, constructor: str, node: cst.CSTNode, reads: set[str]
    ) -> str:
        generic = snake(self.notes.made[node].symbol.rpartition(".")[2])
        around = self.tree.parent(node)
        if (
            wanted == generic
            and isinstance(around, cst.Assign)
            and len(around.targets) == 1
            and isinstance(target := around.targets[0].target, cst.Name)
            and self.is_once(target.value)
        ):
            # A layer that is all of a value is named after it.
            wanted = target.value
        return super().make(wanted, constructor, node, reads)

    def fresh(self, wanted: str) -> str:
        return super().fresh(f"{wanted}_layer" if wanted in RESERVED else wanted)

    def finishing(self, stored: dict[str, str]) -> Stored:
        return _Modern(self, stored)


class _Modern(Stored):
    """Statements in today's words, with the flag of the call for tests of the mode."""

    def __init__(self, body: PlainBody, stored: dict[str, str]) -> None:
        super().__init__(body, stored)
        self.plain = body
        self.tree = body.tree

    def _flag(self, node: cst.BaseExpression) -> str | None:
        return self.plain.flag(node) if self.tree.holds(node) else None

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, TESTS) and self._flag(node) is not None:
            return False
        return super().on_visit(node)

    def on_leave(
        self, original: cst.CSTNodeT, updated: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        flag = self._flag(original) if isinstance(original, TESTS) else None
        if flag is not None:
            return cst.parse_expression(flag)  # type: ignore[return-value]
        return super().on_leave(original, updated)

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        if self.plain.reads_local(original_node):
            flag = self._flag(original_node)
            if flag is not None:
                return cst.parse_expression(flag)
            if original_node.value in ("mode", "config"):
                raise self.plain.stop(
                    original_node, "the forward pass depends on the mode"
                )
        return super().leave_Name(original_node, updated_node)

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        if not self.tree.holds(original_node.func):
            return updated_node
        symbol = self.tree.symbol(original_node.func)
        self._check(original_node, symbol)
        return modern_call(symbol, updated_node) or updated_node

    def _check(self, call: cst.Call, symbol: str | None) -> None:
        """The call makes no variables, and has no effect."""
        function = call.func
        where = call if self.tree.holds(call) else function
        if symbol is not None:
            if not is_pure(symbol):
                raise self.plain.stop(where, f"`{symbol}` cannot be lifted yet")
            return
        if isinstance(function, cst.Name) and self.plain.reads_local(function):
            return  # a value of the program: an activation, a local function
        defined = self.tree.resolver.definition(function)
        if isinstance(defined, cst.FunctionDef) and pure_function(
            self.plain.source, defined
        ):
            return
        if not is_plain_call(self.plain.source, call):
            shown = self.tree.code(function)
            raise self.plain.stop(where, f"`{shown}` may make variables")
