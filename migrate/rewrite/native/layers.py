"""Layers, initializers and regularizers of TensorFlow 1 as those of Keras.

Each has the same numbers: what it computes of the same weights, and what its weights
are drawn from. A layer of `tf.contrib.layers`, or slim, may be several of Keras.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ...model.contrib_functions import SIGNATURES, contrib_name
from .code import UNKNOWN, Refused, call, dotted, grouped, is_absent, literal, parsed

_KERAS = "tf_keras.layers."
_STARTS = "tf_keras.initializers."
_ACTIVATIONS = {"linear": "None", "relu": "tf.nn.relu", "relu6": "tf.nn.relu6"}
_KINDS = {
    "conv1d": "Conv1D",
    "conv2d": "Conv2D",
    "conv3d": "Conv3D",
    "conv2d_transpose": "Conv2DTranspose",
    "separable_conv2d": "SeparableConv2D",
    "max_pool2d": "MaxPooling2D",
    "avg_pool2d": "AveragePooling2D",
    "max_pool3d": "MaxPooling3D",
    "avg_pool3d": "AveragePooling3D",
}
# Dimensions of what layers take and give, where that is always the same.
RANKS = {
    "Conv1D": 3, "SeparableConv1D": 3, "Conv2D": 4, "Conv2DTranspose": 4,
    "SeparableConv2D": 4, "Conv3D": 5,
    "DepthwiseConv2D": 4,
    "MaxPooling2D": 4, "AveragePooling2D": 4, "MaxPooling3D": 5,
    "AveragePooling3D": 5, "Flatten": 2, "DenseFeatures": 2,
}  # fmt: skip


class Reader(Protocol):
    """What the code says around a call."""

    @property
    def symbol(self) -> Callable[[str], str | None]:
        """TensorFlow's name of what an expression stands for."""

    def value(self, code: str) -> str:
        """What a name was given in the only place that gives it something."""

    def text(self, code: str) -> str:
        """A string, in the quotes of the program."""


@dataclass(frozen=True)
class Plain:
    """Reads arguments as they are, where no arg_scope is around."""

    symbol: Callable[[str], str | None] = lambda code: None
    quote: str = "'"

    def value(self, code: str) -> str:
        """The argument itself."""
        return code

    def text(self, code: str) -> str:
        """A string in these quotes."""
        return f"{self.quote}{code}{self.quote}"


@dataclass(frozen=True)
class Layers:
    """Keras layers in the place of a function: one after the other, and their flag."""

    made: tuple[str, ...]
    # Source of the argument `training`; None where no layer has it.
    training: str | None = None

    @property
    def code(self) -> str:
        """What makes all of them, as one layer."""
        first, *more = self.made
        return f"tf_keras.Sequential([{', '.join(self.made)}])" if more else first


def layers(
    name: str, given: Mapping[str, str], reader: Reader, rank: int | None = None
) -> Layers:
    """The Keras layers for a call of a function of tf.contrib.layers or slim.

    `given` are its arguments. `rank` is the number of the input's dimensions, where it
    is known.
    """
    if name not in SIGNATURES:
        raise Refused(f"`{name}` of tf.contrib has no Keras layer with its numbers")
    arguments = dict(given)
    for collections in ("variables_collections", "outputs_collections"):
        if not is_absent(arguments.get(collections)):
            raise Refused(f"`{name}` puts what it makes into `{collections}`")
    if name == "batch_norm":
        return _batch_norm(arguments, reader, rank)
    if name == "layer_norm":
        return _layer_norm(arguments, reader, rank)
    if name in ("group_norm", "instance_norm"):
        return _group_norm(name, arguments, reader, rank)
    if name == "dropout":
        return _dropout("Dropout", arguments, reader)
    if name == "alpha_dropout":
        return _dropout("AlphaDropout", arguments, reader)
    if name == "flatten":
        return Layers((call(f"{_KERAS}Flatten"),))
    if name == "embed_sequence":
        return Layers((_embedding(arguments, reader),))
    if "pool" in name:
        return Layers((_pooling(name, arguments, reader),))
    if name in _ACTIVATIONS:
        arguments.setdefault("activation_fn", _ACTIVATIONS[name])
        name = "fully_connected"
    return _with_weights(name, arguments, reader, rank)


