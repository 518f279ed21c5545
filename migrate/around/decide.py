"""For each program: a loop of its own, the loop module, or its Estimator.

The answer is one for all files of a group, and depends on nothing but their content
and the options: every process that asks comes to the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import libcst as cst

from ..emit import ProgramsRewrite, rewrite_across_files, rewrite_programs, why_alone
from ..options import RewriteOptions
from ..plan.code.tree import Tree
from ..plan.estimator.legacy import legacy_places, runs_estimators
from ..plan.model_fn.step_order import unordered_model_fn
from ..project.facts import ParsedModule, ProjectFacts
from ..project.guard import GuardError, check_output
from ..project.journal import digest
from ..project.lacks import lacks_of
from ..project.positions import Unfaithful
from ..project.reading import read_file
from ..project.selection import file_is_ignored
from ..project.sources import SourceError
from ..report.findings import Finding, Outcome, Safety, Tier
from ..report.needs import Need
from ..rules.engine import run_rules
from ..rules.training_program import CHOICE_NOT_OFFERED, KEEPS, KEPT
from ..rules.written_for import era_of, written_for_tf2
from ..symbols.dotted import import_path
from ..symbols.names import canonical
from ..symbols.resolver import Resolver
from .contents import MARK, clash, loop_names, made_by_us, words_of_loop
from .groups import Group, group_of, only_todays_hooks, support_of
from .homes import COPIED, Known
from .places import NoPlace, Place, place_of
from .renames import Kept, Modules, renamed
from .scaling import true_means
from .vocabulary import Brought

__all__ = ["RULE", "Moved", "moved"]

Allowed = Callable[[Iterable[str]], bool]

RULE = "TFM106"
_PROGRAMS = ("TFM101", "TFM102", "TFM103", "TFM104")


@dataclass(frozen=True)
class Moved:
    """What becomes of one file: its text, what is said of it, what it needs."""

    text: str
    findings: tuple[Finding, ...]
    needs: tuple[Need, ...] = ()
    # The modules are to stand in the file itself.
    inside: bool = False


@dataclass
class _Answer:
    """What was decided for a group."""

    files: dict[str, Moved] = field(default_factory=dict)
    # Why the group keeps its Estimators, where it does.
    why: str | None = None
    place: str | None = None
    line: int = 1


def moved(
    parsed: ParsedModule,
    *,
    options: RewriteOptions,
    facts: ProjectFacts,
    allowed: Allowed,
) -> Moved | ProgramsRewrite:
    """What becomes of a file's programs, or of its part in those of other files."""
    if _is_there(parsed, facts):
        return ProgramsRewrite(parsed.module)
    groups = _groups(parsed, facts)
    if options.style in ("inline", "class") or not allowed([RULE]) or not groups:
        return inline(parsed, options=options, facts=facts, allowed=allowed)
    own = os.path.abspath(parsed.path)
    why = None
    for group in groups:
        answer = _answer(group, parsed, options, facts, allowed)
        if own in answer.files:
            return answer.files[own]
        why = why or answer.why
    today = inline(parsed, options=options, facts=facts, allowed=allowed)
    stays = all(f.outcome is Outcome.LEFT for f in today.findings)
    if stays and only_todays_hooks(parsed):
        return ProgramsRewrite(parsed.module)
    if why is None:
        return today
    return replace(today, findings=tuple(_said(f, why) for f in today.findings))


def _is_there(parsed: ParsedModule, facts: ProjectFacts) -> bool:
    """The file is on a loop module already, its own or one beside it."""
    if MARK in parsed.source.text and ("class RunConfig" in parsed.source.text):
        return True
    for use in parsed.resolver.scopes.imports:
        node = use.node
        names = () if isinstance(node.names, cst.ImportStar) else node.names
        base = import_path(getattr(node, "module", None))
        dotted = [base] if base else []
        dotted += [
            ".".join(part for part in (base, import_path(alias.name)) if part)
            for alias in names
        ]
        relative = len(getattr(node, "relative", ()))
        for one in dotted:
            whole = parsed.resolver.absolute(one, relative)
            found = facts.locate(whole, parsed.path) if whole else None
            if found is not None and made_by_us(found):
                return True
    return False


def _said(finding: Finding, why: str) -> Finding:
    """A finding of a program that stays, with what keeps it from the loop module."""
    if finding.rule == KEEPS and finding.outcome is Outcome.LEFT:
        return replace(finding, reason=why)
    return finding


def _groups(parsed: ParsedModule, facts: ProjectFacts) -> tuple[Group, ...]:
    if not _is_as_on_disk(parsed, facts):
        return ()
    group = group_of(parsed, facts)
    if group is not None:
        return (group,)
    return support_of(parsed.path, facts)


