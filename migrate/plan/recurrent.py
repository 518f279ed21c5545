"""``tf.nn.dynamic_rnn`` around one of TF1's cells, as a Keras RNN layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from .arguments import UnknownArguments, is_none, match_arguments
from .lifted_names import source_text
from .program import TF
from .tree import Statement, only_small

if TYPE_CHECKING:
    from .lifter import Lifter

__all__ = ["CELL", "is_cell", "is_rnn", "lift_rnn"]

# Stands for the name of a cell's class, between its kind and two underscores.
CELL = "__cell_{}__"
_LSTM = ("num_units", "forget_bias", "state_is_tuple", "activation", "reuse", "name")
_LONG = (
    "num_units",
    "use_peepholes",
    "cell_clip",
    "initializer",
    "num_proj",
    "proj_clip",
    "num_unit_shards",
    "num_proj_shards",
    "forget_bias",
    "state_is_tuple",
    "activation",
    "reuse",
    "name",
)
# Kind of the cell, its parameters; both LSTMs compute the same.
_CELLS = {
    "BasicLSTMCell": ("lstm", _LSTM),
    "LSTMCell": ("lstm", _LONG),
}
_HOMES = ("tf.nn.rnn_cell.", "tf.contrib.rnn.")
_RNN = "tf.nn.dynamic_rnn"
_PARAMETERS = (
    "cell",
    "inputs",
    "sequence_length",
    "initial_state",
    "dtype",
    "parallel_iterations",
    "swap_memory",
    "time_major",
    "scope",
)
_STATE = {"c": "0", "h": "1"}


def is_cell(lifter: Lifter, node: cst.BaseExpression) -> bool:
    """The expression makes a cell that has a counterpart here."""
    symbol = lifter.tree.symbol(node.func) if isinstance(node, cst.Call) else None
    home, dot, name = (symbol or "").rpartition(".")
    return home + dot in _HOMES and name in _CELLS


def is_rnn(lifter: Lifter, node: cst.BaseExpression) -> bool:
    """``tf.nn.dynamic_rnn(...)``."""
    return isinstance(node, cst.Call) and lifter.tree.symbol(node.func) == _RNN


def lift_rnn(lifter: Lifter, statement: Statement, call: cst.Call) -> Statement:
    """``outputs, state = tf.nn.dynamic_rnn(...)`` as the call of a layer."""
    stop = lifter.source.stop
    try:
        given = match_arguments(call, _PARAMETERS)
    except UnknownArguments as problem:
        raise stop(call, f"dynamic_rnn with {problem}") from None
    if not is_none(given.get("initial_state")):
        raise stop(call, "dynamic_rnn(`initial_state`=)")
    order = given.get("time_major")
    if not is_none(order) and lifter.tree.code(order) != "False":  # type: ignore[arg-type]
        raise stop(call, "dynamic_rnn(`time_major`=)")
    kind = given.get("dtype")
    if not is_none(kind) and lifter.tree.symbol(kind) != "tf.float32":
        raise stop(call, "dynamic_rnn(`dtype`=)")
    outputs, states = _targets(lifter, statement)
    _, made = _cell(lifter, given["cell"])
    used = bool(lifter.tree.loads(outputs))
    masked = not is_none(given.get("sequence_length"))
    options = ["return_state=True"]
    if used:
        options.insert(0, "return_sequences=True")
        if masked:
            options.append("zero_output_for_mask=True")
    constructor = f"{TF}.keras.layers.RNN({', '.join([made, *options])})"
    layer = lifter.make("rnn", constructor)
    inputs = source_text(lifter.moved(given["inputs"]))
    code = inputs
    if masked:
        length = source_text(lifter.moved(given["sequence_length"]))
        code += f", mask={TF}.sequence_mask({length}, {TF}.shape({inputs})[1])"
    target = ", ".join([outputs, *states])
    if len(states) == 1:
        target = f"{outputs}, *{states[0]}"
        lifter.tuples.add(states[0])
    new = cst.parse_statement(f"{target} = {layer}({code})\n")
    assert isinstance(new, cst.SimpleStatementLine)
    return new.with_changes(leading_lines=statement.leading_lines)


def state_part(lifter: Lifter, node: cst.Attribute) -> cst.BaseExpression | None:
    """``state.h`` of an LSTM, whose states are a list now."""
    if (
        isinstance(node.value, cst.Name)
        and node.value.value in lifter.tuples
        and node.attr.value in _STATE
    ):
        return cst.parse_expression(f"{node.value.value}[{_STATE[node.attr.value]}]")
    return None


def _targets(lifter: Lifter, statement: Statement) -> tuple[str, list[str]]:
    """The names of the outputs and of the state's parts."""
    small = only_small(statement)
    target = small.targets[0].target if isinstance(small, cst.Assign) else None
    if isinstance(target, cst.Tuple) and len(target.elements) == 2:
        first, second = (element.value for element in target.elements)
        parts = [second]
        if isinstance(second, cst.Tuple):
            parts = [element.value for element in second.elements]
        names = [part.value for part in parts if isinstance(part, cst.Name)]
        lstm = len(parts) in (1, 2) and len(names) == len(parts)
        again = [n for n in names if n not in lifter.once and lifter.tree.loads(n)]
        if isinstance(first, cst.Name) and lstm and not again:
            return first.value, names
    raise lifter.source.stop(statement, "what dynamic_rnn gives is not held in names")


def _cell(lifter: Lifter, node: cst.BaseExpression) -> tuple[str, str]:
    """The kind of cell and the source that makes it."""
    stop = lifter.source.stop
    call: cst.BaseExpression | None = node
    if isinstance(node, cst.Name):
        call = lifter.cells.get(node.value)
    if not isinstance(call, cst.Call) or not is_cell(lifter, call):
        raise stop(node, f"the cell `{lifter.tree.code(node)}` cannot be lifted yet")
    name = (lifter.tree.symbol(call.func) or "").rpartition(".")[2]
    which, parameters = _CELLS[name]
    try:
        given = match_arguments(call, parameters)
    except UnknownArguments as problem:
        raise stop(call, f"{name} with {problem}") from None
    if lifter.kernel is not None:
        raise stop(call, f"{name} in a scope with an initializer")
    text = lifter.text
    parts = [text(given["num_units"])]
    for parameter in parameters[1:]:
        value = given.get(parameter)
        if is_none(value) or parameter == "name":
            continue
        assert value is not None
        if parameter in ("forget_bias", "activation"):
            parts.append(f"{parameter}={text(value)}")
        elif not (parameter == "state_is_tuple" and text(value) == "True"):
            raise stop(call, f"{name}(`{parameter}`=)")
    lifter.shared.cells.add(which)
    return which, f"{CELL.format(which)}({', '.join(parts)})"


__all__ += ["state_part"]
