"""Hooks that only initialise an iterator, and what they feed its placeholders.

Programs with much data fed it to ``make_initializable_iterator()`` from a hook, to
keep it out of the graph. A Dataset of TF 2 takes the arrays themselves, so the
placeholders, the hook and its class all go.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...project.parsing import parse
from ...symbols.scopes import Binding, BindingKind
from ..code.statements import is_docstring
from ..code.tree import Body, Statement, Tree, only_small, statements_of, walk
from ..hooks.own import HOOK_BASES
from ..sites import Blocked

__all__ = ["without_initializer_hooks"]

_RULE = "TFM116"
_PLACEHOLDERS = ("tf.placeholder", "tf.compat.v1.placeholder")
# What feeding makes of any array, as of numpy.asarray.
_DTYPES = ("float32", "float64", "int32", "int64", "uint8")
_SPECS = ("tf.estimator.TrainSpec", "tf.estimator.EvalSpec")
_CALLS = ("train", "evaluate", "predict")
_FED = (cst.Name, cst.Attribute, cst.Dot)
_PAIR = 2


def without_initializer_hooks(tree: Tree, *, shared: bool) -> cst.Module | None:
    """The module without one class of such hooks, or None where it has none.

    ``shared`` tells that other files import the module.
    """
    for defined in walk(tree.module):
        if isinstance(defined, cst.ClassDef):
            attribute = _initialises(tree, defined)
            if attribute is not None and _made(tree, defined):
                changes = _Reader(tree, defined, attribute, shared=shared).read()
                module = tree.module.visit(changes)
                assert isinstance(module, cst.Module)
                return parse(module.code)
    return None


def _method(defined: cst.ClassDef, name: str) -> cst.FunctionDef | None:
    for statement in defined.body.body:
        if isinstance(statement, cst.FunctionDef) and statement.name.value == name:
            return statement
    return None


def _work(body: cst.BaseSuite) -> list[Statement]:
    """The statements of a body that do something."""
    if not isinstance(body, cst.IndentedBlock):
        return []
    return [
        s
        for s in statements_of(body)
        if not is_docstring(s) and not isinstance(only_small(s), cst.Pass)
    ]


def _initialises(tree: Tree, defined: cst.ClassDef) -> str | None:
    """The attribute that a hook calls with, or runs in, every new session."""
    method = _method(defined, "after_create_session")
    bases = [tree.symbol(base.value) for base in defined.bases]
    if method is None or len(bases) != 1 or bases[0] not in HOOK_BASES:
        return None
    names = [p.name.value for p in method.params.params]
    if len(names) <= 1:
        return None
    for statement in _work(method.body):
        attribute = _initialiser(tree, statement, *names[:2])
        if attribute is not None:
            return attribute
    return None


def _initialiser(
    tree: Tree, statement: Statement, owner: str, session: str
) -> str | None:
    """``self.attribute(session)`` or ``session.run(self.attribute)``."""
    small = only_small(statement)
    call = small.value if isinstance(small, cst.Expr) else None
    if not isinstance(call, cst.Call) or len(call.args) != 1:
        return None
    given = call.args[0].value
    held: cst.BaseExpression = call.func
    if tree.code(call.func) == f"{session}.run":
        held = given
    elif tree.code(given) != session:
        return None
    if isinstance(held, cst.Attribute) and tree.code(held.value) == owner:
        return held.attr.value
    return None


def _made(tree: Tree, defined: cst.ClassDef) -> list[cst.Name]:
    """The places outside of the class that name it."""
    return [
        load
        for load in tree.loads(defined.name.value)
        if all(holder is not defined for holder in tree.ancestors(load))
    ]


class _Changes(cst.CSTTransformer):
    """Drops nodes and puts others in their place."""

    def __init__(self) -> None:
        super().__init__()
        self.drop: set[cst.CSTNode] = set()
        self.instead: dict[cst.CSTNode, cst.CSTNode] = {}
        # Arguments that become the last, and what followed the last one.
        self.commas: dict[cst.CSTNode, cst.Comma | cst.MaybeSentinel] = {}

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node in self.drop:
            return cst.RemoveFromParent()
        found = self.instead.get(original_node)
        if found is not None:
            return found  # type: ignore[return-value]
        if original_node in self.commas and isinstance(updated_node, cst.Arg):
            return updated_node.with_changes(comma=self.commas[original_node])
        if isinstance(original_node, (cst.Module, cst.IndentedBlock)):
            assert isinstance(updated_node, (cst.Module, cst.IndentedBlock))
            return self._spaced(  # type: ignore[return-value]
                original_node, updated_node
            )
        return super().on_leave(original_node, updated_node)

    def _spaced(self, before: Body, after: Body) -> Body:
        """What follows a dropped statement keeps the blank lines in front of it."""
        old, new = statements_of(before), statements_of(after)
        gone, made = 0, iter(new)
        changed: list[Statement] = []
        for statement in old:
            if statement in self.drop:
                gone = max(gone, _blank(statement))
                continue
            kept = next(made)
            if statement is not old[0] and gone + (not changed):
                lines = list(kept.leading_lines)[_blank(kept) :]
                count = max(gone, _blank(kept))
                if not changed and isinstance(after, cst.IndentedBlock):
                    count = 0
                blank = [cst.EmptyLine(indent=False)] * count
                kept = kept.with_changes(leading_lines=[*blank, *lines])
            changed.append(kept)
            gone = 0
        return after.with_changes(body=changed) if len(changed) != len(old) else after


def _blank(statement: Statement) -> int:
    """How many blank lines stand in front of a statement."""
    lines = statement.leading_lines
    said = [n for n, line in enumerate(lines) if line.comment is not None]
    return said[0] if said else len(lines)


class _Reader:
    def __init__(
        self, tree: Tree, defined: cst.ClassDef, attribute: str, *, shared: bool
    ) -> None:
        self.tree = tree
        self.defined = defined
        self.attribute = attribute
        self.shared = shared
        self.shown = f"`{defined.name.value}`"
        self.changes = _Changes()

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        return Blocked(_RULE, self.tree.line(node), reason)

    def read(self) -> _Changes:
        """What takes the hooks away; all that they do must be understood."""
        if self.shared:
            reason = f"other files may use {self.shown}, which feeds an iterator"
            raise self.stop(self.defined, reason)
        self._check_class()
        for load in _made(self.tree, self.defined):
            if self.tree.resolver.definition(load) is not self.defined:
                raise self.stop(load, f"{self.shown} is something else as well")
            call = self.tree.parent(load)
            small = only_small(self.tree.statement(load))
            if not (
                isinstance(call, cst.Call)
                and not call.args
                and isinstance(small, cst.Assign)
                and small.value is call
                and len(small.targets) == 1
                and isinstance(small.targets[0].target, cst.Name)
            ):
                raise self.stop(load, f"{self.shown} is not simply made and named")
            statement = self.tree.statement(load)
            self.changes.drop.add(statement)
            self._hook(small.targets[0].target)
        self.changes.drop.add(self.defined)
        return self.changes

    def _check_class(self) -> None:
        """The class holds the attribute and nothing else."""
        work = _work(self.defined.body)
        method = _method(self.defined, "after_create_session")
        if method is not None and len(_work(method.body)) != 1:
            reason = f"{self.shown} does more than initialise an iterator"
            raise self.stop(method, reason)
        made = _method(self.defined, "__init__")
        if made is not None:
            if len(made.params.params) != 1:
                raise self.stop(made, f"{self.shown} is made with arguments")
            work += _work(made.body)
        for statement in work:
            small = only_small(statement)
            if isinstance(statement, cst.FunctionDef):
                if statement.name.value in ("__init__", "after_create_session"):
                    continue
            elif isinstance(small, cst.Assign) and len(small.targets) == 1:
                target = self.tree.code(small.targets[0].target)
                if (
                    target.removeprefix("self.") == self.attribute
                    and self.tree.code(small.value) == "None"
                ):
                    continue
            elif isinstance(small, cst.Expr):
                code = self.tree.code(small.value)
                if code.startswith("super(") and code.endswith(").__init__()"):
                    continue
            raise self.stop(
                statement, f"{self.shown} does more than initialise an iterator"
            )

    # -- the hook ---------------------------------------------------------------

    def _bindings(self, target: cst.Name) -> list[Binding]:
        """All bindings of a name in the scope where it is assigned."""
        function = self.tree.function(target) or self.tree.module
        scope = self.tree.resolver.scopes.opened.get(function)
        found = [] if scope is None else scope.bindings.get(target.value, [])
        if not found:
            raise self.stop(target, f"`{target.value}` is held in a way not understood")
        return found

    def _uses(self, target: cst.Name) -> list[cst.Name]:
        """Every place that reads the name."""
        found: list[cst.Name] = []
        for binding in self._bindings(target):
            found += [use for use in self.tree.uses(binding) if use not in found]
        return found

    def _hook(self, target: cst.Name) -> None:
        if len(self._bindings(target)) != 1:
            raise self.stop(target, f"`{target.value}` is bound more than once")
        sets = 0
        for use in self._uses(target):
            small = only_small(self.tree.statement(use))
            parent = self.tree.parent(use)
            if isinstance(parent, cst.Attribute):
                holder = self.tree.parent(parent)
                if (
                    parent.attr.value == self.attribute
                    and isinstance(holder, cst.AssignTarget)
                    and isinstance(small, cst.Assign)
                    and len(small.targets) == 1
                ):
                    sets += 1
                    self._initializer(use, small.value)
                    continue
            elif (
                isinstance(parent, cst.Element)
                and isinstance(small, cst.Return)
                and self.tree.parent(parent) is small.value
            ):
                self._returned(use, small)
                continue
            self._listed(use)
        if sets != 1:
            reason = f"`{target.value}.{self.attribute}` is not set just once"
            raise self.stop(target, reason)

    def _returned(self, use: cst.Name, returned: cst.Return) -> None:
        """``return input_fn, hook``, and what callers unpack."""
        tree = self.tree
        value = returned.value
        function = tree.function(use)
        at = _place(value, use)
        if at is None or not isinstance(function, cst.FunctionDef):
            raise self.stop(use, f"`{use.value}` is returned in a way not understood")
        returns = [
            node
            for node in walk(function.body)
            if isinstance(node, cst.Return) and tree.function(node) is function
        ]
        if len(returns) != 1:
            raise self.stop(function, f"`{function.name.value}` has several returns")
        assert isinstance(value, cst.Tuple)
        self.changes.instead[value] = value.elements[1 - at].value
        unpacked: list[cst.Name] = []
        for load in tree.loads_of(function):
            call = tree.parent(load)
            small = only_small(tree.statement(load))
            target = small.targets[0].target if isinstance(small, cst.Assign) else None
            name = None
            if (
                isinstance(small, cst.Assign)
                and small.value is call
                and isinstance(call, cst.Call)
                and call.func is load
                and len(small.targets) == 1
                and isinstance(target, cst.Tuple)
                and len(target.elements) == _PAIR
            ):
                name = target.elements[at].value
            if not isinstance(name, cst.Name):
                reason = f"what `{function.name.value}` returns is not unpacked at once"
                raise self.stop(load, reason)
            assert isinstance(target, cst.Tuple)
            self.changes.instead[target] = target.elements[1 - at].value
            unpacked.append(name)
        for name in unpacked:
            for binding in self._bindings(name):
                if not any(_binds(tree, binding, name) for name in unpacked):
                    reason = f"`{name.value}` is something else as well"
                    raise self.stop(name, reason)
            for found in self._uses(name):
                self._listed(found)

    def _listed(self, use: cst.Name) -> None:
        """``hooks=[hook]`` of a call of an Estimator."""
        tree = self.tree
        element = tree.parent(use)
        held = tree.parent(element) if isinstance(element, cst.Element) else None
        argument = tree.parent(held) if isinstance(held, cst.List) else None
        call = tree.parent(argument) if isinstance(argument, cst.Arg) else None
        if not (
            isinstance(held, cst.List)
            and isinstance(argument, cst.Arg)
            and isinstance(call, cst.Call)
            and _is_estimators(tree, call)
        ):
            raise self.stop(use, f"the hook `{use.value}` is used elsewhere too")
        others = [e for e in held.elements if e is not element]
        gone = self.changes.instead.get(held)
        if isinstance(gone, cst.List) or len(others) > 1:
            raise self.stop(use, f"the hook `{use.value}` is one of several")
        if others:
            last = others[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            self.changes.instead[held] = held.with_changes(elements=[last])
        elif argument.keyword is None:
            self.changes.instead[held] = held.with_changes(elements=[])
        else:
            self._without(call, argument)

    def _without(self, call: cst.Call, argument: cst.Arg) -> None:
        args = [a for a in call.args if a is not argument]
        if args and call.args[-1] is argument:
            # The comma in front of the last argument goes with it.
            self.changes.commas[args[-1]] = argument.comma
        self.changes.drop.add(argument)

    # -- the iterator -----------------------------------------------------------

    def _initializer(self, hook: cst.Name, value: cst.BaseExpression) -> None:
        """What the attribute of the hook is set to, in the input function."""
        tree = self.tree
        function = tree.function(hook)
        statement = tree.statement(hook)
        unknown = f"`{hook.value}.{self.attribute}` is more than an initializer"
        if not isinstance(function, cst.FunctionDef):
            raise self.stop(statement, "the iterator is made outside of a function")
        if tree.body(statement) is not function.body:
            raise self.stop(statement, "the iterator is initialised in a branch")
        fed: Sequence[cst.BaseDictElement] = ()
        if isinstance(value, cst.Lambda):
            names = [p.name.value for p in value.params.params]
            call = value.body
            if (
                len(names) != 1
                or not isinstance(call, cst.Call)
                or tree.code(call.func) != f"{names[0]}.run"
                or len(call.args) not in (1, _PAIR)
            ):
                raise self.stop(statement, unknown)
            if len(call.args) == _PAIR:
                last = call.args[1]
                keyword = "feed_dict" if last.keyword is None else last.keyword.value
                if keyword != "feed_dict" or not isinstance(last.value, cst.Dict):
                    raise self.stop(statement, "the feed_dict is not a plain dict")
                fed = last.value.elements
            value = call.args[0].value
        if not (isinstance(value, cst.Attribute) and value.attr.value == "initializer"):
            raise self.stop(statement, unknown)
        made = tree.value(value.value)
        if (
            not isinstance(made, cst.Call)
            or not isinstance(made.func, cst.Attribute)
            or made.func.attr.value != "make_initializable_iterator"
            or tree.function(made) is not function
        ):
            raise self.stop(statement, unknown)
        for element in fed:
            if not isinstance(element, cst.DictElement):
                raise self.stop(statement, "the feed_dict is not a plain dict")
            self._fed(function, element)
        self.changes.drop.add(statement)

    def _fed(self, function: cst.FunctionDef, element: cst.DictElement) -> None:
        """A placeholder becomes what it was fed."""
        tree = self.tree
        key, value = element.key, element.value
        shown = f"`{tree.code(key)}`"
        binding = tree.assigned(key)
        call = None if binding is None else binding.value
        if (
            binding is None
            or not isinstance(call, cst.Call)
            or tree.symbol(call.func) not in _PLACEHOLDERS
            or tree.function(call) is not function
            or tree.body(tree.statement(call)) is not function.body
            or not isinstance(only_small(tree.statement(call)), cst.Assign)
        ):
            raise self.stop(element, f"{shown} is not a placeholder made here")
        self._check_value(function, value)
        kinds = [a for a in call.args if a.keyword is None][:1]
        kinds += [a for a in call.args if a.keyword and a.keyword.value == "dtype"]
        if not kinds:
            raise self.stop(call, f"{shown} has no dtype")
        as_is = tree.code(kinds[0].value) == f"{tree.code(value)}.dtype"
        for use in tree.uses(binding):
            if use is key:
                continue
            makers = [
                tree.symbol(holder.func) or ""
                for holder in tree.ancestors(use)
                if isinstance(holder, cst.Call)
            ]
            if tree.function(use) is not function or not (
                makers and makers[0].startswith("tf.data.Dataset.from_tensor")
            ):
                raise self.stop(use, f"{shown} is used outside of a Dataset")
            if as_is:
                self.changes.instead[use] = value
        if as_is:
            self.changes.drop.add(tree.statement(call))
        else:
            self.changes.instead[call] = self._cast(value, kinds[0].value, shown)

    def _cast(
        self, value: cst.BaseExpression, kind: cst.BaseExpression, shown: str
    ) -> cst.BaseExpression:
        """What feeding a placeholder of another dtype made of the value."""
        tree = self.tree
        name = (tree.symbol(kind) or "").removeprefix("tf.")
        numpy = next((n for n in ("np", "numpy") if tree.loads(n)), None)
        if (
            name not in _DTYPES
            or numpy is None
            or any(tree.resolver.qualified(n) != "numpy" for n in tree.loads(numpy))
        ):
            reason = f"{shown} has another dtype than `{tree.code(value)}.dtype`"
            raise self.stop(kind, reason)
        array = f"{numpy}.asarray({tree.code(value)}, {numpy}.{name})"
        return cst.parse_expression(array)

    def _check_value(
        self, function: cst.FunctionDef, value: cst.BaseExpression
    ) -> None:
        """What is fed is the same where the Dataset is made."""
        tree = self.tree
        root = value
        while isinstance(root, cst.Attribute):
            root = root.value
        found = tree.resolver.bindings(root) if isinstance(root, cst.Name) else ()
        scope = tree.resolver.scopes.opened.get(function)
        inner = tree.function(value)
        if len(found) == 1 and (
            found[0].kind is BindingKind.PARAMETER or found[0].scope is not scope
        ):
            lambdas = tree.resolver.scopes.opened.get(inner) if inner else None
            if found[0].scope is not lambdas or inner is function:
                return
        raise self.stop(value, f"it is not seen what `{tree.code(value)}` is here")


def _place(value: cst.BaseExpression | None, use: cst.Name) -> int | None:
    """Where a name stands in a pair."""
    if not isinstance(value, cst.Tuple) or len(value.elements) != _PAIR:
        return None
    return next((n for n, e in enumerate(value.elements) if e.value is use), None)


def _binds(tree: Tree, binding: Binding, name: cst.Name) -> bool:
    """The binding is made by the assignment that unpacks to the name."""
    statement = tree.statement(name)
    return binding.node in (statement, only_small(statement), name)


def _is_estimators(tree: Tree, call: cst.Call) -> bool:
    symbol = tree.symbol(call.func)
    if symbol is not None:
        return symbol in _SPECS
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _CALLS