def _is_as_on_disk(parsed: ParsedModule, facts: ProjectFacts) -> bool:
    """A later round looks at what an earlier one made of a file."""
    try:
        loaded = facts.load(parsed.path, parsed.source.raw)
    except SourceError:
        return False
    return loaded.source.text == parsed.source.text


def inline(
    parsed: ParsedModule,
    *,
    options: RewriteOptions,
    facts: ProjectFacts,
    allowed: Allowed,
) -> ProgramsRewrite:
    """The file with its programs' loops written out, as far as that goes."""
    key = ("inline", str(parsed.path), digest(parsed.source.text.encode()), options)
    found = facts.recent.get(key)
    if not isinstance(found, ProgramsRewrite):
        try:
            found = rewrite_across_files(
                parsed, options=options, facts=facts, allowed=allowed
            ) or rewrite_programs(
                parsed.module,
                path=parsed.path,
                resolver=parsed.resolver,
                options=options,
                facts=facts,
                joined=why_alone(parsed, options=options, facts=facts),
            )
        except Unfaithful:
            raise
        except Exception as problem:
            # Its own loop cannot be written, by our fault: there are other ways.
            found = _not_read(parsed, f"{type(problem).__name__}: {problem}")
        facts.recent[key] = found
    return found


def _not_read(parsed: ParsedModule, problem: str) -> ProgramsRewrite:
    """A file whose programs stay, for an error of the recognisers."""
    tree = Tree(parsed.module, parsed.resolver)
    lines = [tree.line(place) for place in legacy_places(tree).programs] or [1]
    findings = tuple(
        Finding(
            path=parsed.path,
            line=line,
            column=1,
            rule=KEEPS,
            message=KEPT,
            outcome=Outcome.LEFT,
            safety=Safety.NEEDS_REVIEW,
            tier=Tier.COMPAT,
            reason=f"an error inside tfmigrate, please report it ({problem})",
        )
        for line in lines
    )
    return ProgramsRewrite(parsed.module, findings)


def _answer(
    group: Group,
    parsed: ParsedModule,
    options: RewriteOptions,
    facts: ProjectFacts,
    allowed: Allowed,
) -> _Answer:
    key = ("around", group, digest(parsed.source.raw), options)
    if len(group.all) > 1:
        key = ("around", group, "", options)
    found = facts.recent.get(key)
    if not isinstance(found, _Answer):
        found = _decided(group, parsed, options, facts, allowed)
        facts.recent[key] = found
    return found


def _decided(
    group: Group,
    asked: ParsedModule,
    options: RewriteOptions,
    facts: ProjectFacts,
    allowed: Allowed,
) -> _Answer:
    """Inline where all of it becomes native, else the loop module, else neither."""
    try:
        files = [_load(path, asked, facts) for path in group.all]
    except (OSError, SourceError) as problem:
        return _Answer(why=f"a file of the program cannot be read: {problem}")
    estimators = files[: len(group.files)]
    today = {
        str(one.path): inline(one, options=options, facts=facts, allowed=allowed)
        for one in estimators
    }
    modules = _Modules(group, files, today, options, facts)
    native = all(
        _is_native(result) and not _needs_copies(result, modules.known)
        for result in today.values()
    )
    if native and options.style == "auto" and not modules.lost_of_support():
        return _Answer()
    told = [f for result in today.values() for f in result.findings]
    if any(f.rule == CHOICE_NOT_OFFERED for f in told):
        # To ignore an option in silence would be worse than to leave the program.
        return _Answer()
    if group.missing:
        name = group.missing[0].name
        return _Answer(why=f"{name}, which belongs to it, is not among the files given")
    return modules.answer(native)


