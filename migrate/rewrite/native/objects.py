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
from dataclasses import dataclass

import libcst as cst

from ...code.edits import Put, changed
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
        names = [n.name.value for n in files[place].nodes if is_model_fn(n)]  # type: ignore[attr-defined]
        for name in names if len(set(names)) == len(names) else ():
            found: list[ParsedModule] | None = files
            while found is not None:
                files = found
                found = _once(files, place, facts, name, is_model_fn)
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


def _class(parsed: ParsedModule, name: str) -> cst.ClassDef | None:
    """The class of a file that has this name, if it is a plain one."""
    found = [
        one
        for one in parsed.nodes
        if isinstance(one, cst.ClassDef) and one.name.value == name
    ]
    if len(found) != 1 or found[0].decorators or found[0].keywords:
        return None
    bases = [code_of(parsed.module, one.value) for one in found[0].bases]
    return found[0] if set(bases) <= {"object"} else None


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

    def inlined(self) -> ParsedModule | None:
        """The file without the object, or None where something stays of it."""
        if not self._builds():
            return None
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
        called = {self.name, "__init__"}
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
            made = isinstance(func, cst.Name) and self.variable != "self"
            if made and tree.resolver.definition(func) is _class(
                self.parsed, self.class_name
            ):
                name = "__init__"
            elif isinstance(func, cst.Attribute) and _is_of(func, self.variable):
                name = func.attr.value
            else:
                continue
            if name not in methods:
                return None if name == "__init__" else False
            helper = helper_of(methods[name])
            statements = None
            if helper is not None and helper is not defined:
                inliner = Inliner(tree, defined, node, helper, self.variable)
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

    def _set_apart(
        self, tree: Tree, defined: cst.FunctionDef, call: cst.Call, name: str
    ) -> bool:
        """Gives the result of a call within an expression a name, in a line before."""
        statement = tree.statement(call)
        small = only_small(statement)
        between = (cst.Arg, cst.Attribute, cst.Call, cst.Element, cst.DictElement)
        above = tree.parent(call)
        while isinstance(above, (*between, cst.Dict, cst.List, cst.Tuple)):
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
        return without_unread(after, self.facts, self.class_name, cst.ClassDef)

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
    loads = [
        one
        for one in walk(found)
        if isinstance(one, cst.Name) and one in home.resolver.scopes.loads
    ]
    for one in {load.value: load for load in loads if load.value != name}.values():
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
    names = () if isinstance(statement.names, cst.ImportStar) else statement.names
    rest = [one for one in names if import_path(one.name) != name]
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
    code = code_of(home.module, found).strip("\n")
    after = changed(user, facts, {whole: kept or None})
    after = changed(after, facts, f"{after.source.text}\n\n{code}\n")
    others = [p for p in facts.importers(home.path) if p != user.path]
    used = any(name in one.read_text("utf-8", "replace") for one in others)
    inside = {*walk(found)}
    spoken = any(
        isinstance(one, cst.Name) and one.value == name and one not in inside
        for one in home.nodes
    )
    if not used and not spoken:
        home = changed(home, facts, {found: None})
    return home, after


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
