"""A model_fn that is a method, said as a function of its module.

``Estimator(self._model_fn)`` holds on to an object for the sake of a few values.
Where these are seen to stay what they were when the Estimator was made, the method
is a function that is given them: a factory of a model_fn, which is read like any
other. Methods that it calls become functions next to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ...project.parsing import parse
from ..code.arguments import UnknownArguments, match_arguments
from ..code.statements import is_docstring
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..sites import Blocked

__all__ = ["without_methods"]

# Changing an attribute without writing to it by name.
_SETTERS = ("setattr", "delattr", "vars")


def without_methods(tree: Tree, node: cst.BaseExpression) -> cst.Module | None:
    """The module with the method behind a model_fn as a function.

    None where the model_fn is no method of a class of the module, or Blocked.
    """
    if not isinstance(node, cst.Attribute):
        return None
    owner = _owner(tree, node.value)
    if owner is None or node.attr.value not in owner.methods:
        return None
    return _Mover(tree, node, owner).moved()


@dataclass
class _Owner:
    """The class of a model_fn, and the object that it is a method of.

    ``made`` is the call that makes the object, or None inside of its own methods.
    """

    definition: cst.ClassDef
    body: cst.IndentedBlock
    made: cst.Call | None
    methods: dict[str, cst.FunctionDef]


def _owner(tree: Tree, held: cst.BaseExpression) -> _Owner | None:
    made: cst.Call | None = None
    definition: cst.CSTNode | None = None
    if isinstance(held, cst.Name) and held.value == "self":
        function = tree.function(held)
        body = None if function is None else tree.parent(function)
        definition = None if body is None else tree.parent(body)
    else:
        value = tree.value(held)
        if isinstance(value, cst.Call):
            made, definition = value, tree.resolver.definition(value.func)
    if not isinstance(definition, cst.ClassDef):
        return None
    body = definition.body
    if not isinstance(body, cst.IndentedBlock):
        return None
    methods = {
        s.name.value: s for s in statements_of(body) if isinstance(s, cst.FunctionDef)
    }
    return _Owner(definition, body, made, methods)


@dataclass
class _Method:
    """A method on its way to becoming a function.

    ``values`` are the attributes that it reads; ``calls`` the methods it calls.
    """

    definition: cst.FunctionDef
    static: bool
    values: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)


class _Mover:
    def __init__(self, tree: Tree, node: cst.Attribute, owner: _Owner) -> None:
        self.tree = tree
        self.node = node
        self.owner = owner
        self.found: dict[str, _Method] = {}

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        return Blocked("TFM103", self.tree.line(node), f"model_fn: {reason}")

    def moved(self) -> cst.Module:
        tree, wanted = self.tree, self.node.attr.value
        self._method(wanted)
        self._check_class()
        for method in self.found.values():
            self._check_uses(method)
        values = self._values(self.found[wanted].values)
        names = self._names(values)
        edits = _Edit({m.definition for m in self.found.values()})
        self._drop_owner(edits, values)
        functions = self._function_names()
        if self.owner.definition in edits.gone:
            # The class of layers that comes of it takes the place of this one.
            functions[wanted] = self.owner.definition.name.value
        made: list[Statement] = []
        for name, method in reversed(self.found.items()):
            renamer = _Plain(self, functions, names)
            function = method.definition.visit(renamer)
            assert isinstance(function, cst.FunctionDef)
            if name == wanted:
                function = self._documented(function, edits)
            own = [names[v] for v in method.values]
            given = list(function.params.params)[0 if method.static else 1 :]
            if name != wanted:
                given = [*(_parameter(n) for n in own), *given]
            function = function.with_changes(
                name=cst.Name(functions[name]),
                params=function.params.with_changes(params=given),
                decorators=[],
                leading_lines=_comments(function),
            )
            if name == wanted and own:
                function = self._factory(function, own)
            made.append(_apart(function))
        model_fn = functions[wanted]
        if values:
            shown = ", ".join(f"{names[v]}={code}" for v, code in values.items())
            model_fn = f"make_{model_fn}({shown})"
        edits.changed[self.node] = cst.parse_expression(model_fn)
        edits.before[self.owner.definition] = made
        module = tree.module.visit(edits)
        assert isinstance(module, cst.Module)
        return parse(module.code)

    # -- what is moved ----------------------------------------------------------

    def _method(self, name: str) -> None:
        """Note what a method needs of its object, and of methods it calls."""
        tree = self.tree
        defined = self.owner.methods[name]
        decorators = [tree.code(d.decorator) for d in defined.decorators]
        static = decorators == ["staticmethod"]
        parameters = defined.params.params
        if (decorators and not static) or defined.asynchronous is not None:
            raise self.stop(defined, f"the method `{name}` is decorated")
        if not static and (not parameters or parameters[0].name.value != "self"):
            raise self.stop(defined, f"the method `{name}` has no `self`")
        if defined.params.star_kwarg or isinstance(defined.params.star_arg, cst.Param):
            raise self.stop(defined, f"the method `{name}` takes star arguments")
        self._check_scope(defined)
        self.found[name] = method = _Method(defined, static)
        for node in walk(defined.body):
            if not isinstance(node, cst.Name) or node.value != "self":
                continue
            holder = tree.parent(node)
            if isinstance(holder, cst.Attribute) and holder.value is not node:
                continue  # x.self
            if not isinstance(holder, cst.Attribute):
                raise self.stop(node, f"`{name}` passes its object on")
            wanted = holder.attr.value
            if wanted not in self.owner.methods:
                if wanted not in method.values:
                    method.values.append(wanted)
                continue
            call = tree.parent(holder)
            if not isinstance(call, cst.Call) or call.func is not holder:
                raise self.stop(holder, f"`self.{wanted}` is not simply called")
            if wanted not in method.calls:
                method.calls.append(wanted)
        for called in method.calls:
            if called in self.found:
                if called == name or name in self._reached(called):
                    raise self.stop(defined, f"the method `{called}` calls itself")
                # What is called stands before what calls it.
                self.found[called] = self.found.pop(called)
            else:
                self._method(called)
            inner = self.found[called].values
            method.values += [v for v in inner if v not in method.values]

    def _reached(self, name: str) -> set[str]:
        calls = self.found[name].calls
        return {
            *calls,
            *(n for c in calls if c in self.found for n in self._reached(c)),
        }

    def _check_scope(self, defined: cst.FunctionDef) -> None:
        """The function must mean the same outside of its class."""
        scope = self.tree.resolver.scopes.opened.get(self.owner.definition)
        inside = set(scope.bindings) if scope is not None else set()
        for parameter in (*defined.params.params, *defined.params.kwonly_params):
            if parameter.default is None:
                continue
            for node in walk(parameter.default):
                if isinstance(node, cst.Name) and node.value in inside:
                    raise self.stop(node, "a default that the class holds")
        for node in walk(defined.body):
            if isinstance(node, cst.Name) and node.value in ("super", "__class__"):
                raise self.stop(node, f"the method uses `{node.value}`")

    def _check_class(self) -> None:
        """A class that nothing derives from, so that its methods are these."""
        tree, owner = self.tree, self.owner.definition
        for node in walk(tree.module):
            if isinstance(node, cst.ClassDef) and any(
                tree.resolver.definition(base.value) is owner for base in node.bases
            ):
                name = owner.name.value
                raise self.stop(node, f"`{node.name.value}` derives from `{name}`")

    def _check_uses(self, method: _Method) -> None:
        """Nothing else may call the method."""
        name = method.definition.name.value
        inside = {id(n) for m in self.found.values() for n in walk(m.definition)}
        for node in walk(self.tree.module):
            if (
                isinstance(node, cst.Attribute)
                and node.attr.value == name
                and node is not self.node
                and id(node) not in inside
            ):
                raise self.stop(node, f"the method `{name}` is used elsewhere too")

    # -- values of the object ---------------------------------------------------

    def _values(self, wanted: Sequence[str]) -> dict[str, str]:
        """What each attribute is, as source where the Estimator is made."""
        if not wanted:
            return {}
        for node in walk(self.tree.module):
            changes = isinstance(node, cst.Attribute) and node.attr.value == "__dict__"
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
                changes = node.func.value in _SETTERS
            if changes:
                shown = self.tree.code(node)
                raise self.stop(node, f"`{shown}` may change its object")
        given = self._arguments() if self.owner.made is not None else None
        held = self.tree.code(self.node.value)
        found = {}
        for name in wanted:
            value = self._assigned(name)
            code = f"{held}.{name}"
            if given is not None and isinstance(value, cst.Name):
                code = given.get(value.value, code)
            elif self.owner.made is None and isinstance(value, cst.Name):
                code = self._visible(value) or code
            if self.owner.made is not None and name.startswith("__"):
                raise self.stop(self.node, f"the private attribute `{name}`")
            found[name] = code
        if any(code.startswith(f"{held}.") for code in found.values()) and isinstance(
            self.node.value, cst.Call
        ):
            raise self.stop(self.node, "the object is made where it is used")
        return found

    def _assigned(self, name: str) -> cst.BaseExpression | None:
        """The one value of an attribute, known before the Estimator is made."""
        tree = self.tree
        init = self.owner.methods.get("__init__")
        stores = [n for n in walk(tree.module) if _stores(tree, n, name)]
        inside = statements_of(self.owner.body)
        constants = [
            s for s in inside if name in _targets(only_small(s)) and not stores
        ]
        if len(constants) == 1:
            return None
        if len(stores) != 1 or init is None:
            reason = "is not set just once" if stores else "is not set here"
            raise self.stop(self.node, f"`self.{name}` {reason}")
        statement = tree.statement(stores[0])
        small = only_small(statement)
        if tree.body(statement) is not init.body or not isinstance(small, cst.Assign):
            raise self.stop(statement, f"`self.{name}` is not set just once")
        if tree.function(self.node) is init:
            assert isinstance(init.body, cst.IndentedBlock)
            body = statements_of(init.body)
            here = tree.statement_in(self.node, init.body)
            if here is None or body.index(statement) > body.index(here):
                raise self.stop(statement, f"`self.{name}` is set after the Estimator")
        return small.value if len(small.targets) == 1 else None

    def _visible(self, value: cst.Name) -> str | None:
        """A parameter of __init__ that still stands for the attribute."""
        init = self.owner.methods["__init__"]
        if self.tree.function(self.node) is not init:
            return None
        scope = self.tree.resolver.scopes.opened.get(init)
        bindings = scope.bindings.get(value.value, []) if scope is not None else []
        names = [p.name.value for p in init.params.params]
        return value.value if len(bindings) == 1 and value.value in names else None

    def _arguments(self) -> dict[str, str]:
        """Parameter of __init__ -> argument, where it only keeps its arguments."""
        init, made = self.owner.methods.get("__init__"), self.owner.made
        assert made is not None
        if init is None or not self._only_keeps(init) or not self._used_once():
            return {}
        parameters = init.params.params[1:]
        try:
            given = match_arguments(made, [p.name.value for p in parameters])
        except UnknownArguments:
            return {}
        found = {}
        for parameter in parameters:
            name, default = parameter.name.value, parameter.default
            value = given.get(name, default)
            if value is not None and self._is_plain(value, own=name in given):
                found[name] = self.tree.code(value)
        return found

    def _is_plain(self, value: cst.BaseExpression, *, own: bool) -> bool:
        """The expression can move to where the Estimator is made."""
        if own and isinstance(self.node.value, cst.Call):
            return True
        return not any(isinstance(n, (cst.Name, cst.Call)) for n in walk(value)) or (
            isinstance(value, cst.Name) and value.value in ("True", "False", "None")
        )

    def _only_keeps(self, init: cst.FunctionDef) -> bool:
        """``self.x = x`` for its parameters, and nothing else."""
        if not isinstance(init.body, cst.IndentedBlock) or init.decorators:
            return False
        if init.params.star_kwarg or init.params.kwonly_params:
            return False
        names = {p.name.value for p in init.params.params}
        for statement in statements_of(init.body):
            small = only_small(statement)
            value = small.value if isinstance(small, cst.Assign) else None
            plain = isinstance(value, cst.Name) and value.value in names
            kept = plain and all(t.startswith("self.") for t in _targets(small))
            if not kept and not is_docstring(statement):
                return False
        return True

    def _used_once(self) -> bool:
        """The object is there for its model_fn alone."""
        held = self.node.value
        if isinstance(held, cst.Call):
            return True
        binding = self.tree.assigned(held)
        return binding is not None and len(self.tree.uses(binding)) == 1

    # -- names ------------------------------------------------------------------

    def _taken(self) -> set[str]:
        """Names that mean something where the functions, or the loop, will stand."""
        tree = self.tree
        scopes = tree.resolver.scopes
        taken = set(scopes.module_scope.bindings)
        around = tree.function(self.node)
        if around is not None and around in scopes.opened:
            taken |= set(scopes.opened[around].bindings)
        for method in self.found.values():
            for part in (method.definition.params, method.definition.body):
                names = {n.value for n in walk(part) if isinstance(n, cst.Name)}
                taken |= names - set(self._attributes(part))
        return taken

    def _attributes(self, root: cst.CSTNode) -> Iterator[str]:
        """Names that stand behind a dot only."""
        names: dict[str, bool] = {}
        for node in walk(root):
            if not isinstance(node, cst.Name):
                continue
            holder = self.tree.parent(node)
            behind = isinstance(holder, cst.Attribute) and holder.attr is node
            keyword = isinstance(holder, cst.Arg) and holder.keyword is node
            names[node.value] = names.get(node.value, True) and (behind or keyword)
        return (name for name, only in names.items() if only)

    def _names(self, values: dict[str, str]) -> dict[str, str]:
        """Attribute -> name of the value; a parameter of __init__ keeps its own."""
        taken = self._taken()
        found = {}
        for attribute, code in values.items():
            wanted = attribute.strip("_") or "value"
            name = wanted
            while name in taken and code != name:
                name += "_"
            taken.add(name)
            found[attribute] = name
        return found

    def _function_names(self) -> dict[str, str]:
        taken = self._taken()
        found = {}
        for method in self.found:
            name = method.strip("_") or "function"
            if name in taken:
                name = f"{_snake(self.owner.definition.name.value)}_{name}"
            while name in taken:
                name += "_"
            taken.add(name)
            found[method] = name
        return found

    def _factory(self, function: cst.FunctionDef, values: list[str]) -> cst.FunctionDef:
        name = function.name.value
        lines = function.leading_lines
        back = cst.SimpleStatementLine([cst.Return(cst.Name(name))])
        body = [function.with_changes(leading_lines=[]), back]
        return cst.FunctionDef(
            name=cst.Name(f"make_{name}"),
            params=cst.Parameters([_parameter(v) for v in values]),
            body=cst.IndentedBlock(body),
            leading_lines=lines,
        )

    # -- the class ----------------------------------------------------------------

    def _drop_owner(self, edits: _Edit, values: dict[str, str]) -> None:
        """A class that was there for its model_fn alone goes with it."""
        owner = self.owner
        held = self.tree.code(self.node.value)
        uses = self.tree.loads(owner.definition.name.value)
        body = statements_of(owner.body)
        left = [
            s
            for s in body
            if s not in edits.gone
            and not is_docstring(s)
            and not (isinstance(s, cst.FunctionDef) and s.name.value == "__init__")
        ]
        init = owner.methods.get("__init__")
        if (
            owner.made is not None
            and not left
            and all(self.tree.code(b.value) == "object" for b in owner.definition.bases)
            and (init is None or self._only_keeps(init))
            and len(uses) == 1
            and self._used_once()
            and not any(code.startswith(f"{held}.") for code in values.values())
        ):
            edits.gone.add(owner.definition)
            if not isinstance(self.node.value, cst.Call):
                self._drop_object(edits, self.tree.statement(owner.made))

    def _drop_object(self, edits: _Edit, statement: Statement) -> None:
        """The statement that made the object goes; what stood above it stays."""
        body = self.tree.body(statement)
        edits.gone.add(statement)
        if body is not None:
            inside = statements_of(body)
            following = inside[inside.index(statement) + 1 :]
            if following:
                edits.above[following[0]] = statement.leading_lines

    def _documented(self, function: cst.FunctionDef, edits: _Edit) -> cst.FunctionDef:
        """What a class that goes says of itself is said of its model_fn."""
        owner = self.owner.definition
        said = [s for s in statements_of(self.owner.body) if is_docstring(s)][:1]
        body = function.body
        assert isinstance(body, cst.IndentedBlock)
        own = statements_of(body)
        if owner not in edits.gone or not said or is_docstring(own[0]):
            return function
        return function.with_changes(body=body.with_changes(body=[*said, *own]))


class _Plain(cst.CSTTransformer):
    """``self.units`` by its name, ``self.block(x)`` as a call of a function."""

    def __init__(
        self, mover: _Mover, functions: dict[str, str], names: dict[str, str]
    ) -> None:
        self.mover = mover
        self.functions = functions
        self.names = names

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        held = original_node.value
        if not isinstance(held, cst.Name) or held.value != "self":
            return updated_node
        wanted = original_node.attr.value
        return cst.Name(self.functions.get(wanted) or self.names[wanted])

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        function = original_node.func
        if not isinstance(function, cst.Attribute):
            return updated_node
        held = function.value
        if not isinstance(held, cst.Name) or held.value != "self":
            return updated_node
        method = self.mover.found.get(function.attr.value)
        if method is None:
            return updated_node
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        own = [cst.Arg(cst.Name(self.names[v]), comma=comma) for v in method.values]
        args = [*own, *updated_node.args]
        if own and not updated_node.args:
            args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(args=args)


class _Edit(cst.CSTTransformer):
    def __init__(self, gone: set[cst.FunctionDef]) -> None:
        self.gone: set[cst.CSTNode] = {*gone}
        self.changed: dict[cst.CSTNode, cst.BaseExpression] = {}
        self.before: dict[cst.CSTNode, list[Statement]] = {}
        self.above: dict[cst.CSTNode, Sequence[cst.EmptyLine]] = {}

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        before = self.before.get(original_node, [])
        if original_node in self.gone:
            if before:
                return cst.FlattenSentinel(before)  # type: ignore[arg-type]
            return cst.RemoveFromParent()
        if original_node in self.changed:
            return self.changed[original_node]  # type: ignore[return-value]
        if original_node in self.above:
            own = updated_node.leading_lines  # type: ignore[attr-defined]
            lines = [*self.above[original_node], *own]
            updated_node = updated_node.with_changes(leading_lines=lines)
        if before:
            return cst.FlattenSentinel([*before, updated_node])  # type: ignore[list-item]
        return super().on_leave(original_node, updated_node)


def _stores(tree: Tree, node: cst.CSTNode, name: str) -> bool:
    """An attribute of that name that is written to, or deleted."""
    if not isinstance(node, cst.Attribute) or node.attr.value != name:
        return False
    holder: cst.CSTNode | None = tree.parent(node)
    child: cst.CSTNode = node
    while isinstance(holder, (cst.Element, cst.Tuple, cst.List, cst.StarredElement)):
        child, holder = holder, tree.parent(holder)
    if isinstance(holder, (cst.AssignTarget, cst.Del, cst.NamedExpr)):
        return True
    return (
        isinstance(holder, (cst.AugAssign, cst.AnnAssign, cst.For, cst.CompFor))
        and holder.target is child
    ) or isinstance(holder, cst.AsName)


def _targets(small: cst.BaseSmallStatement | None) -> list[str]:
    """What a plain assignment writes to, as source."""
    if not isinstance(small, cst.Assign):
        return []
    return [cst.Module([]).code_for_node(t.target) for t in small.targets]


def _parameter(name: str) -> cst.Param:
    return cst.Param(cst.Name(name))


def _comments(function: cst.FunctionDef) -> list[cst.EmptyLine]:
    """The comments above a method, without lines that part a class in sections."""
    return [
        line
        for line in function.leading_lines
        if line.comment is not None and line.comment.value.strip("#-=*~ ")
    ]


def _apart(function: cst.FunctionDef) -> cst.FunctionDef:
    blank = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    return function.with_changes(leading_lines=[*blank, *function.leading_lines])


def _snake(name: str) -> str:
    return "".join(
        f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name)
    )
