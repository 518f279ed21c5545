"""Objects that build the graph become part of the model function that has them.

``model = Model(features, labels, mode)`` with a constructor that makes layers, losses
or updates, and ``self.build(features)`` of a model function that is a method: the code
of these methods stands in the model function then, and attributes are its variables.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from ...code.edits import Put, changed
from ...code.statements import is_docstring
from ...code.tree import Tree, only_small, walk
from ...names.dotted import import_path
from ...names.scopes import Binding, BindingKind
from ...project.facts import ParsedModule, ProjectFacts
from ...project.positions import code_of
from .inlined import (
    Inliner,
    IsModelFn,
    fresh,
    helper_of,
    knows,
    with_helpers_inlined,
    without_unread,
)

__all__ = ["with_objects_inlined", "without_idle_imports"]

_MOST = 60


def with_objects_inlined(
    files: Sequence[ParsedModule], facts: ProjectFacts, is_model_fn: IsModelFn
) -> list[ParsedModule]:
    """The files of a program with such objects in their model functions."""
    files = [*files]
    for place in range(len(files)):
        functions = [n for n in files[place].nodes if isinstance(n, cst.FunctionDef)]
        names = [one.name.value for one in functions]
        for name in [n.name.value for n in functions if is_model_fn(n)]:
            if names.count(name) > 1:
                continue
            for _ in range(_MOST):
                found = _once(files, place, facts, name, is_model_fn)
                if found is None:
                    break
                files = found
    return files


def _once(
    files: list[ParsedModule],
    place: int,
    facts: ProjectFacts,
    name: str,
    is_model_fn: IsModelFn,
) -> list[ParsedModule] | None:
    """The files with one object less in a model function, or None."""
    parsed = files[place]
    tree = Tree(parsed.module, parsed.resolver)
    defined = _function(parsed, name)
    holder = tree.parent(tree.parent(defined) or defined)
    if isinstance(holder, cst.ClassDef):
        own = _Object(parsed, facts, name, "self", holder.name.value).inlined()
        if own is not None:
            return [*files[:place], own, *files[place + 1 :]]
    for node in walk(defined.body):
        if not isinstance(node, cst.Call) or tree.function(node) is not defined:
            continue
        told = facts.definition(node.func, parsed)
        kind = told.node if told is not None else None
        if told is None or not isinstance(kind, (cst.ClassDef, cst.FunctionDef)):
            continue
        where = os.path.abspath(told.module.path)
        homes = [n for n, f in enumerate(files) if os.path.abspath(f.path) == where]
        if not homes or told.node is None:
            continue
        home, user = files[homes[0]], parsed
        if homes[0] != place:
            brought = _brought(home, parsed, facts, node, told.name)
            if brought is None:
                continue
            home, user = brought
        alone: ParsedModule | None = None
        if isinstance(kind, cst.ClassDef):
            small = only_small(tree.statement(node))
            target = small.targets[0].target if isinstance(small, cst.Assign) else None
            if isinstance(target, cst.Name) and getattr(small, "value", None) is node:
                alone = _Object(user, facts, name, target.value, told.name).inlined()
        elif homes[0] != place:
            alone = _with_helper(files[homes[0]], user, facts, told.name, is_model_fn)
        if alone is not None:
            new = [*files]
            new[homes[0]] = home
            new[place] = alone
            return new
    return None


def _with_helper(
    home: ParsedModule,
    user: ParsedModule,
    facts: ProjectFacts,
    name: str,
    is_model_fn: IsModelFn,
) -> ParsedModule | None:
    """A file with the code of a helper, by now its own, where it is called."""
    helper = _top(home, name)
    tree = Tree(home.module, home.resolver)
    if not isinstance(helper, cst.FunctionDef) or not knows(tree, helper, set()):
        return None
    after = with_helpers_inlined(user, facts, is_model_fn)
    return after if _top(after, name) is None else None


def _top(parsed: ParsedModule, name: str) -> cst.CSTNode | None:
    """The definition of a module that has this name."""
    bound = parsed.resolver.scopes.module_scope.bindings.get(name, [])
    return bound[0].node if len(bound) == 1 else None


def _function(parsed: ParsedModule, name: str) -> cst.FunctionDef:
    return next(
        one
        for one in parsed.nodes
        if isinstance(one, cst.FunctionDef) and one.name.value == name
    )


def _with_base(
    parsed: ParsedModule,
    found: cst.ClassDef,
    base: cst.ClassDef,
    known: Sequence[str],
) -> cst.ClassDef | None:
    """A class with the methods of its base among its own."""
    body, above = found.body, base.body
    if not isinstance(body, cst.IndentedBlock) or not isinstance(
        above, cst.IndentedBlock
    ):
        return None
    own = {one.name.value for one in body.body if isinstance(one, cst.FunctionDef)}
    asked: set[str] = set()
    heads = {f"super({one},self)" for one in (found.name.value, *known)} | {"super()"}
    new: dict[cst.CSTNode, cst.CSTNode] = {}
    for node in walk(body):
        # ``super().f()``, ``super(Net, self).f()`` and ``Base.f(self)``
        func = node.func if isinstance(node, cst.Call) else None
        if not isinstance(node, cst.Call) or not isinstance(func, cst.Attribute):
            continue
        head = code_of(parsed.module, func.value).replace(" ", "")
        args = node.args
        if head == base.name.value and args and _is_self(args[0].value):
            args = args[1:]
        elif head not in heads:
            if head.startswith("super("):
                return None
            continue
        name = func.attr.value
        asked.add(name)
        target = f"self.{_of_base(name, base) if name in own else name}"
        new[node] = node.with_changes(func=cst.parse_expression(target), args=args)
    kept: list[cst.BaseStatement] = []
    for one in above.body:
        if not isinstance(one, cst.FunctionDef):
            if not is_docstring(one):
                return None
            continue
        name = one.name.value
        if name in own and name in asked:
            kept.append(one.with_changes(name=cst.Name(_of_base(name, base))))
        elif name not in own:
            kept.append(one)
    missing = asked - {
        one.name.value for one in above.body if isinstance(one, cst.FunctionDef)
    }
    if missing:
        return None
    after = found.visit(Put(new))
    assert isinstance(after, cst.ClassDef)
    whole = [*kept, *after.body.body]
    return after.with_changes(
        bases=base.bases, body=after.body.with_changes(body=whole)
    )


def _of_base(name: str, base: cst.ClassDef) -> str:
    return f"{name.strip('_')}_of_{base.name.value}"


def _is_self(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "self"


def _class(
    parsed: ParsedModule, name: str, *, plain: bool = True
) -> cst.ClassDef | None:
    """The class of a file that has this name, if it is a plain one."""
    found = [
        one
        for one in parsed.nodes
        if isinstance(one, cst.ClassDef) and one.name.value == name
    ]
    if len(found) != 1 or found[0].decorators or found[0].keywords:
        return None
    bases = [code_of(parsed.module, one.value) for one in found[0].bases]
    return found[0] if set(bases) <= {"object"} or not plain else None


@dataclass
class _Object:
    """A variable of a model function, and the class of what it holds.

    ``variable`` is ``self`` where the model function is a method of the class.
    """

    parsed: ParsedModule
    facts: ProjectFacts
    name: str
    variable: str
    class_name: str
    # Classes whose methods the class has by now.
    bases: list[str] = field(default_factory=list)

    def inlined(self) -> ParsedModule | None:
        """The file without the object, or None where something stays of it."""
        self._flatten()
        if not self._builds():
            return None
        self._call_properties()
        self._set_one_by_one()
        for _ in range(_MOST):
            found = self._step()
            if found is False:
                return self._without_attributes()
            if found is None:
                return None
        return None

    @property
    def tree(self) -> Tree:
        return Tree(self.parsed.module, self.parsed.resolver)

    def _methods(self) -> dict[str, cst.FunctionDef]:
        found = _class(self.parsed, self.class_name)
        body = found.body.body if found is not None else ()
        return {one.name.value: one for one in body if isinstance(one, cst.FunctionDef)}

    def _builds(self) -> bool:
        """What is called of it makes the graph; or methods give attributes values."""
        methods = self._methods()
        if _class(self.parsed, self.class_name) is None:
            return False
        called = {self.name}
        if self.variable != "self":
            called = {
                one.attr.value
                for one in walk(_function(self.parsed, self.name))
                if isinstance(one, cst.Attribute) and _is_of(one, self.variable)
            } | {"__init__"}
        reached = [one for one in methods if one in called]
        for one in reached:
            for node in walk(methods[one].body):
                if isinstance(node, cst.Attribute) and _is_of(node, "self"):
                    named = node.attr.value
                    if named in methods and named not in reached:
                        reached.append(named)
        tree = self.tree
        nodes = [node for one in reached for node in walk(methods[one].body)]
        if self.variable == "self":
            return any(True for _ in self._stores(nodes, "self"))
        return any(
            _MAKES.match(tree.symbol(node.func) or "") is not None
            for node in nodes
            if isinstance(node, cst.Call)
        )

    def _flatten(self) -> None:
        """Gives the class what it has of its bases, which stand in the file."""
        for _ in range(_MOST):
            found = _class(self.parsed, self.class_name, plain=False)
            first = found.bases[0].value if found is not None and found.bases else None
            base = self.parsed.resolver.definition(first)
            if found is None or len(found.bases) != 1:
                return
            if not isinstance(base, cst.ClassDef) or base.keywords or base.decorators:
                return
            made = _with_base(self.parsed, found, base, self.bases)
            if made is None:
                return
            self.bases.append(base.name.value)
            self.parsed = changed(self.parsed, self.facts, {found: made})

    def _call_properties(self) -> None:
        """Makes methods of properties, and calls of what reads them."""
        tree = self.tree
        named = {
            name: one
            for name, one in self._methods().items()
            if [tree.code(n.decorator) for n in one.decorators] == ["property"]
        }
        new: dict[cst.CSTNode, Any] = {
            one: lambda now: now.with_changes(decorators=[]) for one in named.values()
        }
        defined = _function(self.parsed, self.name)
        for variable, part in (
            (self.variable, defined),
            ("self", _class(self.parsed, self.class_name)),
        ):
            for node in walk(part) if part is not None else ():
                if (
                    isinstance(node, cst.Attribute)
                    and _is_of(node, variable)
                    and node.attr.value in named
                ):
                    new[node] = cst.Call(node)
        if new:
            self.parsed = changed(self.parsed, self.facts, new)

    def _set_one_by_one(self) -> None:
        """``self.a, self.b = a, b`` in two lines."""
        new: dict[cst.CSTNode, list[cst.BaseStatement]] = {}
        for method in self._methods().values():
            for line in walk(method.body):
                small = only_small(line)
                if not isinstance(small, cst.Assign) or len(small.targets) != 1:
                    continue
                targets, values = small.targets[0].target, small.value
                if not isinstance(targets, cst.Tuple) or not isinstance(
                    values, cst.Tuple
                ):
                    continue
                pairs: list[tuple[Any, cst.BaseExpression]] = [
                    (one.value, two.value)
                    for one, two in zip(targets.elements, values.elements, strict=False)
                ]
                plain = all(
                    isinstance(one, cst.Attribute) and isinstance(two, cst.Name)
                    for one, two in pairs
                )
                if plain and len(targets.elements) == len(values.elements):
                    new[line] = [
                        cst.SimpleStatementLine(
                            [cst.Assign([cst.AssignTarget(one)], two)]
                        )
                        for one, two in pairs
                    ]
        if new:
            self.parsed = changed(self.parsed, self.facts, new)

    def _step(self) -> bool | None:
        """Inlines one call; False if there is none, None if one cannot be."""
        tree = self.tree
        defined = _function(self.parsed, self.name)
        methods = self._methods()
        for node in walk(defined.body):
            if not isinstance(node, cst.Call) or tree.function(node) is not defined:
                continue
            func = node.func
            if isinstance(func, cst.Name) and func.value == "super":
                # Nothing is done by the constructor of `object`.
                line = tree.statement(node)
                if not code_of(self.parsed.module, line).strip().endswith("__init__()"):
                    return None
                self.parsed = changed(self.parsed, self.facts, {line: None})
                return True
            if self._makes(tree, node):
                name = "__init__"
            elif isinstance(func, cst.Attribute) and _is_of(func, self.variable):
                name = func.attr.value
            else:
                continue
            if name not in methods and name == "__init__" and not node.args:
                self.parsed = changed(
                    self.parsed, self.facts, {tree.statement(node): None}
                )
                return True
            if name not in methods:
                continue
            helper = helper_of(methods[name])
            statements = None
            if self._reads_late(tree, node, methods[name]):
                return None
            if helper is not None and helper is not defined:
                inliner = Inliner(tree, defined, node, helper, self.variable)
                inliner.anew = self._changing()
                statements = inliner.statements()
            if statements is None:
                return True if self._set_apart(tree, defined, node, name) else None
            self.parsed = changed(
                self.parsed, self.facts, {tree.statement(node): statements}
            )
            if self.variable == "self":
                self.parsed = without_unread(self.parsed, self.facts, name)
            return True
        return False

    def _makes(self, tree: Tree, call: cst.Call) -> bool:
        """It makes the object, and the variable gets it."""
        small = only_small(tree.statement(call))
        return (
            self.variable != "self"
            and isinstance(small, cst.Assign)
            and small.value is call
            and code_of(self.parsed.module, small.targets[0].target) == self.variable
            and tree.resolver.definition(call.func)
            is _class(self.parsed, self.class_name)
        )

    def _changing(self) -> set[str]:
        """Attributes that get a value in several places."""
        found = [
            one.attr.value
            for variable in {"self", self.variable}
            for one in self._stores([*self.parsed.nodes], variable)
        ]
        return {one for one in found if found.count(one) > 1}

    def _reads_late(self, tree: Tree, call: cst.Call, method: cst.FunctionDef) -> bool:
        """The statement of a call reads besides what the method changes."""
        changed_there = {
            one.attr.value for one in self._stores([*walk(method.body)], "self")
        }
        inside = {*walk(call)}
        statement = tree.statement(call)
        targets = {*self._stores([*walk(statement)], self.variable)}
        return any(
            isinstance(one, cst.Attribute)
            and one not in inside | targets
            and _is_of(one, self.variable)
            and one.attr.value in changed_there
            for one in (walk(statement) if only_small(statement) else ())
        )

    def _set_apart(
        self, tree: Tree, defined: cst.FunctionDef, call: cst.Call, name: str
    ) -> bool:
        """Gives the result of a call within an expression a name, in a line before."""
        statement = tree.statement(call)
        small = only_small(statement)
        above = tree.parent(call)
        while isinstance(above, _WITHIN):
            above = tree.parent(above)
        if small is None or above is not small or getattr(small, "value", 0) is call:
            return False
        local = fresh(name.strip("_"), _names([*walk(defined)]))
        line = cst.parse_statement(f"{local} = None\n")
        made = Put({call: cst.Name(local)})
        after = statement.visit(made)
        assert isinstance(line, cst.SimpleStatementLine)
        assert isinstance(after, cst.SimpleStatementLine)
        assign = cst.ensure_type(line.body[0], cst.Assign).with_changes(value=call)
        line = line.with_changes(body=[assign], leading_lines=after.leading_lines)
        new = [line, after.with_changes(leading_lines=[])]
        self.parsed = changed(self.parsed, self.facts, {statement: new})
        return True

    def _stores(
        self, nodes: Sequence[cst.CSTNode], variable: str
    ) -> Iterator[cst.Attribute]:
        """Attributes of the object that get a value."""
        for node in nodes:
            if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
                for one in walk(node.target):
                    if isinstance(one, cst.Attribute) and _is_of(one, variable):
                        yield one

    def _without_attributes(self) -> ParsedModule | None:
        """The file with variables of the model function for attributes."""
        tree = self.tree
        defined = _function(self.parsed, self.name)
        nodes = [*walk(defined.body)]
        stores = [*self._stores(nodes, self.variable)]
        names = {one.attr.value for one in stores}
        methods = self._methods()
        if any(tree.function(one) is not defined for one in stores):
            return None
        for node in self.parsed.nodes:
            of_name = isinstance(node, cst.Name) and node.value == self.variable
            above = tree.parent(node) if of_name else None
            if not of_name or node not in tree.resolver.scopes.loads:
                continue
            inside = defined in tree.ancestors(node)
            attribute = isinstance(above, cst.Attribute) and above.attr.value
            if self.variable == "self":
                if not inside and attribute in names and self._is_own(tree, node):
                    return None
                if inside and (not attribute or attribute in methods):
                    return None
            elif inside and attribute not in names:
                return None
        if self.variable == "self" and self._is_read_outside(names):
            return None
        taken = _names(nodes) | set(tree.resolver.scopes.opened[defined].bindings)
        new: dict[cst.CSTNode, cst.CSTNode | None] = {}
        for name in sorted(names):
            found = [
                one
                for one in nodes
                if isinstance(one, cst.Attribute)
                and one.attr.value == name
                and _is_of(one, self.variable)
            ]
            held = self._is_another_name(tree, defined, found)
            if held is not None:
                new[tree.statement(found[0])] = None
                new.update(dict.fromkeys(found[1:], cst.Name(held)))
                continue
            local = fresh(name, taken)
            new.update(dict.fromkeys(found, cst.Name(local)))
        after = changed(self.parsed, self.facts, new)
        for one in (self.class_name, *self.bases):
            after = without_unread(after, self.facts, one, cst.ClassDef)
        return after

    def _is_own(self, tree: Tree, node: cst.CSTNode) -> bool:
        """It stands in the class."""
        return any(
            isinstance(one, cst.ClassDef) and one.name.value == self.class_name
            for one in tree.ancestors(node)
        )

    def _is_read_outside(self, names: set[str]) -> bool:
        """Somebody who has the object may look at its attributes."""
        texts = [self.parsed.source.text]
        texts += [
            one.read_text("utf-8", "replace")
            for one in self.facts.importers(self.parsed.path)
        ]
        holders = {
            one
            for text in texts
            for one in re.findall(rf"(\w+)\s*=\s*[\w.]*\b{self.class_name}\(", text)
        }
        return any(
            re.search(rf"\b{holder}\.{name}\b", text)
            for text in texts
            for holder in holders
            for name in names
        )

    def _is_another_name(
        self, tree: Tree, defined: cst.FunctionDef, found: Sequence[cst.Attribute]
    ) -> str | None:
        """The variable that an attribute is, as in ``self.mode = mode``."""
        small = only_small(tree.statement(found[0]))
        if not isinstance(small, cst.Assign) or len(small.targets) != 1:
            return None
        if small.targets[0].target is not found[0]:
            return None
        if any(
            one in found
            for one in self._stores([*walk(defined)], self.variable)
            if one is not found[0]
        ):
            return None
        value = small.value
        scope = tree.resolver.scopes.opened[defined]
        loops = (cst.For, cst.While)
        if not isinstance(value, cst.Name) or any(
            isinstance(one, loops) for one in tree.ancestors(small)
        ):
            return None
        return value.value if len(scope.bindings.get(value.value, ())) == 1 else None


# What a call may be part of, if it is to be made before.
_WITHIN = (
    *(cst.Arg, cst.Attribute, cst.BinaryOperation, cst.Call, cst.Element),
    *(cst.Dict, cst.DictElement, cst.List, cst.Tuple),
)
_MAKES = re.compile(
    r"tf\.((contrib\.)?(layers|slim|losses|metrics)\.([\w.]+\.)?[a-z_0-9]+$"
    r"|get_variable|train\.\w*Optimizer)"
)


def _names(nodes: Sequence[cst.CSTNode]) -> set[str]:
    """The variables that are named, without attributes and keywords."""
    others = {one.attr for one in nodes if isinstance(one, cst.Attribute)}
    others |= {one.keyword for one in nodes if isinstance(one, cst.Arg) and one.keyword}
    return {
        one.value for one in nodes if isinstance(one, cst.Name) and one not in others
    }


def _is_of(node: cst.Attribute, variable: str) -> bool:
    return isinstance(node.value, cst.Name) and node.value.value == variable


def without_idle_imports(text: str, before: str) -> str:
    """The text without imports that nothing reads any more, or that nobody needed."""
    tree = ast.parse(text)
    read, old = ({*_read(one)} for one in (tree, ast.parse(before)))
    known = {line.strip() for line in before.splitlines()}
    lines = text.splitlines(keepends=True)
    for node in tree.body:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        names = {one.asname or one.name.partition(".")[0] for one in node.names}
        idle = names & old or lines[node.lineno - 1].strip() not in known
        if idle and not names & read and node.lineno == node.end_lineno:
            lines[node.lineno - 1] = ""
    blank = len(before) - len(before.lstrip("\n"))
    return blank * "\n" + "".join(lines).lstrip("\n")


def _read(tree: ast.Module) -> Iterator[str]:
    return (one.id for one in ast.walk(tree) if isinstance(one, ast.Name))


# -- classes of other files ------------------------------------------------------------


def _brought(
    home: ParsedModule,
    user: ParsedModule,
    facts: ProjectFacts,
    call: cst.Call,
    name: str,
) -> tuple[ParsedModule, ParsedModule] | None:
    """A class moved to the file that makes its object, with the imports it needs."""
    found = _class(home, name) or _top(home, name)
    func = call.func
    package = func.value if isinstance(func, cst.Attribute) else None
    if isinstance(package, cst.Name):
        return _named(home, user, facts, package.value, call, name)
    if not isinstance(found, (cst.ClassDef, cst.FunctionDef)):
        return None
    if not isinstance(func, cst.Name) or func.value != name:
        return None
    statement = _import_of(user, name)
    if statement is None or home.resolver.scopes.module_scope.node is not home.module:
        return None
    lines: list[str] = []
    taken = user.resolver.scopes.module_scope.bindings
    chain = _chain(home, found)
    names = {one.name.value for one in chain}
    if (names - {name}) & taken.keys():
        return None
    loads = [
        one
        for part in chain
        for one in walk(part)
        if isinstance(one, cst.Name) and one in home.resolver.scopes.loads
    ]
    for one in {load.value: load for load in loads}.values():
        if one.value in names:
            continue
        bound = home.resolver.bindings(one)
        if not bound or bound[0].scope is not home.resolver.scopes.module_scope:
            continue
        line = _import_line(home, user, bound[0], statement)
        if line is None:
            return None
        if one.value in taken:
            own = f"{home.name}.{one.value}"
            if _meaning(user, one.value) != (home.resolver.qualified(one) or own):
                return None
        else:
            lines.append(line)
    aliases = () if isinstance(statement.names, cst.ImportStar) else statement.names
    rest = [one for one in aliases if import_path(one.name) != name]
    kept: list[cst.BaseStatement] = [
        cst.parse_statement(line) for line in _together(lines)
    ]
    whole = Tree(user.module, user.resolver).statement(statement)
    if rest:
        last = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        with_rest = statement.with_changes(names=[*rest[:-1], last])
        kept.insert(0, cst.SimpleStatementLine([with_rest]))
    if kept:
        kept[0] = kept[0].with_changes(leading_lines=whole.leading_lines)
    code = "\n\n".join(code_of(home.module, one).strip("\n") for one in chain)
    after = changed(user, facts, {whole: kept or None})
    after = changed(after, facts, f"{after.source.text}\n\n{code}\n")
    others = [p for p in facts.importers(home.path) if p != user.path]
    texts = [one.read_text("utf-8", "replace") for one in others]
    inside = {node for one in chain for node in walk(one)}
    spoken = {
        one.value
        for one in home.nodes
        if isinstance(one, cst.Name) and one not in inside
    }
    unread = {
        one: None
        for one in chain
        if one.name.value not in spoken
        and not any(one.name.value in text for text in texts)
    }
    return changed(home, facts, unread), after


def _chain(
    home: ParsedModule, found: cst.ClassDef | cst.FunctionDef
) -> list[cst.ClassDef | cst.FunctionDef]:
    """A class after the classes of its file that it derives from."""
    chain = [found]
    while isinstance(chain[0], cst.ClassDef) and len(chain[0].bases) == 1:
        base = home.resolver.definition(chain[0].bases[0].value)
        if not isinstance(base, cst.ClassDef) or base in chain:
            break
        chain.insert(0, base)
    return chain


def _together(lines: Sequence[str]) -> list[str]:
    """Imports of names of one module as one line."""
    found: dict[str, list[str]] = {}
    for line in lines:
        head, _, names = line.strip().rpartition(" import ")
        found.setdefault(head, []).append(names)
    return [
        f"{head} import {', '.join(sorted(names))}\n" if head else f"{name}\n"
        for head, names in found.items()
        for name in (names[:1] if head else names)
    ]


def _named(
    home: ParsedModule,
    user: ParsedModule,
    facts: ProjectFacts,
    package: str,
    call: cst.Call,
    name: str,
) -> tuple[ParsedModule, ParsedModule] | None:
    """The same for ``network.Network()``, by another import."""
    bound = user.resolver.scopes.module_scope.bindings.get(package, [])
    node = bound[0].node if len(bound) == 1 else None
    if not isinstance(node, (cst.Import, cst.ImportFrom)) or not bound[0].target:
        return None
    path = f"{'.' * bound[0].relative}{bound[0].target}"
    if name in user.resolver.scopes.module_scope.bindings:
        return None
    line = cst.parse_statement(f"from {path} import {name}\n")
    statement = Tree(user.module, user.resolver).statement(node)
    made = changed(
        user, facts, {call.func: cst.Name(name), statement: lambda now: [now, line]}
    )
    again = next(
        one
        for one in made.nodes
        if isinstance(one, cst.Call)
        and isinstance(one.func, cst.Name)
        and one.func.value == name
    )
    return _brought(home, made, facts, again, name)


def _import_of(user: ParsedModule, name: str) -> cst.ImportFrom | None:
    """``from model import Model``"""
    bound = user.resolver.scopes.module_scope.bindings.get(name, [])
    node = bound[0].node if len(bound) == 1 else None
    return node if isinstance(node, cst.ImportFrom) else None


def _meaning(user: ParsedModule, name: str) -> str | None:
    bound = user.resolver.scopes.module_scope.bindings[name]
    if len(bound) != 1 or bound[0].kind is not BindingKind.IMPORT:
        return None
    return user.resolver.absolute(bound[0].target or "", bound[0].relative)


def _import_line(
    home: ParsedModule, user: ParsedModule, bound: Binding, statement: cst.ImportFrom
) -> str | None:
    """The import that gives a name of one file to another."""
    if bound.kind is BindingKind.IMPORT:
        if bound.relative and home.path.parent != user.path.parent:
            return None
        if isinstance(bound.node, (cst.Import, cst.ImportFrom)):
            target = bound.target or ""
            dots = "." * bound.relative
            if isinstance(bound.node, cst.Import):
                if any("." in import_path(one.name) for one in bound.node.names):
                    return None
                alias = "" if target == bound.name else f" as {bound.name}"
                return f"import {target}{alias}\n"
            module, _, last = target.rpartition(".")
            alias = "" if last == bound.name else f" as {bound.name}"
            return f"from {dots}{module} import {last}{alias}\n"
        return None
    dots = "." * len(statement.relative)
    module = import_path(statement.module) if statement.module else ""
    return f"from {dots}{module} import {bound.name}\n"
