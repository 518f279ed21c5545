"""Requirements that install a TensorFlow the rewritten code cannot run on.

Read line by line, in notebooks and in whatever else says what to install. What takes
the place of a line is told, and written where that is asked for, but for notebooks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from tfmigrate.compat.notebooks import Notebook

from ..names.ast_nodes import tree_of
from ..names.ast_nodes import walk as walk_ast
from ..report.findings import PINNED, Finding, Outcome, told

# Below this version the new code's tf.keras and optimizers are others.
_FIRST = (2, 16)
_NEW = ("tensorflow>=2.16", "tf-keras>=2.16")
_REQUIREMENT = re.compile(
    r"(?<![\w./-])(?P<name>tensorflow(?:[-_]gpu|[-_]cpu)?|tf[-_]nightly(?:[-_]gpu)?"
    r"|tensorflow[-_]estimator|tf[-_]estimator[-_]nightly)"
    r"(?:\[[\w,\s-]*\])?\s*(?P<versions>(?:[=<>!~]=?=?\s*[\w.*]+\s*,?\s*)*)(?![\w/-])"
)
_VERSION = re.compile(r"(?<![<>!~=])(===?|~=|<=|<|=)\s*(\d+)(?:\.(\d+))?")
_COLAB = re.compile(r"^\s*%tensorflow_version\s+1")
_INSTALLS = re.compile(r"^\s*[!%]\s*(?:\{[^}]*\}|[\w./-]+)?.*\binstall\b")
# A line of Poetry's table: the version stands alone, or in a table of its own.
_POETRY = re.compile(
    r"""\s*["']?(?P<name>tensorflow(?:-gpu|-cpu)?)["']?\s*=\s*"""
    r"""(?:\{.*\bversion\s*=\s*)?["'](?P<versions>[^"']*)["']"""
)
_IMAGE = re.compile(
    r"(?P<before>\s*FROM\s+(?:--\S+\s+)?(?:\S+/)?tensorflow/tensorflow):"
    r"(?P<tag>(?P<major>\d+)\.(?P<minor>\d+)\S*)(?P<after>.*)",
    re.IGNORECASE,
)


def text_pins(path: Path, text: str) -> Iterator[tuple[Finding, str | None]]:
    """The pins of a file, each with what its line would be; None where only a person
    can say.
    """
    listed = _listed(text) if path.suffix == ".py" else None
    there = re.search(r"(?m)^[^#\n]*\btf[-_]keras\b", text) is not None
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        bare = line.split("#")[0]
        image = _IMAGE.match(bare)
        poetry = _POETRY.match(bare) if path.suffix == ".toml" else None
        new: str | None = None
        if image is not None and (int(image["major"]), int(image["minor"])) < _FIRST:
            kinds = "".join(f"-{k}" for k in ("gpu", "jupyter") if k in image["tag"])
            new = f"{image['before']}:2.16.1{kinds}{image['after'].rstrip()}\n"
            new += "" if there else "RUN pip install 'tf-keras~=2.16.0'\n"
            what, advice = image[0].strip(), new.strip().replace("\n", "` and `")
        elif poetry is not None and _is_old_for_poetry(poetry):
            if "{" not in bare:
                new = 'tensorflow = ">=2.16"\n'
                new += "" if there else 'tf-keras = ">=2.16"\n'
            what, advice = bare.strip(), "` and `".join(_NEW)
        else:
            if path.suffix == ".py":
                parts = re.findall(r"\"([^\"]*)\"|'([^']*)'", bare)
                found = [*_pinned("\n".join(a or b for a, b in parts))]
            else:
                found = [*_pinned(bare)]
            if found:
                names = _NEW[:1] if there else _NEW
                if path.suffix in (".py", ".toml"):
                    new = _in_quotes(line, number, names, listed)
                elif "Dockerfile" in path.name:
                    new = _in_shell(line, names) if "install" in text else None
                else:
                    new = _in_list(line, names)
            for what in found:
                yield _finding(path, number, what), new
            there = there or (new is not None and "tf-keras" in new)
            continue
        there = True
        yield _finding(path, number, what, advice=advice), new


def with_new_requirements(
    path: Path, text: str, wanted: Callable[[Finding], bool], *, write: bool
) -> tuple[str, list[Finding]]:
    """A file's text, with the lines of its pins edited if asked, and the findings."""
    lines = text.splitlines(keepends=True)
    found = []
    for finding, new in text_pins(path, text):
        if not wanted(finding):
            continue
        if write and new is not None:
            lines[finding.line - 1] = new
            finding = replace(finding, outcome=Outcome.REWRITTEN)
        found.append(finding)
    return "".join(lines), found


