"""Recurrent networks of TensorFlow 1 as `tf_keras.layers.RNN`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from ...names.ast_nodes import walk as walk_ast
from .code import Refused, call, dotted, is_absent, literal, parsed
from .dropout_cells import SIGNATURE
from .layers import Reader, initializer, rate_of
from .text import attribute_of_self, loads_in, stores_in

if TYPE_CHECKING:
    from .classes import Lifted

_DYNAMIC = (
    "dtype", "parallel_iterations", "swap_memory", "time_major", "scope", "training",
)  # fmt: skip
_STATIC = (
    "cell", "inputs", "initial_state", "dtype", "sequence_length", "scope", "training",
)  # fmt: skip
# Functions that run cells over sequences, with their parameters; wrappers of cells that
# drop some of what they are given are told whether it trains.
RECURRENT = {
    "tf.nn.dynamic_rnn": (
        "cell", "inputs", "sequence_length", "initial_state", *_DYNAMIC,
    ),
    "tf.nn.bidirectional_dynamic_rnn": (
        "cell_fw", "cell_bw", "inputs", "sequence_length", "initial_state_fw",
        "initial_state_bw", *_DYNAMIC,
    ),
    "tf.contrib.rnn.stack_bidirectional_dynamic_rnn": (
        "cells_fw", "cells_bw", "inputs", "initial_states_fw", "initial_states_bw",
        "dtype", "sequence_length", "parallel_iterations", "time_major", "scope",
        "swap_memory", "training",
    ),
    "tf.nn.static_rnn": _STATIC,
    "tf.contrib.rnn.static_rnn": _STATIC,
}  # fmt: skip
_PLACES = ("tf.nn.rnn_cell.", "tf.contrib.rnn.")
_LAST = ("reuse", "name", "dtype")
_SIGNATURES = {
    "BasicLSTMCell": (
        "num_units", "forget_bias", "state_is_tuple", "activation", *_LAST,
        "initializer",  # of a scope around
    ),
    "LSTMBlockCell": (
        "num_units", "forget_bias", "cell_clip", "use_peephole", "dtype", "reuse",
        "name", "initializer",
    ),
    "LSTMCell": (
        "num_units", "use_peepholes", "cell_clip", "initializer", "num_proj",
        "proj_clip", "num_unit_shards", "num_proj_shards", "forget_bias",
        "state_is_tuple", "activation", *_LAST,
    ),
    "GRUCell": (
        "num_units", "activation", "reuse", "kernel_initializer", "bias_initializer",
        "name", "dtype",
    ),
    "BasicRNNCell": ("num_units", "activation", *_LAST, "initializer"),
    "MultiRNNCell": ("cells", "state_is_tuple"),
    "DropoutWrapper": SIGNATURE,
}  # fmt: skip
_NAMES = {
    "BasicLSTMCell": "LSTMCell",
    "LSTMBlockCell": "LSTMCell",
    "LSTMCell": "LSTMCell",
    "GRUCell": "GRUCell",
    "BasicRNNCell": "RNNCell",
}
# Classes of training.py.
CELLS = frozenset((*_NAMES.values(), "DropoutCell"))
# Parameters of wrappers that take what they wrap.
_HELD = ("cell", "cells")
_IGNORED = ("name", "reuse", "num_unit_shards", "num_proj_shards")


def cell_name(symbol: str | None) -> str | None:
    """`LSTMCell` of a class of cells of TensorFlow 1."""
    for place in _PLACES:
        if symbol is not None and symbol.startswith(place):
            name = symbol.removeprefix(place)
            if name not in _SIGNATURES:
                raise Refused(f"the cell `{name}`")
            return name
    return None


def cell(
    name: str,
    node: ast.Call,
    reader: Reader,
    of: Callable[[ast.AST], str],
    *,
    always: bool,
) -> str:
    """Source of a cell of training.py, or a list of cells, for one of TensorFlow 1.

    `of` gives the source of an argument; `always` says that wrappers drop whether the
    program trains or not.
    """
    names = _SIGNATURES[name]
    if len(node.args) > len(names) or any(k.arg not in names for k in node.keywords):
        raise Refused(f"`{name}` with other arguments")
    given = {key: of(one) for key, one in zip(names, node.args, strict=False)}
    given |= {str(one.arg): of(one.value) for one in node.keywords}
    # What reads a state that is no tuple, does not know what kind it is of.
    given.pop("state_is_tuple", None)
    if name == "MultiRNNCell":
        return given["cells"]
    if name == "DropoutWrapper":
        return _dropout(given, always)
    units = given.pop("num_units")
    for peeps in ("use_peepholes", "use_peephole"):
        if literal(given.pop(peeps, "False")) is not False:
            raise Refused(f"`{name}` with `{peeps}`")
    start = given.pop("initializer", given.pop("kernel_initializer", None))
    bias = literal(given.pop("forget_bias", "1.0"))
    activation = given.pop("activation", None)
    for parameter, value in given.items():
        if parameter not in _IGNORED and not is_absent(value):
            raise Refused(f"`{name}` with `{parameter}`")
    kernel = None if is_absent(start) else initializer(start or "", reader)
    return call(
        _NAMES[name],
        units,
        forget_bias=None if bias == 1 else repr(bias),
        activation=None if is_absent(activation) else activation,
        kernel_initializer=None if kernel == reader.text("glorot_uniform") else kernel,
    )


def _dropout(given: dict[str, str], always: bool) -> str:
    for name in (*SIGNATURE[3:5], "dropout_state_filter_visitor"):
        code = given.get(name)
        if not is_absent(code) and literal(code) not in (1, False):
            raise Refused(f"`DropoutWrapper` with `{name}`")
    rates = {
        name.partition("_")[0]: rate_of(given[name])
        for name in SIGNATURE[1:3]
        if name in given
    }
    return call(
        "DropoutCell",
        given["cell"],
        inputs=rates.get("input"),
        outputs=rates.get("output"),
        always="True" if always else None,
    )


class _Kind(NamedTuple):
    """The kind of a cell's state: that of an LSTM, or a tensor; or those of several."""

    lstm: bool
    several: bool


