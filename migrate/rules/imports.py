"""What becomes of each import of a TensorFlow name."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import libcst as cst

from ..names.curated import advice_for, importable, moved
from ..names.names import Door, canonical, door
from ..names.scopes import ImportUse
from ..names.table import in_compat_v1, is_known, lookup, needs_nothing
from ..project.text import Edit
from .context import Context


class Fate(enum.Enum):
    """What happens to an imported name."""

    KEEP = "keep"
    RENAME = "rename"  # import the new home under the same local name
    INLINE = "inline"  # spell the new home at each use, drop the import
    DEAD = "dead"  # no home: dropped once every use has been rewritten


@dataclass(eq=False)
class ImportItem:
    """One imported name: ``bound`` is what the module calls it."""

    use: ImportUse
    alias: cst.ImportAlias
    bound: str
    dotted: str
    symbol: str
    door: Door
    fate: Fate
    target: str | None = None
    uses: int = 0
    rewritten: int = 0
    blocked: list[str] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether every use was rewritten, so that the import can go."""
        return self.uses > 0 and self.rewritten == self.uses


def has_no_home(symbol: str) -> bool:
    """Whether a TF1 name is known to have no place in TF 2.21."""
    if symbol.startswith(("tf.contrib.", "tf.estimator.", "tf.examples.")):
        return True
    if symbol in ("tf.contrib", "tf.estimator", "tf.examples"):
        return True
    return is_known(symbol) and lookup(symbol) is None and not needs_nothing(symbol)


def gather_imports(context: Context) -> list[ImportItem]:
    """The imported TensorFlow names that may need something, in source order."""
    items: list[ImportItem] = []
    for use in context.resolver.scopes.imports:
        node = use.node
        if isinstance(node.names, cst.ImportStar):
            continue
        base = ""
        if isinstance(node, cst.ImportFrom):
            if node.relative or node.module is None:
                continue
            base = _text(node.module)
        for alias in node.names:
            imported = _text(alias.name)
            dotted = f"{base}.{imported}" if base else imported
            where = door(dotted)
            symbol = canonical(dotted)
            if where is None or symbol is None or symbol == "tf":
                continue
            bound = imported.split(".")[0]
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                bound = alias.asname.name.value
            fate, target = _fate(symbol, where)
            if fate is Fate.RENAME and target is not None and not importable(target):
                fate = Fate.INLINE
            elsewhere = moved(symbol)
            if elsewhere is not None and isinstance(node, cst.ImportFrom):
                fate, target = Fate.RENAME, elsewhere
            if isinstance(node, cst.Import) and fate is Fate.RENAME:
                # ``import tensorflow.flags as f``: the new home may be an
                # attribute rather than a module, so it is spelled at each use.
                fate = Fate.INLINE
            if fate is not Fate.KEEP:
                items.append(
                    ImportItem(use, alias, bound, dotted, symbol, where, fate, target)
                )
    return items


def _fate(symbol: str, where: Door) -> tuple[Fate, str | None]:
    if where is Door.COMPAT_V2:
        return Fate.KEEP, None
    if where is Door.COMPAT_V1 and in_compat_v1(symbol):
        return Fate.KEEP, None
    if symbol.startswith("tf.compat.v2."):
        return Fate.RENAME, "tf." + symbol[len("tf.compat.v2.") :]
    move = lookup(symbol)
    if move is not None:
        if move.old is None:
            return Fate.RENAME, move.to
        # Calls may need other arguments; engine.py may choose ``move.to`` when
        # every call fits.
        target = move.otherwise
        return (Fate.RENAME, target) if target else (Fate.DEAD, None)
    if needs_nothing(symbol):
        return (Fate.RENAME, symbol) if where is Door.PRIVATE else (Fate.KEEP, None)
    if has_no_home(symbol) or symbol.startswith("tf.python"):
        return Fate.DEAD, None
    return Fate.KEEP, None


