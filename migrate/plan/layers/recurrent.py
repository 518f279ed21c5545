"""``tf.nn.dynamic_rnn`` around TF1's cells, as Keras RNN layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.statements import loads
from ..code.tree import Statement, only_small, walk
from ..program import TF
from .lifted_names import source_text

if TYPE_CHECKING:
    from .lifter_state import LiftedState

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
_GRU = (
    "num_units",
    "activation",
    "reuse",
    "kernel_initializer",
    "bias_initializer",
    "name",
)
# Kind of the cell, its parameters; both LSTMs compute the same.
_CELLS = {
    "BasicLSTMCell": ("lstm", _LSTM),
    "GRUCell": ("gru", _GRU),
    "LSTMCell": ("lstm", _LONG),
}
_STACK = "MultiRNNCell"
_HOMES = ("tf.nn.rnn_cell.", "tf.contrib.rnn.")
_RNN = "tf.nn.dynamic_rnn"
_BOTH = "tf.nn.bidirectional_dynamic_rnn"
_INITIAL = ("initial_state", "initial_state_fw", "initial_state_bw")
_PARAMETERS = (
    "inputs",
    "sequence_length",
    *_INITIAL[:1],
    "dtype",
    "parallel_iterations",
    "swap_memory",
    "time_major",
    "scope",
)
_STATE = {"c": "0", "h": "1"}


def is_cell(lifter: LiftedState, node: cst.BaseExpression) -> bool:
    """The expression makes a cell, or cells, that have a counterpart here."""
    if isinstance(node, (cst.List, cst.Tuple)):
        inner = [element.value for element in node.elements]
        return bool(inner) and all(is_cell(lifter, one) for one in inner)
    if isinstance(node, cst.ListComp):
        return is_cell(lifter, node.elt)
    if isinstance(node, cst.Name):
        return node.value in lifter.cells
    symbol = lifter.tree.symbol(node.func) if isinstance(node, cst.Call) else None
    home, dot, name = (symbol or "").rpartition(".")
    return home + dot in _HOMES and (name in _CELLS or name == _STACK)


def is_rnn(lifter: LiftedState, node: cst.BaseExpression) -> bool:
    """``tf.nn.dynamic_rnn(...)``, or the one in both directions."""
    return isinstance(node, cst.Call) and lifter.tree.symbol(node.func) in (
        _RNN,
        _BOTH,
    )


def lift_rnn(
    lifter: LiftedState, statement: Statement, call: cst.Call
) -> list[Statement]:
    """``outputs, state = tf.nn.dynamic_rnn(...)`` as the call of a layer."""
    stop = lifter.source.stop
    both = lifter.tree.symbol(call.func) == _BOTH
    cells = ("cell_fw", "cell_bw") if both else ("cell",)
    parameters = (*cells, *_PARAMETERS)
    if both:
        at = parameters.index(_INITIAL[0])
        parameters = (*parameters[:at], *_INITIAL[1:], *parameters[at + 1 :])
    try:
        given = match_arguments(call, parameters)
    except UnknownArguments as problem:
        raise stop(call, f"dynamic_rnn with {problem}") from None
    for name in _INITIAL:
        if not is_none(given.get(name)):
            raise stop(call, f"dynamic_rnn(`{name}`=)")
    order = given.get("time_major")
    if not is_none(order) and lifter.tree.code(order) != "False":  # type: ignore[arg-type]
        raise stop(call, "dynamic_rnn(`time_major`=)")
    kind = given.get("dtype")
    if not is_none(kind) and lifter.tree.symbol(kind) != "tf.float32":
        raise stop(call, "dynamic_rnn(`dtype`=)")
    inputs = source_text(lifter.moved(given["inputs"]))
    code = inputs
    length = given.get("sequence_length")
    if not is_none(length):
        assert length is not None
        masked = source_text(lifter.moved(length))
        code += f", mask={TF}.sequence_mask({masked}, {TF}.shape({inputs})[1])"
    made = [_cell(lifter, given[name]) for name in cells]
    options = ["return_state=True"]
    if both:
        lines = _in_both(lifter, statement, made, code, options, bool(length))
    else:
        lines = [_one_way(lifter, statement, *made[0], code, options, bool(length))]
    new = [cst.parse_statement(f"{line}\n") for line in lines]
    assert all(isinstance(one, cst.SimpleStatementLine) for one in new)
    new[0] = new[0].with_changes(leading_lines=statement.leading_lines)
    return new


def _one_way(
    lifter: LiftedState,
    statement: Statement,
    kind: str,
    made: str,
    code: str,
    options: list[str],
    masked: bool,
) -> str:
    """The call of one layer, with its outputs and its state."""
    outputs, states = _targets(lifter, statement, kind)
    layer = _layer(lifter, made, options, masked, used=_is_read(lifter, outputs))
    target = ", ".join([outputs, *states])
    if len(states) == 1 and kind != "gru":
        target = f"{outputs}, *{states[0]}"
        (lifter.tuples if kind == "lstm" else lifter.stacks).add(states[0])
    return f"{target} = {layer}({code})"


def _in_both(
    lifter: LiftedState,
    statement: Statement,
    made: list[tuple[str, str]],
    code: str,
    options: list[str],
    masked: bool,
) -> list[str]:
    """The calls of two layers, the second of which begins at the end."""
    stop = lifter.source.stop
    small = only_small(statement)
    target = small.targets[0].target if isinstance(small, cst.Assign) else None
    if not isinstance(target, cst.Tuple) or len(target.elements) != 2:
        raise stop(statement, "what bidirectional_dynamic_rnn gives is not in names")
    if made[0][0] != made[1][0]:
        raise stop(statement, "bidirectional_dynamic_rnn with cells of two kinds")
    kind = made[0][0]
    pairs, whole = [], []
    for element in target.elements:
        node = element.value
        parts = [node]
        if isinstance(node, cst.Tuple) and len(node.elements) == 2:
            parts = [e.value for e in node.elements]
        names = [part.value for part in parts if isinstance(part, cst.Name)]
        if len(names) != len(parts):
            raise stop(
                statement, "what bidirectional_dynamic_rnn gives is not in names"
            )
        again = [n for n in names if n not in lifter.once and lifter.tree.loads(n)]
        if again:
            raise stop(statement, f"`{again[0]}` is assigned anew")
        if len(names) == 1:
            whole.append(names[0])
            names = [_free(lifter, f"{side}_{names[0]}") for side in ("fw", "bw")]
        else:
            whole.append("")
        pairs.append(names)
    outputs, states = pairs
    used = any(_is_read(lifter, name) for name in (*outputs, whole[0]) if name)
    lines = []
    for side, output, state, (_, cell) in zip(
        ("forward", "backward"), outputs, states, made, strict=True
    ):
        given = options if side == "forward" else [*options, "go_backwards=True"]
        layer = _layer(lifter, cell, given, masked, used=used, wanted=f"{side}_rnn")
        star = "" if kind == "gru" else "*"
        lines.append(f"{output}, {star}{state} = {layer}({code})")
        if kind != "gru":
            (lifter.tuples if kind == "lstm" else lifter.stacks).add(state)
    if used:
        lines.append(f"{outputs[1]} = {TF}.reverse({outputs[1]}, [1])")
    if whole[0] and used:
        lines.append(f"{whole[0]} = ({outputs[0]}, {outputs[1]})")
    if whole[1] and _is_read(lifter, whole[1]):
        lines.append(f"{whole[1]} = ({states[0]}, {states[1]})")
        if kind == "lstm":
            lifter.stacks.add(whole[1])
    return lines


def _is_read(lifter: LiftedState, name: str) -> bool:
    return bool(lifter.tree.loads(name))


def _free(lifter: LiftedState, name: str) -> str:
    while name in lifter.locals:
        name += "_"
    return name


def _layer(
    lifter: LiftedState,
    cell: str,
    options: list[str],
    masked: bool,
    *,
    used: bool,
    wanted: str = "rnn",
) -> str:
    """The layer around a cell, made with the model."""
    options = list(options)
    if used:
        options.insert(0, "return_sequences=True")
        if masked:
            options.append("zero_output_for_mask=True")
    constructor = f"{TF}.keras.layers.RNN({', '.join([cell, *options])})"
    return lifter.make(wanted, constructor)


def state_part(lifter: LiftedState, node: cst.Attribute) -> cst.BaseExpression | None:
    """``state.h`` of an LSTM, whose states are a list now."""
    if node.attr.value not in _STATE:
        return None
    owner = node.value
    held = isinstance(owner, cst.Name) and owner.value in lifter.tuples
    if isinstance(owner, cst.Subscript) and isinstance(owner.value, cst.Name):
        held = owner.value.value in lifter.stacks
    if not held:
        return None
    code = f"{lifter.tree.code(owner)}[{_STATE[node.attr.value]}]"
    return cst.parse_expression(code)


def _targets(
    lifter: LiftedState, statement: Statement, kind: str
) -> tuple[str, list[str]]:
    """The names of the outputs and of the state's parts."""
    small = only_small(statement)
    target = small.targets[0].target if isinstance(small, cst.Assign) else None
    if isinstance(target, cst.Tuple) and len(target.elements) == 2:
        first, second = (element.value for element in target.elements)
        parts = [second]
        if isinstance(second, cst.Tuple):
            parts = [element.value for element in second.elements]
        names = [part.value for part in parts if isinstance(part, cst.Name)]
        known = len(parts) in ((1, 2) if kind == "lstm" else (1,))
        known = known and len(names) == len(parts)
        again = [n for n in names if n not in lifter.once and lifter.tree.loads(n)]
        if isinstance(first, cst.Name) and known and not again:
            return first.value, names
    raise lifter.source.stop(statement, "what dynamic_rnn gives is not held in names")