def _with_weights(
    name: str, given: dict[str, str], reader: Reader, rank: int | None
) -> Layers:
    """A layer with weights, its normalization and its activation."""
    normalizer = given.get("normalizer_fn")
    normalized = not is_absent(normalizer)
    activation = _activation(given.get("activation_fn"), reader, "relu")
    biased = not normalized and not (
        "biases_initializer" in given and is_absent(given["biases_initializer"])
    )
    named: dict[str, str | None] = {}
    if name != "fully_connected":
        named.update(_window(name, given, reader))
    kernel = "kernel"
    # Without outputs of its own it is the first half alone.
    whole = not is_absent(given.get("num_outputs"))
    if name == "separable_conv2d":
        kernel = "depthwise"
        if not is_absent(given.get("depth_multiplier")):
            named["depth_multiplier"] = given["depth_multiplier"]
    if not normalized:
        named["activation"] = activation
    if not biased:
        named["use_bias"] = "False"
    start = _initial(given.get("weights_initializer"), reader)
    named[f"{kernel}_initializer"] = start
    if kernel == "depthwise" and whole:
        point = given.get("pointwise_initializer")
        named["pointwise_initializer"] = (
            start if is_absent(point) else _initial(point, reader)
        )
    if biased:
        named["bias_initializer"] = _initial(
            given.get("biases_initializer"), reader, usual="zeros"
        )
    penalty = regularizer(given.get("weights_regularizer"), reader)
    named[f"{kernel}_regularizer"] = penalty
    if kernel == "depthwise" and whole:
        named["pointwise_regularizer"] = penalty
    if biased:
        named["bias_regularizer"] = regularizer(given.get("biases_regularizer"), reader)
    named["trainable"] = _trainable(given)
    named["name"] = _name(given.get("scope"))
    kind = "Dense" if name == "fully_connected" else _KINDS[name]
    kind = kind if whole else "DepthwiseConv2D"
    sizes = [given["num_outputs"]] if whole else []
    made = [call(_KERAS + kind, *sizes, *_sizes(name, given), **named)]
    training = None
    if normalized:
        assert normalizer is not None
        norm = contrib_name(reader.symbol(normalizer))
        if norm is None:
            raise Refused(f"`{normalizer}` normalizes the outputs of `{name}`")
        params = dictionary(given.get("normalizer_params"), reader)
        of_rank = RANKS.get(kind, 2 if kind == "Dense" and rank is None else rank)
        found = layers(norm, params, reader, of_rank)
        made += found.made
        training = found.training
        if activation is not None:
            made.append(_activation_layer(activation))
    return Layers(tuple(made), training)


def _sizes(name: str, given: Mapping[str, str]) -> list[str]:
    if name == "fully_connected":
        return []
    return [_square(given["kernel_size"])]


def _square(size: str) -> str:
    """`3` of `[3, 3]`."""
    value = literal(size)
    if isinstance(value, (list, tuple)) and value and len(set(value)) == 1:
        return str(value[0])
    return size


def _window(
    name: str, given: Mapping[str, str], reader: Reader, stride: str = "1"
) -> dict[str, str | None]:
    """Arguments that say which inputs go into an output."""
    found: dict[str, str | None] = {}
    steps = _square(given.get("stride", stride))
    found["strides"] = None if literal(steps) == 1 else steps
    padding = given.get("padding", "'VALID'" if "pool" in name else "'SAME'")
    known = literal(padding)
    if isinstance(known, str):
        padding = reader.text(known.lower())
    found["padding"] = None if known == "VALID" else padding
    found["data_format"] = _data_format(given.get("data_format"), reader)
    rate = given.get("rate", "1")
    found["dilation_rate"] = None if literal(rate) == 1 else _square(rate)
    return found


def _data_format(code: str | None, reader: Reader) -> str | None:
    if is_absent(code):
        return None
    known = literal(code)
    if not isinstance(known, str):
        raise Refused(f"the data format is `{code}`, which is not seen")
    return reader.text("channels_first") if known.startswith("NC") else None


def _pooling(name: str, given: Mapping[str, str], reader: Reader) -> str:
    window = _window(name, given, reader, stride="2")
    window.pop("dilation_rate")
    size = _square(given["kernel_size"])
    if window["strides"] is None:
        window["strides"] = "1"
    if window["strides"] == size:
        window["strides"] = None
    return call(_KERAS + _KINDS[name], size, **window)