def _common(
    codes: Iterable[str], lifted: Lifted, seen: tuple[str, ...]
) -> _Kind | None:
    """What several cells are; what one is made of itself does not tell."""
    kinds = {_kind(one, lifted, seen) for one in codes}
    if seen and len(kinds) > 1:
        kinds.discard(None)
    return kinds.pop() if len(kinds) == 1 else None


def _kind(code: str, lifted: Lifted, seen: tuple[str, ...] = ()) -> _Kind | None:
    """What a cell is; None where it is not seen."""
    node = parsed(code)
    if isinstance(node, ast.Name):
        if node.id in seen:
            return None
        values = lifted.module.values(node.id)
        return _common(values, lifted, (*seen, node.id))
    if isinstance(node, (ast.List, ast.ListComp)):
        parts = node.elts if isinstance(node, ast.List) else [node.elt]
        kinds = [_kind(ast.unparse(one), lifted, seen) for one in parts]
        found = [one.lstm for one in kinds if one is not None]
        return _Kind(all(found), several=True) if len(found) == len(kinds) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _kind(ast.unparse(node.left), lifted, seen)
    if not isinstance(node, ast.Call):
        return None
    helper = lifted.module.function(dotted(node.func))
    if helper is not None:
        last = helper.body[-1]
        if not isinstance(last, ast.Return) or last.value is None:
            return None
        return _kind(lifted.module.text.of(last.value), lifted, seen)
    name = cell_name(lifted.symbol(ast.unparse(node.func)))
    joined = [k.value for k in node.keywords if k.arg == "state_is_tuple"]
    if any(literal(ast.unparse(one)) is not True for one in joined):
        return None
    if name in ("MultiRNNCell", "DropoutWrapper"):
        parts = [*node.args[:1], *(k.value for k in node.keywords if k.arg in _HELD)]
        return _kind(ast.unparse(parts[0]), lifted, seen) if parts else None
    return None if name is None else _Kind("LSTM" in name, several=False)


