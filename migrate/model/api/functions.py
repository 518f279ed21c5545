"""Functions that make their variables themselves: a layer calls them as they are."""

from __future__ import annotations

from ..values import (
    Cell,
    Const,
    Function,
    Partial,
    Tensor,
    Value,
)
from . import Call, handles


def by_function(call: Call) -> Value:
    """Notes that the call makes variables, whatever its arguments mean."""
    call.evaluator.notes.make(call, "function")
    return Tensor()


@handles("tf.estimator.FunctionLayer")
def function_layer(call: Call) -> Value:
    """The layer that such a call becomes: the function is called behind the inputs."""
    function, *rest = call.arguments
    return Partial(function.value, tuple(rest), behind=True)


_CELL_NAMES = """
AttentionCellWrapper BasicLSTMCell BasicRNNCell BidirectionalGridLSTMCell
CompiledWrapper Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell
CoupledInputForgetGateLSTMCell DeviceWrapper DropoutWrapper EmbeddingWrapper GLSTMCell
GRUBlockCell GRUBlockCellV2 GRUCell GridLSTMCell HighwayWrapper IndRNNCell IndyGRUCell
IndyLSTMCell InputProjectionWrapper IntersectionRNNCell LSTMBlockCell LSTMCell
LayerNormBasicLSTMCell MultiRNNCell NASCell OutputProjectionWrapper PhasedLSTMCell
ResidualWrapper SRUCell TimeFreqLSTMCell UGRNNCell
"""
# They go through a sequence at once, and are called like cells.
_FUSED_NAMES = "FusedRNNCellAdaptor LSTMBlockFusedCell TimeReversedFusedRNN"
_DECODING_NAMES = """
AttentionWrapper BasicDecoder BeamSearchDecoder CustomHelper GreedyEmbeddingHelper
InferenceHelper SampleEmbeddingHelper ScheduledEmbeddingTrainingHelper
ScheduledOutputTrainingHelper TrainingHelper
"""
_ATTENTION_NAMES = """
BahdanauAttention BahdanauMonotonicAttention LuongAttention LuongMonotonicAttention
"""


@handles(
    *(
        f"{place}.{name}"
        for place in ("tf.nn.rnn_cell", "tf.contrib.rnn")
        for name in _CELL_NAMES.split()
    ),
    *(f"tf.contrib.rnn.{name}" for name in _FUSED_NAMES.split()),
    *(f"tf.contrib.seq2seq.{name}" for name in _DECODING_NAMES.split()),
)
def cell(call: Call) -> Value:
    """A cell, a wrapper of one, a decoder: what calls it makes its variables."""
    return Cell(call.symbol)


@handles(*(f"tf.contrib.seq2seq.{name}" for name in _ATTENTION_NAMES.split()))
def attention(call: Call) -> Value:
    """It makes variables for the memory that it is given."""
    by_function(call)
    return Cell(call.symbol)


@handles(
    "tf.nn.bidirectional_dynamic_rnn",
    "tf.nn.dynamic_rnn",
    "tf.nn.static_bidirectional_rnn",
    "tf.nn.static_rnn",
    "tf.contrib.rnn.stack_bidirectional_dynamic_rnn",
    "tf.contrib.rnn.stack_bidirectional_rnn",
    "tf.contrib.rnn.static_bidirectional_rnn",
    "tf.contrib.rnn.static_rnn",
    "tf.contrib.seq2seq.dynamic_decode",
    "tf.contrib.crf.crf_log_likelihood",
    "tf.contrib.feature_column.sequence_input_layer",
)
def sequence(call: Call) -> Value:
    """A function over the steps of a sequence."""
    if call.symbol.endswith("crf_log_likelihood") and (
        call.given("transition_params", 3) or Const(None)
    ) != Const(None):
        return Tensor()  # it has its weights
    return by_function(call)


@handles(
    "tf.contrib.crf.",
    "tf.contrib.rnn.LSTMStateTuple",
    "tf.contrib.rnn.transpose_batch_time",
    "tf.contrib.seq2seq.sequence_loss",
    "tf.contrib.seq2seq.tile_batch",
    "tf.custom_gradient().",
    "tf.nn.rnn_cell.LSTMStateTuple",
)
def of_tensors(call: Call) -> Value:
    """Functions of tensors."""
    return Tensor()


@handles("tf.make_template")
def template(call: Call) -> Value:
    """A function whose variables are shared by all of its calls: it keeps its place."""
    named = tuple(
        one
        for one in call.arguments[2:]
        if one.keyword is not None and not one.keyword.endswith("_")
    )
    function = call.given("func_", 1)
    if not isinstance(function, Function) or len(call.arguments) - len(named) > 2:
        return call.unknown("a template of what is not a function of the project")
    call.evaluator.notes.staying.add(function.node)
    return Partial(function, named) if named else function
