"""Helpers of a model_fn that train or measure, written out where they are called.

A model_fn often leaves its optimizer, its train_op, its metrics or a whole spec to
functions. What becomes of these stands in several places of a loop, so they are
read as if the model_fn said it all itself. A helper that cannot be written out
stays, and is what stops the program if it matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ...project.parsing import parse
from ...symbols.scopes import Scope
from ..code.arguments import UnknownArguments, match_arguments
from ..code.single_exit import single_exit
from ..code.statements import assigned, is_docstring
from ..code.substitute import VariableTransformer
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..keras.program import OPTIMIZERS
from ..layers.layer_search import makes_layers
from ..model_fn.source import Source
from .tuples import assignment, one_by_one

__all__ = ["with_helpers_written_out"]

_TRAINS = (
    "tf.gradients",
    "tf.clip_by_global_norm",
    "tf.get_collection",
    "tf.losses.get_regularization_loss",
    "tf.losses.get_total_loss",
    "tf.trainable_variables",
)
_TRAINS_ENDINGS = ("layers.optimize_loss", "EstimatorSpec", "CrossShardOptimizer")
_TRAINS_METHODS = ("minimize", "apply_gradients", "compute_gradients")
_VERBS = ("get_", "make_", "create_", "build_", "_")
# A value may be used at another place than it was asked for only when it is plain.
_PLAIN = (
    cst.Name,
    cst.Integer,
    cst.Float,
    cst.SimpleString,
    cst.Attribute,
    cst.UnaryOperation,
    cst.Minus,
    cst.Dot,
    cst.Subscript,
    cst.SubscriptElement,
    cst.Index,
    cst.LeftSquareBracket,
    cst.RightSquareBracket,
)
# Parts of an expression that may not be evaluated, or more than once.
_CONDITIONAL = (cst.IfExp, cst.BooleanOperation, cst.Lambda, cst.BaseComp)
_NOT_MOVED = (
    cst.Global,
    cst.Nonlocal,
    cst.Yield,
    cst.Await,
    cst.ClassDef,
    cst.Del,
    cst.NamedExpr,
    cst.Import,
    cst.ImportFrom,
)


def with_helpers_written_out(
    tree: Tree, model_fn: cst.FunctionDef
) -> cst.Module | None:
    """The module with one helper of a model_fn written out, or None."""
    for call in walk(model_fn.body):
        if not isinstance(call, cst.Call) or tree.function(call) is not model_fn:
            continue
        helper = tree.resolver.definition(call.func)
        if isinstance(helper, cst.FunctionDef) and (
            _trains(tree, helper) or _gives_loss(tree, model_fn, call, helper)
        ):
            changes = _Writer(tree, model_fn, call, helper).written()
            if changes is not None:
                module = tree.module.visit(changes)
                assert isinstance(module, cst.Module)
                return parse(module.code)
    return None


def _trains(tree: Tree, helper: cst.FunctionDef, depth: int = 0) -> bool:
    """The function has to do with an optimizer, gradients, metrics or a spec."""
    if not isinstance(tree.parent(helper), cst.Module) or depth > 4:
        return False
    for node in walk(helper.body):
        if not isinstance(node, cst.Call):
            continue
        symbol = tree.symbol(node.func)
        if symbol is not None:
            if symbol in OPTIMIZERS or symbol in _TRAINS:
                return True
            if symbol.startswith("tf.metrics.") or symbol.endswith(_TRAINS_ENDINGS):
                return True
            continue
        if isinstance(node.func, cst.Attribute):
            if node.func.attr.value in _TRAINS_METHODS:
                return True
            continue
        inner = tree.resolver.definition(node.func)
        if isinstance(inner, cst.FunctionDef) and _trains(tree, inner, depth + 1):
            return True
    return False


def _gives_loss(
    tree: Tree, model_fn: cst.FunctionDef, call: cst.Call, helper: cst.FunctionDef
) -> bool:
    """The function makes layers, and what a spec names as its loss."""
    if not isinstance(tree.parent(helper), cst.Module):
        return False
    given = set(assigned(tree.statement(call)))
    specs = [
        node
        for node in walk(model_fn.body)
        if isinstance(node, cst.Call)
        and (tree.symbol(node.func) or "").endswith("EstimatorSpec")
    ]
    losses = {
        argument.value.value
        for spec in specs
        for argument in spec.args
        if argument.keyword is not None
        and argument.keyword.value == "loss"
        and isinstance(argument.value, cst.Name)
    }
    return bool(given & losses) and makes_layers(Source(tree, model_fn), helper.body)


@dataclass
class _Changes(cst.CSTTransformer):
    """Puts statements before one, another in its place, and drops the helper."""

    statement: Statement
    instead: list[Statement]
    gone: cst.FunctionDef | None
    call: cst.Call
    value: cst.BaseExpression | None = field(default=None)

    def __post_init__(self) -> None:
        super().__init__()

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node is self.gone:
            return cst.RemoveFromParent()
        if original_node is self.call and self.value is not None:
            return self.value  # type: ignore[return-value]
        if original_node is self.statement:
            last = [] if self.value is None else [updated_node]
            made = [*self.instead, *last]
            return cst.FlattenSentinel(made)  # type: ignore[arg-type]
        return super().on_leave(original_node, updated_node)


class _Writer:
    def __init__(
        self,
        tree: Tree,
        around: cst.FunctionDef | None,
        call: cst.Call,
        helper: cst.FunctionDef,
    ) -> None:
        self.tree = tree
        self.around = around
        self.call = call
        self.helper = helper
        self.opened = tree.resolver.scopes.opened

    def written(self) -> _Changes | None:
        """The changes, or None where the helper cannot be written out."""
        statement = self.tree.statement(self.call)
        small = only_small(statement)
        if small is None or not self._is_movable() or not self._is_reached(statement):
            return None
        body = statements_of(self.helper.body)  # type: ignore[arg-type]
        said = [s for s in body if is_docstring(s)][:1] if is_docstring(body[0]) else []
        body = _flat_end(self.tree, body[len(said) :])
        target = self._target(small)
        names = self._names(self._same(small, body, target))
        if names is None:
            return None
        renamed, before = names
        result = target or self._result_name()
        value: cst.BaseExpression | None = None
        last = only_small(body[-1]) if body else None
        if isinstance(last, cst.Return) and _returns(body) == 1:
            body, value = body[:-1], last.value
        elif _returns(body):
            exits = single_exit(body, result)
            if exits is None:
                return None
            body, value = exits, cst.Name(result)
            renamed = {k: v for k, v in renamed.items() if k != result}
        elif not isinstance(small, cst.Expr):
            return None
        moved = [self._renamed(s, renamed) for s in body]
        if value is not None:
            changed = value.visit(_Renames(renamed))
            assert isinstance(changed, cst.BaseExpression)
            value = changed
        made = [*before, *moved]
        parts = one_by_one(self.call, small, value)
        if parts is not None:
            made, value = [*made, *parts], None
        elif isinstance(value, cst.Name) and value.value == target:
            value = None
        elif value is not None and not self._is_whole(small):
            made.append(assignment(result, value))
            value = cst.Name(result)
        lines = [*statement.leading_lines, *self._comment(said)]
        if made:
            own = list(made[0].leading_lines)
            made[0] = made[0].with_changes(leading_lines=[*lines, *own])
            statement_lines: Sequence[cst.EmptyLine] = ()
        else:
            statement_lines = lines
        uses = self.tree.loads(self.helper.name.value)
        gone = self.helper if len(uses) == 1 else None
        return _Placed(statement, made, gone, self.call, value, statement_lines)

    # -- whether it can be ------------------------------------------------------

    def _is_movable(self) -> bool:
        """A plain function: its statements mean the same somewhere else."""
        helper = self.helper
        parameters = helper.params
        if (
            helper.decorators
            or helper.asynchronous is not None
            or parameters.star_kwarg is not None
            or isinstance(parameters.star_arg, cst.Param)
            or not isinstance(helper.body, cst.IndentedBlock)
        ):
            return False
        for node in walk(helper.body):
            if isinstance(node, _NOT_MOVED):
                return False
        calls = (node for node in walk(helper.body) if isinstance(node, cst.Call))
        return all(
            self.tree.resolver.definition(call.func) is not helper for call in calls
        )

    def _is_reached(self, statement: Statement) -> bool:
        """The call is evaluated once whenever its statement is."""
        for node in self.tree.ancestors(self.call):
            if node is statement:
                return True
            if isinstance(node, _CONDITIONAL):
                return False
        return False

    def _is_whole(self, small: cst.BaseSmallStatement) -> bool:
        """The call is a value by itself: no operator binds to it."""
        holder = self.tree.parent(self.call)
        return isinstance(
            holder, (cst.Arg, cst.Assign, cst.Return, cst.DictElement, cst.Element)
        ) or isinstance(small, cst.Expr)

    # -- names ------------------------------------------------------------------

    def _target(self, small: cst.BaseSmallStatement) -> str | None:
        """``name`` of ``name = helper(...)``."""
        if (
            isinstance(small, cst.Assign)
            and small.value is self.call
            and len(small.targets) == 1
            and isinstance(small.targets[0].target, cst.Name)
        ):
            return small.targets[0].target.value
        return None

    def _same(
        self,
        small: cst.BaseSmallStatement,
        body: Sequence[Statement],
        target: str | None,
    ) -> dict[str, str]:
        """Names of the helper that it returns, and what the caller calls them."""
        if target is not None:
            returned = self._returned()
            return {} if returned is None else {returned: target}
        last = only_small(body[-1]) if body else None
        value = last.value if isinstance(last, cst.Return) else None
        wanted = _targets(small, self.call)
        if not isinstance(value, cst.Tuple) or len(value.elements) != len(wanted):
            return {}
        given = [e.value.value for e in value.elements if isinstance(e.value, cst.Name)]
        if len(set(given)) != len(wanted) or len(set(wanted)) != len(wanted):
            return {}
        return dict(zip(given, wanted, strict=True))

    def _outer(self) -> tuple[set[str], set[str]]:
        """Names that the caller uses at all, and those that it binds."""
        used: set[str] = set()
        bound: set[str] = set()
        if self.around is None:
            return self._global(), bound
        around: cst.CSTNode | None = self.around
        while around is not None and not isinstance(around, cst.Module):
            scope = self.opened.get(around)
            if isinstance(around, cst.FunctionDef) and scope is not None:
                bound |= set(scope.bindings)
            around = self.tree.parent(around)
        for node in walk(self.around):
            if isinstance(node, cst.Name) and not self._is_label(node):
                used.add(node.value)
        return used | bound, bound

    def _global(self) -> set[str]:
        """Names of the module, and those that any function takes from it."""
        scopes = self.tree.resolver.scopes
        used = set(scopes.module_scope.bindings)
        for name in scopes.loads:
            found = self.tree.resolver.bindings(name)
            if not found or found[0].scope is scopes.module_scope:
                used.add(name.value)
        return used

    def _is_label(self, name: cst.Name) -> bool:
        """The name of an attribute or of an argument, which is no variable."""
        holder = self.tree.parent(name)
        if isinstance(holder, cst.Attribute):
            return holder.attr is name
        return isinstance(holder, cst.Arg) and holder.keyword is name

    def _names(
        self, same: dict[str, str]
    ) -> tuple[dict[str, cst.BaseExpression], list[Statement]] | None:
        """What stands for the helper's names, and assignments that come first.

        ``same`` are names that the caller has for what the helper returns.
        """
        scope = self.opened.get(self.helper)
        if scope is None:
            return None
        used, bound = self._outer()
        own = set(scope.bindings)
        free = {
            name.value
            for name in walk(self.helper.body)
            if isinstance(name, cst.Name)
            and name in self.tree.resolver.scopes.loads
            and name.value not in own
            and not self._inner(name, scope)
        }
        if free & bound:
            return None  # a global of the helper is something else here
        if self._captured(scope):
            return None
        parameters = [*self.helper.params.params, *self.helper.params.kwonly_params]
        try:
            given = match_arguments(self.call, [p.name.value for p in parameters])
        except UnknownArguments:
            return None
        renamed: dict[str, cst.BaseExpression] = {}
        before: list[Statement] = []
        taken = used | own | free
        for name in sorted(own):
            if name in [p.name.value for p in parameters]:
                continue
            target = same.get(name)
            if (
                target is not None
                and target not in own - {name}
                and not self._reads(target)
            ):
                # The name that is returned is what the caller calls it.
                renamed[name] = cst.Name(target)
                continue
            if name in used:
                renamed[name] = cst.Name(_free(name, taken))
        for parameter in parameters:
            name = parameter.name.value
            value = given.get(name, parameter.default)
            if value is None or (name not in given and not _is_plain(value)):
                return None
            rebound = len(scope.bindings.get(name, ())) != 1
            shadowed = any(
                name in inner.bindings
                for inner in self.opened.values()
                if inner is not scope and _below(inner, scope)
            )
            if shadowed:
                return None
            if _is_plain(value) and not rebound:
                if not (isinstance(value, cst.Name) and value.value == name):
                    renamed[name] = value
                continue
            new = name if name not in used else _free(name, taken)
            if new != name:
                renamed[name] = cst.Name(new)
            before.append(assignment(new, value))
        return renamed, before

    def _captured(self, scope: Scope) -> bool:
        """A function in the helper reads what the caller binds several times.

        Written out it would see what the name stands for later.
        """
        changing = any(
            len(binding.scope.bindings[binding.name]) != 1
            for argument in self.call.args
            for node in walk(argument.value)
            if isinstance(node, cst.Name) and node in self.tree.resolver.scopes.loads
            for binding in self.tree.resolver.bindings(node)
        )
        return changing and any(
            isinstance(node, (cst.FunctionDef, cst.Lambda))
            and _below(inner, scope)
            and inner is not scope
            for node, inner in self.opened.items()
        )

    def _inner(self, name: cst.Name, scope: Scope) -> bool:
        """The name belongs to a function or comprehension within the helper."""
        found: Scope | None = self.tree.resolver.scopes.loads[name][0]
        while found is not None and found is not scope:
            if name.value in found.bindings:
                return True
            found = found.parent
        return False

    def _returned(self) -> str | None:
        """The local that the helper returns."""
        for node in walk(self.helper.body):
            if isinstance(node, cst.Return) and isinstance(node.value, cst.Name):
                return node.value.value
        return None

    def _reads(self, name: str) -> bool:
        """An argument of the call reads the name that it is to give."""
        return any(
            isinstance(node, cst.Name) and node.value == name
            for argument in self.call.args
            for node in walk(argument.value)
        )

    def _result_name(self) -> str:
        wanted = self.helper.name.value
        for verb in _VERBS:
            wanted = wanted.removeprefix(verb)
        used, _ = self._outer()
        scope = self.opened.get(self.helper)
        own = set(scope.bindings) if scope is not None else set()
        return _free(wanted or "result", used | own, first=True)

    # -- text -------------------------------------------------------------------

    def _renamed(
        self, statement: Statement, names: dict[str, cst.BaseExpression]
    ) -> Statement:
        changed = statement.visit(_Renames(names))
        assert isinstance(changed, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        return changed

    def _comment(self, said: Sequence[Statement]) -> list[cst.EmptyLine]:
        """A docstring of one line goes on as a comment."""
        small = only_small(said[0]) if said else None
        value = getattr(small, "value", None)
        if not isinstance(value, cst.SimpleString):
            return []
        text = str(value.evaluated_value).strip()
        if "\n" in text or not text:
            return []
        return [cst.EmptyLine(comment=cst.Comment(f"# {text}"))]


@dataclass
class _Placed(_Changes):
    lines: Sequence[cst.EmptyLine] = ()

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node is self.statement:
            updated_node = updated_node.with_changes(leading_lines=self.lines)
        return super().on_leave(original_node, updated_node)


class _Renames(VariableTransformer):
    """Other names, or what they stand for, in a helper's statements."""

    def __init__(self, names: dict[str, cst.BaseExpression]) -> None:
        self.names = names

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        new = self.names.get(original_node.value)
        return updated_node if new is None else new.deep_clone()


