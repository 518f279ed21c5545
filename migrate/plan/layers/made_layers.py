"""Calls of TF1's layer functions, turned into Keras layers and their calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..model_fn.source import Source
from ..program import TF
from ..sites import Blocked
from .functions import CLASSES, LAYERS, LayerFunction
from .initializers import initializer, regularizer
from .lifted_names import source_text

__all__ = ["Conversion", "Step", "is_layer"]

Text = Callable[[cst.BaseExpression], str]

_CONTRIB = {
    "fully_connected": (
        "inputs",
        "num_outputs",
        "activation_fn",
        "normalizer_fn",
        "normalizer_params",
        "weights_initializer",
        "weights_regularizer",
        "biases_initializer",
        "biases_regularizer",
        "reuse",
        "variables_collections",
        "outputs_collections",
        "trainable",
        "scope",
    ),
    "conv2d": (
        "inputs",
        "num_outputs",
        "kernel_size",
        "stride",
        "padding",
        "data_format",
        "rate",
        "activation_fn",
        "normalizer_fn",
        "normalizer_params",
        "weights_initializer",
        "weights_regularizer",
        "biases_initializer",
        "biases_regularizer",
        "reuse",
        "variables_collections",
        "outputs_collections",
        "trainable",
        "scope",
    ),
    "max_pool2d": (
        "inputs",
        "kernel_size",
        "stride",
        "padding",
        "data_format",
        "outputs_collections",
        "scope",
    ),
    "flatten": ("inputs", "outputs_collections", "scope"),
    "dropout": (
        "inputs",
        "keep_prob",
        "noise_shape",
        "is_training",
        "outputs_collections",
        "scope",
        "seed",
    ),
    "batch_norm": (
        "inputs",
        "decay",
        "center",
        "scale",
        "epsilon",
        "activation_fn",
        "param_initializers",
        "param_regularizers",
        "updates_collections",
        "is_training",
        "reuse",
        "variables_collections",
        "outputs_collections",
        "trainable",
        "batch_weights",
        "fused",
        "data_format",
        "zero_debias_moving_mean",
        "scope",
        "renorm",
        "renorm_clipping",
        "renorm_decay",
        "adjustment",
    ),
    "embed_sequence": (
        "ids",
        "vocab_size",
        "embed_dim",
        "unique",
        "initializer",
        "regularizer",
        "trainable",
        "scope",
        "reuse",
    ),
    "layer_norm": (
        "inputs",
        "center",
        "scale",
        "activation_fn",
        "reuse",
        "variables_collections",
        "outputs_collections",
        "trainable",
        "begin_norm_axis",
        "begin_params_axis",
        "scope",
    ),
}
_CONTRIB["avg_pool2d"] = _CONTRIB["max_pool2d"]
_ALIASES = {
    "linear": "fully_connected",
    "relu": "fully_connected",
    "convolution2d": "conv2d",
    "convolution": "conv2d",
}
_PLACES = ("tf.contrib.layers.", "tf.contrib.slim.")
# Parameters that concern collections of the graph only.
_WITHOUT_EFFECT = (
    "variables_collections",
    "outputs_collections",
    "updates_collections",
    "fused",
    "unique",
    "zero_debias_moving_mean",
)


@dataclass(frozen=True)
class Step:
    """A layer and its call; or a plain function when ``constructor`` is empty."""

    constructor: str
    wanted: str
    call_arguments: tuple[tuple[str, str], ...] = ()
    function: str = ""


def contrib_name(symbol: str) -> str | None:
    """The layer function of contrib.layers or slim behind a canonical name."""
    for place in _PLACES:
        if symbol.startswith(place):
            name = symbol[len(place) :]
            name = _ALIASES.get(name, name)
            return name if name in _CONTRIB else None
    return None


def is_layer(symbol: str | None) -> bool:
    """The function makes a layer that is understood."""
    if symbol is None:
        return False
    return symbol in LAYERS or symbol in CLASSES or contrib_name(symbol) is not None


@dataclass
class Conversion:
    """Turns one call into steps.

    ``text`` gives an argument's source for the constructor, ``moved`` for the
    call; ``regularised`` says that the program adds regularisation losses;
    ``kernel`` is the initialiser of the enclosing variable scope.
    """

    source: Source
    text: Text
    moved: Text
    regularised: bool
    kernel: cst.BaseExpression | None = None
    # Defaults of an enclosing arg_scope: function name -> arguments.
    scoped: dict[str, dict[str, cst.BaseExpression]] = field(default_factory=dict)
    dropped_regularizer: bool = False
    # The name that the call gives its variables.
    named: str | None = None
    # Initialisers and regularisers that are not seen are handed on as they are.
    as_given: bool = False

    def convert(
        self, symbol: str, call: cst.Call
    ) -> tuple[cst.BaseExpression, list[Step]]:
        """The tensor that the layers are called on, and the layers in order."""
        name = contrib_name(symbol)
        if name is not None:
            return self._contrib(symbol, name, call)
        layer = LAYERS[symbol]
        given = self._match(call, (layer.inputs, *layer.parameters))
        inputs = given.pop(layer.inputs, None)
        if inputs is None:
            raise self.source.stop(call, "a layer without input")
        self._note_name(given.get("name"))
        positional = sum(argument.keyword is None for argument in call.args) - 1
        at_call = []
        for parameter in layer.at_call:
            value = given.pop(parameter, None)
            at_call.append((parameter, "False" if value is None else self.moved(value)))
        wanted = symbol.rpartition(".")[2]
        constructor = self.constructor(layer, given, call, positional)
        wanted = self.wanted(given.get("name"), wanted)
        return inputs, [Step(constructor, wanted, tuple(at_call))]

    def made_class(self, symbol: str, call: cst.Call) -> str:
        """Source of the Keras layer for ``tf.layers.Dense(...)``."""
        layer = CLASSES[symbol]
        names = layer.parameters_of_class
        given = self._match(call, tuple(n for n in names if n != "reuse"))
        positional = sum(argument.keyword is None for argument in call.args)
        return self.constructor(layer, given, call, positional)

    def constructor(
        self,
        layer: LayerFunction,
        given: dict[str, cst.BaseExpression],
        call: cst.Call,
        positional: int,
    ) -> str:
        """Source of ``Dense(...)`` with arguments in Keras' terms."""
        self._no_reuse(given.pop("reuse", None), call)
        for parameter in ("fused", "renorm_clipping", "adjustment"):
            if parameter == "adjustment" and not is_none(given.get(parameter)):
                raise self.source.stop(call, "batch normalization with an adjustment")
            given.pop(parameter, None)
        for parameter in ("renorm", "virtual_batch_size"):
            value = given.pop(parameter, None)
            if not is_none(value) and self.text(value) != "False":  # type: ignore[arg-type]
                raise self.source.stop(call, f"batch normalization with `{parameter}`")
        given.pop("renorm_momentum", None)
        if (
            self.kernel is not None
            and "kernel_initializer" in layer.parameters
            and is_none(given.get("kernel_initializer"))
        ):
            given["kernel_initializer"] = self.kernel
        parts = []
        for index, (parameter, value) in enumerate(given.items()):
            if parameter.endswith("_regularizer"):
                regular = self._regularizer(value)
                if regular is None:
                    continue
                code = regular
            elif parameter.endswith("_initializer"):
                if is_none(value):
                    continue
                code = self._initializer(value)
            else:
                code = self.text(value)
            if parameter in ("activation", "trainable") and code in ("None", "True"):
                continue
            plain = index < min(positional, layer.plain)
            parts.append(code if plain else f"{parameter}={code}")
        return f"{TF}.keras.layers.{layer.keras}({', '.join(parts)})"

    def wanted(self, node: cst.BaseExpression | None, otherwise: str) -> str:
        """An attribute's name after the name that the layer was given."""
        if isinstance(node, cst.BinaryOperation) and isinstance(
            node.left, cst.SimpleString
        ):
            node = node.left  # 'mlp%d' % i
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value  # 'mlp{}'.format(i)
        if isinstance(node, cst.FormattedString):
            texts = [
                p.value for p in node.parts if isinstance(p, cst.FormattedStringText)
            ]
            text = "".join(texts)
        elif isinstance(node, cst.SimpleString):
            text = str(ast.literal_eval(node.value))
        else:
            return otherwise
        text = re.sub(r"%\w|\{\w*\}", "", text)
        text = re.sub(r"\W+", "_", text).strip("_").lower()
        return text if text.isidentifier() else otherwise

    # -- tf.contrib.layers ----------------------------------------

    def _contrib(
        self, symbol: str, name: str, call: cst.Call
    ) -> tuple[cst.BaseExpression, list[Step]]:
        given = {**self.scoped.get(name, {}), **self._match(call, _CONTRIB[name])}
        inputs = given.pop("inputs", None) or given.pop("ids", None)
        if inputs is None:
            raise self.source.stop(call, "a layer without input")
        for parameter in _WITHOUT_EFFECT:
            given.pop(parameter, None)
        self._note_name(given.get("scope"))
        self._no_reuse(given.pop("reuse", None), call)
        given.setdefault("activation_fn", cst.Name("_")) if symbol.endswith(
            ("linear", ".relu")
        ) else None
        made: list[Step]
        if name in ("fully_connected", "conv2d"):
            made = self._weighted(symbol, name, given, call)
        elif name in ("max_pool2d", "avg_pool2d"):
            made = self._pooling(name, given, call)
        elif name == "flatten":
            made = [Step(f"{TF}.keras.layers.Flatten()", "flatten")]
        elif name == "dropout":
            made = self._dropout(given)
        elif name == "batch_norm":
            made = self._batch_norm(given, call)
        elif name == "embed_sequence":
            made = self._embed(given, call)
        else:
            made = self._layer_norm(given, call)
        return inputs, made

    def _scope(self, given: dict[str, cst.BaseExpression]) -> list[str]:
        scope = given.get("scope")
        kinds = (cst.SimpleString, cst.FormattedString, cst.BinaryOperation)
        if isinstance(scope, kinds):
            return [f"name={self.text(scope)}"]
        return []

    def _weighted(
        self,
        symbol: str,
        name: str,
        given: dict[str, cst.BaseExpression],
        call: cst.Call,
    ) -> list[Step]:
        dense = name == "fully_connected"
        parts = [self.text(given["num_outputs"])]
        if not dense:
            parts.append(self.text(given["kernel_size"]))
            if "stride" in given:
                parts.append(f"strides={self.text(given['stride'])}")
            padding = given.get("padding")
            shown = '"same"' if padding is None else self.text(padding)
            parts.append(f"padding={shown}")
            if not is_none(given.get("data_format")):
                raise self.source.stop(call, "conv2d with another data_format")
            if "rate" in given:
                parts.append(f"dilation_rate={self.text(given['rate'])}")
        activation = f"{TF}.nn.relu"
        if symbol.endswith(".linear"):
            activation = "None"
        elif "activation_fn" in given and not symbol.endswith(".relu"):
            activation = self.text(given["activation_fn"])
        normalizer = given.get("normalizer_fn")
        normalised = not is_none(normalizer)
        if not normalised and activation != "None":
            parts.append(f"activation={activation}")
        biases = given.get("biases_initializer")
        unbiased = normalised or ("biases_initializer" in given and is_none(biases))
        if unbiased:
            parts.append("use_bias=False")
        weights = given.get("weights_initializer")
        if weights is not None and not is_none(weights):
            code = initializer(self.source, weights, self.text)
            parts.append(f"kernel_initializer={code}")
        if biases is not None and not unbiased:
            code = initializer(self.source, biases, self.text)
            if code != '"zeros"':
                parts.append(f"bias_initializer={code}")
        for legacy, keras in (
            ("weights_regularizer", "kernel_regularizer"),
            ("biases_regularizer", "bias_regularizer"),
        ):
            found = self._regularizer(given.get(legacy))
            if found is not None:
                parts.append(f"{keras}={found}")
        if "trainable" in given:
            parts.append(f"trainable={self.text(given['trainable'])}")
        parts += self._scope(given)
        wanted = self.wanted(given.get("scope"), "dense" if dense else "conv2d")
        keras = "Dense" if dense else "Conv2D"
        steps = [Step(f"{TF}.keras.layers.{keras}({', '.join(parts)})", wanted)]
        if normalised:
            if contrib_name(self.source.tree.symbol(normalizer) or "") != "batch_norm":
                raise self.source.stop(call, "a normalizer_fn that is not batch_norm")
            inner = self._normalizer(given.get("normalizer_params"), call)
            steps += self._batch_norm(inner, call)
            if activation != "None":
                steps.append(Step("", "", (), activation))
        return steps

    def _normalizer(
        self, node: cst.BaseExpression | None, call: cst.Call
    ) -> dict[str, cst.BaseExpression]:
        found = dict(self.scoped.get("batch_norm", {}))
        value = self.source.tree.value(node)
        if is_none(value):
            return found
        if not isinstance(value, cst.Dict):
            raise self.source.stop(call, "normalizer_params are not a plain dict")
        for element in value.elements:
            if not isinstance(element, cst.DictElement) or not isinstance(
                element.key, cst.SimpleString
            ):
                raise self.source.stop(call, "normalizer_params are not a plain dict")
            found[str(ast.literal_eval(element.key.value))] = element.value
        for parameter in _WITHOUT_EFFECT:
            found.pop(parameter, None)
        return found

    def _pooling(
        self, name: str, given: dict[str, cst.BaseExpression], call: cst.Call
    ) -> list[Step]:
        if not is_none(given.get("data_format")):
            raise self.source.stop(call, "pooling with another data_format")
        stride = self.text(given["stride"]) if "stride" in given else "2"
        parts = [self.text(given["kernel_size"]), f"strides={stride}"]
        if "padding" in given:
            parts.append(f"padding={self.text(given['padding'])}")
        keras = "MaxPooling2D" if name == "max_pool2d" else "AveragePooling2D"
        wanted = self.wanted(given.get("scope"), name.replace("2d", "ing2d"))
        return [Step(f"{TF}.keras.layers.{keras}({', '.join(parts)})", wanted)]

    def _dropout(self, given: dict[str, cst.BaseExpression]) -> list[Step]:
        keep = self.text(given["keep_prob"]) if "keep_prob" in given else "0.5"
        rate = "0.5" if keep == "0.5" else f"1 - {keep}"
        if not is_none(given.get("noise_shape")):
            rate += f", noise_shape={self.text(given['noise_shape'])}"
        training = given.get("is_training")
        shown = "True" if training is None else self.moved(training)
        wanted = self.wanted(given.get("scope"), "dropout")
        constructor = f"{TF}.keras.layers.Dropout({rate})"
        return [Step(constructor, wanted, (("training", shown),))]

    def _batch_norm(
        self, given: dict[str, cst.BaseExpression], call: cst.Call
    ) -> list[Step]:
        for parameter in (
            "param_initializers",
            "param_regularizers",
            "batch_weights",
            "renorm",
            "renorm_clipping",
            "renorm_decay",
            "adjustment",
            "data_format",
        ):
            if not is_none(given.get(parameter)):
                raise self.source.stop(call, f"batch_norm(`{parameter}`=)")
        decay = self.text(given["decay"]) if "decay" in given else "0.999"
        parts = [f"momentum={decay}"]
        if "epsilon" in given:
            parts.append(f"epsilon={self.text(given['epsilon'])}")
        if "center" in given:
            parts.append(f"center={self.text(given['center'])}")
        scale = self.text(given["scale"]) if "scale" in given else "False"
        if scale != "True":
            parts.append(f"scale={scale}")
        if "trainable" in given:
            parts.append(f"trainable={self.text(given['trainable'])}")
        training = given.get("is_training")
        shown = "True" if training is None else self.moved(training)
        keras = f"{TF}.keras.layers.BatchNormalization({', '.join(parts)})"
        wanted = self.wanted(given.get("scope"), "batch_normalization")
        steps = [Step(keras, wanted, (("training", shown),))]
        activation = given.get("activation_fn")
        if not is_none(activation):
            assert activation is not None
            steps.append(Step("", "", (), self.text(activation)))
        return steps

    def _embed(
        self, given: dict[str, cst.BaseExpression], call: cst.Call
    ) -> list[Step]:
        if is_none(given.get("vocab_size")) or is_none(given.get("embed_dim")):
            raise self.source.stop(call, "embed_sequence without sizes")
        # embed_sequence's variable has the default initialiser of get_variable.
        code = f"{TF}.keras.initializers.GlorotUniform()"
        made = given.get("initializer") or self.kernel
        if not is_none(made):
            assert made is not None
            code = initializer(self.source, made, self.text)
        parts = [
            self.text(given["vocab_size"]),
            self.text(given["embed_dim"]),
            f"embeddings_initializer={code}",
        ]
        found = self._regularizer(given.get("regularizer"))
        if found is not None:
            parts.append(f"embeddings_regularizer={found}")
        wanted = self.wanted(given.get("scope"), "embedding")
        return [Step(f"{TF}.keras.layers.Embedding({', '.join(parts)})", wanted)]

    def _layer_norm(
        self, given: dict[str, cst.BaseExpression], call: cst.Call
    ) -> list[Step]:
        axis = given.get("begin_norm_axis")
        if axis is None or self.text(axis) != "-1":
            raise self.source.stop(call, "layer_norm over more than the last axis")
        parts = ["epsilon=1e-12"]
        for parameter in ("center", "scale", "trainable"):
            if parameter in given:
                parts.append(f"{parameter}={self.text(given[parameter])}")
        parts += self._scope(given)
        wanted = self.wanted(given.get("scope"), "layer_normalization")
        keras = f"{TF}.keras.layers.LayerNormalization({', '.join(parts)})"
        steps = [Step(keras, wanted)]
        activation = given.get("activation_fn")
        if not is_none(activation):
            assert activation is not None
            steps.append(Step("", "", (), self.text(activation)))
        return steps

    # -- what all layers share ---------------------------------------

    def _match(
        self, call: cst.Call, parameters: tuple[str, ...]
    ) -> dict[str, cst.BaseExpression]:
        try:
            return match_arguments(call, parameters)
        except UnknownArguments as problem:
            raise self.source.stop(call, f"layer with {problem}") from None

    def _note_name(self, node: cst.BaseExpression | None) -> None:
        if node is not None and not is_none(node):
            self.named = source_text(node)

    def _no_reuse(self, node: cst.BaseExpression | None, call: cst.Call) -> None:
        """Names tell what is shared, where there are names."""
        if is_none(node) or self.named is not None:
            return
        assert node is not None
        if isinstance(node, cst.Name) and node.value == "False":
            return
        raise self.source.stop(call, "a layer without a name that is reused")

    def _regularizer(self, node: cst.BaseExpression | None) -> str | None:
        if is_none(node):
            return None
        assert node is not None
        if not self.regularised:
            # Nothing of the program adds REGULARIZATION_LOSSES to its loss.
            self.dropped_regularizer = True
            return None
        try:
            return regularizer(self.source, node, self.text)
        except Blocked:
            if not self.as_given:
                raise
            return self.text(node)

    def _initializer(self, node: cst.BaseExpression) -> str:
        try:
            return initializer(self.source, node, self.text)
        except Blocked:
            if not self.as_given:
                raise
            return self.text(node)