def _load(path: Path, asked: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    if path == asked.path:
        return asked
    return facts.load(path, facts.as_python3(path, read_file(path)))


def _is_native(result: ProgramsRewrite) -> bool:
    return all(
        f.outcome is not Outcome.LEFT and f.tier in (None, Tier.NATIVE)
        for f in result.findings
    )


class _AsValue(Exception):
    """A package that becomes a module is handed about as a value."""


def _needs_copies(result: ProgramsRewrite, known: Known) -> bool:
    """A written-out loop has words left that only a copy of TF 1's code can mean.

    It would not run; the program does when the copy stands beside it.
    """
    text = result.module.code
    if not any(word in text for word in COPIED):
        return False
    resolver = Resolver(result.module)
    symbols = {resolver.resolve(use.node) for use in resolver.scopes.uses}
    return any(
        isinstance(known.home(symbol, for_tf2=True), Brought)
        for symbol in symbols
        if symbol is not None
    )


class _Modules:
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
        self.known = Known(loop_names(), canned_2=self._is_of_tf2)
        # Canned classes that have one name never meet in a module.
        self.contrib = CONTRIB_2 if self._is_of_tf2 else CONTRIB
        if self.contrib == CONTRIB and self._has_canned_of_learn():
            self.contrib = CONTRIB_LEARN
        self.trees = [Tree(one.source.module, one.resolver) for one in files]
        # The program builds graphs, or runs sessions, around its models.
        self.by_hand: Kept | None = None
        self.builds_by_hand = False

    def answer(self, native: bool) -> _Answer:
        """Texts and findings of all files, or why there are none."""
        for tree in self.trees:
            why = unordered_model_fn(tree)
            if why is not None:
                return _Answer(why=why)
        if self._is_alone():
            try:
                return self._moved(native, inside=True)
            except _AsValue as problem:
                if not self.facts.files:
                    return _Answer(
                        why=f"`{problem}` is handed about as a value, which only a "
                        "file beside it can be"
                    )
        return self._moved(native, inside=False)

    def _moved(self, native: bool, *, inside: bool) -> _Answer:
        """The same, with the modules inside the only file, or beside the files."""
        try:
            place = place_of(self.group, self.facts)
        except NoPlace as problem:
            return _Answer(why=str(problem))
        loop, contrib = self.options.loop_module, self.contrib
        if not inside:
            for name in (loop, contrib):
                path = place.folder / f"{name}.py"
                taken = path.with_suffix("").is_dir()
                if taken or (path.exists() and not made_by_us(path)):
                    return _Answer(
                        why=f"{path.name} is there and is none of ours; choose another "
                        "name with --loop-module"
                    )
        found = _Answer()
        uses_loop = False
        made = self._files(place, inside)
        if isinstance(made, str):
            return _Answer(why=made)
        for parsed, (text, needs) in zip(self.files, made, strict=True):
            uses_loop = uses_loop or any(
                set(need.names) - _FREE for need in needs if need.kind == "loop"
            )
            own = os.path.abspath(parsed.path)
            if (
                text == parsed.source.text
                and parsed not in self.files[: len(self.group.files)]
            ):
                continue
            findings = self._findings(parsed, native, inside)
            found.files[own] = Moved(text, findings, needs, inside)
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
                return _Answer(why=f"`{twice}` has the name of something else it uses")
            words = words_of_loop(brought)
            uses_loop = uses_loop or bool(words)
            if words:
                need = Need(
                    str(place.folder / f"{loop}.py"), "loop", words, place.package
                )
                found.files = {
                    path: replace(one, needs=_joined(one.needs, need))
                    for path, one in found.files.items()
                }
        return found if uses_loop else _Answer()

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
    ) -> list[tuple[str, tuple[Need, ...]]] | str:
        """Every file's new text and needs, or what keeps the program."""
        found = []
        for parsed in self.files:
            made = self._file(parsed, place, inside)
            if isinstance(made, str):
                return made
            found.append(made)
        if self.by_hand is None or self.builds_by_hand:
            return found
        keras = {n for _, needs in found for need in needs for n in need.names}
        if "model_to_estimator" in keras:
            # Its Keras model would be one of that graph.
            one = self.by_hand
            return f"`{one.symbol}` (line {one.line}) {one.why}, beside a Keras model"
        self.builds_by_hand = True
        return self._files(place, inside)

    def _file(
        self, parsed: ParsedModule, place: Place, inside: bool
    ) -> tuple[str, tuple[Need, ...]] | str:
        """One file's new text and needs, or what keeps it."""
        if file_is_ignored(parsed.source.raw):
            return f"{parsed.path.name} is excluded from rewrites"
        package = "" if inside else place.package_for(parsed)
        loop, contrib = self.options.loop_module, self.contrib
        for_tf2 = written_for_tf2(parsed.resolver)
        try:
            made = renamed(
                parsed,
                Modules(loop, contrib, package),
                self.known,
                for_tf2=for_tf2,
                keras_1=not for_tf2 and not self._is_of_tf2,
                placeholders=self._describes_features(),
                by_hand=self.builds_by_hand,
                beside=self.trees,
                shared_columns=self._shares_columns(),
            )
            if self._builds_graphs:
                self.by_hand = self.by_hand or made.by_hand
            if inside and made.as_value is not None:
                raise _AsValue(made.as_value)
            kept = made.kept or self._lost(parsed, made.text, for_tf2)
        except (GuardError, Unfaithful, ValueError) as problem:
            return f"{parsed.path.name}: {problem}"
        if kept:
            one = min(kept, key=lambda found: found.line)
            cell, line = parsed.source.locate(one.line)
            inside_cell = f"cell {cell}:" if cell is not None else ""
            place_ = f"{parsed.path.name}:{inside_cell}{line}"
            return f"`{one.symbol}` ({place_}) {one.why}"
        needs = []
        if not for_tf2 and _SHAPES in self.known.loop_names and made.loop - _FREE:
            made.loop.add(_SHAPES)
        if made.loop:
            path = str(place.folder / f"{loop}.py")
            needs.append(Need(path, "loop", made.loop, place.package))
        if made.contrib:
            path = str(place.folder / f"{contrib}.py")
            needs.append(Need(path, "contrib", made.contrib, place.package))
        return made.text, tuple(needs)

    @cached_property
    def _builds_graphs(self) -> bool:
        """Whether the program builds graphs where it says nothing: TF 2's do not."""
        switches = ("disable_eager_execution", "disable_v2_behavior")
        return not self._is_of_tf2 or any(
            word in one.source.text for one in self.files for word in switches
        )

    @cached_property
    def _is_of_tf2(self) -> bool:
        """Files that name neither TF belong to others of theirs, which name TF 2."""
        eras = [era_of(parsed.resolver) for parsed in self.files]
        return any(era.tf2 for era in eras) and not any(era.tf1 for era in eras)

    def _has_canned_of_learn(self) -> bool:
        """It may make canned Estimators of tf.contrib.learn."""
        return any(
            "contrib" in one.source.text and _CANNED_OF_LEARN.search(one.source.text)
            for one in self.files
        )

    def _describes_features(self) -> bool:
        """Placeholders may stand for what a model is served with, outside of graphs."""
        if "placeholder" not in self.known.loop_names:
            return False
        word = "build_raw_serving_input_receiver_fn"
        return any(word in parsed.source.text for parsed in self.files)

    def _shares_columns(self) -> bool:
        """Columns of TF 1 that share an embedding are made in one of the files."""
        return any("shared_embedding_columns" in one.source.text for one in self.files)

    def lost_of_support(self) -> bool:
        """Files that the programs import need more than the names of today."""
        return any(map(self._is_lost, self.files[len(self.group.files) :]))

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
        lost = self._lost(parsed, parsed.source.text, for_tf2)
        return any(one.symbol in used for one in lost)

    def _lost(self, parsed: ParsedModule, text: str, for_tf2: bool) -> list[Kept]:
        """Names that the symbol rules would leave without a home."""
        module, scopes = check_output(
            parsed.source.text,
            text,
            scopes=parsed.resolver.scopes,
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
        return found

    def _findings(
        self, parsed: ParsedModule, native: bool, inside: bool
    ) -> tuple[Finding, ...]:
        module = f"{self.options.loop_module}.py"
        where = "the loop module, which stands in it" if inside else module
        tree = Tree(parsed.module, parsed.resolver)
        lines = [tree.line(place) for place in legacy_places(tree).programs]
        told = []
        for line in lines:
            reason = self._why_not_inline(parsed, line, native)
            told.append(
                self._finding(
                    parsed,
                    line,
                    f"this program trains with {where}: {reason}",
                    Tier.FORWARD_KEPT,
                )
            )
        if not told:
            # A class derived from an Estimator makes a program of what uses it.
            tier = Tier.FORWARD_KEPT if runs_estimators(tree) else None
            told.append(
                self._finding(parsed, 1, f"belongs to a program on {module}", tier)
            )
        return (*told, *true_means(parsed, self.files))

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
                return f"no loop of its own, for {here[0].reason}"
            for finding in result.findings:
                if finding.tier is Tier.FORWARD_KEPT:
                    return finding.message.partition(": ")[2] or "it is kept"
        return "no loop of its own"


def _joined(needs: tuple[Need, ...], more: Need) -> tuple[Need, ...]:
    """What a file needs, and what its copies of tf.contrib take of the loop module."""
    if not any(one.kind == "contrib" for one in needs):
        return needs
    names = {
        *more.names,
        *(n for one in needs if one.kind == "loop" for n in one.names),
    }
    others = tuple(one for one in needs if one.kind != "loop")
    return (more.with_names(names), *others)


_NAME = re.compile(r"[^\W\d]\w*")
# Words that say nothing of training: a file may only compare modes.
_FREE = frozenset({"ModeKeys"})
# Programs of TF 1 read sizes out of shapes that hold objects.
_SHAPES = "tf1_shapes"
CONTRIB = "tf_contrib"
CONTRIB_2 = "tf_estimators"
CONTRIB_LEARN = "tf_contrib_learn"
_CANNED_OF_LEARN = re.compile(r"\blearn\b[\s\S]*\b(?:DNN|Linear)\w+\(")
