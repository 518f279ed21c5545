"""The attempt to put a group's programs on the loop module."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..emit import ProgramsRewrite, has_switches, numbers_changed
from ..lift.group import shares_columns
from ..options import RewriteOptions
from ..plan.code.tree import Tree
from ..plan.estimator.legacy import legacy_places, runs_estimators
from ..project.facts import ParsedModule, ProjectFacts
from ..project.files import is_ours
from ..project.guard import GuardError, check_output
from ..project.lacks import lacks_of
from ..project.positions import Unfaithful
from ..project.reading import read_or_nothing
from ..project.selection import file_is_ignored
from ..report.findings import Finding, Outcome, Safety, Tier
from ..report.needs import Need
from ..rules.engine import run_rules
from ..rules.written_for import era_of, written_for_tf2
from ..symbols.names import canonical
from .by_reference import may_copy_variables
from .contents import clash, loop_names, words_of_loop
from .differences import differences
from .groups import Group, run_together
from .habits import habits
from .homes import Known
from .keras_layers import MODEL_TO_ESTIMATOR, KerasLayers
from .lifting import (
    Lifting,
    kept_because,
    lifted_together,
    names_canned_of_learn,
)
from .places import NoPlace, Place, place_of
from .renames import renamed
from .step_order import unordered_model_fn
from .words import Kept, Modules

__all__ = ["ON_MODULE", "RULE", "Answer", "Moved", "OnModule"]

RULE = "TFM106"
# Strategies that need more than a loop that is written in place can say.
ON_MODULE = ("multiworker", "parameter_server", "tpu")


@dataclass(frozen=True)
class Moved:
    """What becomes of one file: how it reads, what is said of it, what it needs.

    ``inside``: the modules are to stand in the file itself.
    """

    parsed: ParsedModule
    findings: tuple[Finding, ...]
    needs: tuple[Need, ...]
    inside: bool


@dataclass
class Answer:
    """What was decided for a group."""

    files: dict[str, Moved] = field(default_factory=dict)
    # Why the group keeps its Estimators, where it does.
    why: str | None = None
    place: str | None = None
    line: int = 1


class _AsValue(Exception):
    """A package that becomes a module is handed about as a value."""


class OnModule:
    """The attempt to put a group's programs on the loop module."""

    def __init__(
        self,
        group: Group,
        files: list[ParsedModule],
        today: dict[str, ProgramsRewrite],
        options: RewriteOptions,
        facts: ProjectFacts,
    ) -> None:
        self.group = group
        self.files = files
        self.today = today
        self.options = options
        self.facts = facts
        self.known = Known(
            loop_names(),
            canned_2=self._is_of_tf2,
            chosen=options.strategy != "keep",
        )
        self.keras_layers = KerasLayers(files, self.known, self._is_of_tf2)
        # Canned classes that have one name never meet in a module.
        self.contrib = CONTRIB_2 if self._is_of_tf2 else CONTRIB
        if self.contrib == CONTRIB and names_canned_of_learn(self.files):
            self.contrib = CONTRIB_LEARN
        self.trees = [Tree(one.source.module, one.resolver) for one in files]
        # The program builds graphs, or runs sessions, around its models.
        self.by_hand: Kept | None = None
        self.builds_by_hand = False
        self.local_graphs = False  # of sessions that look at data
        # Files whose model functions are lifted.
        self.layers: dict[str, ParsedModule] = {}
        self.lifting: list[Lifting] = []
        # Why not all of them are.
        self.kept: str | None = None

    def answer(self, native: bool) -> Answer:
        """Texts and findings of all files, or why there are none.

        With Keras layers where every model function can be lifted, else as they are.
        """
        copied = self._is_of_tf2 or may_copy_variables(
            one.source.text for one in self.files
        )
        for tree in self.trees:
            why = unordered_model_fn(tree, copied=copied)
            if why is not None:
                return Answer(why=why)
        self.kept = self.options.model_because
        if self.kept is not None:
            return self._somewhere(native)
        self.lifting = lifted_together(
            self.files, self.facts, canned_1=not self._is_of_tf2
        )
        self.kept = kept_because(self.files, self.lifting, self.keras_layers.old)
        if any(one.made for one in self.lifting):
            self.layers = {str(one.parsed.path): one.parsed for one in self.lifting}
            found = self._somewhere(native)
            if found.files:
                return found
            self.kept = found.why or self.kept
            self.layers, self.by_hand, self.builds_by_hand = {}, None, False
        return self._somewhere(native)

    def _kept_of(self, parsed: ParsedModule) -> str | None:
        """Why models of the programs that a file is part of are not made of layers."""
        if self.kept is None or not self.lifting:
            return self.kept
        program = run_together(parsed.path, self.facts)
        why = kept_because(self.files, self.lifting, self.keras_layers.old, program)
        return why if self.layers else why or self.kept

    def _somewhere(self, native: bool) -> Answer:
        """The same, with the modules where they may stand."""
        if self._is_alone():
            try:
                return self._moved(native, inside=True)
            except _AsValue as problem:
                if not self.facts.files:
                    return Answer(
                        why=f"`{problem}` is handed about as a value, which only a "
                        "file beside it can be"
                    )
        return self._moved(native, inside=False)

    def _moved(self, native: bool, *, inside: bool) -> Answer:
        """The same, with the modules inside the only file, or beside the files."""
        try:
            place = place_of(self.group, self.facts)
        except NoPlace as problem:
            return Answer(why=str(problem))
        loop, contrib = self.options.loop_module, self.contrib
        if not inside:
            names = (loop, contrib)
            for path in (one / f"{name}.py" for one in place.folders for name in names):
                taken = path.with_suffix("").is_dir()
                if taken or (path.exists() and not is_ours(read_or_nothing(path))):
                    return Answer(
                        why=f"{path.name} is there and is none of ours; choose another "
                        "name with --loop-module"
                    )
        found = Answer()
        uses_loop = False
        made = self._files(place, inside)
        if isinstance(made, str):
            return Answer(why=made)
        for parsed, (again, needs) in zip(self.files, made, strict=True):
            uses_loop = uses_loop or any(
                set(need.names) - _FREE for need in needs if need.kind == "loop"
            )
            own = os.path.abspath(parsed.path)
            if (
                again.source.text == parsed.source.text
                and parsed not in self.files[: len(self.group.files)]
                and not any(differences(parsed, self.files))
            ):
                continue
            findings = self._findings(parsed, native, inside)
            found.files[own] = Moved(again, findings, needs, inside)
        brought = {
            name
            for one in found.files.values()
            for need in one.needs
            if need.kind == "contrib"
            for name in need.names
        }
        if brought:
            twice = clash(brought)
            if twice is not None:
                return Answer(why=f"`{twice}` has the name of something else it uses")
            words = words_of_loop(brought)
            uses_loop = uses_loop or bool(words)
            if words:
                found.files = {
                    path: replace(
                        one, needs=_joined(one.needs, _needs(place, loop, words))
                    )
                    for path, one in found.files.items()
                }
        return found if uses_loop else Answer()

    def _is_alone(self) -> bool:
        """A program that has no files beside it: its modules stand in it.

        That is a notebook, which is handed on by itself, and a text from a pipe. A
        script's owner reviews a module of its own once, and a few lines of the script.
        """
        if len(self.group.all) > 1:
            return False
        (only,) = self.files
        return only.source.notebook is not None or not self.facts.files

    def _files(
        self, place: Place, inside: bool
    ) -> list[tuple[ParsedModule, tuple[Need, ...]]] | str:
        """Every file as it will be, and its needs, or what keeps the program."""
        found = []
        for parsed in self.files:
            made = self._file(self.layers.get(str(parsed.path), parsed), place, inside)
            if isinstance(made, str):
                return made
            found.append(made)
        if self.by_hand is None or self.builds_by_hand:
            return found
        keras = {n for _, needs in found for need in needs for n in need.names}
        if "model_to_estimator" in keras:
            if not self.local_graphs:
                self.by_hand, self.local_graphs = None, True
                return self._files(place, inside)
            one = self.by_hand  # Its Keras model would be one of that graph.
            return f"`{one.symbol}` (line {one.line}) {one.why}, beside a Keras model"
        self.builds_by_hand = True
        return self._files(place, inside)

    def _file(
        self, parsed: ParsedModule, place: Place, inside: bool
    ) -> tuple[ParsedModule, tuple[Need, ...]] | str:
        """One file as it will be, and its needs, or what keeps it."""
        if file_is_ignored(parsed.source.raw):
            return f"{parsed.path.name} is excluded from rewrites"
        package = "" if inside else place.package_for(parsed)
        loop, contrib = self.options.loop_module, self.contrib
        for_tf2 = written_for_tf2(parsed.resolver)
        try:
            made = renamed(
                parsed,
                Modules(loop, contrib, package, inside or not place.unsure),
                self.known,
                for_tf2=for_tf2,
                keras_1=not for_tf2 and not self._is_of_tf2,
                placeholders=self._describes_features(),
                by_hand=self.builds_by_hand,
                beside=self.trees,
                shared_columns=shares_columns(self.files),
                local_graphs=self.local_graphs,
                twins=self.keras_layers.twins(parsed, kept=self._kept_of(parsed)),
            )
            if self._builds_graphs:
                self.by_hand = self.by_hand or made.by_hand
            if inside and made.as_value is not None:
                raise _AsValue(made.as_value)
            again, kept = parsed, made.kept
            if not kept:
                again, kept = self._lost(parsed, made.text, for_tf2)
        except (GuardError, Unfaithful, ValueError) as problem:
            return f"{parsed.path.name}: {problem}"
        if kept:
            one = min(kept, key=lambda found: found.line)
            cell, line = parsed.source.locate(one.line)
            inside_cell = f"cell {cell}:" if cell is not None else ""
            place_ = f"{parsed.path.name}:{inside_cell}{line}"
            return f"`{one.symbol}` ({place_}) {one.why}"
        needs: list[Need] = []
        if not for_tf2 and made.loop - _FREE:
            made.loop |= habits(self.files) & self.known.loop_names
        if self.options.strategy != "keep" and made.loop - _FREE:
            made.loop.add(f"chosen_{self.options.strategy}")
        if self.options.profile and made.loop - _FREE:
            made.loop.add("profiled")
        if era_of(parsed.resolver).tf1 and made.loop & _OF_KERAS_MODELS:
            made.loop.add(_METRICS)
        if self._regularizes and made.loop - _FREE:
            made.loop.add(_REGULARIZERS)
        if made.loop:
            needs += _needs(place, loop, made.loop)
        if made.contrib:
            needs += _needs(place, contrib, made.contrib, "contrib")
        return again, tuple(needs)

    @cached_property
    def _regularizes(self) -> bool:
        """Layers of TensorFlow 1 may have regularizers, and share variables."""
        return _REGULARIZERS in self.known.loop_names and any(
            "regularizer" in one.source.text for one in self.files
        )

    @cached_property
    def _builds_graphs(self) -> bool:
        """Whether the program builds graphs where it says nothing: TF 2's do not."""
        return not self._is_of_tf2 or self._has_switches()

    @cached_property
    def _is_of_tf2(self) -> bool:
        """Files that name neither TF belong to others of theirs, which name TF 2."""
        eras = [era_of(parsed.resolver) for parsed in self.files]
        return any(era.tf2 for era in eras) and not any(era.tf1 for era in eras)

    def _describes_features(self) -> bool:
        """Placeholders may stand for what a model is served with, outside of graphs."""
        if "placeholder" not in self.known.loop_names:
            return False
        word = "build_raw_serving_input_receiver_fn"
        return any(word in parsed.source.text for parsed in self.files)

    def lost_of_support(self) -> bool:
        """Files that the programs import need more than the names of today."""
        count = len(self.group.files)
        return self._has_switches(count) or any(map(self._is_lost, self.files[count:]))

    def _has_switches(self, first: int = 0) -> bool:
        """One of the files, from that one on, may turn eager execution off."""
        return any(
            has_switches(tree, one.source.text)
            for tree, one in zip(self.trees[first:], self.files[first:], strict=True)
        )

    def _is_lost(self, parsed: ParsedModule) -> bool:
        """A file names what has no home, where the program comes by."""
        others = " ".join(one.source.text for one in self.files if one is not parsed)
        used = [
            canonical(lack.what)
            for _, lack in lacks_of(parsed.resolver)
            if not lack.owners or lack.owners.intersection(_NAME.findall(others))
        ]
        if not used:
            return False
        for_tf2 = written_for_tf2(parsed.resolver)
        _, lost = self._lost(parsed, parsed.source.text, for_tf2)
        return any(one.symbol in used for one in lost)

    def _lost(
        self, parsed: ParsedModule, text: str, for_tf2: bool
    ) -> tuple[ParsedModule, list[Kept]]:
        """The file with a text, and names in it that have no home for the rules."""
        module, scopes = check_output(
            parsed.source.text,
            text,
            scopes=parsed.resolver.scopes,
            near=parsed.source,
            cells=parsed.source.notebook is not None,
        )
        current = replace(parsed.source, text=text, module=module)
        again = self.facts.module_of(current, scopes)
        result = run_rules(text, module, again.resolver, for_tf2=for_tf2, notes=False)
        lines = current.lines
        found = []
        for one in result.findings:
            diagnosis = one.diagnosis
            if diagnosis.note is None or diagnosis.symbol is None:
                continue
            line, _ = lines.place(one.offset)
            found.append(Kept(line, diagnosis.symbol, "has no home in TensorFlow 2"))
        return again, found

    def _findings(
        self, parsed: ParsedModule, native: bool, inside: bool
    ) -> tuple[Finding, ...]:
        module = f"{self.options.loop_module}.py"
        where = "the loop module, which stands in it" if inside else module
        tree = Tree(parsed.module, parsed.resolver)
        lines = [tree.line(place) for place in legacy_places(tree).programs]
        why = self._kept_of(parsed)
        of_keras = any(
            tree.symbol(call.func) == MODEL_TO_ESTIMATOR
            for call in legacy_places(tree).programs
        )
        model = "model" if of_keras else "model_fn"
        kept = f"; its {model} is kept: {why}" if why else ""
        becomes = Tier.FORWARD_KEPT if why else Tier.NATIVE
        told = []
        for line in lines:
            reason = self._why_not_inline(parsed, line, native)
            told.append(
                self._finding(
                    parsed,
                    line,
                    f"this program trains with {where}: {reason}{kept}",
                    becomes,
                )
            )
        if not told:
            # A class derived from an Estimator makes a program of what uses it.
            runs = runs_estimators(tree)
            text = f"belongs to a program on {module}{kept if runs else ''}"
            told.append(self._finding(parsed, 1, text, becomes if runs else None))
        told += [
            replace(told[0], rule=rule, message=text, safety=Safety.CHANGES_NUMBERS)
            for rule, text in numbers_changed(self.options)
            if lines
        ]
        return (*told, *differences(parsed, self.files))

    def _finding(
        self, parsed: ParsedModule, line: int, message: str, tier: Tier | None
    ) -> Finding:
        return Finding(
            path=parsed.path,
            line=line,
            column=1,
            rule=RULE,
            message=message,
            outcome=Outcome.REWRITTEN,
            safety=Safety.NEEDS_REVIEW,
            tier=tier,
        )

    def _why_not_inline(self, parsed: ParsedModule, line: int, native: bool) -> str:
        if self.options.strategy in ON_MODULE:
            return f"asked for by --strategy {self.options.strategy}"
        if self.options.module_because is not None:
            return f"no loop of its own, for {self.options.module_because}"
        if self.options.model_because is not None:
            return f"no loop of its own, for {self.options.model_because}"
        if native and self.options.style == "module":
            return "asked for by --style module"
        if native:
            return "no loop of its own, for files that it imports need copies as well"
        own = self.today.get(str(parsed.path))
        results = [own] if own is not None else []
        results += [one for one in self.today.values() if one is not own]
        for result in results:
            found = [
                f for f in result.findings if f.reason and f.outcome is Outcome.LEFT
            ]
            here = [f for f in found if f.line == line and result is own] or found
            if here:
                why = here[0].reason or ""
                said = f" ({why})" if why.startswith("no ") else f", for {why}"
                return f"no loop of its own{said}"
            for finding in result.findings:
                if finding.tier is Tier.FORWARD_KEPT:
                    return finding.message.partition(": ")[2] or "it is kept"
        return "no loop of its own"


