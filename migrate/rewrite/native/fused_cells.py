"""Fused LSTM cells of tf.contrib.rnn, in the words of `tf.nn.dynamic_rnn`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ...code.edits import changed
from ...code.names import fresh
from ...code.statements import assigned
from ...code.tree import Tree, only_small
from ...project.facts import ParsedModule, ProjectFacts
from .task import alias_of

_CELL = "tf.contrib.rnn.LSTMBlockFusedCell"
_REVERSED = "tf.contrib.rnn.TimeReversedFusedRNN"


def with_fused_cells_run(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``dynamic_rnn(cell, x, time_major=True)`` for ``cell(x)``.

    Both have the same weights and do the same, as TensorFlow 1.15.5 has shown.
    """
    if "LSTMBlockFusedCell" not in parsed.source.text:
        return parsed
    tree, tf = Tree(parsed.module, parsed.resolver), alias_of(parsed)
    taken = {one.value for one in parsed.each(cst.Name)}
    edits: dict[cst.CSTNode, Any] = {}
    for call in parsed.each(cst.Call):
        made = _cells(tree, call.func)
        statement = tree.statement(call)
        names = assigned(statement)
        small = only_small(statement)
        if not made or getattr(small, "value", None) is not call or len(names) != 2:
            continue
        given = {one.keyword.value: one for one in call.args if one.keyword is not None}
        plain = [one for one in call.args if one.keyword is None]
        if len(plain) != 1 or given.keys() - {"dtype", "sequence_length", "scope"}:
            continue
        backwards = len(made) > 1
        length = given.get("sequence_length")
        end = ", seq_axis=0, batch_axis=1)"
        shown, turned = tree.code(plain[0].value), f"{tf}.reverse({{}}, [0])"
        if length is not None:
            told = tree.code(length.value)
            turned = f"{tf}.reverse_sequence({{}}, {told}{end}"
        data = fresh("backwards", taken) if backwards else shown
        more = "".join(f", {key}={tree.code(one.value)}" for key, one in given.items())
        run = f"{tf}.nn.dynamic_rnn({tree.code(call.func)}, {data}{more}"
        lines = [f"{', '.join(names)} = {run}, time_major=True)"]
        if backwards:
            lines.insert(0, f"{data} = {turned.format(shown)}")
            lines.append(f"{names[0]} = {turned.format(names[0])}")
        edits[statement] = [cst.parse_statement(one + "\n") for one in lines]
        cell = cst.parse_expression(f"{tf}.nn.rnn_cell.LSTMCell")
        edits[made[0].func] = cell
        for one in made[1:]:
            if one.args[0].value is made[0]:
                edits[one] = made[0].with_changes(func=cell)
                continue
            same = tree.code(one.args[0].value) in assigned(tree.statement(one))
            edits[tree.statement(one) if same else one] = (
                None if same else one.args[0].value
            )
    return changed(parsed, facts, edits) if edits else parsed


def _cells(tree: Tree, func: cst.BaseExpression) -> list[cst.Call]:
    """The call that makes a fused cell, and the one that lets it run backwards."""
    bound = tree.resolver.bindings(func) if isinstance(func, cst.Name) else ()
    made = [one.value for one in bound if isinstance(one.value, cst.Call)]
    by_kind = {tree.symbol(one.func): one for one in made}
    if len(made) != len(bound) or len(by_kind) != len(made):
        return []
    if {*by_kind} == {_CELL} or {*by_kind} == {_CELL, _REVERSED}:
        cell = by_kind[_CELL]
        plain = len(cell.args) == 1 and not cell.args[0].star
        return [by_kind[one] for one in (_CELL, _REVERSED) if one in by_kind] * plain
    if {*by_kind} == {_REVERSED}:
        held = made[0].args[0].value
        if isinstance(held, cst.Call) and tree.symbol(held.func) == _CELL:
            return [held, made[0]]
        inner = _cells(tree, held)
        return [*inner, made[0]] if len(inner) == 1 else []
    return []
