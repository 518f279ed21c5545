"""Which Keras layers ask whether they train, and what a model_fn told them.

Inside of a model_fn Keras' learning phase was off in every mode: a layer that was
called without ``training=`` never dropped anything and never used the statistics
of a batch. In the call of a Keras model it would take the flag of the model.
"""

from __future__ import annotations

import libcst as cst

from ..code.pure import is_plain_call
from ..code.tree import Tree, walk
from ..model_fn.source import Source
from .functions import CLASSES

__all__ = ["asks", "flag_of_class", "makes_keras_model"]

# Layers that do the same in training and outside of it.
_NAMES = """
Activation Add Average Concatenate Dense DepthwiseConv2D Dot ELU Embedding Flatten
LayerNormalization LeakyReLU Masking Maximum Minimum Multiply PReLU Permute ReLU
RepeatVector Reshape Softmax Subtract ThresholdedReLU
"""
_INDIFFERENT = frozenset(_NAMES.split())
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
    "LocallyConnected",
    "MaxPool",
    "SeparableConv",
    "UpSampling",
    "ZeroPadding",
)
# Only their dropout looks at the flag.
_RECURRENT = ("GRU", "GRUCell", "LSTM", "LSTMCell", "SimpleRNN", "SimpleRNNCell")
_WRAPPERS = ("Bidirectional", "RNN", "TimeDistributed")
_DROPS = ("dropout", "recurrent_dropout")


def asks(tree: Tree, made: cst.Call) -> bool:
    """The layer that this call makes does something else in training."""
    symbol = tree.symbol(made.func)
    if symbol is None:
        return True
    name = symbol.rpartition(".")[2]
    if symbol in CLASSES:
        return name in ("BatchNormalization", "Dropout")
    if name in _INDIFFERENT or name.startswith(_FAMILIES):
        return False
    if any(argument.star for argument in made.args):
        return True
    if name in _RECURRENT:
        return any(_drops(argument) for argument in made.args)
    if name in (*_WRAPPERS, "Sequential"):
        inner = [n for a in made.args for n in walk(a.value) if isinstance(n, cst.Call)]
        if name == "Sequential" and not inner:
            return True  # its layers are added later
        return not inner or any(asks(tree, one) for one in inner)
    return True


def _drops(argument: cst.Arg) -> bool:
    if argument.keyword is None or argument.keyword.value not in _DROPS:
        return False
    value = argument.value
    plain = isinstance(value, (cst.Float, cst.Integer))
    return not (plain and float(value.evaluated_value) == 0.0)  # type: ignore[attr-defined]


def flag_of_class(tree: Tree, defined: cst.ClassDef) -> bool | None:
    """Whether a Keras class of the program's takes the flag.

    None when it does not, though layers in it ask.
    """
    for statement in defined.body.body:
        if isinstance(statement, cst.FunctionDef) and statement.name.value == "call":
            parameters = [*statement.params.params, *statement.params.kwonly_params]
            if any(p.name.value == "training" for p in parameters):
                return True
    for node in walk(defined.body):
        if isinstance(node, cst.Call):
            symbol = tree.symbol(node.func) or ""
            last = symbol.rpartition(".")[2]
            makes = symbol.startswith("tf.keras.layers.") and last[:1].isupper()
            if (makes or symbol in CLASSES) and asks(tree, node):
                return None
    return False


# Tensors of a graph, code of the program, and averages that need update ops.
_NOT_BUILT = ("BatchNormalization", "Input", "Lambda", "Model")
_MODELS = ("tf.keras.Sequential", "tf.keras.models.Sequential")


def makes_keras_model(source: Source, call: cst.Call) -> bool:
    """The call of a function that returns a Sequential of Keras' own layers.

    It builds no graph: the program may go on calling it.
    """
    tree = source.tree
    defined = tree.resolver.definition(call.func)
    if not isinstance(defined, cst.FunctionDef) or defined.decorators:
        return False
    if not isinstance(tree.parent(defined), cst.Module):
        return False
    returned = [n.value for n in walk(defined.body) if isinstance(n, cst.Return)]
    if not returned:
        return False
    for value in returned:
        made = None if value is None else tree.value(value)
        if not isinstance(made, cst.Call) or tree.symbol(made.func) not in _MODELS:
            return False
    for node in walk(defined.body):
        if isinstance(node, (cst.Global, cst.Nonlocal, cst.Yield, cst.FunctionDef)):
            return False
        if not isinstance(node, cst.Call):
            continue
        symbol = tree.symbol(node.func)
        if symbol is None:
            adds = (
                isinstance(node.func, cst.Attribute) and node.func.attr.value == "add"
            )
            if not adds and not is_plain_call(source, node):
                return False
            continue
        last = symbol.rpartition(".")[2]
        if not symbol.startswith("tf.keras.") or last in _NOT_BUILT:
            return False
    return True
