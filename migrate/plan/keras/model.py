"""Finds the statements that build and compile a Keras model."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.substitute import substituted
from ..code.tree import Body, Statement, Tree, statements_of, walk
from ..sites import Blocked

__all__ = ["ModelParts", "find_model"]

COMPILE_PARAMETERS = (
    "optimizer",
    "loss",
    "metrics",
    "loss_weights",
    "sample_weight_mode",
    "weighted_metrics",
    "target_tensors",
    "distribute",
)

_MAKERS = (
    "tf.keras.Input",
    "tf.keras.Model",
    "tf.keras.Sequential",
    "tf.keras.layers.",
    "tf.keras.models.",
    "tf.keras.applications.",
)


@dataclass
class ModelParts:
    """The statements behind a compiled model."""

    variable: str
    statements: list[Statement]
    ready: Statement
    compile_statement: Statement | None
    compile_arguments: dict[str, cst.BaseExpression]
    compile_line: int
    drop: list[Statement] = field(default_factory=list)
    regularized: bool = False
    # Parameter of the builder -> source text given by its caller.
    substitutes: dict[str, str] = field(default_factory=dict)

    def text(self, tree: Tree, node: cst.BaseExpression) -> str:
        """Source text of an argument of compile, as the model's scope sees it."""
        return tree.code(substituted(node, self.substitutes))


def find_model(
    tree: Tree,
    node: cst.BaseExpression | None,
    body: Body,
    estimator_statement: Statement,
) -> ModelParts:
    """The model given to model_to_estimator, with its compile call."""
    line = tree.line(estimator_statement)
    if not isinstance(node, cst.Name):
        raise Blocked("TFM110", line, "the Keras model is not held in a plain variable")
    binding = tree.assigned(node)
    if binding is None or binding.value is None:
        raise Blocked("TFM110", line, f"`{node.value}` is not assigned once")
    ready = tree.statement(binding.value)
    if tree.body(ready) is not body:
        raise Blocked("TFM110", line, "the model and the estimator are made apart")
    statements = statements_of(body)
    end = statements.index(estimator_statement)
    builder = _Builders(tree)
    made: set[str] = set()
    chosen: list[Statement] = []
    for statement in statements[:end]:
        if builder.makes(statement, made):
            chosen.append(statement)
            made.update(_targets(statement))
    if ready not in chosen:
        raise Blocked("TFM110", line, f"it is not seen how `{node.value}` is built")

    compiles = [
        use for use in tree.uses(binding) if _is_method_call(tree, use, "compile")
    ]
    if len(compiles) > 1:
        raise Blocked("TFM113", line, "the model is compiled more than once")
    if compiles:
        call = tree.parent(tree.parent(compiles[0]) or compiles[0])
        assert isinstance(call, cst.Call)
        statement = tree.statement(call)
        if tree.body(statement) is not body:
            raise Blocked(
                "TFM113", tree.line(call), "the model is compiled in a branch"
            )
        parts = ModelParts(
            variable=node.value,
            statements=[s for s in chosen if s is not statement],
            ready=ready,
            compile_statement=statement,
            compile_arguments=_compile_arguments(tree, call),
            compile_line=tree.line(call),
        )
    else:
        parts = _compiled_by_builder(tree, binding.value, node.value, chosen, ready)
    _drop_optimizer(tree, parts, body)
    parts.statements = [s for s in parts.statements if s not in parts.drop]
    parts.regularized = builder.regularized
    return parts


def _compile_arguments(tree: Tree, call: cst.Call) -> dict[str, cst.BaseExpression]:
    try:
        return match_arguments(call, COMPILE_PARAMETERS)
    except UnknownArguments as problem:
        raise Blocked("TFM113", tree.line(call), f"compile with {problem}") from None


def _is_method_call(tree: Tree, use: cst.Name, method: str) -> bool:
    attribute = tree.parent(use)
    return (
        isinstance(attribute, cst.Attribute)
        and attribute.value is use
        and attribute.attr.value == method
        and isinstance(tree.parent(attribute), cst.Call)
    )