def recurrent(lifted: Lifted, symbol: str, node: ast.Call, use: ast.Call) -> None:
    """Puts layers of Keras in the place of a function that runs cells.

    `node` makes the layer in the constructor, `use` calls it.
    """
    function = lifted.of(node.args[0])
    names = RECURRENT[symbol]
    bound = lifted.given(node, use, names, function).items()
    given = {key: lifted.of(one) for key, one in bound}
    begun = given.pop("initial_state", None) if "static" not in symbol else None
    for name in given:
        if name.startswith("initial_state") and not is_absent(given[name]):
            raise Refused(f"`{function}` with `{name}`")
    steps_first = literal(given.get("time_major", "False")) is True
    if steps_first and symbol != "tf.nn.dynamic_rnn":
        raise Refused(f"`{function}` with `time_major`")
    kind = lifted.symbol(given.get("dtype", "tf.float32"))
    if kind is not None and not kind.endswith(".float32"):
        raise Refused(f"`{function}` with `dtype`")
    statement = lifted.above[use]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise Refused(f"`{function}` is called within an expression")
    target = statement.targets[0]
    stacked = "stack_" in symbol
    if not isinstance(target, ast.Tuple) or (len(target.elts) != 2 and not stacked):
        raise Refused(f"`{function}` gives a pair that is not taken apart")
    outputs, state, *_ = target.elts
    inputs = given["inputs"]
    network = _Network(lifted, node, use, function)
    told = f", training={given['training']}" if "training" in given else ""
    if symbol.endswith("static_rnn"):
        network.steps(given["cell"], inputs, given.get("sequence_length"), target, told)
        return
    length = given.get("sequence_length")
    network.masked, network.steps_first = not is_absent(length), steps_first
    network.arguments = inputs
    if network.masked:
        if any(isinstance(one, ast.Call) for one in walk_ast(parsed(inputs))):
            raise Refused(f"`{function}` of an input that has no name")
        steps = f"{lifted.tf}.shape({inputs})[{0 if steps_first else 1}]"
        network.mask = f"{lifted.tf}.sequence_mask({length}, {steps})"
        if steps_first:
            network.mask = f"{lifted.tf}.transpose({network.mask})"
        network.arguments += f", mask={network.mask}"
    elif network.may_be_masked(inputs):
        network.arguments += ", mask=None"
    if begun is not None and not is_absent(begun):
        network.arguments += f", initial_state={network.state(given['cell'], begun)}"
    network.arguments += told
    if stacked:
        network.stacked(given["cells_fw"], given["cells_bw"], inputs, target)
    elif symbol.endswith("bidirectional_dynamic_rnn"):
        network.both(given["cell_fw"], given["cell_bw"], outputs, state)
    else:
        network.one(given["cell"], outputs, state)


