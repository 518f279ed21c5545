"""The one resolver: from an expression to the TensorFlow symbol it means.

Rules and recognisers never compare source text. They ask the resolver, which
knows every door to a symbol: any import alias, from-imports, ``compat.v1``,
private paths, ``tensorflow_estimator``, aliases by assignment, local and
try/except imports, project modules that re-export, and ``getattr`` or
``importlib.import_module`` with a literal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, cast

import libcst as cst

from .names import Door, canonical, door
from .nodes import Kind, everything, exactly
from .scope_builder import build_scopes
from .scopes import Binding, BindingKind, Scope, ScopeKind, ScopeTree

Answer = TypeVar("Answer")

# (absolute module name, exported name) -> dotted path it stands for, or None.
Exports = Callable[[str, str], "str | None"]
# (absolute module name, name) -> whether a module of the project makes it itself.
Makes = Callable[[str, str], bool]

# Longer alias chains are cycles or machine-made; neither is followed.
_MAX_DEPTH = 12


class Resolver:
    """Answers what names mean in one module.

    ``module_name`` (dotted) and ``is_package`` are needed to follow relative
    imports; ``exports`` follows names through other modules of the project, and
    ``makes`` says which are their own, for ``from module import *``;
    ``scopes`` are those of ``module``, where they have been built already.
    A node that was not part of ``module`` when the resolver was made is looked
    up as if it stood at module level.
    """

    def __init__(
        self,
        module: cst.Module,
        *,
        module_name: str | None = None,
        is_package: bool = False,
        exports: Exports | None = None,
        makes: Makes | None = None,
        scopes: ScopeTree | None = None,
    ) -> None:
        self.module = module
        self.scopes: ScopeTree = scopes if scopes is not None else build_scopes(module)
        self._package = module_name
        if module_name is not None and not is_package:
            self._package = module_name.rpartition(".")[0]
        self._exports = exports
        self._makes = makes
        self._bound: dict[Binding, str | None] = {}
        self._busy: set[Binding] = set()
        self._answers: dict[object, object] = {}
        self._asked: dict[int, tuple[cst.CSTNode, str | None]] = {}

    def once(self, key: object, make: Callable[[], Answer]) -> Answer:
        """What a function says of the module, under a key: it is asked once."""
        if key not in self._answers:
            self._answers[key] = make()
        return cast("Answer", self._answers[key])

    def about(self, ask: Callable[[cst.Module], Answer]) -> Answer:
        """What a function says of the module's tree, which many want to know."""
        return self.once(ask, lambda: ask(self.module))

    def each(self, *kinds: type[Kind]) -> Sequence[Kind]:
        """The nodes of some kinds in the module, in source order."""
        if kinds not in self._answers:
            wanted = exactly(kinds)
            every = self.about(everything)
            self._answers[kinds] = [n for n in every if n.__class__ in wanted]
        return cast("Sequence[Kind]", self._answers[kinds])

    # -- questions ----------------------------------------------------------

    def resolve(self, node: cst.CSTNode | None) -> str | None:
        """The canonical ``tf.`` name of an expression, or None.

        >>> import libcst
        >>> code = "from tensorflow.compat.v1 import train\\ntrain.AdamOptimizer"
        >>> module = libcst.parse_module(code)
        >>> Resolver(module).resolve(module.body[1].body[0].value)
        'tf.train.AdamOptimizer'
        """
        dotted = self.qualified(node)
        return canonical(dotted) if dotted is not None else None

    def qualified(self, node: cst.CSTNode | None) -> str | None:
        """The dotted import path an expression stands for, as it was spelled.

        Works for every imported package: ``np.mean`` gives ``numpy.mean``,
        ``tf1.train`` gives ``tensorflow.compat.v1.train``.
        """
        if node is None:
            return None
        key = id(node)
        if key not in self._asked:
            # The node is kept so that its identity stays its own.
            self._asked[key] = (node, self._dotted(node, 0))
        return self._asked[key][1]

    def door(self, node: cst.CSTNode | None) -> Door | None:
        """Through which door of TensorFlow the expression goes, if any."""
        dotted = self.qualified(node)
        return door(dotted) if dotted is not None else None

    def bindings(self, node: cst.Name) -> tuple[Binding, ...]:
        """All bindings the name may refer to, in source order."""
        scope, _ = self._place(node)
        found = self._find(node.value, scope)
        return tuple(found[0]) if found else ()

    def scope(self, node: cst.CSTNode) -> Scope | None:
        """The scope a name is looked up from, or the scope a node opens."""
        if isinstance(node, cst.Name) and node in self.scopes.loads:
            return self.scopes.loads[node][0]
        return self.scopes.opened.get(node)

    def definition(
        self, node: cst.CSTNode | None
    ) -> cst.FunctionDef | cst.ClassDef | None:
        """The function or class in this module that an expression names.

        Follows ``alias = name``; gives None when there are several candidates.
        """
        for _ in range(_MAX_DEPTH):
            if type(node) is not cst.Name:
                return None
            found = self.bindings(node)
            if len(found) != 1:
                return None
            binding = found[0]
            if isinstance(binding.node, (cst.FunctionDef, cst.ClassDef)):
                return binding.node
            if binding.kind is not BindingKind.ASSIGN:
                return None
            node = binding.value
        return None

    def exported(self, name: str) -> str | None:
        """The dotted path of what other modules import from here as ``name``.

        None for what the module makes itself.
        """
        bound = self.scopes.module_scope.bindings.get(name)
        if bound:
            return self._choose(bound, None, 0)
        return self._starred(name, self.scopes.module_scope)

    def made_elsewhere(
        self, node: cst.BaseExpression, depth: int = 0
    ) -> cst.BaseExpression | None:
        """The part of a chain that another module of the project binds itself.

        Of ``settings.initializer`` the whole, if ``initializer = tf...`` stands in
        that module: its name there is what a rewrite changes.
        """
        chain = [node]
        while isinstance(chain[-1], cst.Attribute):
            chain.append(chain[-1].value)
        root = chain.pop()
        found = self.bindings(root) if isinstance(root, cst.Name) else ()
        if self._makes is None or len(found) != 1 or depth > _MAX_DEPTH:
            return None
        value = found[0].value
        if found[0].kind is BindingKind.ASSIGN and value is not None:
            # `FLAGS = settings.FLAGS`: the name is but another for that.
            made = self.made_elsewhere(value, depth + 1)
            return root if made is value else None
        if found[0].target is None:
            return None
        path = self.absolute(found[0].target, found[0].relative)
        part: cst.BaseExpression = root
        while path is not None and door(path) is None:
            module, _, name = path.rpartition(".")
            if module and self._makes(module, name):
                return part
            if not chain:
                return None
            part = chain.pop()
            assert isinstance(part, cst.Attribute)
            path = f"{path}.{part.attr.value}"
        return None

    def absolute(self, target: str, relative: int) -> str | None:
        """The absolute dotted path of a (possibly relative) import target."""
        if relative == 0:
            return target
        if self._package is None:
            return None
        parts = self._package.split(".") if self._package else []
        if relative - 1 > len(parts):
            return None
        base = parts[: len(parts) - (relative - 1)]
        return ".".join([*base, target] if target else base)

    # -- the lookup -----------------------------------------------------------

    def _place(self, node: cst.Name) -> tuple[Scope, int | None]:
        place = self.scopes.loads.get(node)
        return place if place is not None else (self.scopes.module_scope, None)

    def _dotted(self, node: cst.CSTNode | None, depth: int) -> str | None:
        # Each link of a chain of calls is one step: without an end here, asking about
        # every link of a long chain would take quadratic time.
        if depth > _MAX_DEPTH:
            return None
        attributes: list[str] = []
        while type(node) is cst.Attribute:
            attributes.append(node.attr.value)
            node = node.value
        if type(node) is cst.Name:
            base = self._name(node, depth)
        elif type(node) is cst.Call:
            base = self._call(node, depth)
        elif type(node) is cst.NamedExpr:
            base = self._dotted(node.value, depth)
        else:
            return None
        if base is None:
            return None
        if not attributes:
            return base
        return self._reexported(".".join([base, *reversed(attributes)]))

    def _name(self, node: cst.Name, depth: int) -> str | None:
        if depth > _MAX_DEPTH:
            return None
        scope, order = self._place(node)
        found = self._find(node.value, scope)
        if found is not None:
            bound, same_scope = found
            return self._choose(bound, order if same_scope else None, depth)
        return self._starred(node.value, scope)

    @staticmethod
    def _find(name: str, start: Scope) -> tuple[list[Binding], bool] | None:
        scope: Scope | None = start
        if name in start.global_names:
            scope = start.module
        while scope is not None:
            # Class bodies are not enclosing scopes for what is nested in them.
            if scope is start or scope.kind is not ScopeKind.CLASS:
                bound = scope.bindings.get(name)
                if bound:
                    return bound, scope is start
            scope = scope.parent
        return None

    def _choose(
        self, bound: list[Binding], order: int | None, depth: int
    ) -> str | None:
        if len(bound) == 1:
            return self._binding(bound[0], depth)
        # ``X = None`` before or in a guarded import says nothing about X.
        told = [b for b in bound if not _is_none(b)]
        # try: import A / except ImportError: import B -- the first choice counts.
        firsts = [b for b in told if not b.fallback] or told
        if not firsts:
            return None
        values = [self._binding(b, depth) for b in firsts]
        if all(value == values[0] for value in values):
            return values[0]
        if order is not None:
            before = [
                (b, v) for b, v in zip(firsts, values, strict=True) if b.order < order
            ]
            if before:
                return before[-1][1]
        names = {canonical(value) if value is not None else None for value in values}
        if len(names) == 1:
            return values[0]
        # if/else imports: every branch is TensorFlow's, the first is as good.
        if all(b.kind is BindingKind.IMPORT for b in firsts):
            return next((v for v in values if v is not None and door(v)), None)
        return None

    def _binding(self, binding: Binding, depth: int) -> str | None:
        if binding in self._bound:
            return self._bound[binding]
        if binding in self._busy:
            return None
        self._busy.add(binding)
        try:
            result: str | None = None
            if binding.kind is BindingKind.IMPORT and binding.target is not None:
                absolute = self.absolute(binding.target, binding.relative)
                if absolute is not None:
                    result = self._reexported(absolute)
            elif binding.kind is BindingKind.ASSIGN:
                result = self._dotted(binding.value, depth + 1)
        finally:
            self._busy.discard(binding)
        self._bound[binding] = result
        return result

    def _reexported(self, dotted: str) -> str:
        """Replace ``project.module.name`` by what that module imported as name."""
        if self._exports is None or door(dotted) is not None:
            return dotted
        parts = dotted.split(".")
        for end in range(len(parts) - 1, 0, -1):
            target = self._exports(".".join(parts[:end]), parts[end])
            if target is not None:
                return ".".join([target, *parts[end + 1 :]])
        return dotted

    def star_modules(self, scope: Scope) -> Iterator[str]:
        """The modules of which a scope, or one around it, imports all names."""
        outer: Scope | None = scope
        while outer is not None:
            for source in outer.star_imports:
                base = source.lstrip(".")
                module = self.absolute(base, len(source) - len(base))
                if module is not None:
                    yield module
            outer = outer.parent

    def _starred(self, name: str, scope: Scope) -> str | None:
        """A name that nothing binds may come from ``from module import *``."""
        hidden = name.startswith("_")
        for module in self.star_modules(scope):
            if self._exports is not None:
                target = self._exports(module, name)
                if target is not None:
                    return target
            if self._makes is not None and not hidden and self._makes(module, name):
                return f"{module}.{name}"
            if door(module) is not None and not hidden:
                from .table import is_known

                full = f"{module}.{name}"
                if is_known(canonical(full)):
                    return full
        return None

    def _call(self, node: cst.Call, depth: int) -> str | None:
        """``getattr(x, "name")`` and ``importlib.import_module("name")``."""
        positional = [a for a in node.args if a.keyword is None and not a.star]
        if len(positional) != len(node.args) or not positional:
            return None
        if isinstance(node.func, cst.Name):
            if node.func.value == "getattr" and len(positional) in (2, 3):
                if self._find("getattr", self._place(node.func)[0]) is not None:
                    return None
                attribute = _literal(positional[1].value)
                base = self._dotted(positional[0].value, depth + 1)
                if base is None or not attribute or not attribute.isidentifier():
                    return None
                return self._reexported(f"{base}.{attribute}")
            if node.func.value == "__import__" and len(positional) == 1:
                module = _literal(positional[0].value)
                return module.split(".")[0] if module else None
        if len(positional) == 1:
            callee = self._dotted(node.func, depth + 1)
            if callee == "importlib.import_module":
                module = _literal(positional[0].value)
                if module and not module.startswith("."):
                    return self._reexported(module)
        return None


def _is_none(binding: Binding) -> bool:
    value = binding.value
    return isinstance(value, cst.Name) and value.value == "None"


def _literal(node: cst.BaseExpression) -> str | None:
    """The text of a plain string literal, or None."""
    if not isinstance(node, cst.SimpleString):
        return None
    try:
        value = node.evaluated_value
    except (SyntaxError, ValueError):
        return None
    return value if isinstance(value, str) else None