def _compiled_by_builder(
    tree: Tree,
    value: cst.BaseExpression,
    variable: str,
    chosen: list[Statement],
    ready: Statement,
) -> ModelParts:
    """``model = build(...)`` whose function compiles what it returns."""
    line = tree.line(ready)
    defined = (
        tree.resolver.definition(value.func) if isinstance(value, cst.Call) else None
    )
    if not isinstance(value, cst.Call) or not isinstance(defined, cst.FunctionDef):
        raise Blocked("TFM113", line, f"no compile call is seen for `{variable}`")
    compiles = [
        node
        for node in walk(defined.body)
        if isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "compile"
        and isinstance(node.func.value, cst.Name)
    ]
    callers = tree.loads_of(defined)
    if len(compiles) != 1 or len(callers) != 1:
        raise Blocked(
            "TFM113", line, f"no single compile call is seen for `{variable}`"
        )
    call = compiles[0]
    statement = tree.statement(call)
    if tree.body(statement) is not defined.body or len(defined.body.body) == 1:
        raise Blocked("TFM113", tree.line(call), "the model is compiled in a branch")
    parts = ModelParts(
        variable=variable,
        statements=chosen,
        ready=ready,
        compile_statement=None,
        compile_arguments=_compile_arguments(tree, call),
        compile_line=tree.line(call),
        drop=[statement],
        substitutes=_parameters(tree, defined, value),
    )
    _check_reachable(tree, parts, defined)
    return parts


def _parameters(tree: Tree, defined: cst.FunctionDef, call: cst.Call) -> dict[str, str]:
    names = [p.name.value for p in defined.params.params]
    try:
        given = match_arguments(call, names)
    except UnknownArguments as problem:
        raise Blocked("TFM110", tree.line(call), f"builder with {problem}") from None
    found = {
        p.name.value: tree.code(p.default)
        for p in defined.params.params
        if p.default is not None
    }
    found.update({name: tree.code(node) for name, node in given.items()})
    return found


def _check_reachable(tree: Tree, parts: ModelParts, defined: cst.FunctionDef) -> None:
    """What compile was given must make sense outside of the builder as well."""
    scope = tree.resolver.scopes.opened.get(defined)
    local = set(scope.bindings) if scope is not None else set()
    local -= set(parts.substitutes)
    for name, node in parts.compile_arguments.items():
        value = tree.value(node)
        for part in walk(value if value is not None else node):
            if isinstance(part, cst.Name) and part.value in local:
                raise Blocked(
                    "TFM113",
                    parts.compile_line,
                    f"compile(`{name}`=) depends on `{part.value}` of the builder",
                )


def _drop_optimizer(tree: Tree, parts: ModelParts, body: Body) -> None:
    """The optimizer's own statement goes when only compile reads it."""
    binding = tree.assigned(parts.compile_arguments.get("optimizer"))
    if binding is None or binding.value is None:
        return
    if len(tree.uses(binding)) != 1:
        raise Blocked(
            "TFM117", tree.line(binding.value), "the optimizer is used elsewhere too"
        )
    parts.drop.append(tree.statement(binding.value))


def _targets(statement: Statement) -> set[str]:
    found: set[str] = set()
    for node in walk(statement):
        if isinstance(node, cst.AssignTarget):
            found.update(n.value for n in walk(node.target) if isinstance(n, cst.Name))
    return found


class _Builders:
    """Tells which statements make a model, through functions that do."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.regularized = False
        self._seen: dict[cst.CSTNode, bool] = {}

    def makes(self, statement: Statement, made: set[str]) -> bool:
        """Does the statement make layers, or work on what such statements made?"""
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            return False
        return self._makes(statement, made)

    def _makes(self, root: cst.CSTNode, made: set[str]) -> bool:
        found = False
        for node in walk(root):
            if (
                isinstance(node, cst.Arg)
                and node.keyword is not None
                and "regularizer" in node.keyword.value
                and not is_none(node.value)
            ):
                self.regularized = True
            if isinstance(node, cst.Name) and node.value in made:
                found = found or node in self.tree.resolver.scopes.loads
            if isinstance(node, cst.Call) and self._is_maker(node):
                found = True
        return found

    def _is_maker(self, call: cst.Call) -> bool:
        symbol = self.tree.symbol(call.func)
        if symbol is not None:
            if symbol.startswith("tf.keras.applications."):
                return symbol.split(".")[-1][:1].isupper()
            return symbol.startswith(_MAKERS)
        defined = self.tree.resolver.definition(call.func)
        if defined is None:
            return False
        if defined not in self._seen:
            self._seen[defined] = False
            bases = getattr(defined, "bases", ())
            subclass = any(
                (self.tree.symbol(base.value) or "").startswith(_MAKERS)
                for base in bases
            )
            self._seen[defined] = self._makes(defined.body, set()) or subclass
        return self._seen[defined]
