"""Helpers that know of modes, updates or metrics become part of the model function."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import libcst as cst

from ...code.arguments import UnknownArguments, is_none, match_arguments
from ...code.edits import Put, changed, in_parentheses
from ...code.names import fresh
from ...code.statements import (
    binds,
    is_docstring,
    lets_go,
    returned_alone,
    without_docstring,
)
from ...code.texts import source_text
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .added_metrics import ADD_METRICS
from .metrics import MATRIX
from .named_models import calls_model
from .optimizers import SIGNATURES as OPTIMIZERS
from .schedules import SIGNATURES as SCHEDULES
from .slices import GLOBAL_STEPS

_MOST = 12
_KNOWING = ("minimize", "apply_gradients", "compute_gradients")
_SPECS = ("EstimatorSpec", "ModelFnOps")
_LAYERS = ("tf.layers.", "tf.contrib.layers.", "tf.contrib.slim.", "tf.get_variable")
# What finds a function by its name.
_BY_STRINGS = re.compile(r"\b(getattr|globals|locals|eval|__all__)\b")
_GATHERED = [f"tf.losses.{one}" for one in ("add_loss", "get_losses", "get_total_loss")]
_VARIABLES = ("tf.Variable", "tf.get_variable")
# What variables begin with.
_BEGINS = re.compile(
    r"tf\.(random_|truncated_normal|zeros|ones|constant|.*_initializer$|initializers\.)"
)
_CELLS = ("tf.nn.rnn_cell.", "tf.contrib.rnn.")
_PLAIN = (cst.Name, cst.SimpleString, cst.Integer, cst.Float, cst.Attribute)


def with_helpers_inlined(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with helpers of its model functions in the place of their calls.

    Those are inlined that make specifications, updates or metrics, or losses by modes,
    for a Task has no place for a function that does; and methods that make layers. So
    are helpers of functions that `add_metrics` is given.
    """
    parsed = _with_metrics_called(parsed, facts)
    for _ in range(_MOST):
        found = _once(parsed, facts)
        if found is None:
            return parsed
        parsed = found
    return parsed