class _Network:
    """One call of a recurrent network."""

    def __init__(
        self, lifted: Lifted, node: ast.Call, use: ast.Call, function: str
    ) -> None:
        self.lifted = lifted
        self.node = node
        self.use = use
        self.function = function
        self.arguments = self.mask = ""
        self.masked = self.steps_first = False
        attribute = attribute_of_self(use.func)
        if attribute is None:
            raise Refused(f"`{function}` in a loop")
        self.attribute = attribute

    def may_be_masked(self, inputs: str) -> bool:
        """A layer gave the inputs, and may have marked steps that others skip."""
        lifted = self.lifted
        calls = walk_ast(lifted.module.tree, ast.Call)
        lengths = "sequence_length" in lifted.module.code or any(
            len(one.args) > 2 + ("bidirectional" in dotted(one.func))
            for one in calls
            if "dynamic_rnn" in dotted(one.func)
        )
        if not lengths or not inputs.isidentifier():
            return False
        made = [lifted.above[one] for one in stores_in(lifted.call) if one.id == inputs]
        values = [one.value for one in made if isinstance(one, ast.Assign)]
        plain = [
            isinstance(one, ast.Call) and lifted.symbol(dotted(one.func)) is not None
            for one in values
        ]
        return not made or len(values) < len(made) or not all(plain)

    def state(self, made: str, code: str) -> str:
        """The state that a cell begins with: (c, h) of an LSTM; or those of several."""
        kind = _kind(self.lifted.value(made), self.lifted)
        pair = parsed(self.lifted.value(code))
        func = dotted(pair.func) if isinstance(pair, ast.Call) else ""
        if kind is not None and kind.several:
            stored = [one for one in stores_in(self.lifted.call) if one.id == code]
            if any(isinstance(self.lifted.above[one], ast.Starred) for one in stored):
                return code  # of another network
            if not kind.lstm and (func == "tuple" or isinstance(pair, ast.Tuple)):
                held = re.fullmatch(r"tuple\((\w+)\)|\((.*)\)", code)
                if held is not None:
                    return held[1] or f"[{held[2]}]"
                return f"[*{code}]"
        elif kind is not None and (not kind.lstm or isinstance(pair, ast.List)):
            return code
        told = (self.lifted.symbol(func) or "").endswith(".LSTMStateTuple")
        if kind is None or kind.several or not told:
            raise Refused(f"`{self.function}` with `initial_state`")
        assert isinstance(pair, ast.Call)
        if isinstance(parsed(code), ast.Name):
            self.lifted.moved_names.add(code)
        parts = {str(one.arg): one.value for one in pair.keywords}
        parts |= dict(zip(("c", "h"), pair.args, strict=False))
        return f"[{ast.unparse(parts['c'])}, {ast.unparse(parts['h'])}]"

    def one(self, made: str, outputs: ast.expr, state: ast.expr) -> None:
        """A network in one direction."""
        lifted = self.lifted
        reads, kept = self._reads(state), bool(self._reads(outputs))
        kind = _kind(lifted.value(made), lifted)
        targets = [lifted.of(outputs) if kept else "_"]
        if reads:
            targets += self._states(lifted.of(state), reads, kind)
        if reads and not kept and self._last_output(reads, kind):
            targets = targets[-1:]
        self._put(
            self._layer(self._moved(made), kept, len(targets) > 1), ", ".join(targets)
        )

    def _put(self, code: str, target: str, as_list: bool = False) -> None:
        """Makes the layer, under a shorter name, and calls it."""
        source, name = self.lifted.source, self.lifted.fresh("rnn")
        source.put(self.lifted.statement(self.node), f"self.{name} = {code}")
        call = f"self.{name}({self.arguments})"
        if as_list:
            call = f"{self.lifted.tf}.unstack({call}, axis=1)"
        source.put(self.lifted.above[self.use], f"{target} = {call}")

    def steps(
        self, made: str, inputs: str, length: str | None, target: ast.Tuple, told: str
    ) -> None:
        """A network over a list of steps, which gives such a list."""
        outputs, state = target.elts
        if not is_absent(length) or self._reads(state):
            raise Refused(f"`{self.function}` with lengths, or whose state is read")
        lifted, tf = self.lifted, self.lifted.tf
        self.arguments = f"{tf}.stack({inputs}, 1)"
        value = parsed(lifted.value(inputs))
        if (
            isinstance(value, ast.Call)
            and lifted.symbol(ast.unparse(value.func)) == "tf.unstack"
            and isinstance(value.args[0], ast.Name)
            and [ast.unparse(one) for one in value.args[2:]] == ["1"]
        ):
            self.arguments = value.args[0].id
            lifted.moved_names.add(inputs)
        self.arguments += told
        last = [
            above
            for one in self._reads(outputs)
            if isinstance(above := lifted.above[one], ast.Subscript)
            and ast.unparse(above.slice) == "-1"
        ]
        every = not last or len(last) != len(self._reads(outputs))
        self._put(
            self._layer(self._moved(made), every, False), lifted.of(outputs), every
        )
        for one in [] if every else last:
            lifted.source.put(one, lifted.of(outputs))

    def _last_output(self, reads: list[ast.Name], kind: _Kind | None) -> bool:
        """All that is read of the state is the last output, which nothing drops."""
        texts = (self.lifted.module.code, *self.lifted.module.others)
        if kind is None or kind.several or any("Dropout" in one for one in texts):
            return False
        return not kind.lstm or all(self._part(one) == 1 for one in reads)

    def _moved(self, cell: str) -> str:
        return self.lifted.cell_for_init(cell, f"a cell of `{self.function}`")

    def _layer(self, made: str, every: bool, state: bool, back: bool = False) -> str:
        return call(
            "tf_keras.layers.RNN",
            made,
            return_sequences="True" if every else None,
            return_state="True" if state else None,
            go_backwards="True" if back else None,
            time_major="True" if self.steps_first else None,
            zero_output_for_mask="True" if every and self.masked else None,
        )

    def _reads(self, target: ast.expr) -> list[ast.Name]:
        if isinstance(target, ast.Tuple):
            return [one for part in target.elts for one in self._reads(part)]
        if not isinstance(target, ast.Name):
            raise Refused(f"`{self.function}` gives parts that are taken apart")
        return [one for one in loads_in(self.lifted.call) if one.id == target.id]

    def _part(self, read: ast.Name) -> int | None:
        """0 for the memory of an LSTM's state, 1 for its output."""
        above = self.lifted.above[read]
        if isinstance(above, ast.Attribute):
            return {"c": 0, "h": 1}.get(above.attr)
        if isinstance(above, ast.Subscript):
            place = literal(ast.unparse(above.slice))
            return place % 2 if place in (0, 1, -1, -2) else None
        return None

    def _begins(self, read: ast.Name) -> bool:
        """Another network begins with the state, which has no other value."""
        above = self.lifted.above[read]
        stored = [one.id for one in stores_in(self.lifted.call)]
        starts = isinstance(above, ast.keyword) and above.arg == "initial_state"
        return starts and stored.count(read.id) == 1

    def _states(
        self, name: str, reads: list[ast.Name], kind: _Kind | None
    ) -> list[str]:
        """Names for the states; what reads them says so too."""
        lifted = self.lifted
        if kind is None:
            raise Refused(
                f"the state of `{self.function}` is of a cell that is not seen"
            )
        if kind.several:
            for one in reads:
                above = lifted.above[one]
                if self._begins(one):
                    continue
                if not isinstance(above, ast.Subscript):
                    raise Refused(f"the state of `{self.function}` is handed on")
                part = lifted.above[above]
                if isinstance(part, ast.Attribute) and part.attr in ("c", "h"):
                    index = 0 if part.attr == "c" else 1
                    lifted.source.put(part, f"{lifted.of(above)}[{index}]")
            return [f"*{name}"]
        if not kind.lstm:
            return [name]
        names = [f"{name}_c", f"{name}_h"]
        only = all(self._part(one) == 1 for one in reads)
        for one in reads:
            above, place = lifted.above[one], self._part(one)
            target = above.targets[0] if isinstance(above, ast.Assign) else None
            if isinstance(target, ast.Tuple):
                lifted.source.put(one, ", ".join(names))
            elif self._begins(one):
                lifted.source.put(one, f"[{', '.join(names)}]")
            elif place is None:
                raise Refused(f"the state of `{self.function}` is handed on")
            else:
                lifted.source.put(above, name if only else names[place])
        return ["_", name] if only else names

    def _mask_named(self) -> list[str]:
        """A line that names the mask, which the arguments go on to name."""
        if not self.mask:
            return []
        names = ("mask", "step_mask", "mask_of_steps", "mask_")
        name = next(name for name in names if name not in self.lifted.locals)
        self.arguments = self.arguments.replace(self.mask, name)
        return [f"{name} = {self.mask}"]

    def stacked(
        self, forward: str, backward: str, inputs: str, target: ast.Tuple
    ) -> None:
        """Networks in both directions on top of each other, as two lists of layers."""
        lifted, (outputs, *states) = self.lifted, target.elts
        plain = [one.value if isinstance(one, ast.Starred) else one for one in states]
        if any(self._reads(one) for one in plain):
            raise Refused(f"the states of `{self.function}` are read")
        lines, net = self._mask_named(), lifted.of(outputs)
        lines += [f"{net} = {inputs}"] if net != inputs else []
        rest = self.arguments.removeprefix(inputs)
        names, above = [], lifted.statement(self.node)
        for cells, name in ((forward, "forward"), (backward, "backward")):
            code = self._moved(cells)
            made, back = parsed(code), name == "backward"
            one, rounds = "cell", f" for cell in {code}"
            if isinstance(made, ast.ListComp):
                one = ast.unparse(made.elt)
                rounds = "".join(map(ast.unparse, made.generators))
            layer = self._layer(one, True, False, back=back)
            names.append(lifted.fresh(name))
            line = f"self.{names[-1]} = [{layer}{rounds}]"
            if back:
                lifted.source.add(above, line, below=True)
            else:
                lifted.source.put(above, line)
        first, second = (f"{n}_" if n in lifted.locals else n for n in names)
        lines.append(f"for {first}, {second} in zip(self.{names[0]}, self.{names[1]}):")
        turned = f"{lifted.tf}.reverse({second}({net}{rest}), [1])"
        lines.append(
            f"    {net} = {lifted.tf}.concat([{first}({net}{rest}), {turned}], 2)"
        )
        statement = lifted.above[self.use]
        assert isinstance(statement, ast.stmt)
        indent = lifted.source.indent(statement)
        lifted.source.put(statement, f"\n{indent}".join(lines))

    def both(
        self, forward: str, backward: str, outputs: ast.expr, state: ast.expr
    ) -> None:
        """A network in both directions, as two layers."""
        lifted = self.lifted
        kind = _kind(lifted.value(forward), lifted)
        parts = state.elts if isinstance(state, ast.Tuple) else [state]
        reads = [one for part in parts for one in self._reads(part)]
        if reads and (kind is None or kind.several):
            raise Refused(f"the states of `{self.function}` are read")
        pair = outputs.elts if isinstance(outputs, ast.Tuple) else [outputs]
        every = any(self._reads(one) for one in pair)
        lines = self._mask_named()
        given: list[str] = []
        values: list[str] = []
        for made, name in ((forward, "forward"), (backward, "backward")):
            back = name == "backward"
            code = self._layer(self._moved(made), every, bool(reads), back=back)
            line = f"self.{lifted.fresh(name)} = {code}"
            if back:
                lifted.source.add(lifted.statement(self.node), line, below=True)
            else:
                lifted.source.put(lifted.statement(self.node), line)
            local = f"{name}_steps" if name in lifted.locals else name
            state_name = f"{name}_state"
            while state_name in lifted.locals:
                state_name += "_"
            target = local if every else "_"
            target += f", *{state_name}" if reads else ""
            lines.append(f"{target} = self.{lifted.fresh(name)}({self.arguments})")
            given.append(f"{lifted.tf}.reverse({local}, [1])" if back else local)
            single = kind is not None and not kind.lstm
            values.append(f"{state_name}[0]" if single else state_name)
        statement = lifted.above[self.use]
        assert isinstance(statement, ast.stmt)
        last = (
            [f"{lifted.of(outputs).strip('()')} = {', '.join(given)}"] if every else []
        )
        if reads:
            last.append(f"{lifted.of(state).strip('()')} = {', '.join(values)}")
        indent = lifted.source.indent(statement)
        lifted.source.add(statement, *lines)
        lifted.source.put(statement, f"\n{indent}".join(last))
        if kind is not None and kind.lstm:
            self._read_in_lists(reads, whole=not isinstance(state, ast.Tuple))

    def _read_in_lists(self, reads: list[ast.Name], *, whole: bool) -> None:
        """States of LSTMs are lists: `state[0]` for `state.c`."""
        lifted = self.lifted
        for one in reads:
            above: ast.AST = one
            if whole:
                above = lifted.above[one]
                if not isinstance(above, ast.Subscript):
                    raise Refused(f"the states of `{self.function}` are handed on")
            part = lifted.above[above]
            if isinstance(part, ast.Subscript):
                continue
            if not isinstance(part, ast.Attribute) or part.attr not in ("c", "h"):
                raise Refused(f"the states of `{self.function}` are handed on")
            place = 0 if part.attr == "c" else 1
            lifted.source.put(part, f"{lifted.of(above)}[{place}]")