def _dropout(kind: str, given: Mapping[str, str], reader: Reader) -> Layers:
    rate = rate_of(given.get("keep_prob", "0.5"))
    shape = given.get("noise_shape")
    seed = given.get("seed")
    made = call(
        f"{_KERAS}{kind}",
        rate,
        noise_shape=None if is_absent(shape) else shape,
        seed=None if is_absent(seed) else seed,
    )
    return Layers((made,), given.get("is_training", "True"))


def rate_of(keep: str) -> str:
    """The share that is dropped, of the one that is kept."""
    known = literal(keep)
    if isinstance(known, (int, float)):
        return repr(round(1 - known, 12))
    node = parsed(keep)
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and literal(ast.unparse(node.left)) == 1
    ):
        return ast.get_source_segment(f"({keep}\n)", node.right) or keep
    return f"1 - {grouped(keep)}"


def _embedding(given: Mapping[str, str], reader: Reader) -> str:
    sizes = [given.get(name) for name in ("vocab_size", "embed_dim")]
    if any(map(is_absent, sizes)) or literal(given.get("unique", "False")) is not False:
        raise Refused("`embed_sequence` without sizes, or with `unique`")
    start = given.get("initializer")
    return call(
        f"{_KERAS}Embedding",
        *(one for one in sizes if one is not None),
        embeddings_initializer=reader.text("glorot_uniform")
        if is_absent(start)
        else initializer(start or "", reader),
        embeddings_regularizer=regularizer(given.get("regularizer"), reader),
        trainable=_trainable(given),
        name=_name(given.get("scope")),
    )


def _batch_norm(given: Mapping[str, str], reader: Reader, rank: int | None) -> Layers:
    for name in ("batch_weights", "adjustment", "renorm_clipping"):
        if not is_absent(given.get(name)):
            raise Refused(f"`batch_norm` with `{name}`")
    for name in ("renorm", "zero_debias_moving_mean"):
        if literal(given.get(name, "False")) is not False:
            raise Refused(f"`batch_norm` with `{name}`")
    fused = literal(given.get("fused", "None"))
    if fused not in (None, True):
        raise Refused("`batch_norm` with `fused=False`")
    # contrib normalized vectors by the kernel of pictures, whose moving variance is
    # that of a sample.
    pictures = rank == 4 or _data_format(given.get("data_format"), reader) is not None
    kind = f"{_KERAS}BatchNormalization" if pictures else "SampleNormalization"
    params = dictionary(given.get("param_initializers"), reader)
    penalties = dictionary(given.get("param_regularizers"), reader)
    named: dict[str, str | None] = {
        "axis": "1" if _data_format(given.get("data_format"), reader) else None,
        "momentum": given.get("decay", "0.999"),
        "epsilon": _unless(given.get("epsilon"), 1e-3),
        "center": _unless(given.get("center"), True),
        "scale": _unless(given.get("scale", "False"), True),
    }
    for name, keras in (
        ("beta", "beta"),
        ("gamma", "gamma"),
        ("moving_mean", "moving_mean"),
        ("moving_variance", "moving_variance"),
    ):
        if name in params:
            named[f"{keras}_initializer"] = initializer(params[name], reader)
        if name in penalties:
            named[f"{keras}_regularizer"] = regularizer(penalties[name], reader)
    named["trainable"] = _trainable(given)
    named["name"] = _name(given.get("scope"))
    training = given.get("is_training", "True")
    if named["trainable"] is not None and literal(training) is not False:
        raise Refused(
            "batch normalization that trains its averages and not its weights: "
            "Keras runs such a layer in inference"
        )
    return _activated(call(kind, **named), given, reader, training)


def _activated(
    made: str, given: Mapping[str, str], reader: Reader, training: str | None = None
) -> Layers:
    """A layer that normalizes, and the activation of what it gives, if there is one."""
    activation = _activation(given.get("activation_fn"), reader, None)
    more = () if activation is None else (_activation_layer(activation),)
    return Layers((made, *more), training)


