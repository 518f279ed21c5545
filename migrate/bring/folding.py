"""Modules with some names decided, without what that leaves out.

What a condition decides goes, and so do parameters that only such code has read, with
the arguments that were given for them.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import libcst as cst
import libcst.matchers as m

from ..symbols.dotted import import_path
from ..symbols.nodes import CodeTransformer, walk
from .identifiers import identifiers
from .parts import read_module
from .sources import ModuleFile, Sources, installed_sources

__all__ = ["decided_sources"]

_NO_CONTEXT = m.Call(
    func=m.Attribute(value=m.Name("contextlib"), attr=m.Name("nullcontext")), args=[]
)
# What a function is called by, and the parameters that it has lost, with their places.
_Lost = dict[str, dict[str, int]]
_Known = frozenset[tuple[str, bool]]
_Gone = frozenset[tuple[str, frozenset[tuple[str, int]]]]
_Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
_Statements = tuple[_Statement, ...]


@dataclass(frozen=True)
class _DecidedSources(Sources):
    """A package some of whose names are constants where its modules are copied."""

    decided: _Known

    def file(self, module: str) -> Path | None:  # type: ignore[override]
        """What has the text of a module."""
        made = _decided_files(self.root, self.folder, self.decided).get(module)
        return Sources(self.root, self.folder).file(module) if made is None else made

    def homes(self) -> Mapping[str, tuple[str, ...]]:  # type: ignore[override]
        """The modules that define each name: what is decided is inside of these."""
        return Sources(self.root, self.folder).homes()


@functools.cache
def decided_sources(package: str, decided: _Known) -> Sources:
    """The sources of an installed package of ours with names of it decided.

    They are given with the module below the package that has them.
    """
    sources = installed_sources(package)
    return _DecidedSources(sources.root, sources.folder, decided)


@functools.lru_cache(maxsize=64)
def _decided_files(root: str, folder: Path, decided: _Known) -> dict[str, Path]:
    """The modules that are not as in their files; they are read like files."""
    sources = Sources(root, folder)
    files = {name: sources.file(name) for name in sources.modules()}
    folded = _folded_modules(
        {name: file for name, file in files.items() if file is not None},
        dict(decided),
    )
    return {
        name: cast(Path, ModuleFile(f"{name.rpartition('.')[2]}.py", module))
        for name, module in folded.items()
    }


@functools.lru_cache(maxsize=256)
def _said(file: Path) -> frozenset[str]:
    """The words of a file: most need not be parsed to know what is not in them."""
    return frozenset(identifiers(file.read_text(encoding="utf-8")))


def _constants(module: cst.Module, decided: Mapping[str, bool]) -> dict[str, bool]:
    """The decided names that a module of the same package imports, as it has them."""
    found = {}
    for line in module.body:
        for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if not isinstance(small, cst.ImportFrom) or len(small.relative) != 1:
                continue
            assert not isinstance(small.names, cst.ImportStar)
            for alias in small.names:
                local = import_path(alias.name)
                name = f"{import_path(small.module)}.{local}"
                if name in decided:
                    found[local] = decided[name]
    return found


def _folded_modules(
    files: Mapping[str, Path], decided: Mapping[str, bool]
) -> dict[str, cst.Module]:
    """The modules, by name, that are not as they were where names are decided."""
    found: dict[str, _Statements] = {}
    lost: _Lost = {}
    names = {name.rpartition(".")[2] for name in decided}
    for name, file in files.items():
        if names.isdisjoint(_said(file)):
            continue
        module = read_module(file)
        constants = _constants(module, decided)
        body: list[_Statement] = []
        for statement in _body(module):
            known = constants.keys() & _words(statement)
            made = _folded(statement, frozenset((one, constants[one]) for one in known))
            body += made[0]
            _add(lost, made[1])
        found[name] = tuple(body)
    while lost:
        without, lost = lost, {}
        for name, file in files.items():
            if not _gone(without, _said(file)):
                continue
            body = []
            for statement in found.get(name) or _body(read_module(file)):
                made = _lessened(statement, _gone(without, _words(statement)))
                body += made[0]
                _add(lost, made[1])
            found[name] = tuple(body)
    modules = {name: read_module(files[name]) for name in found}
    return {
        name: _with_body(module, found[name])
        for name, module in modules.items()
        if found[name] != _body(module)
    }


def _body(module: cst.Module) -> _Statements:
    return cast(_Statements, tuple(module.body))


def _gone(without: _Lost, words: frozenset[str]) -> _Gone:
    """What functions have lost that a text of these words may call with it."""
    return frozenset(
        (function, frozenset(names.items()))
        for function, names in without.items()
        if function.lstrip(".") in words and not words.isdisjoint(names)
    )


def _add(lost: _Lost, more: _Lost) -> None:
    for function, names in more.items():
        lost.setdefault(function, {}).update(names)


@functools.lru_cache(maxsize=4096)
def _words(statement: cst.CSTNode) -> frozenset[str]:
    """The names in a statement."""
    return frozenset(
        node.value for node in walk(statement) if isinstance(node, cst.Name)
    )


@functools.lru_cache(maxsize=4096)
def _folded(statement: _Statement, known: _Known) -> tuple[_Statements, _Lost]:
    """What a statement becomes where names are decided, and what functions lose."""
    lost: _Lost = {}
    if not known:
        return (statement,), lost
    return _visited(statement, _Folding(dict(known), lost)), lost


@functools.lru_cache(maxsize=4096)
def _lessened(statement: _Statement, gone: _Gone) -> tuple[_Statements, _Lost]:
    """What a statement becomes without arguments that functions do not take."""
    lost: _Lost = {}
    if not gone:
        return (statement,), lost
    without = {function: dict(names) for function, names in gone}
    return _visited(statement, _Arguments(without, lost)), lost


def _visited(statement: _Statement, visitor: _Lessening) -> _Statements:
    result = statement.visit(visitor)
    if isinstance(result, cst.FlattenSentinel):
        return tuple(result)
    if not visitor.changed:
        return (statement,)
    return () if isinstance(result, cst.RemovalSentinel) else (result,)


@functools.lru_cache(maxsize=1024)
def _with_body(module: cst.Module, body: _Statements) -> cst.Module:
    """The module with another body: the same one for the same body."""
    return module.with_changes(body=body)


class _Lessening(CodeTransformer):
    """Takes away parameters that are not read any more."""

    def __init__(self, lost: _Lost) -> None:
        super().__init__()
        self.lost = lost
        # The classes and functions around what is visited.
        self.around: list[cst.ClassDef | cst.FunctionDef] = []
        self.changed = False

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self.around.append(node)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.around.append(node)

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.BaseStatement:
        self.around.pop()
        return updated_node

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement:
        self.around.pop()
        unread = _read(original_node.body) - _read(updated_node.body)
        unread -= {"self", "cls"}
        parameters = updated_node.params
        names = [one.name.value for one in parameters.params]
        names += [one.name.value for one in parameters.kwonly_params]
        gone = [name for name in names if name in unread]
        if not gone:
            return updated_node
        self.changed = True
        bound = 1 if names[0] in ("self", "cls") else 0
        known = self.lost.setdefault(self._called(original_node.name.value), {})
        known.update({name: names.index(name) - bound for name in gone})
        return updated_node.with_changes(params=_without(parameters, gone))

    def _called(self, name: str) -> str:
        """What a function of this name is called by: that, an attribute, its class."""
        within = self.around[-1] if self.around else None
        if not isinstance(within, cst.ClassDef):
            return name
        if name in ("__init__", "__new__"):
            return within.name.value
        return f".{name}"


class _Folding(_Lessening):
    """Decides what hangs on constants."""

    def __init__(self, constants: Mapping[str, bool], lost: _Lost) -> None:
        super().__init__(lost)
        self.constants = constants
        # What stands behind an `elif`.
        self.alternatives: set[cst.If] = set()

    def _truth(self, node: cst.BaseExpression) -> bool | None:
        if not isinstance(node, cst.Name):
            return None
        known = {"True": True, "False": False}
        return self.constants.get(node.value, known.get(node.value))

    def leave_UnaryOperation(
        self, original_node: cst.UnaryOperation, updated_node: cst.UnaryOperation
    ) -> cst.BaseExpression:
        truth = self._truth(updated_node.expression)
        if truth is None or not isinstance(updated_node.operator, cst.Not):
            return updated_node
        self.changed = True
        return cst.Name(str(not truth))

    def leave_BooleanOperation(
        self, original_node: cst.BooleanOperation, updated_node: cst.BooleanOperation
    ) -> cst.BaseExpression:
        # Such operations are conditions: all that counts of them is whether they hold.
        left, right = self._truth(updated_node.left), updated_node.right
        if left is None and self._truth(right) is not None:
            left, right = self._truth(right), updated_node.left
        if left is None:
            return updated_node
        self.changed = True
        if left is isinstance(updated_node.operator, cst.And):
            return _inside(updated_node, right)
        return cst.Name(str(left))

    def leave_IfExp(
        self, original_node: cst.IfExp, updated_node: cst.IfExp
    ) -> cst.BaseExpression:
        truth = self._truth(updated_node.test)
        if truth is None:
            return updated_node
        self.changed = True
        return _inside(
            updated_node, updated_node.body if truth else updated_node.orelse
        )

    def visit_If(self, node: cst.If) -> None:
        if isinstance(node.orelse, cst.If):
            self.alternatives.add(node.orelse)

    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> (
        cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel
    ):
        truth = self._truth(updated_node.test)
        orelse = updated_node.orelse
        if truth is None:
            return updated_node
        self.changed = True
        if original_node in self.alternatives:
            found = cst.Else(updated_node.body) if truth else orelse
            return found or cst.RemoveFromParent()  # type: ignore[return-value]
        if truth:
            return _statements(updated_node.body, updated_node.leading_lines)
        blank = [one for one in updated_node.leading_lines if one.comment is None]
        if isinstance(orelse, cst.If):
            return orelse.with_changes(leading_lines=blank)
        if orelse is not None:
            return _statements(orelse.body, blank)
        return cst.RemoveFromParent()

    def leave_StarredElement(
        self, original_node: cst.StarredElement, updated_node: cst.StarredElement
    ) -> cst.BaseExpression:
        if m.matches(updated_node.value, m.Tuple(elements=[])):
            return cst.RemoveFromParent()  # type: ignore[return-value]
        return updated_node

    def leave_With(
        self, original_node: cst.With, updated_node: cst.With
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        items = [
            one for one in updated_node.items if not m.matches(one.item, _NO_CONTEXT)
        ]
        if len(items) == len(updated_node.items):
            return updated_node
        if not items:
            return _statements(updated_node.body, updated_node.leading_lines)
        items[-1] = items[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        one_line = len(items) == 1
        return updated_node.with_changes(
            items=items,
            lpar=cst.MaybeSentinel.DEFAULT if one_line else updated_node.lpar,
            rpar=cst.MaybeSentinel.DEFAULT if one_line else updated_node.rpar,
        )


class _Arguments(_Lessening):
    """Takes away arguments that functions do not take any more."""

    def __init__(self, without: _Lost, lost: _Lost) -> None:
        super().__init__(lost)
        self.without = without

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        gone: dict[str, int] = {}
        for name in self._callees(updated_node.func):
            gone.update(self.without.get(name, {}))
        if not gone:
            return updated_node
        place = sum(1 for arg in updated_node.args if not arg.keyword and not arg.star)
        if place > min(gone.values()):
            code = cst.Module([]).code_for_node(updated_node)
            raise ValueError(f"{sorted(gone)} may be left out: by keyword, in {code}")
        args = [
            arg
            for arg in updated_node.args
            if arg.keyword is None or arg.keyword.value not in gone
        ]
        if len(args) == len(updated_node.args):
            return updated_node
        self.changed = True
        return updated_node.with_changes(args=_ended(updated_node.args, args))

    def _callees(self, function: cst.BaseExpression) -> Collection[str]:
        if isinstance(function, cst.Name):
            return (function.value,)
        if not isinstance(function, cst.Attribute):
            return ()
        name = function.attr.value
        if name not in ("__init__", "__new__"):
            return (f".{name}",)
        classes = [one for one in self.around if isinstance(one, cst.ClassDef)]
        if not classes or not m.matches(function.value, m.Call(func=m.Name("super"))):
            return ()
        bases = [one.value for one in classes[-1].bases]
        return [base.value for base in bases if isinstance(base, cst.Name)]


def _without(parameters: cst.Parameters, gone: Collection[str]) -> cst.Parameters:
    """Parameters without some of them; the last one ends as it did."""
    last = [*parameters.params, *parameters.kwonly_params][-1]
    kept = [one for one in parameters.params if one.name.value not in gone]
    named = [one for one in parameters.kwonly_params if one.name.value not in gone]
    ends = named or kept
    if ends:
        ends[-1] = ends[-1].with_changes(
            comma=last.comma, whitespace_after_param=last.whitespace_after_param
        )
    star = parameters.star_arg
    if not named and isinstance(star, cst.ParamStar):
        star = cst.MaybeSentinel.DEFAULT
    return parameters.with_changes(params=kept, kwonly_params=named, star_arg=star)


def _read(body: cst.BaseSuite) -> set[str]:
    """The names that are read, or bound, in a function."""
    names: list[cst.Name] = []
    others: set[cst.CSTNode | None] = set()
    for node in walk(body):
        if isinstance(node, cst.Name):
            names.append(node)
        elif isinstance(node, cst.Attribute):
            others.add(node.attr)
        elif isinstance(node, cst.Arg):
            others.add(node.keyword)
    return {name.value for name in names if name not in others}


_EMPTY = cst.Module([])


def _inside(whole: cst.BaseExpression, part: cst.BaseExpression) -> cst.BaseExpression:
    """A part in the parentheses of the whole, where it needs them."""
    if isinstance(part, (cst.Name, cst.Call, cst.Attribute)):
        return part
    # A comparison in one line binds as close as anything that can stand here.
    bare = isinstance(part, cst.Comparison) and "\n" not in _EMPTY.code_for_node(part)
    if part.lpar and not bare:
        return part
    return part.with_changes(lpar=whole.lpar, rpar=whole.rpar)


def _statements(
    body: cst.BaseSuite, leading: Sequence[cst.EmptyLine]
) -> cst.FlattenSentinel[cst.BaseStatement]:
    """The statements of a block, below the lines above it."""
    assert isinstance(body, cst.IndentedBlock)
    first, *others = body.body
    lines = [*leading, *first.leading_lines]  # type: ignore[attr-defined]
    return cst.FlattenSentinel([first.with_changes(leading_lines=lines), *others])


def _ended(before: Sequence[cst.Arg], after: list[cst.Arg]) -> list[cst.Arg]:
    """Arguments whose last one ends as it did."""
    if after and after[-1] is not before[-1]:
        last = before[-1]
        after[-1] = after[-1].with_changes(
            comma=last.comma,
            whitespace_after_arg=last.whitespace_after_arg,
        )
    return after