def _with_metrics_called(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """``eval_metrics=(metric_fn, [labels, logits])``, as a TPU wants it, as a call."""
    tree = Tree(parsed.module, parsed.resolver)
    new: dict[cst.CSTNode, cst.CSTNode] = {}
    for node in parsed.each(cst.Call):
        if not (tree.symbol(node.func) or "").endswith(".TPUEstimatorSpec"):
            continue
        for arg in node.args:
            if arg.keyword is None or arg.keyword.value != "eval_metrics":
                continue
            made: cst.CSTNode = arg.value
            bound = tree.resolver.bindings(made) if isinstance(made, cst.Name) else ()
            told = [one.value for one in bound if one.value is not None]
            told = [one for one in told if not is_none(one)]
            made = told[0] if len(told) == 1 else made
            chosen = made if isinstance(made, cst.IfExp) else None
            call = _called(tree, made if chosen is None else chosen.body)
            if call is None:
                continue
            line = tree.statement(made)
            if chosen is None:
                new[made] = call
            elif told and is_none(chosen.orelse):
                first, last = (
                    cst.IndentedBlock([line.visit(Put({made: one}, line))])  # type: ignore[list-item]
                    for one in (call, chosen.orelse)
                )
                new[line] = cst.If(chosen.test, first, cst.Else(last))
    if not new:
        return parsed
    return changed(parsed, facts, new)


def _called(tree: Tree, made: cst.CSTNode) -> cst.Call | None:
    """The call of a function with arguments that stand beside it."""
    if not isinstance(made, cst.Tuple) or len(made.elements) != 2:
        return None
    func, given = (one.value for one in made.elements)
    if not isinstance(tree.resolver.definition(func), cst.FunctionDef):
        return None
    if isinstance(given, (cst.List, cst.Tuple)):
        return cst.Call(func, [cst.Arg(one.value) for one in given.elements])
    if isinstance(given, cst.Dict):
        args = [
            cst.Arg(one.value, cst.Name(str(one.key.evaluated_value)))
            for one in given.elements
            if isinstance(one, cst.DictElement)
            and isinstance(one.key, cst.SimpleString)
        ]
        return cst.Call(func, args) if len(args) == len(given.elements) else None
    return None


def _once(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule | None:
    tree = Tree(parsed.module, parsed.resolver)
    adding = tree.calls(parsed.module, ADD_METRICS)
    measured = [tree.resolver.definition(o.value) for c in adding for o in c.args]
    for defined in parsed.each(cst.FunctionDef):
        network = defined.name.value == "__call__" and not is_model_fn(defined)
        asks = network or is_model_fn(defined) or defined in measured
        asks = asks and not _is_helper(tree, defined)
        for node in walk(defined.body, cst.Call):
            if tree.function(node) is not defined:
                continue
            helper = _helper(tree, defined, node)
            if helper is None:
                continue
            given = [_maker_of(tree, one.value) for one in node.args]
            if not any(one.startswith(_CELLS) for one in given):
                if not asks or not (
                    follows_step(tree, helper, given, node.args)
                    or calls_model(helper, parsed, facts)
                    or knows_of_tasks(tree, helper)
                    or _makes_weights_alone(tree, helper)
                ):
                    continue
                if network and not (
                    _is_called_once(tree, helper)
                    or isinstance(returned_alone(helper), cst.Call)
                ):
                    continue
            new = Inliner(tree, defined, node, helper).statements()
            if new is None:
                continue
            parsed = changed(parsed, facts, {tree.statement(node): new})
            return without_unread(parsed, facts, helper.name.value)
    return None


def _makes_weights_alone(tree: Tree, helper: cst.FunctionDef) -> bool:
    """A function returns several variables, and computes nothing."""
    *made, last = [*map(only_small, without_docstring(helper.body))] or [None]
    if not all(isinstance(one, cst.Assign) for one in made):
        return False
    symbols = [tree.symbol(one.func) for one in walk(helper.body, cst.Call)]
    makes = [one for one in symbols if one in _VARIABLES]
    begins = [one for one in symbols if one is None or _BEGINS.match(one)]
    return (
        isinstance(last, cst.Return)
        and len(makes) > 1
        and len(makes) + len(begins) == len(symbols)
    )


def _maker_of(tree: Tree, node: cst.BaseExpression) -> str:
    """What is called for a value: a cell has its layers in the function that calls."""
    bound = tree.resolver.bindings(node) if isinstance(node, cst.Name) else ()
    made = bound[0].value if len(bound) == 1 else node
    return (tree.symbol(made.func) or "") if isinstance(made, cst.Call) else ""


def _is_of_step(tree: Tree, node: cst.BaseExpression, most: int = 4) -> bool:
    """An expression is computed of the global step."""
    for one in walk(node):
        if isinstance(one, cst.Call) and tree.symbol(one.func) in GLOBAL_STEPS:
            return True
        if isinstance(one, cst.Name) and one in tree.resolver.scopes.loads and most:
            values = [bound.value for bound in tree.resolver.bindings(one)]
            if any(v is not None and _is_of_step(tree, v, most - 1) for v in values):
                return True
    return False


def follows_step(
    tree: Tree,
    helper: cst.FunctionDef,
    given: Sequence[str | None],
    args: Sequence[cst.Arg] = (),
    most: int = 4,
) -> bool:
    """It makes something by a step that it is given, or by one of its own."""
    called = {tree.symbol(one.func) for one in walk(helper.body, cst.Call)}
    if {*given} & {*GLOBAL_STEPS}:
        return True
    if called & {*OPTIMIZERS} and any(_is_of_step(tree, one.value) for one in args):
        return True
    if called & {*GLOBAL_STEPS}:
        return True
    # A schedule of today is told the step by whoever asks it.
    inner = [_helper(tree, helper, one) for one in walk(helper.body, cst.Call)]
    return not called & {*SCHEDULES} and any(
        most
        and one is not None
        and not {tree.symbol(n.func) for n in walk(one.body, cst.Call)} & {*SCHEDULES}
        and follows_step(tree, one, (), most=most - 1)
        for one in inner
    )


def _is_called_once(tree: Tree, method: cst.FunctionDef) -> bool:
    """Nothing but one call speaks of a method, whose class nothing extends."""
    name = method.name.value
    words = tree.each(cst.Name)
    holder = tree.parent(tree.parent(method) or method)
    if not isinstance(holder, cst.ClassDef):
        return False
    extends = [
        one
        for one in tree.each(cst.ClassDef)
        if any(tree.resolver.definition(base.value) is holder for base in one.bases)
    ]
    return not extends and sum(one.value == name for one in words) == 2


def _is_helper(tree: Tree, defined: cst.FunctionDef) -> bool:
    """Another model function calls it."""
    return any(
        isinstance(above, cst.FunctionDef)
        and above is not defined
        and is_model_fn(above)
        for load in tree.loads_of(defined)
        if isinstance(tree.parent(load), cst.Call)
        and getattr(tree.parent(load), "func", None) is load
        for above in tree.ancestors(load)
    )


def _helper(
    tree: Tree, defined: cst.FunctionDef, call: cst.Call
) -> cst.FunctionDef | None:
    """The function of the file that is called, if it may be inlined."""
    func = call.func
    found: cst.CSTNode | None = None
    if isinstance(func, cst.Name):
        found = tree.resolver.definition(func)
    elif (
        isinstance(func, cst.Attribute)
        and isinstance(func.value, cst.Name)
        and func.value.value == "self"
    ):
        for holder in tree.ancestors(defined):
            if isinstance(holder, cst.ClassDef):
                methods = [
                    one
                    for one in holder.body.body
                    if isinstance(one, cst.FunctionDef)
                    and one.name.value == func.attr.value
                ]
                found = methods[0] if len(methods) == 1 else None
                break
    if not isinstance(found, cst.FunctionDef) or found is defined or found.decorators:
        return None
    params = found.params
    if params.star_kwarg is not None or isinstance(params.star_arg, cst.Param):
        return None
    if any(type(one) in (cst.Yield, cst.Global, cst.Nonlocal) for one in walk(found)):
        return None
    return found if isinstance(found.body, cst.IndentedBlock) else None


def knows_of_tasks(
    tree: Tree,
    helper: cst.FunctionDef,
    seen: set[cst.CSTNode] | None = None,
    asks_for_mode: bool = False,
    of_method: bool = False,
) -> bool:
    """It does what a Task has methods for; or it is a method that makes layers.

    ``of_method`` says that a method calls it.
    """
    seen = set() if seen is None else seen
    if helper in seen:
        return False
    seen.add(helper)
    is_method = of_method or isinstance(
        tree.parent(tree.parent(helper) or helper), cst.ClassDef
    )
    asks_for_mode = asks_for_mode or any(
        isinstance(one, cst.Attribute) and one.attr.value == "ModeKeys"
        for one in walk(helper.body)
    )
    for node in walk(helper.body, cst.Call):
        func = node.func
        symbol = tree.symbol(func) or ""
        if symbol.startswith(("tf.metrics.", MATRIX)) or symbol.endswith(
            (*_SPECS, "optimize_loss", "create_train_op")
        ):
            return True
        if symbol.startswith("tf.losses.") and (asks_for_mode or symbol in _GATHERED):
            return True
        if isinstance(func, cst.Attribute) and func.attr.value in _KNOWING:
            return True
        if symbol.startswith(_UPDATES) or (
            isinstance(func, cst.Attribute) and func.attr.value in _ASSIGNING
        ):
            return True
        if is_method and symbol.startswith(_LAYERS):
            return True
        inner_symbol = tree.symbol(func.func) if isinstance(func, cst.Call) else None
        if is_method and (inner_symbol or "").startswith("tf.keras.layers."):
            return True
        inner = _helper(tree, helper, node)
        if inner is not None and knows_of_tasks(
            tree, inner, seen, asks_for_mode, is_method
        ):
            return True
    return False


# What changes a variable runs where the update asks for it, and nowhere else.
_UPDATES = ("tf.assign", "tf.scatter_")
_ASSIGNING = (
    *("assign", "assign_add", "assign_sub", "scatter_add", "scatter_sub"),
    *("scatter_update", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update"),
)


class Inliner:
    """One call, and the statements that stand for it."""

    def __init__(
        self,
        tree: Tree,
        defined: cst.FunctionDef,
        call: cst.Call,
        helper: cst.FunctionDef,
        owner: Mapping[str, cst.BaseExpression] = MappingProxyType({}),
        above: str = "",
    ) -> None:
        """``owner`` is what a method calls its object, ``above`` its `super()`."""
        self.owner = owner
        self.above = above
        self.tree = tree
        self.defined = defined
        self.call = call
        self.helper = helper
        self.statement = tree.statement(call)

    def statements(self) -> list[Statement] | None:
        """The statements in the place of the one that calls, or None."""
        body = self.helper.body
        assert isinstance(body, cst.IndentedBlock)
        inside = [
            one
            for one in statements_of(body)
            if not is_docstring(one) and not lets_go(one)
        ]
        given = self._given()
        if given is None or not inside:
            return None
        small = only_small(self.statement)
        tail = isinstance(small, cst.Return) and small.value is self.call
        returns = [
            one
            for one in walk(self.helper, cst.Return)
            if self.tree.function(one) is self.helper
        ]
        last = only_small(inside[-1])
        branched = len(returns) > 1 or bool(returns and returns[0] is not last)
        if not tail and (not small or (branched and not _ends(inside))):
            return None
        names, before = self._bound(given, small, returns)
        if names is None:
            return None
        new = renamed(self.tree, self.helper, {**names, **self.owner})
        for one in walk(self.helper.body) if self.above else ():
            if isinstance(one, cst.Call) and self.tree.code(one) == "super()":
                new[one] = cst.parse_expression(self.above)
        change = Put(new, self.helper)
        moved: list[Statement] = [one.visit(change) for one in inside]  # type: ignore[misc]
        if tail:
            return self._joined(before, moved)
        if branched and isinstance(small, cst.Assign) and small.value is self.call:
            return self._joined(before, _with_one_end(moved, small.targets))
        result: cst.BaseExpression | None = None
        if branched:
            result = cst.Name(self._fresh_result())
            moved = _with_one_end(moved, [cst.AssignTarget(result)])
        elif isinstance(last, cst.Return):
            dropped = moved.pop()
            told = only_small(dropped)
            result = told.value if isinstance(told, cst.Return) else None
        if isinstance(small, cst.Expr) and small.value is self.call:
            return self._joined(before, moved)
        if result is None:
            return None
        after = self.statement.visit(Put({self.call: result}, self.statement))
        assert isinstance(after, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        if isinstance(after, cst.SimpleStatementLine):
            after = after.with_changes(leading_lines=[])
        moved += _without_same(after)
        return self._joined(before, moved)

    def _fresh_result(self) -> str:
        """A name for what the helper returns."""
        scopes = self.tree.resolver.scopes
        taken = {*scopes.opened[self.helper].bindings}
        taken |= {*scopes.opened[self.defined].bindings}
        taken |= {one.value for one in walk(self.defined) if one in scopes.loads}  # type: ignore[attr-defined]
        return fresh(self.helper.name.value, taken)

    def _joined(
        self, before: list[Statement], moved: list[Statement]
    ) -> list[Statement]:
        found = [*before[:-1], *_at_once(before[-1], moved)] if before else moved
        lines = (*self.statement.leading_lines, *found[0].leading_lines)
        found[0] = found[0].with_changes(leading_lines=lines)
        return found

    def _given(self) -> dict[str, cst.BaseExpression] | None:
        """The arguments of the call, by the parameters of the helper."""
        params = [one.name.value for one in self.helper.params.params]
        if params[:1] == ["self"]:
            params = params[1:]
        only = [one.name.value for one in self.helper.params.kwonly_params]
        try:
            given = match_arguments(self.call, (*params, *only))
        except UnknownArguments:
            return None
        for one in (*self.helper.params.params, *self.helper.params.kwonly_params):
            name = one.name.value
            if name in given or name == "self":
                continue
            if one.default is None:
                return None
            given[name] = one.default
        return given

    def _bound(
        self,
        given: dict[str, cst.BaseExpression],
        small: cst.BaseSmallStatement | None,
        returns: Sequence[cst.Return],
    ) -> tuple[dict[str, cst.BaseExpression] | None, list[Statement]]:
        """What stands for names of the helper, and parameters that are assigned."""
        scopes = self.tree.resolver.scopes
        own = set(scopes.opened[self.helper].bindings)
        outer = set(scopes.opened[self.defined].bindings)
        read = {
            one.value for one in walk(self.defined, cst.Name) if one in scopes.loads
        }
        free = {
            one.value
            for one in walk(self.helper.body, cst.Name)
            if one in scopes.loads and one.value not in own
        }
        inside = self.tree.function(self.helper) is self.defined
        if not inside and free & (outer - {"self"}):
            return None, []
        body = self.helper.body
        changed = {n for one in statements_of(body) for n in binds(one)}  # type: ignore[arg-type]
        names: dict[str, cst.BaseExpression] = {}
        before: list[Statement] = []
        taken = own | outer | read | free
        for name, value in given.items():
            same = isinstance(value, cst.Name) and value.value == name
            if same and (name not in changed or isinstance(small, cst.Return)):
                continue
            read_at = [one for one in _names(body) if one.value == name]
            if name not in changed and (
                (isinstance(value, _PLAIN) and not self._is_set(value))
                or (len(read_at) == 1 and _is_put_together(value, self._changes))
            ):
                apart = isinstance(value, cst.BinaryOperation) and not (
                    value.lpar or isinstance(self.tree.parent(read_at[0]), cst.Arg)
                )
                names[name] = in_parentheses(value) if apart else value
                continue
            local = name
            if self._is_there(name, value):
                continue
            if name in outer | read:
                local = fresh(name, taken)
                names[name] = cst.Name(local)
            line = cst.SimpleStatementLine(
                [cst.Assign([cst.AssignTarget(cst.Name(local))], value)]
            )
            before.append(line)
        wanted = self._wanted(small, returns)
        handed = {one.value for v in given.values() for one in _names(v)}
        whole = isinstance(small, cst.Assign) and small.value is self.call
        set_anew = binds(self.statement) - handed - free if whole else set()
        for name in sorted(own - set(given) - {"self", "_"}):
            target = wanted.get(name)
            if target is not None and target not in (own | handed) - {name}:
                if target != name:
                    names[name] = cst.Name(target)
            elif name in (outer | read) - set_anew:
                names[name] = cst.Name(fresh(name, taken))
        return names, before

    def _is_set(self, value: cst.BaseExpression) -> bool:
        """What a method is given of its object changes: a name keeps what it was."""
        return bool(self.owner) and self._changes(value)

    def _changes(self, value: cst.BaseExpression) -> bool:
        """An attribute that the file gives a value in several places."""
        if not isinstance(value, cst.Attribute):
            return False
        stored = [
            one
            for one in self.tree.each(cst.Attribute)
            if one.attr.value == value.attr.value
            and getattr(self.tree.parent(one), "target", None) is one
        ]
        return len(stored) > 1

    def _is_there(self, name: str, value: cst.BaseExpression) -> bool:
        """A name has this value before the call, from a plain statement."""
        bound = self.tree.resolver.scopes.opened[self.defined].bindings
        held = bound.get(name, ())
        made = held[0].value if len(held) == 1 else None
        return (
            made is not None
            and made.deep_equals(value)
            and all(len(bound.get(one.value, ())) < 2 for one in _names(value))
            and self.tree.body(self.tree.statement(made))
            in [*self.tree.ancestors(self.call)]
        )

    def _wanted(
        self, small: cst.BaseSmallStatement | None, returns: Sequence[cst.Return]
    ) -> dict[str, str]:
        """Names that the helper returns, and what the caller calls them."""
        if (
            not isinstance(small, cst.Assign)
            or small.value is not self.call
            or len(small.targets) != 1
        ):
            return {}
        found: dict[str, str] = {}
        for one in returns:
            targets = _parts(small.targets[0].target)
            for target, value in zip(targets, _parts(one.value), strict=False):
                if isinstance(target, cst.Name) and isinstance(value, cst.Name):
                    found.setdefault(value.value, target.value)
        return found


def _is_put_together(
    node: cst.BaseExpression, is_set: Callable[[cst.BaseExpression], bool]
) -> bool:
    """``'block%d' % number``, ``self.sizes[0]``"""
    return isinstance(node, (cst.BinaryOperation, cst.Subscript)) and all(
        isinstance(one, (*_PLAIN, cst.BinaryOperation, cst.Subscript))
        and not is_set(one)
        for one in walk(node)
        if isinstance(one, cst.BaseExpression)
    )


def _names(node: cst.CSTNode) -> list[cst.Name]:
    return list(walk(node, cst.Name))


def _ends(block: Sequence[Statement]) -> bool:
    """Whatever is returned is so at the end of a block, or of its last branches."""
    for place, one in enumerate(block):
        if not any(isinstance(n, cst.Return) for n in walk(one)):
            continue
        if isinstance(only_small(one), cst.Return):
            return place == len(block) - 1
        if isinstance(one, cst.With) and isinstance(one.body, cst.IndentedBlock):
            inner = statements_of(one.body)
            ends = isinstance(only_small(inner[-1]), cst.Return) and _ends(inner)
            return ends and place == len(block) - 1
        if not isinstance(one, cst.If) or not isinstance(one.body, cst.IndentedBlock):
            return False
        rest = block[place + 1 :]
        whole = isinstance(only_small(statements_of(one.body)[-1]), cst.Return)
        if not _ends(statements_of(one.body)) or (rest and not whole):
            return False
        if rest:
            return one.orelse is None and _ends(rest)
        other: cst.If | cst.Else | None = one.orelse
        if isinstance(other, cst.If):
            return _ends([other])
        if other is None or not isinstance(other.body, cst.IndentedBlock):
            return other is None
        return _ends(statements_of(other.body))
    return True


def _at_once(given: Statement, moved: list[Statement]) -> list[Statement]:
    """``x = y`` and ``x = f(x)`` as ``x = f(y)``, also if that is in a scope."""
    one, next_one = only_small(given), only_small(moved[0]) if moved else None
    scope = moved[0] if moved else None
    if isinstance(scope, cst.With) and isinstance(one, cst.Assign):
        names = {node.value for item in scope.items for node in _names(item)}
        named = isinstance(one.value, cst.Name)
        if named and source_text(one.targets[0].target) not in names:
            lines = _at_once(given, statements_of(scope.body))  # type: ignore[arg-type]
            if lines[0] is not given:
                body = scope.body.with_changes(body=lines)
                return [scope.with_changes(body=body), *moved[1:]]
    if not isinstance(one, cst.Assign) or not isinstance(next_one, cst.Assign):
        return [given, *moved]
    name = source_text(one.targets[0].target)
    reads = [n for n in _names(next_one.value) if n.value == name]
    inside = [n for n in walk(next_one.value) if reads and reads[0] in n.children]
    if (
        [source_text(n.target) for n in next_one.targets] != [name]
        or len(reads) != 1
        or not isinstance(inside[0], cst.Arg)
        or inside[0].keyword is reads[0]
    ):
        return [given, *moved]
    value = next_one.value.visit(Put({reads[0]: one.value}, next_one.value))
    first = moved[0].with_changes(body=[next_one.with_changes(value=value)])
    return [first, *moved[1:]]


def _without_same(statement: Statement) -> list[Statement]:
    """A statement without ``x = x``, each of several values in a line of its own."""
    small = only_small(statement)
    if not isinstance(small, cst.Assign) or len(small.targets) != 1:
        return [statement]
    names, values = _parts(small.targets[0].target), _parts(small.value)
    left = [one for one in zip(names, values, strict=False) if not _same(*one)]
    read = [{n.value for n in walk(value, cst.Name)} for _, value in left]
    bound = [source_text(name) for name, _ in left]
    apart = all(isinstance(name, cst.Name) for name, _ in left) and not any(
        bound[n] in later for n in range(len(left)) for later in read[n + 1 :]
    )
    if len(names) != len(values) or (len(left) > 1 and not apart):
        return [statement]
    return [
        statement.with_changes(
            body=[small.with_changes(targets=[cst.AssignTarget(name)], value=value)]  # type: ignore[arg-type]
        )
        for name, value in left
    ]


def _same(one: cst.CSTNode, other: cst.CSTNode) -> bool:
    return source_text(one) == source_text(other)


def _with_one_end(
    block: Sequence[Statement], targets: Sequence[cst.AssignTarget]
) -> list[Statement]:
    """A block that gives to a name what it returned, or None, and goes on."""

    def given(value: cst.BaseExpression | None, line: Statement | None) -> Statement:
        made = cst.Assign(targets, value or cst.Name("None"))
        if isinstance(line, cst.SimpleStatementLine):
            return line.with_changes(body=[made])
        return cst.SimpleStatementLine([made])

    found = [*block]
    for place, one in enumerate(found):
        if not any(isinstance(n, cst.Return) for n in walk(one)):
            continue
        small = only_small(one)
        if isinstance(small, cst.Return):
            last = given(small.value, one)
            return [*found[:place], *(_without_same(last) if place else [last])]
        assert isinstance(one, (cst.If, cst.With))
        assert isinstance(one.body, cst.IndentedBlock)
        body = _with_one_end(statements_of(one.body), targets)
        if isinstance(one, cst.With):
            held = one.body.with_changes(body=body)
            return [*found[:place], one.with_changes(body=held)]
        rest: Sequence[Statement] = found[place + 1 :]
        other: cst.If | cst.Else | None = one.orelse
        if isinstance(other, cst.If):
            (other,) = _with_one_end([other], targets)  # type: ignore[assignment]
        else:
            after = rest
            if other is not None:
                assert isinstance(other.body, cst.IndentedBlock)
                after = statements_of(other.body)
            made = _with_one_end(after, targets) if after else [given(None, None)]
            other = other or cst.Else(cst.IndentedBlock([]))
            other = other.with_changes(body=cst.IndentedBlock(made))
        changed = one.with_changes(body=one.body.with_changes(body=body), orelse=other)
        return [*found[:place], changed]
    raised = bool(found) and isinstance(only_small(found[-1]), cst.Raise)
    return found if raised else [*found, given(None, None)]


def _parts(node: cst.CSTNode | None) -> Sequence[cst.CSTNode]:
    if isinstance(node, (cst.Tuple, cst.List)):
        return [one.value for one in node.elements]
    return [] if node is None else [node]


def renamed(
    tree: Tree, helper: cst.FunctionDef, names: Mapping[str, cst.BaseExpression]
) -> dict[cst.CSTNode, cst.BaseExpression]:
    """Names of a helper, with what its caller calls them."""
    scope = tree.resolver.scopes.opened[helper]
    found: dict[cst.CSTNode, cst.BaseExpression] = {}
    for node in walk(helper.body, cst.Name):
        if node.value not in names:
            continue
        if node in tree.resolver.scopes.loads:
            bound = tree.resolver.bindings(node)
            meant = any(one.scope is scope for one in bound)
        else:
            meant = any(
                node is one.node or node in walk(one.node)
                for one in scope.bindings.get(node.value, ())
            ) and not isinstance(tree.parent(node), (cst.Arg, cst.Attribute, cst.Param))
        if meant:
            found[node] = names[node.value]
    return found


def without_unread(
    parsed: ParsedModule, facts: ProjectFacts, name: str
) -> ParsedModule:
    """The file without a function of that name, if nothing speaks of it any more."""
    alone = not any(
        isinstance(one, cst.FunctionDef) and one.name.value == name
        for made in parsed.each(cst.ClassDef)
        for one in made.body.body
    )
    attributes: set[cst.CSTNode] = {
        n.attr
        for n in parsed.each(cst.Attribute)
        if (alone or parsed.resolver.resolve(n) is None)
    }
    others: set[cst.CSTNode | None] = {n.keyword for n in parsed.each(cst.Arg)}
    if alone:
        # A method of something else may have the name of a function,
        others |= attributes
    else:
        # and a local name that of a method.
        functions = parsed.each(cst.FunctionDef)
        others |= {n for one in functions for n in walk(one.body)} - attributes
        others -= {one.name for one in functions}
    words = sum(
        one.value == name and one not in others for one in parsed.each(cst.Name)
    )
    strings = bool(_BY_STRINGS.search(parsed.source.text)) and any(
        name in one.value for one in parsed.each(cst.SimpleString)
    )
    used = any(
        re.search(rf"\b{name}\b", text)
        for text in facts.texts_of_importers(parsed.path)
    )
    named = [one for one in parsed.each(cst.FunctionDef) if one.name.value == name]
    if words > len(named) or strings or used or not _are_related(parsed, named):
        return parsed
    return changed(parsed, facts, dict.fromkeys(named))


def _are_related(parsed: ParsedModule, functions: Sequence[cst.FunctionDef]) -> bool:
    """One function, or methods of a class and of others that extend it."""
    if len(functions) < 2:
        return True
    classes = [
        one for one in parsed.each(cst.ClassDef) if {*functions} & {*one.body.body}
    ]
    code = parsed.module.code_for_node
    lines = [{c.name.value, *(code(b.value) for b in c.bases)} for c in classes]
    related = set.intersection(*lines) if lines else set()
    return len(classes) == len(functions) and bool(related - {"object"})
