"""Plain classes that build their layers once and are then called.

``class Net(object)`` with layers in ``__init__`` and the forward pass in
``__call__`` is a Keras layer in all but name: it becomes one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..code.arguments import UnknownArguments, match_arguments
from ..code.pure import is_plain_call
from ..code.statements import is_docstring
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..model_fn.source import Source
from .functions import CLASSES
from .lifted_names import RESERVED_OF_LAYERS, Lifted, source_text

if TYPE_CHECKING:
    from .lifter import Lifter
    from .lifter_state import LiftedState

__all__ = ["called_class", "layer_attributes", "lift_object_call", "own"]

_CALL = "__call__"


def called_class(tree: Tree, made: cst.Call | None) -> cst.ClassDef | None:
    """The plain class with a ``__call__`` that this call makes an object of."""
    if made is None or tree.symbol(made.func) is not None:
        return None
    defined = tree.resolver.definition(made.func)
    if not isinstance(defined, cst.ClassDef) or _CALL not in _methods(defined):
        return None
    bases = [tree.code(base.value) for base in defined.bases]
    return defined if bases in ([], ["object"]) and not defined.keywords else None


def _methods(defined: cst.ClassDef) -> dict[str, cst.FunctionDef]:
    return {
        statement.name.value: statement
        for statement in defined.body.body
        if isinstance(statement, cst.FunctionDef)
    }


def layer_attributes(tree: Tree, defined: cst.ClassDef) -> dict[str, cst.Call | None]:
    """Attributes that hold a layer, with the call that makes it; or several."""
    found: dict[str, cst.Call | None] = {}
    begin = _methods(defined).get("__init__")
    if begin is None:
        return found
    for node in walk(begin.body):
        if not isinstance(node, cst.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0].target
        if not own(target) or not any(_makes(tree, n) for n in walk(node.value)):
            continue
        assert isinstance(target, cst.Attribute)
        name = target.attr.value
        alone = isinstance(node.value, cst.Call) and _makes(tree, node.value)
        found[name] = node.value if alone and name not in found else None  # type: ignore[assignment]
    return found


def _makes(tree: Tree, node: cst.CSTNode) -> bool:
    """The node is a call that makes a layer object."""
    if not isinstance(node, cst.Call):
        return False
    symbol = tree.symbol(node.func)
    if symbol is None:
        return called_class(tree, node) is not None
    known = symbol.startswith("tf.keras.layers.")
    return symbol in CLASSES or (known and symbol.rpartition(".")[2][:1].isupper())


def own(node: cst.BaseExpression) -> bool:
    """``self.name``."""
    return (
        isinstance(node, cst.Attribute)
        and isinstance(node.value, cst.Name)
        and node.value.value == "self"
    )


def lift_object_call(
    lifter: LiftedState, defined: cst.ClassDef, call: cst.Call, made: str
) -> cst.BaseExpression:
    """The call of the layer that the object has become; ``made`` stands for it."""
    source = lifter.source
    shown = defined.name.value
    method = _methods(defined)[_CALL]
    parameters = [p.name.value for p in method.params.params[1:]]
    if method.params.kwonly_params or method.params.star_kwarg is not None:
        raise source.stop(call, f"`{shown}.{_CALL}` takes star arguments")
    try:
        given = match_arguments(call, parameters)
    except UnknownArguments as problem:
        raise source.stop(call, f"`{shown}` called with {problem}") from None
    roles = {
        name: "training" if _is_flag(lifter, node) else "tensor"
        for name, node in given.items()
    }
    lifted = lifter.shared.helpers.get(defined)
    if lifted is None:
        lifted = _Class(lifter, defined, roles).lift()
        lifter.shared.helpers[defined] = lifted
    elif any(lifted.roles.get(name, role) != role for name, role in roles.items()):
        raise source.stop(call, f"`{shown}` is called in several ways")
    elif len(lifted.init) != lifted.own_init:
        # Each call made layers of its own.
        raise source.stop(call, f"`{shown}` makes layers in each of its calls")
    outside, flag = [], ""
    for index, argument in enumerate(call.args):
        name = argument.keyword.value if argument.keyword else parameters[index]
        code = source_text(lifter.moved(argument.value))
        if roles[name] == "training":
            flag = code
        else:
            outside.append(f"{name}={code}" if argument.keyword else code)
    if lifted.training:
        outside.append(f"training={flag or 'False'}")
    return cst.parse_expression(f"{made}({', '.join(outside)})")


def _is_flag(lifter: LiftedState, node: cst.BaseExpression) -> bool:
    from .lifter_state import Kind

    if isinstance(node, cst.Name) and lifter.kinds.get(node.value) is Kind.TRAINING:
        return True
    return lifter.mode_kind(node) is Kind.TRAINING


class _Class:
    """One class on its way to a Keras layer."""

    def __init__(
        self, lifter: LiftedState, defined: cst.ClassDef, roles: dict[str, str]
    ) -> None:
        self.lifter = lifter
        self.tree = lifter.tree
        self.defined = defined
        self.roles = roles
        self.methods = _methods(defined)
        self.layers = layer_attributes(lifter.tree, defined)

    def stop(self, node: cst.CSTNode, reason: str) -> Exception:
        return self.lifter.source.stop(node, f"`{self.defined.name.value}` {reason}")

    def lift(self) -> Lifted:
        """The class as data of a Keras layer."""
        docstring, fields = self._head()
        begin = self.methods.get("__init__")
        init = [] if begin is None else self._init(begin)
        call = self.methods[_CALL]
        inner = self._method(call, self.roles)
        code = inner.lift(self._body(call))
        others = []
        for name, method in self.methods.items():
            if name not in ("__init__", _CALL):
                others.append(self._other(method, inner))
        tensors = [
            _parameter(p)
            for p in call.params.params[1:]
            if self.roles.get(p.name.value, "tensor") != "training"
        ]
        parameters = [] if begin is None else begin.params.params[1:]
        return Lifted(
            name=self.defined.name.value,
            base="Layer",
            docstring=docstring,
            parameters=tuple(_parameter(p) for p in parameters),
            arguments=tuple(tensors),
            init=(*init, *inner.init_code(set())),
            own_init=len(init),
            fields=tuple(fields),
            methods=tuple(others),
            call=tuple(source_text(s) for s in code),
            training=inner.uses_training,
            roles=self.roles,
            definition=self.defined,
        )

    def _head(self) -> tuple[str | None, list[str]]:
        """The docstring, and plain attributes of the class."""
        docstring, fields = None, []
        if not isinstance(self.defined.body, cst.IndentedBlock):
            raise self.stop(self.defined, "is written on one line")
        for index, statement in enumerate(statements_of(self.defined.body)):
            if isinstance(statement, cst.FunctionDef):
                known = not statement.name.value.startswith("__")
                own = statement.name.value in ("__init__", _CALL)
                if statement.decorators or not (known or own):
                    raise self.stop(statement, f"has `{statement.name.value}`")
                if known and statement.name.value in RESERVED_OF_LAYERS | {"call"}:
                    raise self.stop(statement, "has a method of a name of Keras'")
                if statement.params.params[:1] == () or (
                    statement.params.params[0].name.value != "self"
                ):
                    raise self.stop(statement, "has a method without `self`")
            elif index == 0 and is_docstring(statement):
                docstring = source_text(statement)
            elif isinstance(only_small(statement), cst.Assign) and not any(
                isinstance(node, cst.Call) for node in walk(statement)
            ):
                fields.append(source_text(statement))
            elif not isinstance(only_small(statement), cst.Pass):
                raise self.stop(statement, "has more than methods")
        return docstring, fields

    def _body(self, method: cst.FunctionDef) -> list[Statement]:
        assert isinstance(method.body, cst.IndentedBlock)
        found = statements_of(method.body)
        return found[1:] if found and is_docstring(found[0]) else found

    # -- __init__ ----------------------------------------

    def _init(self, begin: cst.FunctionDef) -> list[str]:
        if begin.params.kwonly_params or begin.params.star_kwarg is not None:
            raise self.stop(begin, "is made with star arguments")
        found = []
        for statement in self._body(begin):
            small = only_small(statement)
            if isinstance(small, cst.Pass) or _calls_super(small):
                continue
            for node in walk(statement):
                if isinstance(node, (cst.Return, cst.FunctionDef, cst.Lambda)):
                    raise self.stop(node, "has an `__init__` that is not understood")
                if isinstance(node, cst.AssignTarget) and own(node.target):
                    assert isinstance(node.target, cst.Attribute)
                    name = node.target.attr.value
                    if name in RESERVED_OF_LAYERS or name in ("call", "build"):
                        reason = f"has an attribute `{name}`, which is one of Keras'"
                        raise self.stop(node, reason)
            changed = statement.visit(_Constructors(self))
            assert isinstance(
                changed, (cst.SimpleStatementLine, cst.BaseCompoundStatement)
            )
            found.append(source_text(changed))
        return found

    def constructor(self, call: cst.Call) -> str | None:
        """New source of a call in ``__init__``, or None where it may stay."""
        symbol = self.tree.symbol(call.func)
        if symbol in CLASSES:
            from .made_layers import Conversion

            return Conversion(
                self.lifter.source,
                source_text,
                source_text,
                self.lifter.shared.regularised,
                None,
                {},
            ).made_class(symbol, call)
        if symbol is not None:
            last = symbol.rpartition(".")[2]
            values = ("tf.keras.initializers.", "tf.keras.regularizers.")
            if _makes(self.tree, call) and last not in ("Input", "Lambda"):
                self.lifter.shared.sparse |= last == "Embedding"
                return None
            if symbol.startswith(values) or symbol == "tf.keras.Sequential":
                return None
            raise self.stop(call, f"calls `{symbol}` in its `__init__`")
        function = call.func
        if _makes(self.tree, call):
            raise self.stop(call, "makes an object of another such class")
        if isinstance(function, cst.Attribute) and function.attr.value == "append":
            return None
        if not is_plain_call(self.lifter.source, call):
            shown = self.tree.code(function)
            raise self.stop(call, f"calls `{shown}` in its `__init__`")
        return None

    # -- methods ----------------------------------------

    def _method(self, method: cst.FunctionDef, roles: dict[str, str]) -> Lifter:
        from .lifter import Lifter
        from .lifter_state import Kind

        kinds = {
            name: Kind.TRAINING if role == "training" else Kind.TENSOR
            for name, role in roles.items()
        }
        for parameter in method.params.params[1:]:
            kinds.setdefault(parameter.name.value, Kind.TENSOR)
        if kinds.get("training") is Kind.TENSOR and method is self.methods[_CALL]:
            raise self.stop(method, "is not given the mode in `training`")
        for node in walk(method.body):
            if isinstance(node, cst.AssignTarget) and own(node.target):
                raise self.stop(node, "keeps what its forward pass makes")
        source = Source(self.tree, method)
        inner = Lifter(source, self.lifter.modes, self.lifter.shared, kinds)
        inner.owner = (self.layers, frozenset(self.methods))
        inner.attributes = {
            node.attr.value
            for node in walk(self.defined)
            if isinstance(node, cst.Attribute) and own(node)
        }
        return inner

    def _other(self, method: cst.FunctionDef, outer: LiftedState) -> str:
        """A method that the forward pass calls: its layers are there already."""
        inner = self._method(method, {})
        code = inner.lift(self._body(method))
        if inner.init or inner.config or inner.uses_training:
            raise self.stop(method, f"makes layers in `{method.name.value}`")
        body = "".join(source_text(s) for s in code)
        lines = "".join(f"    {line}" for line in body.splitlines(keepends=True))
        parameters = ", ".join(_parameter(p) for p in method.params.params)
        return f"def {method.name.value}({parameters}):\n{lines}"


def _parameter(parameter: cst.Param) -> str:
    name, default = parameter.name.value, parameter.default
    return name if default is None else f"{name}={source_text(default)}"


def _calls_super(small: cst.BaseSmallStatement | None) -> bool:
    if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return False
    names = [n.value for n in walk(small.value) if isinstance(n, cst.Name)]
    return "super" in names and "__init__" in names


class _Constructors(cst.CSTTransformer):
    """Layers of ``__init__`` as Keras knows them."""

    def __init__(self, owner: _Class) -> None:
        self.owner = owner

    def visit_Call(self, node: cst.Call) -> bool:
        return self.owner.tree.symbol(node.func) not in CLASSES

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        code = self.owner.constructor(original_node)
        return updated_node if code is None else cst.parse_expression(code)