def _in_list(line: str, names: tuple[str, ...]) -> str | None:
    """A line of its own, as in requirements.txt, setup.cfg and environment.yml."""
    form = re.compile(
        rf"(?P<before>\s*(?:-\s*)?)(?P<quote>[\"']?){_REQUIREMENT.pattern}(?P=quote)"
        r"\s*(?P<after>;[^#\\]*)?(?:#.*)?\s*"
    )
    match = form.fullmatch(line)
    if match is None:
        return None
    if "estimator" in match["name"]:
        return ""
    after = f" {match['after'].strip()}" if match["after"] else ""
    quote = match["quote"]
    return "".join(f"{match['before']}{quote}{n}{quote}{after}\n" for n in names)


def _in_quotes(
    line: str, number: int, names: tuple[str, ...], listed: set[tuple[int, int]] | None
) -> str | None:
    """Items of a list of strings; ``listed`` says where such items begin."""
    item = re.compile(rf"(?P<quote>[\"']){_REQUIREMENT.pattern}(?P=quote)(\s*,\s*)?")
    new = line
    for match in [*item.finditer(line)][::-1]:
        if not [*_pinned(match.group())]:
            continue
        alone = re.search(r"(^|[\[,])\s*$", line[: match.start()])
        if alone is None if listed is None else (number, match.start()) not in listed:
            return None
        quote, end = match["quote"], match[4] or ""
        text = ", ".join(f"{quote}{name}{quote}" for name in names) + end
        if "estimator" in match["name"]:
            text = ""
        new = new[: match.start()] + text + new[match.end() :]
    if new == line:
        return None
    return new if new.strip() else ""


def _in_shell(line: str, names: tuple[str, ...]) -> str:
    """Words of a command, where `>` needs quotes."""

    def words(match: re.Match[str]) -> str:
        if not [*_pinned(match.group())]:
            return match.group()
        gone = "estimator" in match["name"]
        space = re.search(r"\s*$", match["versions"] or "")
        end = space.group() if space and not match["quote"] else ""
        return "" if gone else " ".join(f"'{name}'" for name in names) + end

    form = rf"(?P<quote>[\"']?){_REQUIREMENT.pattern}(?P=quote)"
    return re.sub(form, words, line)


def _listed(text: str) -> set[tuple[int, int]]:
    """Where the strings begin that are items of lists."""
    try:
        tree = tree_of(text)
    except SyntaxError:
        return set()
    return {
        (item.lineno, item.col_offset)
        for node in walk_ast(tree)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set))
        for item in node.elts
        if isinstance(item, ast.Constant)
    }


def _is_old_for_poetry(match: re.Match[str]) -> bool:
    versions = re.sub(r"^\s*[\^~]?\s*(?=\d)", "==", match["versions"])
    return match["name"] == "tensorflow-gpu" or _is_old(versions)


def notebook_pins(path: Path, notebook: Notebook) -> Iterator[Finding]:
    """The pins that a notebook's shell lines and pip magics install."""
    for cell in notebook.cells:
        shell = cell.source.lstrip().startswith(("%%bash", "%%sh", "%%script"))
        installs, before = False, ""
        for number, line in enumerate(cell.source.split("\n"), start=1):
            goes_on = installs and before.endswith("\\")
            installs = goes_on or bool(
                _INSTALLS.match(line) or (shell and " install " in line)
            )
            before = line
            if installs:
                for what in _pinned(line):
                    yield _finding(path, number, what, cell.number)
            elif _COLAB.match(line):
                yield _finding(path, number, line.strip(), cell.number)


def _pinned(text: str) -> Iterator[str]:
    for match in _REQUIREMENT.finditer(text):
        name = match["name"].replace("_", "-")
        gone = name in ("tensorflow-gpu", "tf-nightly-gpu") or "estimator" in name
        if gone or _is_old(match["versions"]):
            yield re.sub(r"\s+", "", match.group()).rstrip(",")


def _is_old(versions: str) -> bool:
    """Whether the versions allowed all lie before the first that fits."""
    for operator, major, minor in _VERSION.findall(versions):
        version = int(major), int(minor or 0)
        if version < _FIRST or (operator == "<" and version == _FIRST):
            return True
    return False


def _finding(
    path: Path, line: int, what: str, cell: int | None = None, advice: str = ""
) -> Finding:
    gone = "estimator" in what
    better = f"write `{advice or '` and `'.join(_NEW)}`"
    message = f"`{what}` installs an old TensorFlow; "
    message += "leave it out" if gone else better
    return told(path, PINNED, message, Outcome.ADVICE, line, cell=cell)
