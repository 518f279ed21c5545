"""Runs the symbol rules over one module: detect first, edit once.

Every use of a TensorFlow symbol is resolved, given to one rule, and the rule's
answer becomes a finding. ``scan`` and ``rewrite`` both come through here; the
edits are applied together at the end, all or none per place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import libcst as cst

from ..names.curated import importable
from ..names.names import Door
from ..names.resolver import Resolver
from ..names.scopes import Binding, Use
from ..names.table import lookup
from ..project.text import Edit, apply_edits
from ..report.findings import Outcome
from . import (
    bygone_name,
    changed_arguments,
    dataset_iterator,
    dataset_structure,
    shape_dimension,
    string_symbol,
)
from .base import Diagnosis, SymbolUse
from .calls import fit_call
from .context import Context
from .import_judge import import_diagnosis, rule_of, star_diagnosis
from .import_line import import_edit, imports_tensorflow
from .imports import Fate, ImportItem, gather_imports, rewrite_imports
from .notes import note_edit
from .registry import plugins
from .symbol_judge import SAID_OF_TF1, SPECIAL, diagnose, symbol_use, will_mean
from .written_for import is_ambiguous, written_for_tf2

# The reason of a rewrite that has to wait for the next round.
POSTPONED = "it overlaps another rewrite; rewrite it by hand"


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
    engine = _Engine(Context(text, module, resolver), allows, silenced)
    engine.for_tf2 = written_for_tf2(resolver) if for_tf2 is None else for_tf2
    engine.helps = helps
    engine.collect()
    return engine.result(notes=notes)


@dataclass(eq=False)
class _Found:
    """One place under judgement."""

    node: cst.CSTNode
    statement: cst.CSTNode | None
    diagnosis: Diagnosis


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
        self.for_tf2 = False
        self.helps = False
        self.found: list[_Found] = []
        self.items: list[ImportItem] = []
        self.by_binding: dict[Binding, ImportItem] = {}

    # -- detection ------------------------------------------------------------

    def collect(self) -> None:
        self.items = [
            item
            for item in gather_imports(self.context)
            if not (self.for_tf2 and is_ambiguous(item.symbol, item.door))
        ]
        for item in self.items:
            binding = self._binding_of(item)
            if binding is not None:
                self.by_binding[binding] = item
        found = (symbol_use(use, self.resolver) for use in self.resolver.scopes.uses)
        uses = [
            use
            for use in found
            if use is not None
            and not (self.for_tf2 and is_ambiguous(use.symbol, use.door))
        ]
        self._choose_imports(uses)
        for use in uses:
            self._judge(use)
        self._judge_methods()
        self._judge_strings()
        self._judge_bygone()
        self._judge_by_modules()
        self._judge_imports()
        if all(place.diagnosis.rule in SAID_OF_TF1 for place in self.found):
            self.found.clear()

    def _binding_of(self, item: ImportItem) -> Binding | None:
        for binding in item.use.scope.bindings.get(item.bound, ()):
            if binding.node is item.use.node:
                return binding
        # ``global`` declarations bind elsewhere.
        for binding in item.use.scope.module.bindings.get(item.bound, ()):
            if binding.node is item.use.node:
                return binding
        return None

    def _root_item(self, use: Use) -> ImportItem | None:
        """The judged import that a chain starts from."""
        if use.root is None:
            return None
        bound = self.resolver.bindings(use.root)
        found = [self.by_binding[b] for b in bound if b in self.by_binding]
        return found[0] if found else None

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
            if all(
                place.call is not None
                and fit_call(place.call, move, self.context).problem is None
                for place in places
            ):
                same = move.to == item.symbol and item.door is Door.PUBLIC
                item.fate = Fate.KEEP if same else Fate.RENAME
                if not same and not importable(move.to):
                    item.fate = Fate.INLINE
                item.target = move.to
                for place in places:
                    assert place.call is not None
                    edits = fit_call(place.call, move, self.context).edits
                    if edits:
                        self._add(
                            place.node,
                            place.use.statement,
                            Diagnosis(
                                changed_arguments.RULE.id,
                                f"`{item.symbol}` arguments changed",
                                edits,
                                symbol=item.symbol,
                            ),
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
            placed = self._spelled(use, item, diagnosis)
            if placed is None:
                return
            diagnosis = placed
        kept = self._add(use.node, use.use.statement, diagnosis)
        if kept and rewrites and item is not None:
            item.rewritten += 1

    def _spelled(
        self, use: SymbolUse, item: ImportItem | None, diagnosis: Diagnosis
    ) -> Diagnosis | None:
        """Add the edit that puts the target's name at the place, if one is due."""
        target = diagnosis.target
        if target is None:
            return diagnosis
        if will_mean(use, item, self.resolver) == target:
            return diagnosis if diagnosis.edits else None
        root = use.use.root
        near = root if root is not None and item is None else None
        spelled = self.context.spell(target, use.scope, near)
        if self.context.source(use.node) == spelled:
            return diagnosis if diagnosis.edits else None
        edit = self.context.replace(use.node, spelled)
        return replace(diagnosis, edits=(edit, *diagnosis.edits))

    def _judge_methods(self) -> None:
        """Methods and attributes of datasets, told by their names."""
        scopes = self.resolver.scopes
        for call in scopes.calls.values():
            if (
                isinstance(call.func, cst.Attribute)
                and call.func.attr.value in dataset_iterator.METHODS
                and self._knows_tensorflow
            ):
                diagnosis = dataset_iterator.check_call(call, self.context)
                if diagnosis is not None:
                    self._add(call.func, None, diagnosis)
        for use in scopes.uses:
            node: cst.BaseExpression = use.node
            while isinstance(node, cst.Attribute):
                if (
                    node.attr.value in dataset_structure.ATTRIBUTES
                    and self._knows_tensorflow
                ):
                    diagnosis = dataset_structure.check_attribute(
                        node, use.scope, self.context
                    )
                    if diagnosis is not None:
                        self._add(node, use.statement, diagnosis)
                node = node.value

    def _judge_strings(self) -> None:
        """Symbols that a string names: getattr, import_module."""
        for call in string_symbol.calls(self.resolver):
            diagnosis = string_symbol.check_call(call, self.context)
            if diagnosis is not None:
                self._add(call, None, diagnosis)

    def _judge_bygone(self) -> None:
        """Names that are gone from Python and NumPy."""
        if self._knows_tensorflow or self.helps:
            for node, statement, diagnosis in bygone_name.diagnoses(self.context):
                self._add(node, statement, diagnosis)

    def _judge_by_modules(self) -> None:
        """What rules say that find their places themselves, of other packages too."""
        modules = [*plugins()]
        # Sizes that a TensorShape of TF 1 held as objects.
        if self._knows_tensorflow or "tfmigrate.compat" in self.context.text:
            modules.insert(0, shape_dimension)
        for module in modules:
            for node, diagnosis in module.diagnoses(self.context):
                self._add(node, None, diagnosis)

    @cached_property
    def _knows_tensorflow(self) -> bool:
        scopes = self.resolver.scopes
        return any(imports_tensorflow(use.node) for use in scopes.imports) or any(
            self.resolver.resolve(u.root) == "tf" for u in scopes.uses if u.root
        )

    def _judge_imports(self) -> None:
        edits = rewrite_imports(
            [i for i in self.items if self._may_move(i)], self.context
        )
        for item in self.items:
            if item.fate is Fate.KEEP:
                continue
            diagnosis = import_diagnosis(item, edits)
            if diagnosis is not None:
                self._add(item.alias, item.use.statement, diagnosis)

        for use in self.resolver.scopes.imports:
            if isinstance(use.node.names, cst.ImportStar):
                diagnosis = star_diagnosis(use)
                if diagnosis is not None:
                    self._add(use.node, use.statement, diagnosis)

    def _may_move(self, item: ImportItem) -> bool:
        rule = rule_of(item)
        line, _ = self.context.lines.place(self.context.span(item.alias)[0])
        return (
            item.fate is not Fate.KEEP
            and self.allows(rule)
            and not self.silenced(line, rule)
        )

    def _add(
        self, node: cst.CSTNode, statement: cst.CSTNode | None, diagnosis: Diagnosis
    ) -> bool:
        """Record a diagnosis unless its rule is off; say whether it counts."""
        if not self.allows(diagnosis.rule):
            return False
        line, _ = self.context.lines.place(self.context.span(node)[0])
        if self.silenced(line, diagnosis.rule):
            return False
        self.found.append(_Found(node, statement, diagnosis))
        return True

    # -- application -----------------------------------------------------------------

    def result(self, *, notes: bool) -> RulesResult:
        edits: list[Edit] = []
        findings: list[SymbolFinding] = []
        noted: set[tuple[int | str, str]] = set()
        taken = _Regions()
        for found in sorted(self.found, key=lambda f: self.context.span(f.node)[0]):
            diagnosis = found.diagnosis
            offset = self.context.span(found.node)[0]
            if taken.meet(diagnosis.edits):
                diagnosis = replace(
                    diagnosis, edits=(), outcome=Outcome.LEFT, reason=POSTPONED
                )
            edits.extend(diagnosis.edits)
            taken.add(diagnosis.edits)
            findings.append(SymbolFinding(offset, diagnosis))
            if notes and diagnosis.note is not None and found.statement is not None:
                start = self._statement_start(found.statement)
                # Once for each cause in the file, and once for each statement; what
                # is said of tf.estimator is one cause.
                said = "" if diagnosis.rule == "TFM209" else diagnosis.note
                keys: set[tuple[int | str, str]] = {
                    (said, diagnosis.rule),
                    (start, diagnosis.rule),
                }
                if not keys & noted:
                    noted |= keys
                    note = note_edit(
                        start, diagnosis.rule, diagnosis.note, self.context
                    )
                    if note is not None:
                        edits.append(note)
        if self.context.needs_tf is not None:
            # Before notes at the same place, which have to stay with what is below.
            edits.insert(0, import_edit(self.context.needs_tf, self.context))
        return RulesResult(apply_edits(self.context.text, edits), tuple(findings))

    def _statement_start(self, statement: cst.CSTNode) -> int:
        decorators = getattr(statement, "decorators", ())
        node = decorators[0] if decorators else statement
        return self.context.span(node)[0]


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