def _layer_norm(given: Mapping[str, str], reader: Reader, rank: int | None) -> Layers:
    first = literal(given.get("begin_norm_axis", "1"))
    last = first == -1 or (isinstance(first, int) and rank == first + 1)
    if not last and first != 1:
        raise Refused("`layer_norm` over some of the dimensions")
    if literal(given.get("begin_params_axis", "-1")) != -1:
        raise Refused("`layer_norm` with `begin_params_axis`")
    named = {
        "epsilon": "1e-12" if last else None,
        "center": _unless(given.get("center"), True),
        "scale": _unless(given.get("scale"), True),
        "trainable": _trainable(given),
        "name": _name(given.get("scope")),
    }
    kind = f"{_KERAS}LayerNormalization" if last else "ExampleNormalization"
    return _activated(call(kind, **named), given, reader)


def _group_norm(
    name: str, given: Mapping[str, str], reader: Reader, rank: int | None
) -> Layers:
    """Each group of channels of an example by itself, or each channel."""
    others = ("channels_axis", "reduction_axes", "mean_close_to_zero", "data_format")
    told = [one for one in (*others, "param_initializers") if given.get(one)]
    if told or (name == "group_norm" and rank != 4):
        raise Refused(f"`{name}` with `{told[0] if told else 'inputs'}` of its own")
    usual = "32" if name == "group_norm" else "-1"
    named = {
        "groups": given.get("groups", usual),
        "epsilon": given.get("epsilon", "1e-6"),
        "center": _unless(given.get("center"), True),
        "scale": _unless(given.get("scale"), True),
        "trainable": _trainable(given),
        "name": _name(given.get("scope")),
    }
    return _activated(call(f"{_KERAS}GroupNormalization", **named), given, reader)


def dictionary(code: str | None, reader: Reader) -> dict[str, str]:
    """A dictionary in plain sight: by key, the sources of its values."""
    if is_absent(code):
        return {}
    given = reader.value(code or "")
    node = parsed(given)
    found: dict[str, str] = {}
    pairs: list[tuple[object, ast.expr]] = [(node, node)]
    if isinstance(node, ast.Call) and dotted(node.func) == "dict" and not node.args:
        pairs = [(one.arg, one.value) for one in node.keywords]
    elif isinstance(node, ast.Dict):
        pairs = [
            (one.value if isinstance(one, ast.Constant) else one, value)
            for one, value in zip(node.keys, node.values, strict=True)
        ]
    for key, value in pairs:
        if key is None:
            found |= dictionary(_source(given, value), reader)
            continue
        if not isinstance(key, str):
            raise Refused(f"`{code}` is not a dictionary in plain sight")
        found[key] = _source(given, value)
    return found


def _unless(code: str | None, usual: object) -> str | None:
    """An argument that is not what the layer has anyway."""
    known = literal(code)
    return None if code is None or (known is not UNKNOWN and known == usual) else code


def _trainable(given: Mapping[str, str]) -> str | None:
    return _unless(given.get("trainable"), True)


def _name(scope: str | None) -> str | None:
    """A layer's name; one within others, or of a scope's object, has none."""
    if is_absent(scope) or scope is None:
        return None
    known = literal(scope)
    if isinstance(known, str):
        return scope if re.fullmatch(r"[A-Za-z][\w.-]*", known) else None
    node = parsed(scope)
    texts = (ast.JoinedStr, ast.BinOp)
    formatted = (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "format"
    )
    return (
        scope if (isinstance(node, texts) or formatted) and "/" not in scope else None
    )


def _activation(code: str | None, reader: Reader, usual: str | None) -> str | None:
    """Source of an activation; None where there is none."""
    if code is None:
        return None if usual is None else reader.text(usual)
    return None if is_absent(code) or reader.symbol(code) == "tf.identity" else code


def _activation_layer(activation: str) -> str:
    if activation.strip("'\"") == "relu" or activation.endswith("nn.relu"):
        return f"{_KERAS}ReLU()"
    return f"{_KERAS}Activation({activation})"


# -- initializers and regularizers

_SEED = ("seed",)
# Class of Keras: its parameters in TensorFlow 1's order, with what TF 1 and Keras take
# where nothing is said.
_CLASSES: dict[str, tuple[tuple[str, object, object], ...]] = {
    "Zeros": (),
    "Ones": (),
    "Constant": (("value", 0, 0),),
    "RandomNormal": (("mean", 0.0, 0.0), ("stddev", 1.0, 0.05)),
    "TruncatedNormal": (("mean", 0.0, 0.0), ("stddev", 1.0, 0.05)),
    "RandomUniform": (("minval", 0.0, -0.05), ("maxval", 1.0, 0.05)),
    "VarianceScaling": (
        ("scale", 1.0, 1.0),
        ("mode", "fan_in", "fan_in"),
        ("distribution", "truncated_normal", "truncated_normal"),
    ),
    "GlorotUniform": (),
    "GlorotNormal": (),
    "HeNormal": (),
    "HeUniform": (),
    "LecunNormal": (),
    "LecunUniform": (),
    "Orthogonal": (("gain", 1.0, 1.0),),
    "Identity": (("gain", 1.0, 1.0),),
}
_WITHOUT_SEED = ("Zeros", "Ones", "Constant", "Identity")


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