def _text(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_text(node.value)}.{node.attr.value}"
    assert isinstance(node, cst.Name)
    return node.value


def rewrite_imports(
    items: list[ImportItem], context: Context
) -> dict[ImportItem, tuple[Edit, ...]]:
    """The edits of every import statement of which a name moves or goes."""
    statements: dict[cst.CSTNode, list[ImportItem]] = {}
    for item in items:
        if item.fate is Fate.RENAME or item.done:
            statements.setdefault(item.use.node, []).append(item)
    result: dict[ImportItem, tuple[Edit, ...]] = {}
    for changed in statements.values():
        edits = _statement(changed[0].use, {i.alias: i for i in changed}, context)
        if edits is None:
            for item in changed:
                item.blocked.append("comments inside the import would be lost")
            continue
        # The statement is one edit; its first name carries it.
        for index, item in enumerate(changed):
            result[item] = edits if index == 0 else ()
    return result


def _statement(
    use: ImportUse, changed: dict[cst.ImportAlias, ImportItem], context: Context
) -> tuple[Edit, ...] | None:
    node = use.node
    aliases = list(node.names) if not isinstance(node.names, cst.ImportStar) else []
    source = context.source(node)
    if len(aliases) > 1 and "#" in source:
        return None
    lines: list[str] = []
    if isinstance(node, cst.ImportFrom):
        groups: dict[str, list[str]] = {}
        base = _text(node.module) if node.module is not None else ""
        for alias in aliases:
            item = changed.get(alias)
            if item is None:
                groups.setdefault(base, []).append(_alias_text(alias))
            elif item.fate is Fate.RENAME and item.target is not None:
                package, _, name = item.target.rpartition(".")
                package = "tensorflow" + package[2:]
                text = name if name == item.bound else f"{name} as {item.bound}"
                groups.setdefault(package, []).append(text)
        lines = [
            f"from {key} import {', '.join(names)}" for key, names in groups.items()
        ]
    else:
        kept = []
        for alias in aliases:
            item = changed.get(alias)
            if item is None:
                kept.append(_alias_text(alias))
            elif alias.asname is None and "tensorflow" not in kept:
                # ``import tensorflow.contrib.slim`` also bound ``tensorflow``.
                kept.append("tensorflow")
        if kept:
            lines = [f"import {', '.join(kept)}"]
    start, end = context.span(node)
    statement = use.statement
    shares = isinstance(statement, cst.SimpleStatementLine) and len(statement.body) > 1
    line, _ = context.lines.place(start)
    indent = context.lines.line_text(line)
    indent = indent[: len(indent) - len(indent.lstrip())]
    if not lines:
        if use.only or shares or not isinstance(statement, cst.SimpleStatementLine):
            return (Edit(start, end, "pass"),)
        return (_whole_line(start, end, context),)
    on_line = isinstance(statement, cst.SimpleStatementLine) and not shares
    newline = context.module.default_newline
    separator = newline + indent if on_line else "; "
    return (Edit(start, end, separator.join(lines)),)


def _whole_line(start: int, end: int, context: Context) -> Edit:
    """Delete a statement with its line, unless a comment shares the line."""
    _, column = context.lines.place(start)
    begin = start - (column - 1)
    text = context.text
    stop = end
    while stop < len(text) and text[stop] in " \t":
        stop += 1
    if stop < len(text) and text[stop] == "#":
        # Keep the comment, on a line of its own.
        return Edit(start, stop, "")
    if text.startswith("\r\n", stop):
        stop += 2
    elif stop < len(text) and text[stop] in "\r\n":
        stop += 1
    return Edit(begin, stop, "")


def _alias_text(alias: cst.ImportAlias) -> str:
    name = _text(alias.name)
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return f"{name} as {alias.asname.name.value}"
    return name


def advice(symbol: str) -> str:
    """One sentence on what to do about a symbol without a home."""
    return advice_for(symbol) or "TensorFlow 2 has no successor for it"