def _cell(lifter: LiftedState, node: cst.BaseExpression) -> tuple[str, str]:
    """The kind of cell and the source that makes it; a stack is a list of cells."""
    stop = lifter.source.stop
    call: cst.BaseExpression | None = node
    if isinstance(node, cst.Name):
        call = lifter.cells.get(node.value)
    if not isinstance(call, cst.Call) or not is_cell(lifter, call):
        raise stop(node, f"the cell `{lifter.tree.code(node)}` cannot be lifted yet")
    name = (lifter.tree.symbol(call.func) or "").rpartition(".")[2]
    if lifter.kernel is not None:
        raise stop(call, f"{name} in a scope with an initializer")
    if name == _STACK:
        return "stack", _stacked(lifter, call)
    which, parameters = _CELLS[name]
    try:
        given = match_arguments(call, parameters)
    except UnknownArguments as problem:
        raise stop(call, f"{name} with {problem}") from None
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


def _stacked(lifter: LiftedState, call: cst.Call) -> str:
    """The cells of a ``MultiRNNCell``, of which Keras makes the stack itself."""
    stop = lifter.source.stop
    try:
        given = match_arguments(call, ("cells", "state_is_tuple"))
    except UnknownArguments as problem:
        raise stop(call, f"MultiRNNCell with {problem}") from None
    tupled = given.get("state_is_tuple")
    if tupled is not None and lifter.tree.code(tupled) != "True":
        raise stop(call, "MultiRNNCell(`state_is_tuple`=)")
    cells: cst.BaseExpression | None = given["cells"]
    if isinstance(cells, cst.Name):
        cells = lifter.cells.get(cells.value)
    if isinstance(cells, (cst.List, cst.Tuple)):
        made = [_cell(lifter, element.value)[1] for element in cells.elements]
        return f"[{', '.join(made)}]"
    if isinstance(cells, cst.ListComp) and cells.for_in.inner_for_in is None:
        loop = cells.for_in
        if not loop.ifs and lifter.is_config(loop.iter):
            names = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)}
            names &= loads(lifter.tree, cells.elt)
            if names & lifter.locals:
                raise stop(call, f"`{sorted(names)[0]}` has two meanings")
            target = lifter.tree.code(loop.target)
            made_one = _cell(lifter, cells.elt)[1]
            return f"[{made_one} for {target} in {lifter.text(loop.iter)}]"
    raise stop(call, "the cells of a MultiRNNCell are not seen")


__all__ += ["state_part"]
