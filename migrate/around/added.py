"""The modules that a run adds to a project: one text for all files that need them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..bring import identifiers
from ..options import RewriteOptions
from ..project.reading import read_file
from ..report.findings import Finding, Outcome, Safety
from ..report.model import FileResult, FileStatus
from ..report.needs import Need
from .contents import CannotBundle, contents, held, taken_from_loop

__all__ = ["ADDED", "with_added"]

ADDED = "TFM107"


def with_added(
    results: Sequence[FileResult], options: RewriteOptions
) -> list[FileResult]:
    """The results with those of the modules that the changed files import."""
    wanted: dict[str, Need] = {}
    for result in results:
        for need in result.needs:
            known = wanted.get(need.path, need)
            wanted[need.path] = known.with_names(need.names)
    if not wanted:
        return list(results)
    made = []
    words = _words(results)
    shown = {str(result.path.resolve()): result.path for result in results}
    # The copies of tf.contrib may take words of the loop module: they come first.
    for path in sorted(wanted, key=lambda one: (wanted[one].kind, one)):
        need = wanted[path]
        file = shown.get(str(Path(path).resolve()), _as_given(Path(path), results))
        added = _made(file, need, words, options)
        made.append(added)
        if need.kind == "contrib" and added.new is not None:
            text = added.new.decode("utf-8")
            beside = str(Path(path).with_name(f"{options.loop_module}.py"))
            if beside in wanted:
                names = taken_from_loop(text, options.loop_module)
                wanted[beside] = wanted[beside].with_names(names)
                words |= identifiers(text)
    paths = {str(one.path.resolve()) for one in made}
    kept = [one for one in results if str(one.path.resolve()) not in paths]
    return [*kept, *(one for one in made if one is not None)]


def _made(
    path: Path, need: Need, words: set[str], options: RewriteOptions
) -> FileResult:
    try:
        old = read_file(path)
    except OSError:
        old = b""
    before = old.decode("utf-8", "replace")
    kind = need.kind
    wanted = {*need.names, *held(kind, before)}
    used = words | identifiers(before)
    try:
        loop = f"{need.package}.{options.loop_module}".lstrip(".")
        made = contents(kind, wanted, used=used, loop_module=loop)
    except CannotBundle as problem:
        return FileResult(path, FileStatus.FAILED, error=f"cannot be made: {problem}")
    text = made.text
    if need.package:
        # What looks like its outermost package need not be one to the program.
        beside = f".{options.loop_module}"
        text = text.replace(f"from {loop} import ", f"from {beside} import ")
    new = text.encode("utf-8")
    if new == old:
        return FileResult(path, FileStatus.UNCHANGED, lines=old.count(b"\n"))
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
    )


def _words(results: Sequence[FileResult]) -> set[str]:
    """Every word of the project by which a method may be asked for."""
    found: set[str] = set()
    for result in results:
        if result.path.suffix not in (".py", ".ipynb"):
            continue
        text = result.new
        if text is None:
            try:
                text = read_file(result.path)
            except OSError:
                continue
        found |= identifiers(text.decode("utf-8", "replace"))
    return found


def _as_given(path: Path, results: Sequence[FileResult]) -> Path:
    """A path as the command line would have named it: relative where others are."""
    if any(result.path.is_absolute() for result in results):
        return path
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
