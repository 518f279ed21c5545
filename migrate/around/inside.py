"""Puts the modules of a lone program into its own file, or a cell of its notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping

import libcst as cst

from ..bring import Bundle
from ..options import RewriteOptions
from ..project.facts import ParsedModule, ProjectFacts
from ..project.notebook import NEW_CELL
from ..project.text import Edit, apply_edits
from ..report.needs import Need
from ..rules.context import Context
from ..symbols.dotted import import_path
from ..symbols.scopes import Binding, BindingKind, Scope
from .asked import Words
from .contents import LOOP_DOC, MARK, contents, taken_from_loop
from .untyped import untyped

__all__ = ["put_inside"]

_CELL = re.compile(r"(?m)^__tfmigrate_(?:cell_\d+|new_cell)__[ \t]*$")
_RULE = (
    "# ------------------------------------------------------------------------------\n"
)


def put_inside(
    parsed: ParsedModule,
    needs: tuple[Need, ...],
    facts: ProjectFacts,
    options: RewriteOptions,
) -> str:
    """The text of a file that imports modules, with these in their place."""
    by_kind = {need.kind: need for need in needs}
    loop, contrib = by_kind.get("loop"), by_kind.get("contrib")
    there: dict[str, str] = {}
    before: int | None = None
    words = Words.of([parsed.source.text]) | Words(whole=options.whole_module)
    if loop is not None and contrib is not None:
        # The copies of tf.contrib may take words of the loop module.
        copies = contents(
            "contrib",
            contrib.names,
            words=words,
            loop_module=loop.module,
        )
        words |= Words.of([copies.text])
        taken = taken_from_loop(copies.text, loop.module)
        if taken:
            loop = loop.with_names(taken)
            before = _Inside(parsed, contrib, options).first_place()
    text = parsed.source.text
    if loop is not None:
        inside = _Inside(parsed, loop, options)
        text = inside.result(words, before=before)
        there = inside.there
    if contrib is not None:
        if loop is not None:
            parsed = facts.module_of(parsed.source.with_text(text))
        text = _Inside(parsed, contrib, options).result(words, there)
    return text


class _Inside:
    def __init__(
        self, parsed: ParsedModule, need: Need, options: RewriteOptions
    ) -> None:
        self.options = options
        self.parsed = parsed
        self.context = Context(parsed.source.text, parsed.module, parsed.resolver)
        self.need = need
        self.module = need.module
        self.edits: list[Edit] = []

        context = self.context
        scopes = parsed.resolver.scopes
        self.imports = [use for use in scopes.imports if self._module_of(use.node)]
        self.uses = [use for use in scopes.uses if self._name(use.node) is not None]
        context.want(*(use.node for use in self.uses))
        context.want(*(use.node for use in self.imports))
        context.want(*(use.statement for use in self.imports), *context.module.body)
        # Names in the text, with what they are called to those who import them.
        self.there: dict[str, str] = {}

    def first_place(self) -> int | None:
        """Where the module would stand, were it the only one; None for nowhere."""
        nodes: list[cst.CSTNode] = [use.node for use in self.uses]
        nodes += [
            use.node for use in self.imports if isinstance(use.node, cst.ImportFrom)
        ]
        places = [self.context.span(node)[0] for node in nodes]
        return self._place(min(places)) if places else None

    def result(
        self,
        words: Words,
        there: Mapping[str, str] | None = None,
        *,
        before: int | None = None,
    ) -> str:
        """The text with the module; ``there`` are names that it need not import.

        ``words`` are those by which things of the module are asked for.
        """
        context = self.context
        places = [one for one in (self.first_place(), before) if one is not None]
        place = min(places, default=0)
        made = contents(
            self.need.kind,
            self.need.names,
            words=words,
            bound={**self._bound(place), **(there or {})},
            loop_module=self.options.loop_module,
        )
        self.there = {
            bound: f"{self.module}.{name}" for name, bound in made.names.items()
        }
        for use in self.uses:
            node, name = self._named(use.node)
            if isinstance(node, cst.Attribute):
                start, end = context.span(node)
                self.edits.append(Edit(start, end, made.names[name]))
        for found in self.imports:
            self._replace_import(found.node, found.statement, made)
        self.edits.append(Edit(place, place, self._text(made)))
        return apply_edits(context.text, self.edits)

    # -- what the file says of the module -------------------------------------------

    def _module_of(self, node: cst.Import | cst.ImportFrom) -> bool:
        if isinstance(node, cst.ImportFrom):
            return not node.relative and import_path(node.module) == self.module
        return any(import_path(alias.name) == self.module for alias in node.names)

    def _name(self, node: cst.BaseExpression) -> str | None:
        dotted = self.parsed.resolver.qualified(node)
        if dotted is None or not dotted.startswith(self.module + "."):
            return None
        return dotted[len(self.module) + 1 :]

    def _named(self, node: cst.BaseExpression) -> tuple[cst.BaseExpression, str]:
        """The part of a chain that names a thing of the module."""
        name = self._name(node)
        assert name is not None
        for _ in range(name.count(".")):
            assert isinstance(node, cst.Attribute)
            node = node.value
        return node, name.split(".")[0]

    def _replace_import(
        self,
        node: cst.Import | cst.ImportFrom,
        statement: cst.CSTNode | None,
        made: Bundle,
    ) -> None:
        context = self.context
        start, end = context.span(node)
        lines = []
        if isinstance(node, cst.ImportFrom):
            assert not isinstance(node.names, cst.ImportStar)
            for alias in node.names:
                name = made.names[import_path(alias.name)]
                bound = import_path(alias.name)
                if alias.asname is not None:
                    assert isinstance(alias.asname.name, cst.Name)
                    bound = alias.asname.name.value
                if bound != name:
                    lines.append(f"{bound} = {name}")
        only = (
            isinstance(statement, cst.SimpleStatementLine)
            and len(statement.body) == 1
            and statement in context.module.body
        )
        if not lines and only:
            line, _ = context.lines.place(start)
            starts = context.lines.starts
            last, _ = context.lines.place(end)
            stop = starts[last] if last < len(starts) else len(context.text)
            self.edits.append(Edit(starts[line - 1], stop, ""))
            return
        self.edits.append(Edit(start, end, "; ".join(lines) or "pass"))

    # -- the place -------------------------------------------------------------------

    def _place(self, first_use: int) -> int:
        """Behind the imports at the top; in a notebook before the cell of a use."""
        context = self.context
        if self.parsed.source.notebook is not None:
            cells = [match.start() for match in _CELL.finditer(context.text)]
            return max((start for start in cells if start <= first_use), default=0)
        mark = context.text.find(MARK)
        if mark >= 0:  # behind what stands there already
            end = context.text.index(_RULE.strip(), mark)
            line, _ = context.lines.place(end)
            return context.lines.starts[line]
        place = 0
        for statement in context.module.body:
            if not _is_head(statement) or context.span(statement)[0] >= first_use:
                break
            line, _ = context.lines.place(context.span(statement)[1])
            starts = context.lines.starts
            place = starts[line] if line < len(starts) else len(context.text)
        return place

    def _bound(self, place: int) -> dict[str, str | None]:
        """The names that are taken, with the imports that stand before a place."""
        resolver = self.parsed.resolver
        scopes = resolver.scopes
        bound: dict[str, str | None] = {name.value: None for name in scopes.loads}
        every: set[Scope] = {scopes.module_scope, *scopes.opened.values()}
        for scope in every:
            for name, bindings in scope.bindings.items():
                bound[name] = None
                if all(self._is_ours(one) for one in bindings):
                    del bound[name]
        imported = {
            name: bindings
            for name, bindings in scopes.module_scope.bindings.items()
            if len(bindings) == 1 and bindings[0].kind is BindingKind.IMPORT
        }
        self.context.want(*(bindings[0].node for bindings in imported.values()))
        for name, bindings in imported.items():
            node = bindings[0].node
            if self._is_ours(bindings[0]):
                inner = any(name in s.bindings for s in every if s.parent is not None)
                if not inner:
                    bound.pop(name, None)
            elif self.context.span(node)[0] < place and not bindings[0].relative:
                bound[name] = bindings[0].target
        return bound

    def _is_ours(self, binding: Binding) -> bool:
        target = binding.target or ""
        return binding.kind is BindingKind.IMPORT and (
            target == self.module or target.startswith(self.module + ".")
        )

    # -- the text ---------------------------------------------------------------------

    def _text(self, made: Bundle) -> str:
        """The module as a part of the file."""
        newline = self.context.module.default_newline
        doc = "Copies of tf.contrib."
        if self.need.kind == "loop":
            doc = f"{MARK}\n\n{LOOP_DOC}"
        lines = [f"{line}\n" for line in ("# " + doc.replace("\n", "\n# ")).split("\n")]
        doc = "".join(line.replace("# \n", "#\n") for line in lines)
        imports, body = untyped(made.imports, made.body)
        if self.parsed.source.notebook is not None:
            return f"{NEW_CELL}\n{doc}\n{imports}\n\n{body}\n"
        text = f"{imports}\n\n{_RULE}{doc}\n\n{body}\n\n\n{_RULE}"
        return text.replace("\n", newline)


def _is_head(statement: cst.CSTNode) -> bool:
    """A docstring, an import, or the mark of a cell."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return all(
        isinstance(small, (cst.Import, cst.ImportFrom))
        or (
            isinstance(small, cst.Expr)
            and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString))
        )
        for small in statement.body
    )
