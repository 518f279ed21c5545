"""What becomes of a program: native, with all of its files, or kept.

The answer is one for all files of a group, and depends on nothing but their content
and the options: every process that asks comes to the same.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import libcst as cst

from ..code.tree import Tree
from ..names.ast_nodes import tree_of
from ..names.ast_nodes import walk as walk_ast
from ..names.resolver import Resolver
from ..names.scopes import BindingKind
from ..options import RewriteOptions
from ..project.facts import ParsedModule, ProjectFacts
from ..project.guard import GuardError, check_output
from ..project.lacks import check_present
from ..project.long_lines import with_short_lines
from ..project.reading import digest, read_file, read_or_nothing
from ..project.selection import file_is_ignored, is_test
from ..project.sources import SourceError
from ..report.findings import (
    DIFFERS,
    KEEPS,
    KEPT,
    NATIVE,
    Finding,
    Outcome,
    ProgramOutcome,
    Safety,
    told,
)
from ..report.needs import Need
from ..rules.kept_programs import advice_for
from .estimator_words import estimator_places, only_todays_hooks, runs_estimators
from .file_facts import facts_of_file
from .foreign import trainer_of_package
from .inside import Clash, put_inside
from .installed import lack_of_packages
from .native.code import Refused
from .native.program import NativeFile, native
from .places import NoPlace, place_of
from .programs import Group, group_of, is_beside_programs, runs_apart, supported_by
from .training_file import check_has, name_for

_WORD = re.compile(r"\w+")

# Under `python -m` as well, the folder of a file is one that Python looks into.
_SEARCHED = """\
import os
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
"""


@dataclass(frozen=True)
class Moved:
    """A file of native programs: how it reads, what is said of it, what it asks for."""

    parsed: ParsedModule
    findings: tuple[Finding, ...] = ()
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True)
class Kept:
    """A file that names Estimators, of a program that keeps them."""

    findings: tuple[Finding, ...]


@dataclass
class _Answer:
    """What was decided for a group: the files that change, or why it is kept."""

    files: dict[str, Moved] = field(default_factory=dict)
    why: str | None = None


def part_in_programs(
    parsed: ParsedModule, facts: ProjectFacts, options: RewriteOptions
) -> Moved | Kept | None:
    """What becomes of a file for the programs it is part of.

    None leaves it to the symbol rules: it is part of none, or only supports kept ones.
    """
    foreign = trainer_of_package(parsed, facts)
    if foreign is not None:
        return _kept_at(parsed, *foreign, program=True)
    group = group_of(parsed, facts)
    groups = (group,) if group is not None else supported_by(parsed.path, facts)
    groups = tuple(one for one in groups if _is_program(one, parsed, facts))
    own = os.path.abspath(parsed.path)
    answers = [_answer(one, parsed, facts, options) for one in groups]
    is_taker = group is None and _is_own_test(parsed)
    if is_taker and not any(own in one.files for one in answers):
        return None
    found = [one.files.get(own, Moved(parsed)) for one in answers if one.why is None]
    if len({one.parsed.source.text for one in found}) > 1:
        return kept(parsed, "programs that share it need it in different words")
    if found:
        needs = {need: None for one in found for need in one.needs}
        return replace(found[0], needs=tuple(needs))
    if group is not None and answers:
        return kept(parsed, answers[0].why or "")
    return None


def kept(parsed: ParsedModule, why: str) -> Kept | None:
    """What is said of a file with Estimators that its program keeps."""
    first = estimator_places(parsed.resolver).first
    if first is None:
        return None
    return _kept_at(parsed, first, why, program=runs_estimators(parsed.resolver))


def _kept_at(
    parsed: ParsedModule, first: cst.CSTNode, why: str, *, program: bool
) -> Kept:
    tree = Tree(parsed.module, parsed.resolver)
    if parsed.source.notebook is not None:
        why = _with_cells(parsed, why)
    finding = told(
        parsed.path,
        KEEPS,
        KEPT,
        Outcome.LEFT,
        tree.line(first),
        program=ProgramOutcome.KEPT if program else None,
        reason=why,
        advice=advice_for(why),
        note_at=tree.line(tree.statement(first)),
    )
    return Kept((finding,))


def _with_cells(parsed: ParsedModule, why: str) -> str:
    """A reason whose places count the lines of a notebook: in its cells."""

    def placed(found: re.Match[str]) -> str:
        cell, line = parsed.source.locate(int(found[2]))
        return f"cell {cell}, line {line}" if found[1] else f"cell {cell}:{line}"

    return re.sub(
        rf"(?:(?<=\()(line )|(?<={re.escape(parsed.path.name)}:))(\d+)", placed, why
    )


def _is_program(group: Group, asked: ParsedModule, facts: ProjectFacts) -> bool:
    """Whether a group does more than compare modes, or hook into sessions of today."""
    for path in group.files:
        try:
            resolver = _load(path, asked, facts).resolver
        except (OSError, SourceError):
            return True
        if estimator_places(resolver).first and not only_todays_hooks(resolver):
            return True
    return False


def _load(path: Path, asked: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    if path == asked.path:
        return asked
    return facts.load(path, facts.as_python3(path, read_file(path)))


def _answer(
    group: Group, asked: ParsedModule, facts: ProjectFacts, options: RewriteOptions
) -> _Answer:
    own = "" if len(group.all) > 1 else digest(asked.source.raw)
    key = ("program", group, own, options)
    found = facts.recent.get(key)
    if not isinstance(found, _Answer):
        try:
            found = _Answer(_moved(group, asked, facts, options))
        except (Refused, NoPlace, Clash, GuardError) as problem:
            found = _Answer(why=str(problem))
        except Exception as problem:
            # By our fault. Compat needs nothing of a program to be understood.
            told = f"{type(problem).__name__}: {problem}"
            why = f"an error inside tfmigrate, please report it ({told})"
            found = _Answer(why=why)
        facts.recent[key] = found
    return found


def _moved(
    group: Group, asked: ParsedModule, facts: ProjectFacts, options: RewriteOptions
) -> dict[str, Moved]:
    """The files of a native program, or raises why it is none."""
    because = options.kept_because({os.path.abspath(path) for path in group.all})
    if because is not None:
        raise Refused(because)
    if group.missing:
        name = group.missing[0].name
        raise Refused(f"{name}, which belongs to it, is not among the files given")
    files = []
    for each in group.all:
        try:
            files.append(_load(each, asked, facts))
        except (OSError, SourceError) as problem:
            why = f"{each.name}, which belongs to it, cannot be read: {problem}"
            raise Refused(why) from None
    support = {*group.support}
    files = [
        one
        for one in files
        if one.path not in support
        or facts.importers(one.path)
        or facts_of_file(one).gone is None  # a script that runs nowhere keeps no other
    ]
    for one in files:
        if file_is_ignored(one.source.raw):
            raise Refused(f"{one.path.name} is excluded from rewrites")
        foreign = trainer_of_package(one, facts)
        if foreign is not None:
            raise Refused(f"{one.path.name}: {foreign[1]}")
    tests = [one for one in files if one.path in group.takers and _is_own_test(one)]
    files = [one for one in files if one not in tests]
    notebook = files[0].source.notebook and not is_beside_programs(group, facts)
    before = {os.path.abspath(one.path): one for one in files}
    if len(group.files) == 1 and (notebook or not facts.files):
        # A notebook is handed on by itself, unless scripts beside it have the module;
        # a text from a pipe has no folder.
        module = "training"
        made = native(files, facts, options, module=module, package=lambda _: "")
        inside = [path for path, one in made.items() if one.words]
        _check_packages(made, before, facts)
        try:
            if inside == [os.path.abspath(files[0].path)] or len(files) == 1:
                return {
                    path: _finished(
                        before, path, one, facts, module if one.words else None
                    )
                    for path, one in made.items()
                }
        except Clash:
            if not facts.files:
                raise
    place = place_of(group, facts)
    module = name_for(place, facts, group.all)
    made = native(files, facts, options, module=module, package=place.package_for)
    asking = tuple(Path(path) for path, one in made.items() if one.words)
    if place.package and asking:
        # What only scripts beside a package ask for has no place in it.
        beside = place_of(Group(asking), facts)
        if not beside.package:
            place, module = beside, name_for(beside, facts, asking)
            packages = beside.package_for
            made = native(files, facts, options, module=module, package=packages)
    _check_packages(made, before, facts)
    words = frozenset().union(*(one.words for one in made.values()))
    check_has(place, module, words)
    needs = tuple(
        Need(os.path.abspath(folder / f"{module}.py"), words)
        for folder in place.folders
    )
    first = f"from {module} import " if place.unsure else None
    found = {}
    for path, file in made.items():
        moved = _finished(before, path, file, facts, searched=first)
        found[path] = replace(moved, needs=needs) if file.words else moved
    for one in tests:
        found |= _without_sessions(one, facts, options)
    return found


def _check_packages(
    made: Mapping[str, NativeFile],
    before: Mapping[str, ParsedModule],
    facts: ProjectFacts,
) -> None:
    """Refuses what calls an installed package that is not for today's TensorFlow."""
    after = {**before, **{path: one.parsed for path, one in made.items()}}
    why = lack_of_packages(after.values(), facts)
    if why is not None:
        raise Refused(why)


