"""Templates: valid Python functions whose bodies become generated code.

A template's names are either names of the emitted code, renamed where the
program calls the thing differently (``model`` to ``cnn``), or slots. A slot is
an upper-case name that begins with ``X_``: as an expression it is replaced by an
expression, as a statement of its own by a list of statements, and in
``if X_FLAG:`` it decides at generation time which branch is kept.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources

import libcst as cst

from ...plan.code.tree import Statement, statements_of
from ...project.positions import code_of
from ...symbols.nodes import CodeTransformer
from .layout import OneLine

__all__ = ["Filling", "fill", "parse_statements", "unshadowed"]


@dataclass
class Filling:
    """What goes into a template."""

    names: Mapping[str, str] = field(default_factory=dict)
    expressions: Mapping[str, str] = field(default_factory=dict)
    statements: Mapping[str, Sequence[Statement]] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    # Attributes, such as ``optimizer.iterations``, that are other expressions.
    attributes: Mapping[str, str] = field(default_factory=dict)
    # A function's only parameter in the template -> parameters as source text.
    parameters: Mapping[str, str] = field(default_factory=dict)


@cache
def _templates(file: str) -> dict[str, cst.FunctionDef]:
    path = resources.files("tfmigrate.emit.templates") / f"{file}.py"
    module = cst.parse_module(path.read_text("utf-8"))
    return {s.name.value: s for s in module.body if isinstance(s, cst.FunctionDef)}


@cache
def _chosen(
    file: str, name: str, flags: tuple[tuple[str, bool], ...]
) -> cst.IndentedBlock:
    body = _templates(file)[name].body
    chosen = body.visit(_Chooser(dict(flags)))
    assert isinstance(chosen, cst.IndentedBlock)
    return chosen


def fill(file: str, name: str, filling: Filling) -> list[Statement]:
    """The statements of a template's body, filled."""
    flags = tuple(sorted(filling.flags.items()))
    copied = _chosen(file, name, flags).visit(_Filler(filling))
    assert isinstance(copied, cst.IndentedBlock)
    return _without_docstring(statements_of(copied))


def _without_docstring(statements: list[Statement]) -> list[Statement]:
    """A template's own docstring describes the template, not the output."""
    first = statements[0]
    if (
        isinstance(first, cst.SimpleStatementLine)
        and isinstance(first.body[0], cst.Expr)
        and isinstance(first.body[0].value, cst.SimpleString)
    ):
        statements = statements[1:]
        # The blank line after a docstring belongs to the template.
        lines = list(statements[0].leading_lines)
        while lines and lines[0].comment is None:
            lines.pop(0)
        statements[0] = statements[0].with_changes(leading_lines=lines)
    return statements


def parse_statements(code: str) -> list[Statement]:
    """Statements from source text."""
    module = cst.parse_module(code)
    statements = statements_of(module)
    if statements and module.header:
        first = statements[0]
        lines = [*module.header, *first.leading_lines]
        statements[0] = first.with_changes(leading_lines=lines)
    return statements


def unshadowed(names: Sequence[str], code: str) -> dict[str, str]:
    """Other names for a template's locals that would hide names of ``code``."""
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    return {name: f"{name}_" for name in names if name in used}


class _Chooser(CodeTransformer):
    """Decides ``if X_FLAG:`` before anything is filled in."""

    def __init__(self, flags: Mapping[str, bool]) -> None:
        self.flags = flags

    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> cst.If | cst.FlattenSentinel[Statement] | cst.RemovalSentinel:
        test = original_node.test
        if not isinstance(test, cst.Name) or not test.value.startswith("X_"):
            return updated_node
        if self.flags[test.value]:
            branch: cst.CSTNode | None = updated_node.body
        else:
            orelse = updated_node.orelse
            branch = orelse.body if isinstance(orelse, cst.Else) else None
        if branch is None:
            return cst.RemoveFromParent()
        assert isinstance(branch, cst.IndentedBlock)
        kept = statements_of(branch)
        if not kept:
            return cst.RemoveFromParent()
        lines = (*original_node.leading_lines, *kept[0].leading_lines)
        kept[0] = kept[0].with_changes(leading_lines=lines)
        return cst.FlattenSentinel(kept)


class _Filler(CodeTransformer):
    def __init__(self, filling: Filling) -> None:
        self.filling = filling

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        name = updated_node.value
        if name in self.filling.expressions:
            return cst.parse_expression(self.filling.expressions[name])
        if name in self.filling.names:
            return updated_node.with_changes(value=self.filling.names[name])
        return updated_node

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        # A method is called ``self.name`` where it is used.
        name = original_node.name.value
        text = self.filling.names.get(name, name)
        text = self.filling.expressions.get(name, text).removeprefix("self.")
        return updated_node.with_changes(name=cst.Name(text))

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        owner = original_node.value
        if isinstance(owner, cst.Name):
            written = f"{owner.value}.{original_node.attr.value}"
            if written in self.filling.attributes:
                return cst.parse_expression(self.filling.attributes[written])
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Parameters(
        self, original_node: cst.Parameters, updated_node: cst.Parameters
    ) -> cst.Parameters:
        for parameter in original_node.params:
            text = self.filling.parameters.get(parameter.name.value)
            if text is not None:
                (made,) = parse_statements(f"def f({text}):\n    pass\n")
                assert isinstance(made, cst.FunctionDef)
                return made.params
        return updated_node

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[Statement] | cst.RemovalSentinel:
        only = original_node.body[0]
        if isinstance(only, cst.Expr) and isinstance(only.value, cst.Name):
            name = only.value.value
            if name in self.filling.statements:
                statements = list(self.filling.statements[name])
                if not statements:
                    return cst.RemoveFromParent()
                lines = (*original_node.leading_lines, *statements[0].leading_lines)
                statements[0] = statements[0].with_changes(leading_lines=lines)
                return cst.FlattenSentinel(statements)
        if not _is_broken(original_node):
            return updated_node
        # The template's line breaks are not those of the place where it goes.
        joined = [small.visit(OneLine()) for small in updated_node.body]
        return updated_node.with_changes(body=joined)


@lru_cache(maxsize=4096)
def _is_broken(line: cst.SimpleStatementLine) -> bool:
    """Whether a line of a template stands on several for its length."""
    written = code_of(cst.Module([]), line.with_changes(leading_lines=[]))
    return "\n" in written.rstrip() and not (" for " in written or '"""' in written)
