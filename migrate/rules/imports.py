"""What becomes of each import of a TensorFlow name, and what is said of it."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field

import libcst as cst

from ..code.statements import is_docstring
from ..code.tree import only_small
from ..names.curated import advice_for, importable, moved
from ..names.dotted import import_path
from ..names.names import Door, canonical, door
from ..names.scopes import ImportUse
from ..names.table import in_compat_v1, is_known, lookup, needs_nothing
from ..project.text import Edit
from ..report.findings import Outcome, Safety
from .base import Diagnosis, advised
from .context import Context, imports_tensorflow

_BEHIND = re.compile(r"[ \t]*(#|\r\n?|\n|)")


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
            base = f"{import_path(node.module)}."
        for alias in node.names:
            dotted = f"{base}{alias.evaluated_name}"
            where = door(dotted)
            symbol = canonical(dotted)
            if where is None or symbol is None or symbol == "tf":
                continue
            bound = alias.evaluated_alias or alias.evaluated_name.split(".")[0]
            fate, target = _fate(symbol, where)
            if fate is Fate.RENAME and target is not None and not importable(target):
                fate = Fate.INLINE
            elsewhere = moved(symbol)
            if elsewhere is not None and base:
                fate, target = Fate.RENAME, elsewhere
            if not base and fate is Fate.RENAME:
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
    node, statement = use.node, use.statement
    aliases = list(node.names) if not isinstance(node.names, cst.ImportStar) else []
    if len(aliases) > 1 and "#" in context.source(node):
        return None
    lines: list[str] = []
    if isinstance(node, cst.ImportFrom):
        groups: dict[str, list[str]] = {}
        for alias in aliases:
            item = changed.get(alias)
            if item is None:
                home = groups.setdefault(import_path(node.module), [])
                home.append(_alias_text(alias))
            elif item.fate is Fate.RENAME and item.target is not None:
                package, _, name = item.target.rpartition(".")
                text = name if name == item.bound else f"{name} as {item.bound}"
                groups.setdefault(f"tensorflow{package[2:]}", []).append(text)
        lines = [
            f"from {key} import {', '.join(names)}" for key, names in groups.items()
        ]
    else:
        kept = []
        for alias in aliases:
            if alias not in changed:
                kept.append(_alias_text(alias))
            elif alias.asname is None and "tensorflow" not in kept:
                # ``import tensorflow.contrib.slim`` also bound ``tensorflow``.
                kept.append("tensorflow")
        lines = [f"import {', '.join(kept)}"] if kept else []
    start, end = context.span(node)
    own_line = statement is not None and only_small(statement) is not None
    if not lines and (use.only or not own_line):
        return (Edit(start, end, "pass"),)
    if not lines:
        return (_whole_line(start, end, context),)
    text = context.lines.line_text(context.lines.place(start)[0])
    indent = text[: len(text) - len(text.lstrip())]
    separator = context.module.default_newline + indent if own_line else "; "
    return (Edit(start, end, separator.join(lines)),)


def _whole_line(start: int, end: int, context: Context) -> Edit:
    """Delete a statement with its line, unless a comment shares the line."""
    behind = _BEHIND.match(context.text, end)
    assert behind is not None
    if behind[1] == "#":
        # Keep the comment, on a line of its own.
        return Edit(start, behind.start(1), "")
    _, column = context.lines.place(start)
    return Edit(start - (column - 1), behind.end(), "")


def _alias_text(alias: cst.ImportAlias) -> str:
    bound = alias.evaluated_alias
    return f"{alias.evaluated_name} as {bound}" if bound else alias.evaluated_name


def advice(symbol: str) -> str:
    """One sentence on what to do about a symbol without a home."""
    return advice_for(symbol) or "TensorFlow 2 has no successor for it"


def rule_of(item: ImportItem) -> str:
    """The rule that an import falls under."""
    move = lookup(item.symbol)
    if item.fate is not Fate.RENAME:
        return "TFM205"
    if item.symbol.startswith("tf.contrib."):
        return "TFM301"
    if item.door is Door.PRIVATE:
        return "TFM204"
    if move is not None and move.old is not None and item.target == move.to:
        return "TFM203"
    if item.target is not None and item.target.startswith("tf.compat.v1."):
        return "TFM202"
    return "TFM201"


def import_diagnosis(
    item: ImportItem, edits: dict[ImportItem, tuple[Edit, ...]]
) -> Diagnosis | None:
    """What is said of an import, whose edits are in ``edits`` if it moves."""
    rule = rule_of(item)
    if item in edits:
        moves = item.fate is Fate.RENAME
        what = f"is `{item.target}` today" if moves else "is no longer needed"
        # A second name in one statement shares the first one's edit.
        return Diagnosis(
            rule,
            f"`{item.dotted}` {what}",
            edits[item],
            symbol=item.symbol,
            target=item.target,
        )
    if item.symbol.startswith("tf.python"):
        if item.uses and not item.blocked:
            return None  # its uses have been told
        said = f"`{item.dotted}` is private and may move"
        return advised("TFM204", said, symbol=item.symbol)
    reason = item.blocked[0] if item.blocked else advice(item.symbol)
    return _cannot_be_imported(f"`{item.dotted}`", item.symbol, reason, item.use)


def star_diagnosis(use: ImportUse) -> Diagnosis | None:
    """``from tensorflow.contrib.layers import *``: the module itself is gone."""
    node = use.node
    if not isinstance(node, cst.ImportFrom) or node.relative or not node.module:
        return None
    dotted = import_path(node.module)
    symbol = canonical(dotted)
    if symbol is None or door(dotted) is Door.COMPAT_V1:
        return None
    if not (has_no_home(symbol) or symbol.startswith("tf.python")):
        return None
    what = f"`from {dotted} import *`"
    return _cannot_be_imported(what, symbol, advice(symbol), use)


def _cannot_be_imported(
    what: str, symbol: str, reason: str, use: ImportUse
) -> Diagnosis:
    message = f"{what} cannot be imported in TensorFlow 2"
    return Diagnosis(
        "TFM205",
        message,
        outcome=Outcome.LEFT,
        safety=Safety.NEEDS_REVIEW,
        reason=reason,
        note=None if use.guarded else f"{message}: {reason}",
        symbol=symbol,
    )


def import_edit(name: str, context: Context) -> Edit:
    """``import tensorflow as NAME`` above the first TensorFlow import."""
    text = "import tensorflow"
    if name != "tensorflow":
        text += f" as {name}"
    text += context.module.default_newline
    scopes = context.resolver.scopes
    top = [
        use
        for use in scopes.imports
        if use.scope is scopes.module_scope and use.statement in context.module.body
    ]
    chosen = next(
        (u for u in top if imports_tensorflow(u.node)), top[-1] if top else None
    )
    if chosen is not None and chosen.statement is not None:
        start, end = context.span(chosen.statement)
        if imports_tensorflow(chosen.node):
            return Edit(start, start, text)
        line, _ = context.lines.place(end)
        starts = context.lines.starts
        if line < len(starts):
            return Edit(starts[line], starts[line], text)
    return _after_docstring(text, context)


def _after_docstring(text: str, context: Context) -> Edit:
    starts = context.lines.starts
    for statement in context.module.body:
        if is_docstring(statement) or _is_of_future(statement):
            line, _ = context.lines.place(context.span(statement)[1])
            if line < len(starts):
                return Edit(starts[line], starts[line], text)
            continue
        line, _ = context.lines.place(context.span(statement)[0])
        begin = starts[line - 1]
        return Edit(begin, begin, text)
    return Edit(0, 0, text)


def _is_of_future(statement: cst.CSTNode) -> bool:
    small = only_small(statement)
    return (
        isinstance(small, cst.ImportFrom) and import_path(small.module) == "__future__"
    )
