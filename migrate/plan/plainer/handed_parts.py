"""Small steps on the way of an Estimator: blocks, partials and lists of hooks."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...project.parsing import parse
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..inputs.functions import own_nodes

__all__ = [
    "call_out_of_blocks",
    "on_lines_of_its_own",
    "partial_as_factory",
    "with_list_of_hooks",
]

# The Estimator makes a graph of its own, on which these say nothing.
_OF_GRAPHS = ("tf.device", "tf.Session", "tf.compat.v1.Session")
_DEFAULT_GRAPH = ("tf.Graph", "tf.compat.v1.Graph")
# What may stand in such a block besides: it adds nothing to a graph.
_NO_OPS = (
    "tf.estimator.",
    "tf.contrib.estimator.",
    "tf.contrib.learn.",
    "tf.contrib.tpu.",
    "tf.contrib.distribute.",
    "tf.distribute.",
    "tf.ConfigProto",
    "tf.GPUOptions",
    "tf.logging.",
    "tf.gfile.",
    "tf.feature_column.",
)
_OF_MODEL_FN = ("features", "labels", "mode", "params", "config")


def on_lines_of_its_own(tree: Tree, call: cst.Call) -> cst.Module | None:
    """``def build(): return Estimator(...)`` on two lines, or None."""
    for node in tree.ancestors(call):
        if isinstance(node, cst.SimpleStatementSuite):
            line = cst.SimpleStatementLine(
                node.body, trailing_whitespace=node.trailing_whitespace
            )
            return _with(tree, node, cst.IndentedBlock([line]))
    return None


def _with(tree: Tree, old: cst.CSTNode, new: cst.CSTNode) -> cst.Module:
    module = tree.module.deep_replace(old, new)
    assert isinstance(module, cst.Module)
    return parse(module.code)


# -- with -------------------------------------------------------------------------


def call_out_of_blocks(tree: Tree, call: cst.Call) -> cst.Module | None:
    """The module without a ``with`` around an Estimator that says nothing to it."""
    block = next((n for n in tree.ancestors(call) if isinstance(n, cst.With)), None)
    if block is None or block.asynchronous is not None:
        return None
    if not isinstance(block.body, cst.IndentedBlock):
        return None
    if tree.function(block) is not tree.function(call):
        return None
    if not all(_says_nothing(tree, item) for item in block.items):
        return None
    for node in own_nodes(block.body):
        symbol = tree.symbol(node.func) if isinstance(node, cst.Call) else None
        if symbol is not None and not (
            symbol.startswith(_NO_OPS) or symbol.endswith("Hook")
        ):
            return None
    inside = statements_of(block.body)
    lines = [*block.leading_lines, *inside[0].leading_lines]
    inside[0] = inside[0].with_changes(leading_lines=lines)
    return parse(tree.module.visit(_Instead(block, inside)).code)


def _says_nothing(tree: Tree, item: cst.WithItem) -> bool:
    made = item.item
    if not isinstance(made, cst.Call):
        return False
    if item.asname is not None:
        name = item.asname.name
        if not isinstance(name, cst.Name) or tree.loads(name.value):
            return False
    if tree.symbol(made.func) in _OF_GRAPHS:
        return True
    # tf.Graph().as_default()
    function = made.func
    return (
        isinstance(function, cst.Attribute)
        and function.attr.value == "as_default"
        and isinstance(function.value, cst.Call)
        and tree.symbol(function.value.func) in _DEFAULT_GRAPH
    )


class _Instead(cst.CSTTransformer):
    """Statements in the place of one, or of several in a row."""

    def __init__(
        self,
        first: cst.CSTNode,
        instead: Sequence[Statement],
        gone: Sequence[cst.CSTNode] = (),
    ) -> None:
        self.first = first
        self.instead = instead
        self.gone = gone

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node is self.first:
            return cst.FlattenSentinel(self.instead)  # type: ignore[arg-type]
        if original_node in self.gone:
            return cst.RemoveFromParent()
        return super().on_leave(original_node, updated_node)


# -- partials and lambdas -----------------------------------------------------------


def partial_as_factory(tree: Tree, node: cst.BaseExpression) -> cst.Module | None:
    """A model_fn with some arguments given, as a function that is given them."""
    found = _partial(tree, node) or _lambda(tree, node)
    if found is None:
        return None
    function, given = found
    definition = tree.resolver.definition(function)
    if (
        not given
        or not isinstance(definition, cst.FunctionDef)
        or not isinstance(tree.parent(definition), cst.Module)
        or len(tree.loads_of(definition)) != 1
        or definition.decorators
        or definition.params.kwonly_params
        or definition.params.star_kwarg is not None
    ):
        return None
    parameters = definition.params.params
    names = [p.name.value for p in parameters]
    if any(argument.keyword is None for argument in given):
        return None
    moved = [a.keyword.value for a in given if a.keyword is not None]
    left = [p for p in parameters if p.name.value not in moved]
    if any(name not in names for name in moved) or any(
        p.name.value not in _OF_MODEL_FN for p in left
    ):
        return None
    scope = tree.resolver.scopes.opened.get(definition)
    if scope is None or any(len(scope.bindings.get(n, ())) != 1 for n in moved):
        return None
    name = f"make_{definition.name.value.strip('_')}"
    if any(isinstance(n, cst.Name) and n.value == name for n in walk(tree.module)):
        return None
    inner = definition.with_changes(
        leading_lines=[], params=cst.Parameters([_bare(p) for p in left])
    )
    back = cst.SimpleStatementLine([cst.Return(cst.Name(definition.name.value))])
    outer = cst.FunctionDef(
        name=cst.Name(name),
        params=cst.Parameters([cst.Param(cst.Name(n)) for n in moved]),
        body=cst.IndentedBlock([inner, back]),
        leading_lines=definition.leading_lines,
    )
    given[-1] = given[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    module = tree.module.visit(
        _Replaced({definition: outer, node: cst.Call(cst.Name(name), given)})
    )
    assert isinstance(module, cst.Module)
    return parse(module.code)


def _bare(parameter: cst.Param) -> cst.Param:
    return parameter.with_changes(comma=cst.MaybeSentinel.DEFAULT)


def _partial(
    tree: Tree, node: cst.BaseExpression
) -> tuple[cst.BaseExpression, list[cst.Arg]] | None:
    """``functools.partial(model_fn, units=8)``."""
    if not isinstance(node, cst.Call) or not node.args:
        return None
    if tree.resolver.qualified(node.func) != "functools.partial":
        return None
    function, *given = node.args
    if function.keyword is not None or any(a.star for a in node.args):
        return None
    return function.value, given


def _lambda(
    tree: Tree, node: cst.BaseExpression
) -> tuple[cst.BaseExpression, list[cst.Arg]] | None:
    """``lambda features, labels, mode: model_fn(features, labels, mode, units=8)``."""
    if not isinstance(node, cst.Lambda) or not isinstance(node.body, cst.Call):
        return None
    own = [p.name.value for p in node.params.params]
    call = node.body
    definition = tree.resolver.definition(call.func)
    if not isinstance(definition, cst.FunctionDef) or any(a.star for a in call.args):
        return None
    if node.params.star_kwarg or isinstance(node.params.star_arg, cst.Param):
        return None
    names = [p.name.value for p in definition.params.params]
    given: list[cst.Arg] = []
    for index, argument in enumerate(call.args):
        name = names[index] if index < len(names) else ""
        if argument.keyword is not None:
            name = argument.keyword.value
        if isinstance(argument.value, cst.Name) and argument.value.value in own:
            # What the Estimator gives goes through under its own name.
            if argument.value.value != name:
                return None
            continue
        read = {n.value for n in walk(argument.value) if isinstance(n, cst.Name)}
        if read & set(own) or not name:
            return None
        given.append(
            argument.with_changes(
                keyword=cst.Name(name),
                equal=cst.AssignEqual(
                    whitespace_before=cst.SimpleWhitespace(""),
                    whitespace_after=cst.SimpleWhitespace(""),
                ),
            )
        )
    return call.func, given


class _Replaced(cst.CSTTransformer):
    def __init__(self, new: dict[cst.CSTNode, cst.CSTNode]) -> None:
        self.new = new

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node in self.new:
            return self.new[original_node]  # type: ignore[return-value]
        return super().on_leave(original_node, updated_node)


# -- hooks ------------------------------------------------------------------------


def with_list_of_hooks(tree: Tree, node: cst.BaseExpression) -> cst.Module | None:
    """``hooks = []`` and what is appended to it as one list, or None."""
    if not isinstance(node, cst.Name):
        return None
    bindings = tree.resolver.bindings(node)
    made = [b for b in bindings if b.value is not None]
    if len(made) != 1 or made[0].value is None:
        return None
    start = tree.statement(made[0].value)
    body = tree.body(start)
    small = only_small(start)
    if body is None or not isinstance(small, cst.Assign) or len(small.targets) != 1:
        return None
    elements = _listed(tree, made[0].value)
    if elements is None:
        return None
    name = node.value
    statements = statements_of(body)
    first = statements.index(start)
    changes: list[Statement] = []
    for statement in statements[first + 1 :]:
        if not _mentions(statement, name):
            continue
        more = _more(tree, statement, name)
        if more is None:
            break
        elements += more
        changes.append(statement)
    if not changes:
        return None
    last = changes[-1]
    between = statements[first : statements.index(last)]
    if any(_is_set_between(tree, e, start, between) for e in elements):
        return None
    listed = cst.List(
        [e.with_changes(comma=cst.MaybeSentinel.DEFAULT) for e in elements]
    )
    lines = [
        line
        for statement in [start, *changes]
        for line in statement.leading_lines
        if line.comment is not None
    ]
    if start.leading_lines and start.leading_lines[0].comment is None:
        lines.insert(0, start.leading_lines[0])
    whole = cst.SimpleStatementLine(
        [cst.Assign([cst.AssignTarget(cst.Name(name))], listed)], leading_lines=lines
    )
    module = tree.module.visit(_Instead(last, [whole], [start, *changes[:-1]]))
    assert isinstance(module, cst.Module)
    return parse(module.code)


def _mentions(statement: Statement, name: str) -> bool:
    return any(isinstance(n, cst.Name) and n.value == name for n in walk(statement))


def _listed(tree: Tree, value: cst.BaseExpression) -> list[cst.BaseElement] | None:
    if isinstance(value, (cst.List, cst.Tuple)):
        return list(value.elements)
    if isinstance(value, cst.Call) and not value.args and tree.code(value) == "list()":
        return []
    return None


def _more(tree: Tree, statement: Statement, name: str) -> list[cst.BaseElement] | None:
    """What a statement adds to the list, or None where it does anything else."""
    if isinstance(statement, cst.If):
        return _chosen(tree, statement, name)
    small = only_small(statement)
    if (
        isinstance(small, cst.AugAssign)
        and isinstance(small.operator, cst.AddAssign)
        and isinstance(small.target, cst.Name)
        and small.target.value == name
    ):
        return _listed(tree, small.value)
    call = small.value if isinstance(small, cst.Expr) else None
    if (
        not isinstance(call, cst.Call)
        or not isinstance(call.func, cst.Attribute)
        or not isinstance(call.func.value, cst.Name)
        or call.func.value.value != name
        or len(call.args) != 1
        or call.args[0].star
        or call.args[0].keyword is not None
    ):
        return None
    (argument,) = call.args
    if call.func.attr.value == "append":
        return [cst.Element(argument.value)]
    if call.func.attr.value == "extend":
        return _listed(tree, argument.value)
    return None


def _chosen(tree: Tree, statement: cst.If, name: str) -> list[cst.BaseElement] | None:
    """``*([hook] if test else [])`` for a branch that appends."""
    orelse = statement.orelse
    if isinstance(orelse, cst.If) or not isinstance(statement.body, cst.IndentedBlock):
        return None
    yes = _branch(tree, statement.body, name)
    no: list[cst.BaseElement] | None = []
    if orelse is not None:
        if not isinstance(orelse.body, cst.IndentedBlock):
            return None
        no = _branch(tree, orelse.body, name)
    if yes is None or no is None:
        return None
    choice = cst.IfExp(
        test=statement.test,
        body=cst.List(yes),
        orelse=cst.List(no),
        lpar=[cst.LeftParen()],
        rpar=[cst.RightParen()],
    )
    return [cst.StarredElement(choice)]


def _branch(
    tree: Tree, block: cst.IndentedBlock, name: str
) -> list[cst.BaseElement] | None:
    """Hooks that a branch appends; one with a name of its own is put in its place."""
    named: dict[str, cst.BaseExpression] = {}
    found: list[cst.BaseElement] = []
    for statement in statements_of(block):
        small = only_small(statement)
        if isinstance(small, cst.Assign) and len(small.targets) == 1:
            target = small.targets[0].target
            if not isinstance(target, cst.Name):
                return None
            if len(tree.loads(target.value)) != 1:
                return None
            named[target.value] = small.value
            continue
        more = _more(tree, statement, name)
        if more is None:
            return None
        for element in more:
            value = element.value
            if isinstance(value, cst.Name) and value.value in named:
                element = element.with_changes(value=named.pop(value.value))
            found.append(element)
    return None if named else found


def _is_set_between(
    tree: Tree,
    element: cst.BaseElement,
    start: Statement,
    between: Sequence[Statement],
) -> bool:
    """A name that a hook reads stands for something else further down."""
    for node in walk(element):
        if not isinstance(node, cst.Name) or node not in tree.resolver.scopes.loads:
            continue
        for binding in tree.resolver.bindings(node):
            several = len(binding.scope.bindings[binding.name]) != 1
            inside = any(
                a in between for a in (binding.node, *tree.ancestors(binding.node))
            )
            # One that was set once, in between, is there for what follows it.
            if several and inside:
                return True
    return False