def _is_own_test(parsed: ParsedModule) -> bool:
    """Whether a file is a test that does something with TensorFlow by itself.

    What works in a session of its own is none of the program either.
    """
    is_own = is_test(parsed.path.name) or runs_apart(parsed.source.raw)
    return is_own and "tensorflow" in parsed.source.text


def _without_sessions(
    test: ParsedModule, facts: ProjectFacts, options: RewriteOptions
) -> dict[str, Moved]:
    """A test of a native program whose sessions only look at data, by its path."""
    try:
        made = native([test], facts, options, module="training", package=lambda _: "")
        alone = dict.fromkeys(made, test)
        return {
            path: _finished(alone, path, one, facts)
            for path, one in made.items()
            if not one.words
        }
    except (Refused, GuardError):
        return {}


def _finished(
    group: Mapping[str, ParsedModule],
    path: str,
    after: NativeFile,
    facts: ProjectFacts,
    inside: str | None = None,
    searched: str | None = None,
) -> Moved:
    """A file that passes the guard, with the training module in it if ``inside``.

    Before a line that begins as ``searched`` says, its folder is searched.
    """
    before, parsed = group[path], after.parsed
    text = parsed.source.text
    if searched is not None:
        text = re.sub(f"(?m)^(?={searched})", _SEARCHED, text, count=1)
    if inside is not None:
        text = put_inside(parsed, inside, after.words)
    text = with_short_lines(text, before.source.text)
    if text != parsed.source.text:
        parsed = facts.module_of(parsed.source.with_text(text))
    try:
        check_output(
            before.source.text,
            text,
            scopes=before.resolver.scopes,
            parsed=(parsed.module, parsed.resolver.scopes),
            cells=before.source.notebook is not None,
        )
        # By itself: what other modules pass on to it may change as well.
        check_present(Resolver(parsed.module, scopes=parsed.resolver.scopes))
    except GuardError as problem:
        raise GuardError(f"{before.path.name}: {problem}") from None
    lost = _lost_by_others(before, parsed, facts, group)
    return Moved(parsed, tuple(_findings(before, [*after.notes], lost)))


