"""Finds every scope, binding and name use of a module in a single cheap walk.

LibCST's own ScopeProvider and QualifiedNameProvider cost five times the parse
of a typical TensorFlow file (measured: 2,100 lines/s against 11,600 for the
parse). The questions asked here are narrower, so one walk over the fields that
can hold names answers them at a fraction of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import ref

import libcst as cst

from .dotted import dotted_name
from .nodes import code_fields
from .scopes import Binding, BindingKind, ImportUse, Scope, ScopeKind, ScopeTree, Use


class _Builder:
    def __init__(self, module: cst.Module) -> None:
        self.scope = Scope(ScopeKind.MODULE, None, module)
        self.tree = ScopeTree(self.scope, {}, [], {}, [], [], {module: self.scope})
        self.order = 0
        self.fallback = False
        self.statement: cst.CSTNode | None = None
        self.guards = 0
        # Statement lines whose removal would leave an empty block.
        self.lonely: set[cst.CSTNode | None] = set()

    # -- the walk ---------------------------------------------------------

    def walk(self, node: object) -> None:
        kind = type(node)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            getattr(self, handler)(node)
            return
        if kind is list or kind is tuple:
            for item in node:  # type: ignore[attr-defined]
                self.walk(item)
            return
        if isinstance(node, cst.CSTNode):
            for name in code_fields(kind):  # type: ignore[arg-type]
                child = getattr(node, name)
                if child is not None and type(child) is not str:
                    self.walk(child)

    def bind(
        self,
        name: str,
        kind: BindingKind,
        node: cst.CSTNode,
        *,
        target: str | None = None,
        value: cst.BaseExpression | None = None,
        relative: int = 0,
        scope: Scope | None = None,
    ) -> None:
        scope = scope or self.scope
        if name in scope.global_names:
            scope = scope.module
        elif name in scope.nonlocal_names:
            scope = self._enclosing_function(scope, name)
        self.order += 1
        scope.bindings.setdefault(name, []).append(
            Binding(
                name,
                kind,
                ref(scope),
                node,
                self.order,
                target=target,
                value=value,
                fallback=self.fallback,
                relative=relative,
            )
        )

    @staticmethod
    def _enclosing_function(scope: Scope, name: str) -> Scope:
        outer = scope.parent
        while outer is not None and outer.parent is not None:
            if outer.kind is ScopeKind.FUNCTION and name in outer.bindings:
                return outer
            outer = outer.parent
        return scope

    @contextmanager
    def inside(self, kind: ScopeKind, node: cst.CSTNode) -> Iterator[None]:
        """The scope that a node opens is the present one."""
        outer = self.scope
        self.scope = self.tree.opened[node] = Scope(kind, outer, node)
        yield
        self.scope = outer

    # -- names ------------------------------------------------------------

    def name(self, node: cst.Name) -> None:
        self.load(node)
        self.tree.uses.append(Use(node, node, self.scope, self.statement))

    def load(self, node: cst.Name) -> None:
        self.order += 1
        self.tree.loads[node] = (self.scope, self.order)

    def attribute(self, node: cst.Attribute) -> None:
        base: cst.BaseExpression = node
        while isinstance(base, cst.Attribute):
            base = base.value
        if isinstance(base, cst.Name):
            self.load(base)
            self.tree.uses.append(Use(node, base, self.scope, self.statement))
        else:
            if isinstance(base, (cst.Call, cst.NamedExpr)):
                self.tree.uses.append(Use(node, None, self.scope, self.statement))
            self.walk(base)

    def call(self, node: cst.Call) -> None:
        self.tree.calls[node.func] = node
        self.walk(node.func)
        for argument in node.args:
            self.walk(argument.value)

    def enter(self, node: cst.CSTNode) -> None:
        self.statement = node
        self.tree.statements.append(node)

    def line(self, node: cst.SimpleStatementLine) -> None:
        self.enter(node)
        for small in node.body:
            self.walk(small)

    def block(self, node: cst.IndentedBlock) -> None:
        if len(node.body) == 1:
            self.lonely.add(node.body[0])
        self.walk(node.body)

    def try_(self, node: cst.Try | cst.TryStar) -> None:
        self.enter(node)
        self.guards += 1
        self.walk(node.body)
        self.guards -= 1
        self.walk(node.handlers)
        self.walk(node.orelse)
        self.walk(node.finalbody)

    def compound(self, node: cst.BaseCompoundStatement) -> None:
        self.enter(node)
        for name in code_fields(type(node)):
            self.walk(getattr(node, name))

    def arg(self, node: cst.Arg) -> None:
        self.walk(node.value)

    def bind_target(
        self,
        target: cst.CSTNode,
        node: cst.CSTNode,
        kind: BindingKind = BindingKind.OTHER,
        value: cst.BaseExpression | None = None,
    ) -> None:
        if isinstance(target, cst.Name):
            self.bind(target.value, kind, node, value=value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            values: list[cst.BaseExpression | None] = [None] * len(target.elements)
            if (
                isinstance(value, (cst.Tuple, cst.List))
                and len(value.elements) == len(target.elements)
                and not any(
                    isinstance(e, cst.StarredElement)
                    for e in (*value.elements, *target.elements)
                )
            ):
                values = [e.value for e in value.elements]
            for element, item in zip(target.elements, values, strict=True):
                self.bind_target(
                    element.value,
                    node,
                    BindingKind.ASSIGN if item is not None else BindingKind.OTHER,
                    item,
                )
        elif isinstance(target, (cst.StarredElement, cst.Element)):
            self.bind_target(target.value, node)
        else:  # attribute or subscript: its parts are loads
            self.walk(target)

    # -- imports ----------------------------------------------------------

    def note_import(self, node: cst.Import | cst.ImportFrom) -> None:
        self.tree.imports.append(
            ImportUse(
                node,
                self.scope,
                self.statement,
                self.guards > 0,
                self.statement in self.lonely,
            )
        )

    def import_(self, node: cst.Import) -> None:
        self.note_import(node)
        for alias in node.names:
            dotted = dotted_name(alias.name)
            if dotted is None:
                continue
            if alias.asname is not None:
                if isinstance(alias.asname.name, cst.Name):
                    self.bind(
                        alias.asname.name.value, BindingKind.IMPORT, node, target=dotted
                    )
            else:
                root = dotted.split(".")[0]
                self.bind(root, BindingKind.IMPORT, node, target=root)

    def import_from(self, node: cst.ImportFrom) -> None:
        self.note_import(node)
        base = dotted_name(node.module) if node.module is not None else ""
        base = base or ""
        relative = len(node.relative)
        if isinstance(node.names, cst.ImportStar):
            self.scope.star_imports.append("." * relative + base)
            return
        for alias in node.names:
            imported = dotted_name(alias.name)
            if imported is None:
                continue
            bound = imported
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                bound = alias.asname.name.value
            self.bind(
                bound,
                BindingKind.IMPORT,
                node,
                target=f"{base}.{imported}" if base else imported,
                relative=relative,
            )

    # -- statements that bind ----------------------------------------------

    def assign(self, node: cst.Assign) -> None:
        self.walk(node.value)
        for target in node.targets:
            self.bind_target(target.target, node, BindingKind.ASSIGN, node.value)

    def ann_assign(self, node: cst.AnnAssign) -> None:
        self.walk(node.annotation)
        if node.value is not None:
            self.walk(node.value)
            self.bind_target(node.target, node, BindingKind.ASSIGN, node.value)
        elif not isinstance(node.target, cst.Name):
            self.walk(node.target)

    def aug_assign(self, node: cst.AugAssign) -> None:
        self.walk(node.value)
        if isinstance(node.target, cst.Name):
            self.load(node.target)
        self.bind_target(node.target, node)

    def named_expr(self, node: cst.NamedExpr) -> None:
        self.walk(node.value)
        scope = self.scope
        while scope.kind is ScopeKind.COMPREHENSION and scope.parent is not None:
            scope = scope.parent
        if isinstance(node.target, cst.Name):
            self.bind(
                node.target.value,
                BindingKind.ASSIGN,
                node,
                value=node.value,
                scope=scope,
            )

    def global_(self, node: cst.Global) -> None:
        self.scope.global_names.update(item.name.value for item in node.names)

    def nonlocal_(self, node: cst.Nonlocal) -> None:
        self.scope.nonlocal_names.update(item.name.value for item in node.names)

    def del_(self, node: cst.Del) -> None:
        # A deleted name is unbound only afterwards; what it meant before holds.
        self.walk(node.target)

    def for_(self, node: cst.For) -> None:
        self.enter(node)
        self.walk(node.iter)
        self.bind_target(node.target, node)
        self.walk(node.body)
        self.walk(node.orelse)

    def as_name(self, node: cst.AsName) -> None:
        self.bind_target(node.name, node)

    def with_item(self, node: cst.WithItem) -> None:
        self.walk(node.item)
        if node.asname is not None:
            self.bind_target(node.asname.name, node)

    def except_handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler) -> None:
        self.walk(node.type)
        if node.name is not None:
            self.bind_target(node.name.name, node)
        outer, self.fallback = self.fallback, True
        self.walk(node.body)
        self.fallback = outer

    def match_as(self, node: cst.MatchAs) -> None:
        self.walk(node.pattern)
        if node.name is not None:
            self.bind_target(node.name, node)

    def match_star(self, node: cst.MatchStar) -> None:
        if node.name is not None:
            self.bind_target(node.name, node)

    def match_mapping(self, node: cst.MatchMapping) -> None:
        self.walk(node.elements)
        if node.rest is not None:
            self.bind_target(node.rest, node)

    def match_keyword(self, node: cst.MatchKeywordElement) -> None:
        self.walk(node.pattern)

    def type_alias(self, node: cst.TypeAlias) -> None:
        self.bind(node.name.value, BindingKind.OTHER, node)
        self.walk(node.type_parameters)
        self.walk(node.value)

    def type_var(self, node: cst.TypeVar | cst.TypeVarTuple | cst.ParamSpec) -> None:
        self.bind(node.name.value, BindingKind.PARAMETER, node)
        if isinstance(node, cst.TypeVar) and node.bound is not None:
            self.walk(node.bound)

    # -- definitions --------------------------------------------------------

    def _parameters(self, node: cst.Parameters) -> list[cst.Param]:
        params = [*node.posonly_params, *node.params]
        if isinstance(node.star_arg, cst.Param):
            params.append(node.star_arg)
        params.extend(node.kwonly_params)
        if node.star_kwarg is not None:
            params.append(node.star_kwarg)
        return params

    def function(self, node: cst.FunctionDef) -> None:
        self.enter(node)
        self.walk(node.decorators)
        params = self._parameters(node.params)
        for param in params:
            self.walk(param.default)
        self.bind(node.name.value, BindingKind.FUNCTION, node)
        outer, self.fallback = self.fallback, False
        with self.inside(ScopeKind.FUNCTION, node):
            self.walk(node.type_parameters)
            for param in params:
                self.walk(param.annotation)
            self.walk(node.returns)
            for param in params:
                self.bind(param.name.value, BindingKind.PARAMETER, param)
            self.walk(node.body)
        self.fallback = outer

    def lambda_(self, node: cst.Lambda) -> None:
        params = self._parameters(node.params)
        for param in params:
            self.walk(param.default)
        with self.inside(ScopeKind.FUNCTION, node):
            for param in params:
                self.bind(param.name.value, BindingKind.PARAMETER, param)
            self.walk(node.body)

    def class_(self, node: cst.ClassDef) -> None:
        self.enter(node)
        self.walk(node.decorators)
        self.walk(node.bases)
        self.walk(node.keywords)
        self.bind(node.name.value, BindingKind.CLASS, node)
        with self.inside(ScopeKind.CLASS, node):
            self.walk(node.type_parameters)
            self.walk(node.body)

    def comprehension(
        self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp
    ) -> None:
        # The first iterable is evaluated in the enclosing scope.
        self.walk(node.for_in.iter)
        with self.inside(ScopeKind.COMPREHENSION, node):
            clause: cst.CompFor | None = node.for_in
            while clause is not None:
                if clause is not node.for_in:
                    self.walk(clause.iter)
                self.bind_target(clause.target, clause)
                self.walk(clause.ifs)
                clause = clause.inner_for_in
            if isinstance(node, cst.DictComp):
                self.walk(node.key)
                self.walk(node.value)
            else:
                self.walk(node.elt)

    def skip(self, node: cst.CSTNode) -> None:
        """Leaves without names: literals, layout, bare keywords."""


_HANDLERS: dict[type[object], str] = {
    cst.Name: "name",
    cst.Attribute: "attribute",
    cst.Arg: "arg",
    cst.Call: "call",
    cst.SimpleStatementLine: "line",
    cst.Try: "try_",
    cst.TryStar: "try_",
    cst.IndentedBlock: "block",
    cst.Import: "import_",
    cst.ImportFrom: "import_from",
    cst.Assign: "assign",
    cst.AnnAssign: "ann_assign",
    cst.AugAssign: "aug_assign",
    cst.NamedExpr: "named_expr",
    cst.Global: "global_",
    cst.Nonlocal: "nonlocal_",
    cst.Del: "del_",
    cst.For: "for_",
    cst.AsName: "as_name",
    cst.WithItem: "with_item",
    cst.ExceptHandler: "except_handler",
    cst.ExceptStarHandler: "except_handler",
    cst.MatchAs: "match_as",
    cst.MatchStar: "match_star",
    cst.MatchMapping: "match_mapping",
    cst.MatchKeywordElement: "match_keyword",
    cst.TypeAlias: "type_alias",
    cst.TypeVar: "type_var",
    cst.TypeVarTuple: "type_var",
    cst.ParamSpec: "type_var",
    cst.FunctionDef: "function",
    cst.Lambda: "lambda_",
    cst.ClassDef: "class_",
}
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_HANDLERS.update(dict.fromkeys(_COMPREHENSIONS, "comprehension"))
_STATEMENTS = (cst.If, cst.While, cst.With, cst.Match)
_HANDLERS.update(dict.fromkeys(_STATEMENTS, "compound"))
_NUMBERS = (cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.Ellipsis)
_WORDS = (cst.Pass, cst.Break, cst.Continue, cst.EmptyLine, cst.MaybeSentinel)
_HANDLERS.update(dict.fromkeys((*_NUMBERS, *_WORDS), "skip"))


def build_scopes(module: cst.Module) -> ScopeTree:
    """Find every scope, binding and name use of ``module``."""
    builder = _Builder(module)
    builder.walk(module)
    return builder.tree
