"""Expressions on their way into ``call``: layers become attributes of the class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.modern import modern_call
from ..code.pure import is_plain_call, is_pure, pure_function
from ..inputs.tables import TABLES, table_code
from .functions import CLASSES
from .initializers import initializer, regularizer
from .keras_flags import asks, flag_of_class, makes_keras_model
from .lifted_names import source_text
from .made_layers import Conversion, is_layer

if TYPE_CHECKING:
    from .lifter_state import LiftedState

__all__ = ["CallLifter"]

_GET_VARIABLE = (
    "name",
    "shape",
    "dtype",
    "initializer",
    "regularizer",
    "trainable",
    "collections",
    "caching_device",
    "partitioner",
    "validate_shape",
    "use_resource",
    "custom_getter",
    "constraint",
)
_VARIABLES = ("tf.get_variable", "tf.Variable", "tf.contrib.framework.model_variable")
_KERAS_BASES = ("tf.keras.layers.Layer", "tf.keras.Model", "tf.keras.models.Model")
# Layers without variables.
_STATELESS = ("Dropout", "Flatten", "Pooling1D", "Pooling2D", "Pooling3D")
_KERAS_OBJECTS = ("tf.keras.Sequential", "tf.keras.models.Sequential")


class CallLifter(cst.CSTTransformer):
    """Rewrites one expression or statement for ``call``.

    ``whole`` is the right-hand side of an assignment to ``wanted``: a layer
    that is all of it is named after the variable.
    """

    def __init__(
        self, lifter: LiftedState, whole: cst.CSTNode | None = None, wanted: str = ""
    ) -> None:
        self.lifter = lifter
        self.source = lifter.source
        self.tree = lifter.tree
        self.whole = whole
        self.wanted = wanted

    # -- objects that are made once ----------------------------------

    def object(self, value: cst.BaseExpression, name: str) -> str | None:
        """``self.name`` for an expression that only makes a layer or variable."""
        if not isinstance(value, cst.Call):
            return None
        symbol = self.tree.symbol(value.func)
        if symbol in _VARIABLES:
            return self._variable(value, symbol, name)
        if symbol in TABLES:
            return self.lifter.make(name, self._table(value))
        constructor = self._constructor(value)
        return None if constructor is None else self.lifter.make(name, constructor)

    def _constructor(self, call: cst.Call) -> str | None:
        """Source of a Keras layer for a call that makes a layer object."""
        symbol = self.tree.symbol(call.func)
        if symbol in CLASSES:
            return self._conversion().made_class(symbol, call)
        if self._is_keras(call):
            self.lifter.shared.sparse |= (symbol or "").endswith(".Embedding")
            return self.lifter.text(call)
        if makes_keras_model(self.source, call):
            return self.lifter.text(call)
        return None

    def _is_keras(self, call: cst.Call) -> bool:
        symbol = self.tree.symbol(call.func)
        if symbol is not None:
            last = symbol.rpartition(".")[2]
            if symbol in _KERAS_OBJECTS:
                return True
            if symbol.startswith("tf.keras.applications."):
                return last[:1].isupper()
            known = symbol.startswith("tf.keras.layers.") and last[:1].isupper()
            if known and last in ("Input", "InputLayer", "Lambda"):
                raise self.source.stop(call, f"`{symbol}` inside a model_fn")
            return known
        defined = self.tree.resolver.definition(call.func)
        return isinstance(defined, cst.ClassDef) and any(
            self.tree.symbol(base.value) in _KERAS_BASES for base in defined.bases
        )

    def _conversion(self) -> Conversion:
        scoped: dict[str, dict[str, cst.BaseExpression]] = {}
        for defaults in self.lifter.arguments:
            for name, given in defaults.items():
                scoped[name] = {**scoped.get(name, {}), **given}
        return Conversion(
            self.source,
            self.lifter.text,
            lambda node: source_text(self.lifter.moved(node)),
            self.lifter.shared.regularised,
            self.lifter.kernel,
            scoped,
        )

    def _variable(self, call: cst.Call, symbol: str, wanted: str) -> str:
        if symbol == "tf.Variable":
            return self._plain_variable(call, wanted)
        try:
            given = match_arguments(call, _GET_VARIABLE)
        except UnknownArguments as problem:
            raise self.source.stop(call, f"get_variable with {problem}") from None
        for name in ("custom_getter", "constraint"):
            if not is_none(given.get(name)):
                raise self.source.stop(call, f"get_variable(`{name}`=)")
        if is_none(given.get("shape")):
            raise self.source.stop(call, "a variable whose shape is not written")
        text = self.lifter.text
        parts = [f"name={text(given['name'])}", f"shape={text(given['shape'])}"]
        kind = given.get("dtype")
        if not is_none(kind) and self.tree.symbol(kind) != "tf.float32":
            parts.append(f"dtype={text(kind)}")  # type: ignore[arg-type]
        made = given.get("initializer")
        if is_none(made):
            made = self.lifter.kernel
        if not is_none(made):
            assert made is not None
            parts.append(f"initializer={initializer(self.source, made, text)}")
        decay = given.get("regularizer")
        if not is_none(decay) and self.lifter.shared.regularised:
            assert decay is not None
            parts.append(f"regularizer={regularizer(self.source, decay, text)}")
        elif not is_none(decay):
            self.lifter.shared.dropped_regularizer = True
        trainable = given.get("trainable")
        if not is_none(trainable):
            parts.append(f"trainable={text(trainable)}")  # type: ignore[arg-type]
        constructor = f"self.add_weight({', '.join(parts)})"
        place = self.lifter.places.place(call, text(given["name"]), "variable")
        return self.lifter.make(
            wanted, constructor, weight=True, place=place, node=call
        )

    def _plain_variable(self, call: cst.Call, wanted: str) -> str:
        for argument in call.args:
            name = argument.keyword.value if argument.keyword else None
            if name not in (None, "name", "trainable", "dtype", "initial_value"):
                raise self.source.stop(call, f"tf.Variable(`{name}`=)")
        constructor = self.lifter.text(call)
        return self.lifter.make(wanted, constructor, weight=True)

    def _table(self, call: cst.Call) -> str:
        try:
            code = table_code(self.tree, call, self.lifter.text)
        except UnknownArguments as problem:
            raise self.source.stop(call, f"a table with {problem}") from None
        if code is None:
            reason = "a lookup table with options that are not understood"
            raise self.source.stop(call, reason)
        return code

    # -- calls ----------------------------------------

    def visit_Call(self, node: cst.Call) -> bool:
        return not self._taken(node)

    def _taken(self, node: cst.Call) -> bool:
        """A call that is replaced as a whole; its arguments are looked at then."""
        symbol = self.tree.symbol(node.func)
        if symbol in _VARIABLES or symbol in TABLES or is_layer(symbol):
            return True
        if self._is_keras(node) or self._helper(node) is not None:
            return True
        return makes_keras_model(self.source, node)

    def _helper(self, node: cst.Call) -> cst.FunctionDef | None:
        """The function behind a call when it makes layers."""
        if makes_keras_model(self.source, node):
            return None
        defined = self.tree.resolver.definition(node.func)
        if isinstance(defined, cst.FunctionDef) and self.lifter.has_layer(defined.body):
            return defined
        return None

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        call = original_node
        wanted = self.wanted if call is self.whole else ""
        symbol = self.tree.symbol(call.func)
        if symbol in _VARIABLES:
            return cst.parse_expression(
                self._variable(call, symbol, wanted or "variable")
            )
        if symbol in TABLES:
            made = self.lifter.make(wanted or "table", self._table(call))
            return cst.parse_expression(made)
        maker = self._maker(call)
        constructor = self._constructor(call)
        if constructor is not None:
            name = (symbol or self.tree.code(call.func)).rpartition(".")[2]
            return cst.parse_expression(self.lifter.make(_snake(name), constructor))
        if symbol is not None and is_layer(symbol):
            return self._layer(symbol, call, wanted)
        helper = self._helper(call)
        if helper is not None:
            reason = f"`{helper.name.value}` makes layers for the model_fn"
            raise self.source.stop(call, reason)
        self._check(call, symbol)
        if maker is not None:
            updated_node = self._flagged(call, updated_node, maker)
        modern = modern_call(symbol, updated_node)
        if modern is not None:
            return modern
        function = updated_node.func
        if isinstance(function, cst.Attribute) and function.attr.value == "apply":
            # layer.apply(x) of tf.layers
            return updated_node.with_changes(func=function.value)
        return updated_node

    def _maker(self, call: cst.Call) -> cst.Call | None:
        """What made the layer object that is called here."""
        function = call.func
        if isinstance(function, cst.Attribute) and function.attr.value == "apply":
            function = function.value
        if isinstance(function, cst.Name):
            return self.lifter.made.get(function.value)
        return function if isinstance(function, cst.Call) else None

    def _flagged(self, call: cst.Call, updated: cst.Call, maker: cst.Call) -> cst.Call:
        """The call of a layer that must not take the flag of the model."""
        given = [a.keyword.value for a in call.args if a.keyword is not None]
        if "training" in given or len(call.args) - len(given) > 1:
            return updated
        defined = self.tree.resolver.definition(maker.func)
        if isinstance(defined, cst.ClassDef):
            flag = flag_of_class(self.tree, defined)
            if flag is None:
                shown = defined.name.value
                raise self.source.stop(call, f"`{shown}` does not take `training`")
        else:
            flag = asks(self.tree, maker)
        if not flag:
            return updated
        args = [*updated.args, cst.parse_expression("f(training=False)").args[0]]  # type: ignore[attr-defined]
        return updated.with_changes(args=args)

    def _layer(self, symbol: str, call: cst.Call, wanted: str) -> cst.BaseExpression:
        conversion = self._conversion()
        inputs, steps = conversion.convert(symbol, call)
        shared = self.lifter.shared
        shared.dropped_regularizer |= conversion.dropped_regularizer
        made_here = "".join(step.constructor for step in steps)
        shared.sparse |= "Embedding(" in made_here
        if ".contrib." in symbol and "BatchNormalization(" in made_here:
            shared.flat_norm |= "Conv2D(" not in made_here
        code = source_text(self.lifter.moved(inputs))
        generic = symbol.rpartition(".")[2]
        for index, step in enumerate(steps):
            if step.function:
                code = f"{step.function}({code})"
                continue
            name = step.wanted
            if wanted and index == 0 and name in (generic, "dense", "conv2d"):
                name = wanted
            place = None
            if not step.constructor.partition("(")[0].endswith(_STATELESS):
                place = self.lifter.places.place(
                    call, conversion.named, generic, part=index
                )
            made = self.lifter.make(name, step.constructor, place=place, node=call)
            more = [f"{n}={a}" for n, a in step.call_arguments]
            code = f"{made}({', '.join([code, *more])})"
        return cst.parse_expression(code)

    def _check(self, call: cst.Call, symbol: str | None) -> None:
        if symbol is not None:
            if not is_pure(symbol):
                raise self.source.stop(call, f"`{symbol}` cannot be lifted yet")
            looks_up = symbol == "tf.nn.embedding_lookup" or (
                symbol == "tf.gather"
                and bool(call.args)
                and self.tree.code(call.args[0].value) in self.lifter.objects
            )
            if looks_up:
                self.lifter.shared.sparse = True
            return
        function = call.func
        if isinstance(function, cst.Call):
            return  # a layer made and called at once
        if isinstance(function, cst.Name) and function.value in self.lifter.objects:
            return
        root = function
        while isinstance(root, (cst.Attribute, cst.Subscript, cst.Call)):
            root = root.func if isinstance(root, cst.Call) else root.value
        if (
            isinstance(function, cst.Attribute)
            and isinstance(root, cst.Name)
            and root.value in self.lifter.objects
            and function.attr.value in ("apply", "lookup")
        ):
            return
        if isinstance(function, cst.Name) and function.value in self.lifter.kinds:
            return  # a value of the program: an activation, a local function
        defined = self.tree.resolver.definition(function)
        if isinstance(defined, cst.FunctionDef) and pure_function(self.source, defined):
            return
        if is_plain_call(self.source, call):
            return
        shown = self.tree.code(function)
        raise self.source.stop(call, f"`{shown}` may make variables")

    # -- names ----------------------------------------

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        from .lifter_state import Kind

        lifter = self.lifter
        if original_node not in self.tree.resolver.scopes.loads:
            return updated_node
        name = original_node.value
        kind = lifter.kinds.get(name)
        if kind is None or not lifter._own(original_node):
            return updated_node
        if kind is Kind.TRAINING:
            lifter.uses_training = True
            return cst.Name("training")
        if kind is Kind.MODE:
            raise self.source.stop(
                original_node, "the forward pass depends on the mode"
            )
        if kind is Kind.OBJECT:
            return cst.parse_expression(lifter.objects[name])
        if kind is Kind.CONFIG:
            lifter.call_reads.add(name)
            return cst.Attribute(cst.Name("self"), cst.Name(name))
        return updated_node

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        from .lifter_state import Kind

        kind = self.lifter.mode_kind(original_node)
        if kind is Kind.TRAINING:
            self.lifter.uses_training = True
            return cst.Name("training")
        if kind is Kind.MODE:
            raise self.source.stop(
                original_node, "the forward pass depends on the mode"
            )
        return updated_node

    def visit_Comparison(self, node: cst.Comparison) -> bool:
        return self.lifter.mode_kind(node) is None


def _snake(name: str) -> str:
    import re

    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