def _lost_by_others(
    before: ParsedModule, after: ParsedModule, facts: ProjectFacts, group: Iterable[str]
) -> Iterator[str]:
    """What files of no program may take from a file that has it no more.

    A session takes nothing that does something else than it did.
    """
    old, new = (one.resolver.scopes.module_scope.bindings for one in (before, after))
    gone = {
        name
        for name, bindings in old.items()
        if name not in new and bindings[0].kind is not BindingKind.IMPORT
    }
    besides = sorted(facts.importers_besides(before.path)) if gone else []
    for user in (*sorted(facts.importers(before.path)), *besides):
        raw = read_or_nothing(user)
        lost = gone
        if runs_apart(raw) and not is_test(user.name):
            lost = gone | _other_names(before.source.text, after.source.text)
        named = sorted(lost.intersection(_WORD.findall(raw.decode("utf-8", "replace"))))
        if not named or os.path.abspath(user) in group:
            continue
        if is_test(user.name):
            yield f"`{named[0]}` is no more, which {user.name} names"
        elif user in besides:
            why = f"{user.name}, which names `{named[0]}`, is not among the files given"
            raise Refused(f"{why}: give both to the run")
        else:
            why = f"takes `{named[0]}` from {before.path.name}, and is no part of it"
            raise Refused(f"{user.name} {why}: give it a copy")


def _other_names(before: str, after: str) -> set[str]:
    """Functions and classes that are made of other statements or methods now."""
    old, new = (
        {one.name: _form(one) for one in tree_of(text).body if hasattr(one, "name")}
        for text in (before, after)
    )
    found: set[str] = set()
    more = {name for name, form in old.items() if form != new.get(name)}
    while more - found:
        found |= more
        more = {name for name, form in old.items() if found.intersection(form)}
    return found


def _form(made: ast.AST) -> list[str]:
    """What a function or class is made of, but for names of TensorFlow."""
    form = []
    for node in walk_ast(made):
        if isinstance(node, (ast.stmt, ast.arg)):
            form.append(type(node).__name__)
        elif isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            form += [] if dotted.startswith("tf.") else [node.attr]
        elif isinstance(node, ast.Name) and node.id != "tf":
            form.append(node.id)
    return form


def _findings(
    before: ParsedModule, notes: Sequence[tuple[int, str]], lost: Iterable[str]
) -> list[Finding]:
    """That a file is part of a native program, and what is other than it was."""
    tree = Tree(before.module, before.resolver)
    places = estimator_places(before.resolver)
    message = "this file is part of a program that becomes plain TensorFlow 2"
    if places.made:
        message = "this program becomes plain TensorFlow 2: a Task and its Trainer"
    native = told(
        before.path,
        NATIVE,
        message,
        Outcome.REWRITTEN,
        1 if places.first is None else tree.line(places.first),
        program=ProgramOutcome.NATIVE if runs_estimators(before.resolver) else None,
    )
    other = replace(native, program=None, rule=DIFFERS, safety=Safety.CHANGES_NUMBERS)
    return [
        native,
        *(replace(native, message=message, program=None) for message in lost),
        *(replace(other, line=at, message=note) for at, note in notes),
    ]
