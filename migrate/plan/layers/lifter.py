"""Lifts statements that make layers as they go into a Keras class.

What TF1 code does when it builds a graph falls apart into what happens once,
making layers and variables, and what happens for each batch: ``__init__`` and
``call`` of a Keras model.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..code.pure import is_pure
from ..code.statements import assigned, is_docstring, names_in
from ..code.tree import Statement, only_small, statements_of, walk
from ..model_fn.summaries import summarises
from .layer_search import makes_layers, tensor_names
from .lifted_calls import CallLifter
from .lifted_names import source_text
from .lifter_state import Kind, LiftedState, Loop, VariableScope

__all__ = ["Lifter"]

# A longer list is built in a loop.
_COMPREHENSION = 84

_SCOPES = ("tf.variable_scope", "tf.name_scope", "tf.device", "tf.variable_op_scope")
_ARG_SCOPES = ("tf.contrib.framework.arg_scope", "tf.contrib.slim.arg_scope")
_DROPPED = ("tf.summary.", "tf.logging.", "tf.contrib.summary.", "tf.compat.v1.logging")


class Lifter(LiftedState):
    """Lifts one class, statement by statement."""

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
        self.loop = loop = Loop(names)
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

    def _loop_init(self, statement: cst.For, loop: Loop) -> None:
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

    def _scope(self, call: cst.Call, symbol: str) -> VariableScope:
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
        return VariableScope(name, initializer)

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


def _indented(code: Sequence[str]) -> str:
    lines = "".join(code).splitlines(keepends=True)
    return "".join(f"    {line}" if line.strip() else line for line in lines)


__all__ += ["is_pure", "makes_layers"]