_LEGACY = {
    name: kind
    for kind in _CLASSES
    for name in (
        f"tf.{_snake(kind)}_initializer",
        f"tf.initializers.{_snake(kind)}",
        f"tf.keras.initializers.{_snake(kind)}",
    )
}
_TODAY = {f"tf.keras.initializers.{kind}": kind for kind in _CLASSES}
_IGNORED = ("dtype", "verify_shape", "partition_info")


def _initial(
    code: str | None, reader: Reader, usual: str = "glorot_uniform"
) -> str | None:
    """An initializer as an argument; None where it is what the layer has anyway."""
    if is_absent(code) or code is None:
        return None
    found = initializer(code, reader)
    return None if found == reader.text(usual) else found


def initializer(code: str, reader: Reader) -> str:
    """Source of the Keras initializer with the distribution of one of TensorFlow 1."""
    given = reader.value(code)
    node = parsed(given)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return given
    function = node.func if isinstance(node, ast.Call) else node
    symbol = reader.symbol(_source(given, function)) or ""
    if given != code and isinstance(parsed(code), ast.Subscript):
        # The dict goes on to hold what TensorFlow 1 made, or what a caller gives.
        if symbol in _LEGACY or isinstance(node, ast.Name):
            return code
        raise Refused(f"the initializer `{code}` is another one today")
    arguments = _arguments(node, given)
    if contrib_name(symbol) in ("xavier_initializer", "xavier_initializer_conv2d"):
        arguments = _placed(arguments, ("uniform", "seed", "dtype"))
        uniform = literal(arguments.get("uniform", "True"))
        if not isinstance(uniform, bool):
            raise Refused(f"the initializer `{code}` is one of two")
        return _start("GlorotUniform" if uniform else "GlorotNormal", arguments, reader)
    if contrib_name(symbol) == "variance_scaling_initializer":
        return _contrib_scaling(_placed(arguments, _SCALING), code, reader)
    if symbol.startswith("tf.keras.initializers.") and symbol in _TODAY:
        kind = _TODAY[symbol]
        inside = given[len(_source(given, function)) :] if arguments else "()"
        names = tuple(name for name, _, _ in _CLASSES[kind])
        placed = _placed(arguments, (*names, "seed"))
        plain = not placed and kind not in (
            "RandomNormal",
            "TruncatedNormal",
            "RandomUniform",
            "VarianceScaling",
            "Constant",
        )
        return reader.text(_snake(kind)) if plain else f"{_STARTS}{kind}{inside}"
    if symbol in _LEGACY:
        kind = _LEGACY[symbol]
        names = tuple(name for name, _, _ in _CLASSES[kind])
        seed = () if kind in _WITHOUT_SEED else _SEED
        placed = _placed(arguments, (*names, *seed, *_IGNORED))
        return _start(kind, placed, reader)
    if not symbol and isinstance(function, (ast.Name, ast.Attribute, ast.Lambda)):
        # Of the program: a function of a shape, or one that makes an initializer.
        return code
    raise Refused(f"the initializer `{code}` has no twin in Keras")


_SCALING = ("factor", "mode", "uniform", "seed", "dtype")


def _contrib_scaling(given: Mapping[str, str], code: str, reader: Reader) -> str:
    """Uniform is exact; contrib's truncated normal is wider by 0.3 %."""
    uniform = literal(given.get("uniform", "False"))
    mode = literal(given.get("mode", "'FAN_IN'"))
    if not isinstance(uniform, bool) or not isinstance(mode, str):
        raise Refused(f"the initializer `{code}` is one of several")
    factor = given.get("factor", "2.0")
    known = {
        (2.0, "FAN_IN"): "He",
        (1.0, "FAN_IN"): "Lecun",
        (1.0, "FAN_AVG"): "Glorot",
    }
    short = known.get((literal(factor), mode))
    if short is not None:
        return _start(f"{short}{'Uniform' if uniform else 'Normal'}", given, reader)
    return call(
        f"{_STARTS}VarianceScaling",
        factor,
        reader.text(mode.lower()),
        reader.text("uniform" if uniform else "truncated_normal"),
        seed=given.get("seed"),
    )


