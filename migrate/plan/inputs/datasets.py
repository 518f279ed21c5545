"""Input functions: which expression gives the Dataset they served."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..code.substitute import substituted
from ..code.tree import Tree, only_small, walk
from ..program import InputPlan
from ..sites import Blocked, InputSites, MadeInput
from .arrays import ARRAY_INPUTS, array_dataset
from .functions import own_nodes, read_function
from .passed import passed_values

__all__ = ["EVAL", "INFER", "MODE_NAMES", "TRAIN", "read_input"]

_PARTIALS = ("functools.partial",)
_ITERATORS = ("make_one_shot_iterator", "make_initializable_iterator", "get_next")
_RULE = "TFM115"
_ELSEWHERE = "the input function is defined somewhere else"

# What ModeKeys were, and are in the emitted code.
TRAIN, EVAL, INFER = '"train"', '"eval"', '"infer"'
MODE_NAMES = {"TRAIN": TRAIN, "EVAL": EVAL, "PREDICT": INFER, "INFER": INFER}


def read_input(
    tree: Tree, node: cst.BaseExpression, mode: str, sites: InputSites
) -> InputPlan:
    """The Dataset expression behind an ``input_fn`` argument.

    ``mode`` is what the function's parameter of that name is given. What must be
    edited in the function itself is noted in ``sites``.
    """
    return _Reader(tree, tree.line(node), mode, sites).read(node)


class _Reader:
    def __init__(self, tree: Tree, line: int, mode: str, sites: InputSites) -> None:
        self.tree = tree
        self.line = line
        self.given = {"mode": mode, "params": "params"}
        self.sites = sites
        self.params = False
        # Arguments of callers that were followed already.
        self.followed: list[cst.BaseExpression] = []

    def stop(self, reason: str) -> Blocked:
        return Blocked(_RULE, self.line, reason)

    def read(self, node: cst.BaseExpression) -> InputPlan:
        value = self.tree.value(node)
        assert value is not None
        if isinstance(value, cst.Lambda):
            return self._lambda(value)
        if isinstance(value, cst.Call):
            return self._made(node, value)
        defined = self._function(node)
        if defined is None:
            return self._given(node)
        read_function(self.tree, defined, self.line, self.sites)
        names = _names(defined)
        inside = self._passed(defined, names[_is_bound(self.tree, defined) :])
        return self._plan(f"{self.tree.code(node)}({inside})")

    def _plan(self, code: str) -> InputPlan:
        return InputPlan(code, needs_params=self.params)

    def _given(self, node: cst.BaseExpression) -> InputPlan:
        """A parameter: all that callers give for it must be called alike."""
        values = passed_values(self.tree, node)
        if values is None:
            raise self.stop(_ELSEWHERE)
        for value in values:
            if isinstance(value, cst.Name) and value in self.followed:
                raise self.stop(_ELSEWHERE)
            self.followed.append(value)
            plan = self.read(value)
            made = self.tree.value(value)
            plain = isinstance(made, cst.Lambda) and not made.params.params
            called = plan.dataset == f"{self.tree.code(value)}()"
            if self.params or not (plain or called):
                raise self.stop("the input function is called in several ways")
        return self._plan(f"{self.tree.code(node)}()")

    # -- shapes of an input function ------------------------------------------

    def _lambda(self, value: cst.Lambda) -> InputPlan:
        parameters = value.params
        if parameters.star_kwarg or isinstance(parameters.star_arg, cst.Param):
            raise self.stop("the input function takes any arguments")
        body: cst.BaseExpression = value.body
        for parameter in parameters.params:
            name = parameter.name.value
            if name not in self.given or parameter.default is not None:
                raise self.stop("the input function takes parameters")
            if name == "params":
                self.params = True
                continue
            body = substituted(body, {name: self.given[name]})
        self._check_expression(value.body)
        return self._plan(self.tree.code(body))

    def _made(self, node: cst.BaseExpression, value: cst.Call) -> InputPlan:
        """An input function that a call makes."""
        tree = self.tree
        if tree.symbol(value.func) in ARRAY_INPUTS:
            return self._arrays(node, value)
        if tree.resolver.qualified(value.func) in _PARTIALS and value.args:
            return self._partial(node, value)
        factory = self._function(value.func)
        if factory is None:
            return self._object(node, value)
        array = self._array_of(factory)
        if array is not None:
            if self.sites.new(array):
                statement = tree.statement(array)
                dataset = array_dataset(tree, array)
                self.sites.made.append(MadeInput(statement, None, dataset))
            return self._plan(f"{tree.code(node)}()")
        made = self._made_by(factory)
        if isinstance(made, cst.FunctionDef):
            inside = self._passed(made, _names(made))
            read_function(tree, made, self.line, self.sites)
        else:
            self._check_expression(made.body)
            if made.params.params:
                raise self.stop("the input function takes parameters")
            inside = ""
        return self._plan(f"{tree.code(node)}({inside})")

    def _object(self, node: cst.BaseExpression, value: cst.Call) -> InputPlan:
        """An object of a class that can be called."""
        tree = self.tree
        owner = tree.resolver.definition(value.func)
        called = _method(owner, "__call__") if isinstance(owner, cst.ClassDef) else None
        if called is None:
            raise self.stop(_ELSEWHERE)
        read_function(tree, called, self.line, self.sites)
        return self._plan(
            f"{tree.code(node)}({self._passed(called, _names(called)[1:])})"
        )

    def _arrays(self, node: cst.BaseExpression, value: cst.Call) -> InputPlan:
        """numpy_input_fn: the Dataset itself, or a function under the old name."""
        tree = self.tree
        dataset = array_dataset(tree, value)
        if value is node:
            if dataset.shuffles not in ("True", "False"):
                raise self.stop("whether the input shuffles is not seen")
            return self._plan(f"{dataset.rows}{dataset.methods}")
        statement = tree.statement(value)
        small = only_small(statement)
        if (
            not isinstance(node, cst.Name)
            or not isinstance(small, cst.Assign)
            or small.value is not value
        ):
            raise self.stop("the input function is made in a way not understood")
        if self.sites.new(value):
            self.sites.made.append(MadeInput(statement, node.value, dataset))
        return self._plan(f"{node.value}()")

    def _array_of(self, factory: cst.FunctionDef) -> cst.Call | None:
        """``numpy_input_fn(...)`` where a factory returns just that."""
        returns = [n for n in own_nodes(factory.body) if isinstance(n, cst.Return)]
        value = returns[0].value if len(returns) == 1 else None
        if isinstance(value, cst.Call) and self.tree.symbol(value.func) in ARRAY_INPUTS:
            return value
        return None

    def _partial(self, node: cst.BaseExpression, value: cst.Call) -> InputPlan:
        tree = self.tree
        function = value.args[0].value
        defined = self._function(function)
        if defined is None:
            raise self.stop(_ELSEWHERE)
        read_function(tree, defined, self.line, self.sites)
        rest = value.args[1:]
        given = {a.keyword.value for a in rest if a.keyword is not None}
        names = _names(defined)[_is_bound(tree, defined) :]
        positional = sum(a.keyword is None for a in rest)
        open_names = [n for n in names[positional:] if n not in given]
        passed = self._passed(defined, open_names, by_name=True)
        if node is value:
            code = tree.code(value.with_changes(func=function, args=rest))
            if passed:
                code = (
                    f"{code[:-1].rstrip().rstrip(',')}{', ' if rest else ''}{passed})"
                )
            return self._plan(code)
        return self._plan(f"{tree.code(node)}({passed})")

    # -- questions ---------------------------------------------------------------

    def _function(self, node: cst.BaseExpression) -> cst.FunctionDef | None:
        """The function of this module behind a name, or a method of its object."""
        tree = self.tree
        defined = tree.resolver.definition(node)
        if isinstance(defined, cst.FunctionDef):
            return defined
        if not isinstance(node, cst.Attribute):
            return None
        owner: cst.CSTNode | None = None
        if isinstance(node.value, cst.Name) and node.value.value == "self":
            owner = next(
                (a for a in tree.ancestors(node) if isinstance(a, cst.ClassDef)), None
            )
        else:
            made = tree.value(node.value)
            if isinstance(made, cst.Call):
                owner = tree.resolver.definition(made.func)
        if not isinstance(owner, cst.ClassDef):
            return None
        return _method(owner, node.attr.value)

    def _passed(
        self, defined: cst.FunctionDef, names: Sequence[str], *, by_name: bool = False
    ) -> str:
        """What the Estimator passed to the function of its own accord."""
        defaults = {
            p.name.value
            for p in (*defined.params.params, *defined.params.kwonly_params)
            if p.default is not None
        }
        passed: list[str] = []
        for position, name in enumerate(names):
            if name in self.given:
                self.params = self.params or name == "params"
                code = self.given[name]
                by_name = by_name or position != len(passed)
                passed.append(f"{name}={code}" if by_name else code)
            elif name not in defaults:
                raise self.stop(f"the input function needs `{name}`")
        return ", ".join(passed)

    def _made_by(self, factory: cst.FunctionDef) -> cst.FunctionDef | cst.Lambda:
        """The function that a factory returns."""
        tree = self.tree
        returns = [n for n in own_nodes(factory.body) if isinstance(n, cst.Return)]
        if len(returns) == 1 and returns[0].value is not None:
            value = tree.value(returns[0].value)
            if isinstance(value, cst.Lambda):
                return value
            defined = tree.resolver.definition(value)
            if isinstance(defined, cst.FunctionDef):
                return defined
        raise self.stop("the input function is made in a way not understood")

    def _check_expression(self, node: cst.BaseExpression) -> None:
        """The expression must be a call that is seen to give a Dataset."""
        tree = self.tree
        root: cst.BaseExpression = node
        while isinstance(root, (cst.Attribute, cst.Call)):
            if isinstance(root, cst.Call):
                made = self._function(root.func)
                if made is not None:
                    read_function(tree, made, self.line, self.sites)
                    self._check_chain(node)
                    return
                factory = tree.value(root.func)
                if isinstance(factory, cst.Call):
                    inner = self._function(factory.func)
                    if inner is not None:
                        given = self._made_by(inner)
                        if isinstance(given, cst.FunctionDef):
                            read_function(tree, given, self.line, self.sites)
                            self._check_chain(node)
                            return
            symbol = tree.symbol(root)
            if symbol is not None and symbol.startswith("tf.data."):
                self._check_chain(node)
                return
            root = root.value if isinstance(root, cst.Attribute) else root.func
        raise self.stop(_ELSEWHERE)

    def _check_chain(self, root: cst.CSTNode) -> None:
        for node in walk(root):
            if isinstance(node, cst.Name) and node.value in _ITERATORS:
                raise self.stop(
                    "the input function takes tensors from an iterator "
                    f"(`{node.value}`)"
                )


def _method(owner: cst.ClassDef, name: str) -> cst.FunctionDef | None:
    """The method that a class itself defines under a name."""
    found = [
        s
        for s in owner.body.body
        if isinstance(s, cst.FunctionDef) and s.name.value == name
    ]
    return found[0] if len(found) == 1 else None


def _names(defined: cst.FunctionDef) -> list[str]:
    parameters = (*defined.params.params, *defined.params.kwonly_params)
    return [p.name.value for p in parameters]


def _is_bound(tree: Tree, defined: cst.FunctionDef) -> bool:
    """The function is a method: its first parameter is given."""
    body = tree.parent(defined)
    holder = tree.parent(body) if body is not None else None
    static = any(tree.code(d.decorator) == "staticmethod" for d in defined.decorators)
    return isinstance(holder, cst.ClassDef) and not static