def _needs(
    place: Place, module: str, names: Iterable[str], kind: str = "loop"
) -> list[Need]:
    """Names of a module, wherever it is to stand."""
    wanted = sorted(names)
    return [
        Need(str(one / f"{module}.py"), kind, wanted, place.package)
        for one in place.folders
    ]


def _joined(needs: tuple[Need, ...], more: list[Need]) -> tuple[Need, ...]:
    """What a file needs, and what its copies of tf.contrib take of the loop module."""
    if not any(one.kind == "contrib" for one in needs):
        return needs
    names = {n for one in needs if one.kind == "loop" for n in one.names}
    others = tuple(one for one in needs if one.kind != "loop")
    return (*(one.with_names(names) for one in more), *others)


_NAME = re.compile(r"[^\W\d]\w*")
# Words that say nothing of training: a file may only compare modes.
_FREE = frozenset({"ModeKeys"})
# They counted a variable's regularizer once, however many layers share it.
_REGULARIZERS = "tf1_regularizers"
# They called the accuracy of a compiled model "acc", whichever word it was given.
_METRICS = "tf1_metrics"
_OF_KERAS_MODELS = frozenset({"model_to_estimator", "model_to_multi_worker_estimator"})
CONTRIB = "tf_contrib"
CONTRIB_2 = "tf_estimators"
CONTRIB_LEARN = "tf_contrib_learn"
