"""The modules that a run adds to a project: one text for all files that need them."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from ..bring import identifiers
from ..options import RewriteOptions
from ..project.facts import ProjectFacts
from ..project.files import is_ours
from ..project.reading import read_file
from ..report.findings import Finding, Outcome, Safety
from ..report.model import FileResult, FileStatus
from ..report.needs import Need
from .asked import Words
from .contents import CannotBundle, contents, held, taken_from_loop
from .groups import run_together

__all__ = ["ADDED", "with_added"]

ADDED = "TFM107"


def with_added(
    results: Sequence[FileResult],
    options: RewriteOptions,
    facts: ProjectFacts,
    *,
    shown: bool = True,
) -> list[FileResult]:
    """The results with those of the modules that the changed files import.

    Where nobody is shown its text, a new module is told of and not written. The loop
    module can be made: a file says names of it that it has. Which copies of tf.contrib
    go together in one module is only seen by putting them together.
    """
    wanted: dict[str, Need] = {}
    # By the directory of modules: the files that may run with those that import them.
    together: dict[Path, set[str]] = {}
    for result in results:
        for need in result.needs:
            known = wanted.get(need.path, need)
            wanted[need.path] = known.with_names(need.names)
            users = together.setdefault(Path(need.path).parent, set())
            users |= run_together(result.path, facts)
    if not wanted:
        return list(results)
    made = []
    texts = _Texts(results, options.loop_module)
    copied: dict[Path, Words] = {}
    given = {str(result.path.resolve()): result.path for result in results}
    # The copies of tf.contrib may take words of the loop module: they come first.
    for path in sorted(wanted, key=lambda one: (wanted[one].kind, one)):
        need = wanted[path]
        file = given.get(str(Path(path).resolve()), _as_given(Path(path), results))
        unseen = not shown and not os.path.lexists(path)
        if unseen and need.kind == "loop":
            made.append(_added(file, need.kind, None))
            continue
        place = Path(path).parent
        beside = str(Path(path).with_name(f"{options.loop_module}.py"))
        words = texts.words(place, together[place])
        words |= copied.get(place, Words()) | Words(whole=options.whole_module)
        # A loop module that is there is made with what the copies say and take of it.
        unseen = unseen and not os.path.lexists(beside)
        added = _made(file, need, words, options, unseen)
        made.append(added)
        if need.kind == "contrib" and added.new is not None:
            text = added.new.decode("utf-8")
            if beside in wanted:
                names = taken_from_loop(text, options.loop_module)
                wanted[beside] = wanted[beside].with_names(names)
                copied[place] = copied.get(place, Words()) | Words.of([text])
    paths = {str(one.path.resolve()) for one in made}
    kept = [one for one in results if str(one.path.resolve()) not in paths]
    return [*kept, *(one for one in made if one is not None)]


def _made(
    path: Path, need: Need, words: Words, options: RewriteOptions, unseen: bool
) -> FileResult:
    try:
        old = read_file(path)
    except OSError:
        old = b""
    before = old.decode("utf-8", "replace")
    kind = need.kind
    wanted = {*need.names, *held(kind, before)}
    # By the words of what is there its methods are kept; what it asks for is seen from
    # its definitions.
    try:
        loop = f"{need.package}.{options.loop_module}".lstrip(".")
        made = contents(
            kind, wanted, words=words, used=identifiers(before), loop_module=loop
        )
    except CannotBundle as problem:
        return FileResult(path, FileStatus.FAILED, error=f"cannot be made: {problem}")
    if unseen:
        return _added(path, kind, None)
    text = made.text
    if need.package:
        # What looks like its outermost package need not be one to the program.
        beside = f".{options.loop_module}"
        text = text.replace(f"from {loop} import ", f"from {beside} import ")
    new = text.encode("utf-8")
    if new == old:
        return FileResult(path, FileStatus.UNCHANGED, lines=old.count(b"\n"))
    return _added(path, kind, new, old)


def _added(path: Path, kind: str, new: bytes | None, old: bytes = b"") -> FileResult:
    """The result of a module that is added, or is another one than it was."""
    what = "loop module" if kind == "loop" else "copies of tf.contrib"
    told = Finding(
        path=path,
        line=1,
        column=1,
        rule=ADDED,
        message=f"holds the {what}, as far as the project uses it",
        outcome=Outcome.REWRITTEN,
        safety=Safety.NEEDS_REVIEW,
    )
    return FileResult(
        path,
        FileStatus.CHANGED,
        findings=(told,),
        old=old,
        new=new,
        lines=old.count(b"\n"),
        added=True,
        unmade=new is None,
    )


class _Texts:
    """What the files of a run say."""

    def __init__(self, results: Sequence[FileResult], loop_module: str) -> None:
        self.loop_module = loop_module
        self.results = {os.path.abspath(result.path): result for result in results}
        self._words: dict[str, Words] = {}

    def words(self, place: Path, files: Collection[str]) -> Words:
        """The words of some files, and of all below a directory."""
        below = f"{os.path.abspath(place)}{os.sep}"
        found = Words()
        for path in self.results:
            if path in files or path.startswith(below):
                found |= self._of(path)
        return found

    def _of(self, path: str) -> Words:
        if path not in self._words:
            self._words[path] = Words.of([self._text(path)])
        return self._words[path]

    def _text(self, path: str) -> str:
        if not path.endswith((".py", ".ipynb")):
            return ""
        text = self.results[path].new
        if text is None:
            try:
                text = read_file(path)
            except OSError:
                return ""
        told = text.decode("utf-8", "replace")
        # What is in the module, and said there, nobody asks for by that.
        is_loop = Path(path).stem == self.loop_module and is_ours(told)
        return "" if is_loop else told


def _as_given(path: Path, results: Sequence[FileResult]) -> Path:
    """A path as the command line would have named it: relative where others are."""
    if any(result.path.is_absolute() for result in results):
        return path
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
