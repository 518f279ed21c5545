"""Lifts statements that make layers as they go into a Keras class.

What TF1 code does when it builds a graph falls apart into what happens once,
making layers and variables, and what happens for each batch: ``__init__`` and
``call`` of a Keras model.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..code.pure import is_plain_call, is_pure
from ..code.statements import assigned, binds, is_docstring, loads, names_in
from ..code.tree import Statement, only_small, statements_of, walk
from ..model_fn.modes import MODES, Modes
from ..model_fn.source import Source
from ..model_fn.summaries import summarises
from .lifted_calls import CallLifter
from .lifted_classes import called_class
from .lifted_names import RESERVED, Lifted, source_text
from .made_layers import is_layer
from .recurrent import is_cell, is_rnn, lift_rnn
from .static_sizes import Sizes
from .variable_places import Place, Places

__all__ = ["Kind", "Lifter", "Shared"]


_LAYER_PLACES = (
    "tf.contrib.layers.",
    "tf.contrib.rnn.",
    "tf.contrib.slim.",
    "tf.keras.layers.",
    "tf.layers.",
    "tf.nn.rnn_cell.",
)
_NO_LAYERS = (
    "_column",
    "_columns",
    "_initializer",
    "_regularizer",
    "_regularization",
    "arg_scope",
    "create_train_op",
    "optimize_loss",
    "parse_feature_columns_from_examples",
)


# A longer list is built in a loop.
_COMPREHENSION = 84


class Kind(enum.Enum):
    """What a local name stands for."""

    CONFIG = "config"  # a plain value, known when the model is made
    LOOP = "loop"  # a plain value of a loop over plain values
    TENSOR = "tensor"
    TRAINING = "training"  # true in training only
    MODE = "mode"  # any other test of the mode
    OBJECT = "object"  # a layer or variable, now an attribute
    SIZE = "size"  # a number that the shape of the input tells
    CELL = "cell"  # a recurrent cell, for the layer around it


@dataclass
class Shared:
    """What all classes lifted from one model_fn share."""

    regularised: bool
    helpers: dict[cst.FunctionDef | cst.ClassDef, Lifted] = field(default_factory=dict)
    lifted_calls: list[cst.Call] = field(default_factory=list)
    dropped_summaries: list[cst.CSTNode] = field(default_factory=list)
    dropped_regularizer: bool = False
    # Rows of a table are looked up: its gradients are sparse.
    sparse: bool = False
    # contrib's batch_norm works on what may have two dimensions.
    flat_norm: bool = False
    names: set[str] = field(default_factory=set)
    # Kinds of recurrent cells that the classes need.
    cells: set[str] = field(default_factory=set)


@dataclass
class _Loop:
    targets: set[str]
    # (attribute of the list, name of the element, constructor)
    made: list[tuple[str, str, str]] = field(default_factory=list)
    config: list[Statement] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Scope:
    """A variable scope: its name and default initialiser."""

    name: str
    initializer: cst.BaseExpression | None


_SCOPES = ("tf.variable_scope", "tf.name_scope", "tf.device", "tf.variable_op_scope")
_ARG_SCOPES = ("tf.contrib.framework.arg_scope", "tf.contrib.slim.arg_scope")
_DROPPED = ("tf.summary.", "tf.logging.", "tf.contrib.summary.", "tf.compat.v1.logging")


class Lifter:
    """Collects ``__init__`` and ``call`` of one class, statement by statement."""

    def __init__(
        self, source: Source, modes: Modes, shared: Shared, kinds: dict[str, Kind]
    ) -> None:
        self.source = source
        self.tree = source.tree
        self.modes = modes
        self.shared = shared
        self.kinds = dict(kinds)
        self.objects: dict[str, str] = {}
        self.cells: dict[str, cst.BaseExpression] = {}
        # States of an LSTM: lists of two.
        self.tuples: set[str] = set()
        # States of several cells: lists of their states.
        self.stacks: set[str] = set()
        # What made an object: name -> call.
        self.made: dict[str, cst.Call] = {}
        # In a method: layers of its object, and the names of its methods.
        self.owner: tuple[dict[str, cst.Call | None], frozenset[str]] | None = None
        self.attributes: set[str] = set()
        self.init: list[str] = []
        self.config: list[Statement] = []
        self.init_reads: set[str] = set()
        self.call_reads: set[str] = set()
        self.uses_training = False
        self.loop: _Loop | None = None
        self.conditional = False
        self.scopes: list[_Scope] = []
        self.places = Places(source)
        # In a function: what depends on the shape of its input.
        self.sizes: Sizes | None = None
        self.arguments: list[dict[str, dict[str, cst.BaseExpression]]] = []
        scope = self.tree.resolver.scopes.opened.get(source.defined)
        self.locals: set[str] = set(scope.bindings) if scope is not None else set()
        self.once = {
            name
            for name, found in (scope.bindings.items() if scope is not None else ())
            if len(found) == 1
        }

    # -- statements ----------------------------------------

    def lift(self, statements: Sequence[Statement]) -> list[Statement]:
        """The statements of ``call``."""
        result: list[Statement] = []
        for statement in statements:
            new = self._statement(statement)
            if not new and any(x.comment for x in statement.leading_lines):
                continue
            result += new
        return result

    def _statement(self, statement: Statement) -> list[Statement]:
        if isinstance(statement, cst.If):
            return self._if(statement)
        if isinstance(statement, cst.For):
            return self._for(statement)
        if isinstance(statement, cst.With):
            return self._with(statement)
        if isinstance(statement, cst.FunctionDef) and not self.has_layer(statement):
            self.kinds[statement.name.value] = Kind.TENSOR
            return [self.moved_statement(statement)]
        small = only_small(statement)
        if isinstance(small, cst.Assign):
            return self._assign(statement, small)
        if isinstance(small, cst.AnnAssign) and small.value is not None:
            target = cst.AssignTarget(small.target)
            return self._assign(statement, cst.Assign([target], small.value))
        if isinstance(small, (cst.AugAssign, cst.Return)):
            return [self.moved_statement(statement)]
        if isinstance(small, (cst.Pass, cst.Assert)) or is_docstring(statement):
            return []
        if isinstance(small, cst.Raise):
            return [self.moved_statement(statement)]
        if isinstance(small, cst.Expr):
            return self._expression(statement, small)
        raise self.source.stop(statement, "a statement that cannot be lifted")

    def _assign(self, statement: Statement, small: cst.Assign) -> list[Statement]:
        target = small.targets[0].target
        if isinstance(small.value, cst.Call) and is_rnn(self, small.value):
            self.kinds.update(dict.fromkeys(binds(statement), Kind.TENSOR))
            return lift_rnn(self, statement, small.value)
        if isinstance(target, cst.Name) and is_cell(self, small.value):
            if target.value not in self.once or self.loop is not None:
                raise self.source.stop(statement, f"`{target.value}` is assigned anew")
            self.kinds[target.value] = Kind.CELL
            self.cells[target.value] = small.value
            return []
        if len(small.targets) == 1 and isinstance(target, cst.Name):
            name = target.value
            kind = self.mode_kind(small.value)
            if kind is not None:
                if name not in self.once:
                    raise self.source.stop(statement, f"`{name}` is assigned anew")
                self.kinds[name] = kind
                return []
            calls = CallLifter(self)
            attribute = calls.object(small.value, name)
            if attribute is not None:
                if name not in self.once or self.loop is not None:
                    # The name means something else later: keep the assignment.
                    self.kinds[name] = Kind.TENSOR
                    value = cst.parse_expression(attribute)
                    kept = [small.with_changes(value=value)]
                    return [statement.with_changes(body=kept)]
                self.kinds[name] = Kind.OBJECT
                self.objects[name] = attribute
                assert isinstance(small.value, cst.Call)
                self.made[name] = small.value
                return []
        names = assigned(statement)
        if isinstance(target, cst.Name) and self._is_size(small, target.value):
            return [self._size(statement, small, target.value)]
        if self.is_config(small.value) and not self._fills_with_tensors(small):
            return self._plain(statement, names)
        if names and set(names) <= self.once and len(names) == 1:
            new = self.moved_statement(statement, wanted=names[0])
        else:
            new = self.moved_statement(statement)
        for name in names:
            if self.kinds.get(name) in (Kind.CONFIG, Kind.OBJECT, Kind.TRAINING):
                raise self.source.stop(statement, f"`{name}` becomes a tensor")
            self.kinds[name] = Kind.TENSOR
        return [new]

    def _is_size(self, small: cst.Assign, name: str) -> bool:
        """The value follows from the shape of the input and from plain values."""
        if self.sizes is None or name not in self.once or self.loop is not None:
            return False
        found = self.sizes.among(small.value)
        inside = {child for node in found for child in walk(node)}
        reads = {
            node.value
            for node in walk(small.value)
            if isinstance(node, cst.Name)
            and node in self.tree.resolver.scopes.loads
            and node not in inside
        }
        sizes = {n for n in reads if self.kinds.get(n) is Kind.SIZE}
        if not found and not sizes:
            return False
        if found:
            value = cst.parse_expression(self.sizes.text(small.value))
            calls = any(isinstance(n, cst.Call) for n in walk(value))
            return not calls and reads <= {
                *sizes,
                *(n for n in reads if self.kinds.get(n) is Kind.CONFIG),
            }
        return self.is_config(small.value, sizes)

    def _size(self, statement: Statement, small: cst.Assign, name: str) -> Statement:
        """Notes a size; ``call`` may want it as well."""
        assert self.sizes is not None
        self.kinds[name] = Kind.SIZE
        self.sizes.names[name] = self.sizes.own(self.sizes.text(small.value))
        code = self.sizes.own(
            self.sizes.text(small.value, f"{self.sizes.argument}.shape")
        )
        line = small.with_changes(value=cst.parse_expression(code))
        assert isinstance(statement, cst.SimpleStatementLine)
        return statement.with_changes(body=[line])

    def _plain(self, statement: Statement, names: list[str]) -> list[Statement]:
        """A statement about plain values: it is for ``__init__``."""
        for name in names:
            if self.kinds.get(name) not in (None, Kind.CONFIG, Kind.LOOP):
                raise self.source.stop(statement, f"`{name}` is assigned anew")
            if (
                self.loop is None
                and self.kinds.get(name) is Kind.CONFIG
                and (name in self.init_reads | self.call_reads)
            ):
                raise self.source.stop(statement, f"`{name}` changes between layers")
            self.kinds[name] = Kind.LOOP if self.loop is not None else Kind.CONFIG
        if self.loop is not None:
            self.loop.config.append(statement)
            return [self.moved_statement(statement)]
        self.config.append(statement)
        return []

    def _fills_with_tensors(self, small: cst.Assign) -> bool:
        """An empty list or dict that the function fills with tensors later."""
        target, value = small.targets[0].target, small.value
        empty = (
            isinstance(value, (cst.List, cst.Dict)) and not value.elements
        ) or self.tree.code(value) in ("list()", "dict()", "collections.OrderedDict()")
        if not empty or not isinstance(target, cst.Name):
            return False
        return target.value in tensor_names(
            self.source,
            {name for name, kind in self.kinds.items() if kind is Kind.TENSOR},
        )

    def _expression(self, statement: Statement, small: cst.Expr) -> list[Statement]:
        filled = assigned(statement)
        if filled and all(self.kinds.get(name) is Kind.TENSOR for name in filled):
            return [self.moved_statement(statement)]  # outputs.append(...)
        if isinstance(small.value, cst.Call):
            symbol = self.tree.symbol(small.value.func) or ""
            if symbol.startswith("tf.summary.") or summarises(self.tree, small.value):
                self.shared.dropped_summaries.append(statement)
                return []
            plain = self.tree.code(small.value.func)
            if symbol.startswith(_DROPPED) or plain == "print":
                return []
            if plain.startswith("logging."):
                return []
        raise self.source.stop(statement, "the forward pass has effects")

    def _if(self, statement: cst.If) -> list[Statement]:
        if self._all_plain(statement):
            names = [n for s in walk(statement) for n in assigned(s)]
            return self._plain(statement, names)
        mirrored = (
            self.loop is None
            and self.has_layer(statement.body)
            | (statement.orelse is not None and self.has_layer(statement.orelse))
            and self.is_config(statement.test)
        )
        before, conditional = self.init, self.conditional
        self.conditional = conditional or not mirrored
        test = self.moved(statement.test)
        of_mode = self.mode_kind(statement.test) is not None
        known = self.places.state()
        self.init = []
        body = self._block(statement.body)
        made, first = self.init, self.places.state()
        self.places.other(known, of_mode=of_mode)
        self.init = []
        orelse: cst.If | cst.Else | None = None
        if isinstance(statement.orelse, cst.Else):
            orelse = statement.orelse.with_changes(
                body=self._block(statement.orelse.body), leading_lines=[]
            )
        elif statement.orelse is not None:
            inner = self._if(statement.orelse)
            orelse = inner[0] if inner else None  # type: ignore[assignment]
            if not isinstance(orelse, cst.If):
                raise self.source.stop(statement, "a branch that cannot be lifted")
        otherwise = self.init
        self.places.join(known, first, of_mode=of_mode)
        self.init, self.conditional = before, conditional
        if mirrored and (made or otherwise):
            shown = self.text(statement.test)
            code = f"if {shown}:\n" + _indented(made or ["pass\n"])
            if otherwise:
                code += "else:\n" + _indented(otherwise)
            self.init.append(code)
        else:
            self.init += made + otherwise
        return [statement.with_changes(test=test, body=body, orelse=orelse)]

    def _block(self, body: cst.BaseSuite) -> cst.IndentedBlock:
        if not isinstance(body, cst.IndentedBlock):
            raise self.source.stop(body, "several statements on one line")
        new = self.lift(statements_of(body))
        if not new:
            new = [cst.SimpleStatementLine([cst.Pass()])]
        return body.with_changes(body=new)

    def _all_plain(self, statement: cst.If) -> bool:
        """A branch that only chooses plain values."""
        reads = [statement.test]
        for node in walk(statement):
            if isinstance(node, cst.If) and node is not statement:
                reads.append(node.test)
            if isinstance(node, cst.SimpleStatementLine):
                small = only_small(node)
                if isinstance(small, (cst.Raise, cst.Pass)):
                    continue
                if not isinstance(small, cst.Assign):
                    return False
                reads.append(small.value)
            elif isinstance(node, cst.BaseCompoundStatement) and not isinstance(
                node, cst.If
            ):
                return False
        inside = {n for s in walk(statement) for n in assigned(s)}
        return bool(inside) and all(self.is_config(read, inside) for read in reads)

    def _for(self, statement: cst.For) -> list[Statement]:
        names = {n.value for n in walk(statement.target) if isinstance(n, cst.Name)}
        if statement.orelse is not None:
            raise self.source.stop(statement, "a loop with else")
        plain = self.is_config(statement.iter)
        if not self.has_layer(statement):
            for name in names:
                self.kinds[name] = Kind.LOOP if plain else Kind.TENSOR
            iterated = self.moved(statement.iter)
            body = self._block(statement.body)
            return [statement.with_changes(iter=iterated, body=body)]
        if self.loop is not None:
            raise self.source.stop(statement, "layers in nested loops")
        if not plain:
            raise self.source.stop(statement, "layers in a loop over tensors")
        self.loop = loop = _Loop(names)
        for name in names:
            self.kinds[name] = Kind.LOOP
        body = self._block(statement.body)
        self.loop = None
        self._loop_init(statement, loop)
        used = any(
            names_in(source_text(s))
            & (names | {n for c in loop.config for n in assigned(c)})
            for s in statements_of(body)
            if s not in loop.config
        )
        kept = statements_of(body)
        if not used:
            own = {n for c in loop.config for n in assigned(c)}
            kept = [
                s for s in kept if not (set(assigned(s)) and set(assigned(s)) <= own)
            ]
        if not kept:
            return []
        elements = [element for _, element, _ in loop.made]
        lists = [f"self.{attribute}" for attribute, _, _ in loop.made]
        target: str
        if not elements:
            # Every round works with the same layers.
            return [
                statement.with_changes(
                    iter=self.moved(statement.iter), body=body.with_changes(body=kept)
                )
            ]
        if used:
            shown = self.tree.code(statement.target)
            shown = f"({shown})" if "," in shown and shown[0] != "(" else shown
            target = ", ".join([shown, *elements])
            zipped = [source_text(self.moved(statement.iter)), *lists]
            over = f"zip({', '.join(zipped)})"
        elif len(lists) == 1:
            target, over = elements[0], lists[0]
        else:
            target, over = ", ".join(elements), f"zip({', '.join(lists)})"
        line = cst.parse_module(f"for {target} in {over}:\n    pass\n").body[0]
        assert isinstance(line, cst.For)
        new = line.with_changes(
            body=body.with_changes(body=kept), leading_lines=statement.leading_lines
        )
        return [new]

    def _loop_init(self, statement: cst.For, loop: _Loop) -> None:
        if not loop.made:
            return
        target, over = self.tree.code(statement.target), self.text(statement.iter)
        reads = set().union(*(names_in(code) for _, _, code in loop.made))
        config = self._needed(loop.config, reads)
        for one in config:
            reads |= names_in(source_text(one))
        if not reads & loop.targets:
            target = "_"
        if len(loop.made) == 1 and not config:
            attribute, _, constructor = loop.made[0]
            line = f"self.{attribute} = [{constructor} for {target} in {over}]\n"
            if len(line) <= _COMPREHENSION:
                self.init.append(line)
                return
        for attribute, _, _ in loop.made:
            self.init.append(f"self.{attribute} = []\n")
        inner = [source_text(s) for s in config]
        inner += [f"self.{a}.append({code})\n" for a, _, code in loop.made]
        self.init.append(f"for {target} in {over}:\n" + _indented(inner))

    @staticmethod
    def _needed(statements: Sequence[Statement], reads: set[str]) -> list[Statement]:
        chosen: list[Statement] = []
        wanted = set(reads)
        for statement in reversed(statements):
            names = {n for s in walk(statement) for n in assigned(s)}
            if names & wanted:
                chosen.append(statement)
                wanted |= names_in(source_text(statement))
        return chosen[::-1]

    def _with(self, statement: cst.With) -> list[Statement]:
        pushed = arguments = 0
        for item in statement.items:
            call = item.item
            symbol = self.tree.symbol(call.func) if isinstance(call, cst.Call) else None
            if isinstance(call, cst.Call) and symbol in _SCOPES:
                self.scopes.append(self._scope(call, symbol))
                pushed += 1
            elif isinstance(call, cst.Call) and symbol in _ARG_SCOPES:
                self.arguments.append(self._arg_scope(call))
                arguments += 1
            else:
                raise self.source.stop(statement, "a `with` that cannot be lifted")
            if item.asname is not None and isinstance(item.asname.name, cst.Name):
                self.kinds[item.asname.name.value] = Kind.MODE
        body = statement.body
        if not isinstance(body, cst.IndentedBlock):
            raise self.source.stop(statement, "several statements on one line")
        new = self.lift(statements_of(body))
        del self.scopes[len(self.scopes) - pushed :]
        del self.arguments[len(self.arguments) - arguments :]
        if new and new[0].leading_lines is not None:
            lines = (*statement.leading_lines, *new[0].leading_lines)
            new[0] = new[0].with_changes(leading_lines=lines)
        return new

    def _scope(self, call: cst.Call, symbol: str) -> _Scope:
        initializer = None
        name = ""
        for index, argument in enumerate(call.args):
            keyword = argument.keyword.value if argument.keyword else None
            if index == 0 and keyword is None:
                if isinstance(argument.value, cst.SimpleString):
                    name = str(argument.value.evaluated_value)
            elif keyword is None and index < 3:
                pass  # a name by default, and values to tell the graph by
            elif keyword == "initializer":
                initializer = argument.value
            elif keyword in ("name_or_scope", "default_name", "values", "partitioner"):
                pass
            elif keyword == "reuse":
                pass  # names tell what is shared
            elif symbol == "tf.variable_scope":
                raise self.source.stop(call, f"variable_scope(`{keyword}`=)")
        return _Scope(name, initializer)

    def _arg_scope(self, call: cst.Call) -> dict[str, dict[str, cst.BaseExpression]]:
        """Defaults for layer functions: function name -> arguments."""
        from .made_layers import contrib_name

        if not call.args or not isinstance(call.args[0].value, (cst.List, cst.Tuple)):
            raise self.source.stop(call, "an arg_scope that is not seen")
        functions = []
        for element in call.args[0].value.elements:
            name = contrib_name(self.tree.symbol(element.value) or "")
            if name is None:
                raise self.source.stop(call, "an arg_scope of other functions")
            functions.append(name)
        given = {}
        for argument in call.args[1:]:
            if argument.keyword is None:
                raise self.source.stop(call, "an arg_scope with `**` arguments")
            given[argument.keyword.value] = argument.value
        return dict.fromkeys(functions, given)

    # -- what expressions are ----------------------------------------

    def has_layer(self, node: cst.CSTNode) -> bool:
        """Something below the node makes layers or variables."""
        return makes_layers(self.source, node)

    def mode_kind(self, node: cst.BaseExpression) -> Kind | None:
        """The kind of a test of the mode, or None for anything else."""
        verdicts = {mode: self.verdict(node, mode) for mode in MODES}
        if None in verdicts.values():
            return None
        if verdicts == {"TRAIN": True, "EVAL": False, "PREDICT": False}:
            return Kind.TRAINING
        return Kind.MODE

    def verdict(self, node: cst.BaseExpression, mode: str) -> bool | None:
        """What a test of the mode gives in a mode; None for other expressions."""
        if isinstance(node, cst.Name) and self.kinds.get(node.value) is Kind.TRAINING:
            return mode == "TRAIN"
        return self.modes.test(node, mode)

    def is_config(
        self, node: cst.BaseExpression, known: set[str] | None = None
    ) -> bool:
        """The expression is a plain value that is known without a batch."""
        loads = self.tree.resolver.scopes.loads
        for child in walk(node):
            if isinstance(child, cst.Call):
                symbol = self.tree.symbol(child.func)
                if symbol is not None and not _makes_plain(symbol):
                    return False
                if symbol is None and not is_plain_call(self.source, child):
                    return False
            if not isinstance(child, cst.Name) or child not in loads:
                continue
            if child.value in (known or ()):
                continue
            kind = self.kinds.get(child.value)
            if kind in (Kind.CONFIG, Kind.LOOP):
                continue
            if kind is not None:
                return False
            if child.value in self.locals and self._own(child):
                return False
        return True

    def _own(self, name: cst.Name) -> bool:
        """The name is bound in this function, not in a comprehension within."""
        return any(
            binding.scope.node in (self.source.defined, self.source.factory)
            for binding in self.tree.resolver.bindings(name)
        )

    # -- text ----------------------------------------

    def text(self, node: cst.BaseExpression) -> str:
        """Source of an argument that is needed when the model is made."""
        loads = self.tree.resolver.scopes.loads
        sizes = [] if self.sizes is None else self.sizes.among(node)
        told = {child for size in sizes for child in walk(size)}
        for child in walk(node):
            if not isinstance(child, cst.Name) or child not in loads or child in told:
                continue
            kind = self.kinds.get(child.value)
            if kind is Kind.SIZE:
                continue
            if kind in (Kind.CONFIG, Kind.LOOP):
                if kind is Kind.CONFIG:
                    self.init_reads.add(child.value)
                continue
            if kind is not None or (child.value in self.locals and self._own(child)):
                reason = f"a layer depends on `{child.value}`"
                raise self.source.stop(child, reason)
        return source_text(node) if self.sizes is None else self.sizes.text(node)

    def moved(self, node: cst.BaseExpression, wanted: str = "") -> cst.BaseExpression:
        """The expression as it stands in ``call``."""
        new = node.visit(CallLifter(self, node, wanted))
        assert isinstance(new, cst.BaseExpression)
        return new

    def moved_statement(self, statement: Statement, wanted: str = "") -> Statement:
        """The statement as it stands in ``call``."""
        small = only_small(statement)
        whole = getattr(small, "value", None) if wanted else None
        new = statement.visit(CallLifter(self, whole, wanted))
        assert isinstance(new, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        return new

    # -- attributes ----------------------------------------

    def attribute(self, wanted: str) -> str:
        """A free attribute name: dense, dense_1, ..."""
        if wanted in RESERVED:
            outer = next((s.name for s in reversed(self.scopes) if s.name), "")
            outer = outer.replace("-", "_").replace("/", "_").lower()
            wanted = f"{outer}_{wanted}" if outer.isidentifier() else f"{wanted}_"
        name, number = wanted, 0
        while name in self.attributes:
            number += 1
            name = f"{wanted}_{number}"
        self.attributes.add(name)
        return name

    def make(
        self,
        wanted: str,
        constructor: str,
        *,
        weight: bool = False,
        place: Place | None = None,
        node: cst.CSTNode | None = None,
    ) -> str:
        """Adds a layer to ``__init__``; gives the expression that stands for it.

        ``place`` is the name of its variables, which may be there already.
        """
        if place is None or node is None:
            return self._make(wanted, constructor, weight)
        again = self.places.again(place, constructor, node)
        if again is not None:
            return again
        loop = self.loop
        if loop is None:
            made = self._make(wanted, constructor, weight)
            self.places.note(place, made, constructor)
            return made
        rounds = {n for n, kind in self.kinds.items() if kind is Kind.LOOP}
        if place.each_round or place.reads & rounds:
            self.places.note(place, None, constructor)
            return self._make(wanted, constructor, weight)
        # One and the same in every round.
        if names_in(constructor) & rounds:
            raise self.source.stop(node, "variables that are reused in another layer")
        self.loop = None
        made = self._make(wanted, constructor, weight)
        self.loop = loop
        self.places.note(place, made, constructor)
        return made

    def _make(self, wanted: str, constructor: str, weight: bool) -> str:
        if weight and self.conditional:
            raise self.source.stop(self.source.defined, "variables in a branch")
        if self.loop is not None:
            if self.sizes is not None and self.sizes.is_sized(constructor):
                raise self.source.stop(self.source.defined, "sizes in a loop")
            attribute = self.attribute(
                f"{wanted}_layers" if not weight else f"{wanted}s"
            )
            element = wanted
            while element in self.locals or element in {
                e for _, e, _ in self.loop.made
            }:
                element += "_"
            self.loop.made.append((attribute, element, constructor))
            return element
        attribute = self.attribute(wanted)
        sizes = self.sizes
        if sizes is not None and (
            sizes.is_sized(constructor) or (weight and sizes.reads_any)
        ):
            if self.conditional:
                raise self.source.stop(self.source.defined, "sizes in a branch")
            code = sizes.own(constructor)
            sizes.made.append(f"self.{attribute} = {code}\n")
            return f"self.{attribute}"
        self.init.append(f"self.{attribute} = {constructor}\n")
        return f"self.{attribute}"

    @property
    def kernel(self) -> cst.BaseExpression | None:
        """The default initialiser of the enclosing variable scopes."""
        found = [s.initializer for s in self.scopes if s.initializer is not None]
        return found[-1] if found else None

    # -- the class ----------------------------------------

    def init_code(self, stored: set[str]) -> list[str]:
        """Statements of ``__init__`` after the call of the base class.

        ``stored`` are the parameters that ``call`` reads.
        """
        code = [f"self.{name} = {name}\n" for name in sorted(stored)]
        keep = {
            n for s in self.config for t in walk(s) for n in assigned(t)
        } & self.call_reads
        wanted = self.init_reads | keep
        for statement in self._needed(self.config, wanted):
            code.append(source_text(statement))
            names = {n for t in walk(statement) for n in assigned(t)} & keep
            for name in sorted(names):
                code.append(f"self.{name} = {name}\n")
        return code + self.init


def makes_layers(source: Source, node: cst.CSTNode, depth: int = 0) -> bool:
    """Something below the node makes layers or variables, or calls what does."""
    for child in walk(node):
        if not isinstance(child, cst.Call):
            continue
        symbol = source.tree.symbol(child.func)
        if symbol is not None:
            if is_layer(symbol) or (
                symbol.startswith(_LAYER_PLACES) and not symbol.endswith(_NO_LAYERS)
            ):
                return True
            if symbol in ("tf.get_variable", "tf.Variable"):
                return True
            if symbol.startswith("tf.contrib.lookup.") or symbol in (
                "tf.nn.bidirectional_dynamic_rnn",
                "tf.nn.dynamic_rnn",
                "tf.keras.Sequential",
                "tf.keras.Model",
            ):
                return True
        elif depth < 6:
            made = source.tree.value(child.func)
            if isinstance(made, cst.Call) and made is not child.func:
                # A layer object is called.
                if makes_layers(source, made, depth + 1):
                    return True
                continue
            if called_class(source.tree, child) is not None:
                return True
            defined = source.tree.resolver.definition(child.func)
            if isinstance(defined, cst.FunctionDef) and makes_layers(
                source, defined.body, depth + 1
            ):
                return True
    return False


def tensor_names(source: Source, known: set[str]) -> set[str]:
    """Names of a function that hold tensors, when the known ones do."""
    found = set(known)
    while True:
        before = len(found)
        for node in walk(source.defined.body):
            value = getattr(node, "value", None)
            if isinstance(node, cst.For):
                value = node.iter
            if not isinstance(value, cst.BaseExpression):
                continue
            makes = any(
                isinstance(child, cst.Call)
                and source.tree.symbol(child.func) is not None
                and not _makes_plain(source.tree.symbol(child.func) or "")
                for child in walk(value)
            )
            if (
                makes
                or makes_layers(source, value)
                or loads(source.tree, value) & found
            ):
                found.update(assigned(node))
        if len(found) == before:
            return found


def _makes_plain(symbol: str) -> bool:
    """Functions of TensorFlow whose result is a plain value."""
    if symbol.startswith("tf.feature_column.") and "_column" in symbol[18:]:
        return True
    return symbol.endswith(("_initializer", "_regularizer")) or symbol.startswith(
        ("tf.keras.initializers.", "tf.keras.regularizers.", "tf.initializers.")
    )


def _indented(code: Sequence[str]) -> str:
    lines = "".join(code).splitlines(keepends=True)
    return "".join(f"    {line}" if line.strip() else line for line in lines)


__all__ += ["is_pure", "makes_layers"]
