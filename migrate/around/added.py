"""The modules that a run adds to a project: one text for all files that need them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..bring import identifiers
from ..options import RewriteOptions
from ..report.findings import Finding, Outcome, Safety
from ..report.model import FileResult, FileStatus
from .contents import CannotBundle, contents, held

__all__ = ["ADDED", "with_added"]

ADDED = "TFM107"


def with_added(
    results: Sequence[FileResult], options: RewriteOptions
) -> list[FileResult]:
    """The results with those of the modules that the changed files import."""
    wanted: dict[str, tuple[str, set[str]]] = {}
    for result in results:
        for need in result.needs:
            kind, names = wanted.setdefault(need.path, (need.kind, set()))
            names.update(need.names)
    if not wanted:
        return list(results)
    made = []
    words = _words(results)
    shown = {str(result.path.resolve()): result.path for result in results}
    # The copies of tf.contrib may take words of the loop module.
    for path in sorted(wanted, key=lambda one: wanted[one][0]):
        kind, names = wanted[path]
        file = shown.get(str(Path(path).resolve()), _as_given(Path(path), results))
        made.append(_made(file, kind, names, words, options))
    paths = {str(one.path.resolve()) for one in made}
    kept = [one for one in results if str(one.path.resolve()) not in paths]
    return [*kept, *(one for one in made if one is not None)]


def _made(
    path: Path,
    kind: str,
    names: Iterable[str],
    words: set[str],
    options: RewriteOptions,
) -> FileResult:
    try:
        old = path.read_bytes()
    except OSError:
        old = b""
    before = old.decode("utf-8", "replace")
    wanted = {*names, *held(kind, before)}
    used = words | identifiers(before)
    try:
        made = contents(kind, wanted, used=used, loop_module=options.loop_module)
    except CannotBundle as problem:
        return FileResult(path, FileStatus.FAILED, error=f"cannot be made: {problem}")
    new = made.text.encode("utf-8")
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
                text = result.path.read_bytes()
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
