"""Functions that make layers, as classes; and the source of any lifted class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import libcst as cst

from ...code.blocked import Blocked
from ...code.names import Names
from ...code.spacing import space_definitions, with_blank_lines
from ...code.statements import is_docstring, lets_go
from ...code.texts import camel, parse_statements, source_text
from ...code.tree import Statement, statements_of
from ...model.values import Function, Time
from ...project.facts import ParsedModule
from .bodies import Body
from .files import File, Lifted, tensorflow_of
from .spelling import TF, parameter
from .taken import Helper, Stays, Taken

# What to raise at a node of a file, with a reason.
Stop = Callable[[ParsedModule, cst.CSTNode, str], Blocked]


class Classes:
    """What makes classes for one model function and what it calls."""

    def __init__(self, lifted: Lifted, stop_in: Stop) -> None:
        self.lifted = lifted
        self.notes = lifted.notes
        self.stop_in = stop_in

    def body(
        self,
        defined: cst.FunctionDef,
        statements: Sequence[Statement],
        outside: set[str],
        file: File,
    ) -> Body:
        """What takes statements of a function apart."""
        # What lets a parameter go, which is an attribute by then, is not needed.
        kept = [one for one in statements if not lets_go(one)]
        return Body(self, file, defined, kept, outside)

    def helper(self, call: cst.Call, function: Function, file: File) -> Helper:
        """The class of a function that makes layers."""
        node = function.node
        own = self.lifted.file_of(function.module)
        if own is None:
            name = function.module.path.name
            raise self.stop_in(
                file.parsed, call, f"layers in {name}, which stays as it is"
            )
        if isinstance(node, cst.Lambda):
            raise self.stop_in(file.parsed, call, "layers in a lambda")
        if node in self.lifted.model_functions:
            raise self.stop_in(file.parsed, call, "layers in another model function")
        calls = self.lifted.called.setdefault(node, [])
        if call not in calls:
            calls.append(call)
        known = self.lifted.helpers.get(node)
        if known is None:
            try:
                known = self._made(function, own, file)
            except Blocked:
                raise Stays(node) from None
        return known

    def _made(self, function: Function, own: File, file: File) -> Helper:
        node = function.node
        assert isinstance(node, cst.FunctionDef)
        names = {p.name.value: p for p in node.params.params}
        if (
            function.owner is not None
            or function.args
            or function.keywords
            or own.tree.function(node) is not None
            or node.params.kwonly_params
            or isinstance(node.params.star_arg, cst.Param)
            or node.params.star_kwarg is not None
            or not isinstance(node.body, cst.IndentedBlock)
            or self.notes.has_staying(node.body)
            or self.notes.is_aside(node.body)
        ):
            raise Stays(node)
        body = self.body(node, statements_of(node.body), set(names), own)
        taken = body.take()
        graph = [n for n in names if n in taken.graph]
        graph = sorted(
            graph,
            key=lambda n: (
                names[n].default is not None,
                body.outer_time(n) is not Time.GRAPH,
            ),
        )
        if not graph or body.outer_time(graph[0]) is not Time.GRAPH:
            raise Stays(node)
        found = Helper(function, "", tuple(n for n in names if n in taken.setup))
        found.graph, found.flag = tuple(graph), taken.flag
        taker = Names(own.tree, own.tree.module)
        taker.reserve(*own.taken, *file.taken)
        found.name = taker.fresh(camel(node.name.value))
        own.taken.add(found.name)
        defaults = {
            name: source_text(one.default)
            for name, one in names.items()
            if one.default is not None
        }
        first = statements_of(node.body)[0]
        docstring = source_text(first) if is_docstring(first) else ""
        made = self.statement(
            own, found.name, "Layer", taken, graph, defaults, [], docstring
        )
        own.edits.replace[node] = [made]
        self.lifted.helpers[node] = found
        return found

    def class_of(self, call: cst.Call, helper: Helper, file: File) -> str:
        """What a call says to name the class."""
        function = helper.function.node
        assert isinstance(function, cst.FunctionDef)
        func = call.func
        if isinstance(func, cst.Name):
            found = file.tree.resolver.bindings(func)
            if file.tree.resolver.definition(func) is function:
                return helper.name
            if len(found) == 1 and isinstance(found[0].node, cst.ImportFrom):
                names = file.imports.setdefault(found[0].node, {})
                names[func.value] = helper.name
                return helper.name
            # ``from nets import *`` brings the class as well.
            stars = file.tree.resolver.scopes.module_scope.star_imports
            listed = "__all__" in helper.function.module.source.text
            if not found and stars and not listed:
                taken = {one.value for one in file.tree.each(cst.Name)}
                if helper.name not in taken:
                    return helper.name
        elif isinstance(func, cst.Attribute) and func.attr.value == function.name.value:
            return f"{source_text(func.value)}.{helper.name}"
        raise Stays(function)

    def statement(
        self,
        file: File,
        name: str,
        base: str,
        taken: Taken,
        graph: Sequence[str],
        defaults: dict[str, str],
        more: list[Statement],
        docstring: str,
    ) -> Statement:
        """The source of a class."""
        tf = tensorflow_of(file)
        if tf is None:
            first = file.tree.module.body[0]
            raise self.stop_in(file.parsed, first, "a file without TensorFlow")

        def shown(one: str, flag: str = "") -> str:
            name = "training" if one == flag else parameter(one)
            return f"{name}={defaults[one]}" if one in defaults else name

        setup = sorted(taken.setup, key=lambda one: one in defaults)
        init = "".join(["super().__init__()\n", *taken.init]).replace(TF, tf)
        call = "".join(source_text(one) for one in (*taken.call, *more))
        methods = [
            _function("__init__", map(shown, setup), init),
            _function("call", (shown(one, taken.flag) for one in graph), call),
        ]
        (found,) = parse_statements(
            f"class {name}({tf}.estimator.Scoped{base}):\n    pass\n"
        )
        body = space_definitions([*parse_statements(docstring), *methods])
        if not docstring:
            body[0] = with_blank_lines(body[0], 0)
        return _with_body(found, body)


def _function(name: str, parameters: Iterable[str], code: str) -> Statement:
    listed = ", ".join(["self", *parameters])
    (found,) = parse_statements(f"def {name}({listed}):\n    pass\n")
    return _with_body(found, parse_statements(code))


def _with_body(statement: Statement, body: Sequence[Statement]) -> Statement:
    block = statement.body
    assert isinstance(block, cst.IndentedBlock)
    return statement.with_changes(body=block.with_changes(body=list(body)))
