"""Runs the symbol rules over one module: detect first, edit once.

Every use of a TensorFlow symbol is resolved, given to one rule, and the rule's
answer becomes a finding. ``scan`` and ``rewrite`` both come through here; the
edits are applied together at the end, all or none per place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import libcst as cst

from ..code.tree import Tree
from ..names.curated import importable
from ..names.names import Door
from ..names.resolver import Resolver
from ..names.scopes import Binding, Use
from ..names.table import lookup
from ..project.text import Edit, apply_edits, note_above
from ..report.findings import Outcome
from . import bygone_name, changed_arguments, dataset, shape_dimension, string_symbol
from .base import Diagnosis, SymbolUse
from .changed_arguments import fit_call
from .context import Context
from .imports import (
    Fate,
    ImportItem,
    gather_imports,
    import_diagnosis,
    import_edit,
    rewrite_imports,
    rule_of,
    star_diagnosis,
)
from .registry import plugins
from .symbol_judge import SAID_OF_TF1, SPECIAL, diagnose, symbol_use, will_mean
from .written_for import is_ambiguous, written_for_tf2

# The reason of a rewrite that has to wait for the next round.
POSTPONED = "it overlaps another rewrite; rewrite it by hand"
# Rules that find their places themselves, as those of other packages do.
_FINDERS = (dataset, string_symbol, bygone_name, shape_dimension)


@dataclass(frozen=True)
class SymbolFinding:
    """A diagnosis and where it stands (offset in the analysed text)."""

    offset: int
    diagnosis: Diagnosis


@dataclass(frozen=True)
class RulesResult:
    """The text after the edits, and every finding."""

    text: str
    findings: tuple[SymbolFinding, ...]


def run_rules(
    text: str,
    module: cst.Module,
    resolver: Resolver,
    *,
    allows: Callable[[str], bool] = lambda rule: True,
    silenced: Callable[[int, str], bool] = lambda line, rule: False,
    notes: bool = True,
    for_tf2: bool | None = None,
    helps: bool = False,
) -> RulesResult:
    """Find what the symbol rules have to say about a module and apply it.

    ``allows`` selects rules, ``silenced`` knows the ignore comments of lines.
    ``for_tf2`` says how to read names that TF 1 and TF 2 have and do not agree
    about; None lets the module tell. ``helps`` says that a program on TensorFlow uses
    the module, which names none of it.
    """
    engine = _Engine(Context(text, module, resolver, helps), allows, silenced)
    engine.collect(written_for_tf2(resolver) if for_tf2 is None else for_tf2)
    return engine.result(notes=notes)


class _Engine:
    def __init__(
        self,
        context: Context,
        allows: Callable[[str], bool],
        silenced: Callable[[int, str], bool],
    ) -> None:
        self.context = context
        self.resolver = context.resolver
        self.allows = allows
        self.silenced = silenced
        self.found: list[tuple[cst.CSTNode, Diagnosis]] = []
        self.items: list[ImportItem] = []
        self.by_binding: dict[Binding, ImportItem] = {}

    # -- detection ------------------------------------------------------------

    def collect(self, for_tf2: bool) -> None:
        self.items = [
            item
            for item in gather_imports(self.context)
            if not (for_tf2 and is_ambiguous(item.symbol, item.door))
        ]
        for item in self.items:
            scope = item.use.scope
            # ``global`` declarations bind elsewhere.
            for one in (scope, scope.module):
                for binding in one.bindings.get(item.bound, ()):
                    if binding.node is item.use.node:
                        self.by_binding[binding] = item
        found = (symbol_use(use, self.resolver) for use in self.resolver.scopes.uses)
        uses = [
            use
            for use in found
            if use is not None and not (for_tf2 and is_ambiguous(use.symbol, use.door))
        ]
        self._choose_imports(uses)
        for use in uses:
            self._judge(use)
        for module in (*_FINDERS, *plugins()):
            for node, diagnosis in module.diagnoses(self.context):
                self._add(node, diagnosis)
        self._judge_imports()
        if all(diagnosis.rule in SAID_OF_TF1 for _, diagnosis in self.found):
            self.found.clear()

    def _root_item(self, use: Use) -> ImportItem | None:
        """The judged import that a chain starts from."""
        if use.root is None:
            return None
        bound = self.resolver.bindings(use.root)
        return next((self.by_binding[b] for b in bound if b in self.by_binding), None)

    def _choose_imports(self, uses: list[SymbolUse]) -> None:
        """Where every call of an imported function fits, import today's function."""
        direct: dict[ImportItem, list[SymbolUse]] = {}
        for use in uses:
            item = self._root_item(use.use)
            if item is not None and isinstance(use.node, cst.Name):
                direct.setdefault(item, []).append(use)
        for item, places in direct.items():
            move = lookup(item.symbol)
            if move is None or move.old is None or item.symbol in SPECIAL:
                continue
            fits = [
                (place.node, fit_call(place.call, move, self.context))
                for place in places
                if place.call is not None
            ]
            if len(fits) < len(places) or any(fit.problem for _, fit in fits):
                continue
            same = move.to == item.symbol and item.door is Door.PUBLIC
            item.fate = Fate.KEEP if same else Fate.RENAME
            if not same and not importable(move.to):
                item.fate = Fate.INLINE
            item.target = move.to
            said = f"`{item.symbol}` arguments changed"
            for node, fit in fits:
                if fit.edits:
                    rule = changed_arguments.RULE
                    self._add(
                        node, Diagnosis(rule, said, fit.edits, symbol=item.symbol)
                    )

    # -- judgement ----------------------------------------------------------------

    def _judge(self, use: SymbolUse) -> None:
        item = self._root_item(use.use)
        if item is not None:
            item.uses += 1
        diagnosis = diagnose(use, item, self.context)
        if diagnosis is None:
            if item is not None and item.fate is Fate.KEEP:
                item.rewritten += 1
            return
        if (
            isinstance(use.node, cst.Name)
            and item is not None
            and item.fate is not Fate.INLINE
        ):
            return  # told once, at the import
        rewrites = diagnosis.target is not None or bool(diagnosis.edits)
        if rewrites:
            diagnosis = self._spelled(use, item, diagnosis)
            if not diagnosis.edits:
                return
        kept = self._add(use.node, diagnosis)
        if kept and rewrites and item is not None:
            item.rewritten += 1

    def _spelled(
        self, use: SymbolUse, item: ImportItem | None, diagnosis: Diagnosis
    ) -> Diagnosis:
        """Add the edit that puts the target's name at the place, if one is due."""
        target = diagnosis.target
        if target is None or will_mean(use, item, self.resolver) == target:
            return diagnosis
        near = use.use.root if item is None else None
        spelled = self.context.spell(target, use.scope, near)
        if self.context.source(use.node) == spelled:
            return diagnosis
        edit = self.context.replace(use.node, spelled)
        return replace(diagnosis, edits=(edit, *diagnosis.edits))

    def _judge_imports(self) -> None:
        edits = rewrite_imports(
            [i for i in self.items if self._may_move(i)], self.context
        )
        for item in self.items:
            if item.fate is not Fate.KEEP:
                diagnosis = import_diagnosis(item, edits)
                if diagnosis is not None:
                    self._add(item.alias, diagnosis)
        for use in self.resolver.scopes.imports:
            if isinstance(use.node.names, cst.ImportStar):
                diagnosis = star_diagnosis(use)
                if diagnosis is not None:
                    self._add(use.node, diagnosis)

    def _may_move(self, item: ImportItem) -> bool:
        return item.fate is not Fate.KEEP and self._is_wanted(item.alias, rule_of(item))

    def _is_wanted(self, node: cst.CSTNode, rule: str) -> bool:
        line, _ = self.context.lines.place(self.context.span(node)[0])
        return self.allows(rule) and not self.silenced(line, rule)

    def _add(self, node: cst.CSTNode, diagnosis: Diagnosis) -> bool:
        """Record a diagnosis unless its rule is off; say whether it counts."""
        wanted = self._is_wanted(node, diagnosis.rule)
        if wanted:
            self.found.append((node, diagnosis))
        return wanted

    # -- application -----------------------------------------------------------------

    def result(self, *, notes: bool) -> RulesResult:
        edits: list[Edit] = []
        findings: list[SymbolFinding] = []
        noted: set[tuple[int | str, str]] = set()
        taken = _Regions()
        tree = Tree(self.context.module, self.resolver)
        for node, diagnosis in sorted(
            self.found, key=lambda found: self.context.span(found[0])[0]
        ):
            if taken.meet(diagnosis.edits):
                diagnosis = replace(
                    diagnosis, edits=(), outcome=Outcome.LEFT, reason=POSTPONED
                )
            edits.extend(diagnosis.edits)
            taken.add(diagnosis.edits)
            findings.append(SymbolFinding(self.context.span(node)[0], diagnosis))
            if notes and diagnosis.note is not None:
                line = self._first_line(tree.statement(node))
                # Once for each cause in the file, and once for each statement; what
                # is said of tf.estimator is one cause.
                said = "" if diagnosis.rule == "TFM209" else diagnosis.note
                keys: set[tuple[int | str, str]] = {
                    (said, diagnosis.rule),
                    (line, diagnosis.rule),
                }
                if not keys & noted:
                    noted |= keys
                    rule, note = diagnosis.rule, diagnosis.note
                    edits += note_above(self.context.lines, line, rule, note)
        if self.context.needs_tf is not None:
            # Before notes at the same place, which have to stay with what is below.
            edits.insert(0, import_edit(self.context.needs_tf, self.context))
        return RulesResult(apply_edits(self.context.text, edits), tuple(findings))

    def _first_line(self, statement: cst.CSTNode) -> int:
        first = next(iter(getattr(statement, "decorators", ())), statement)
        return self.context.lines.place(self.context.span(first)[0])[0]


class _Regions:
    """Regions of the text that edits replace, none of which meets another."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []

    def meet(self, edits: Iterable[Edit]) -> bool:
        """Whether an edit would replace text that another one replaces."""
        for edit in edits:
            before = bisect_left(self.starts, edit.end) - 1
            if edit.end > edit.start and before >= 0 and self.ends[before] > edit.start:
                return True
        return False

    def add(self, edits: Iterable[Edit]) -> None:
        """Take the regions of edits that meet none."""
        for edit in edits:
            if edit.end > edit.start:
                place = bisect_left(self.starts, edit.start)
                self.starts.insert(place, edit.start)
                self.ends.insert(place, edit.end)