def _targets(small: cst.BaseSmallStatement, call: cst.Call) -> list[str]:
    """``a, b`` of ``a, b = helper(...)``."""
    if (
        not isinstance(small, cst.Assign)
        or small.value is not call
        or len(small.targets) != 1
        or not isinstance(small.targets[0].target, cst.Tuple)
    ):
        return []
    parts = [element.value for element in small.targets[0].target.elements]
    names = [part.value for part in parts if isinstance(part, cst.Name)]
    return names if len(names) == len(parts) else []


_SCOPES = ("tf.variable_scope", "tf.name_scope")


def _flat_end(tree: Tree, body: Sequence[Statement]) -> list[Statement]:
    """A last ``return a, b`` inside of scopes, which is the same behind them."""
    last = body[-1] if body else None
    if not isinstance(last, cst.With) or not isinstance(last.body, cst.IndentedBlock):
        return list(body)
    scopes = [
        item.item
        for item in last.items
        if isinstance(item.item, cst.Call)
        and tree.symbol(item.item.func) in _SCOPES
        and item.asname is None
    ]
    inside = _flat_end(tree, statements_of(last.body))
    end = only_small(inside[-1]) if inside else None
    value = end.value if isinstance(end, cst.Return) else None
    if (
        len(scopes) != len(last.items)
        or value is None
        or len(inside) < 2
        or any(isinstance(node, cst.Call) for node in walk(value))
    ):
        return list(body)
    block = last.body.with_changes(body=inside[:-1])
    return [*body[:-1], last.with_changes(body=block), inside[-1]]


def _returns(body: Sequence[Statement]) -> int:
    return sum(isinstance(n, cst.Return) for s in body for n in _own(s))


def _own(root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Everything below a statement but what nested functions hold."""
    yield root
    if isinstance(root, (cst.FunctionDef, cst.ClassDef)):
        return
    for child in root.children:
        if not isinstance(child, (cst.FunctionDef, cst.Lambda)):
            yield from _own(child)


def _is_plain(value: cst.BaseExpression) -> bool:
    return not value.lpar and all(
        isinstance(node, (*_PLAIN, cst.BaseParenthesizableWhitespace))
        for node in walk(value)
    )


def _below(inner: Scope, outer: Scope) -> bool:
    found: Scope | None = inner
    while found is not None:
        if found is outer:
            return True
        found = found.parent
    return False


def _free(name: str, taken: set[str], *, first: bool = False) -> str:
    new = name if first else f"{name}_"
    while new in taken:
        new += "_"
    taken.add(new)
    return new