def _start(kind: str, given: Mapping[str, str], reader: Reader) -> str:
    """An initializer of Keras with TensorFlow 1's defaults."""
    seed = given.get("seed")
    if kind == "Constant":
        value = given.get("value", "0")
        known = literal(value)
        if isinstance(known, (int, float)) and known in (0, 1):
            return reader.text("ones" if known else "zeros")
        return f"{_STARTS}Constant({value})"
    named = {
        name: given.get(name, repr(old))
        for name, old, new in _CLASSES[kind]
        if (literal(given[name]) != new if name in given else old != new)
    }
    if kind == "RandomUniform":
        named = {name: given.get(name, repr(old)) for name, old, _ in _CLASSES[kind]}
        if not named["minval"].startswith("-") and "maxval" not in given:
            named["maxval"] = "1.0"
    if not is_absent(seed):
        named["seed"] = seed or ""
    return call(f"{_STARTS}{kind}", **named) if named else reader.text(_snake(kind))


def _arguments(node: ast.expr, code: str) -> dict[str, str]:
    """Arguments of a call by keyword, or by place: `0`, `1`."""
    if not isinstance(node, ast.Call):
        return {}
    if any(isinstance(one, ast.Starred) for one in node.args):
        raise Refused(f"`{code}` with `*` arguments")
    found = {str(place): _source(code, one) for place, one in enumerate(node.args)}
    for one in node.keywords:
        if one.arg is None:
            raise Refused(f"`{code}` with `**` arguments")
        found[one.arg] = _source(code, one.value)
    return found


def _source(code: str, node: ast.expr) -> str:
    """A part of an expression, as it is written there."""
    return ast.get_source_segment(f"({code}\n)", node) or ast.unparse(node)


def _placed(given: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in given.items():
        if name.isdigit():
            if int(name) >= len(names):
                raise Refused(f"an initializer with {len(given)} arguments")
            name = names[int(name)]
        if name not in names:
            raise Refused(f"an initializer with the argument `{name}`")
        if value != "None":
            found[name] = value
    return found


_PENALTIES = ("l1_regularizer", "l2_regularizer", "l1_l2_regularizer")


def regularizer(code: str | None, reader: Reader) -> str | None:
    """Source of the Keras regularizer for one of tf.contrib or tf.keras."""
    if is_absent(code) or code is None:
        return None
    text = reader.value(code)
    node = parsed(text)
    if isinstance(node, ast.IfExp):
        parts = (_source(text, one) for one in (node.body, node.orelse))
        chosen, other = (regularizer(one, reader) for one in parts)
        return f"{chosen} if {_source(text, node.test)} else {other}"
    function = node.func if isinstance(node, ast.Call) else node
    symbol = reader.symbol(_source(text, function)) or ""
    name = contrib_name(symbol)
    if name in _PENALTIES and isinstance(node, ast.Call):
        names: tuple[str, ...] = ("scale_l1", "scale_l2", "scope")
        if name != "l1_l2_regularizer":
            names = ("scale", "scope")
        given = _placed(_arguments(node, text), names)
        if name == "l1_regularizer":
            return f"tf_keras.regularizers.L1({given['scale']})"
        if name == "l2_regularizer":
            return f"tf_keras.regularizers.L2({grouped(given['scale'])} / 2)"
        first, second = given.get("scale_l1", "1.0"), given.get("scale_l2", "1.0")
        return f"tf_keras.regularizers.L1L2({first}, {grouped(second)} / 2)"
    if symbol.startswith("tf.keras.regularizers."):
        inside = text[len(_source(text, function)) :]
        return f"tf_keras{symbol.removeprefix('tf.keras')}{inside}"
    if symbol == "tf.nn.l2_loss" or (
        not symbol and isinstance(function, (ast.Name, ast.Attribute, ast.Lambda))
    ):
        return code
    raise Refused(f"the regularizer `{code}` has no twin in Keras")
