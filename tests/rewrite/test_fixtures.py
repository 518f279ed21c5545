"""What users get for the programs of fixtures/legacy, which are native today.

`fixtures/expected` holds the program text of the native ones, written by
`python tests/rewrite/write_expected.py`. Their training modules are not there: what
these hold is told by the tests of `tfmigrate.training`.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.forms.render import render
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.report.model import Report

from .write_expected import EXPECTED, LEGACY, native_texts, rewritten

PROGRAMS = sorted(
    str(path.relative_to(EXPECTED))
    for path in EXPECTED.rglob("*")
    if path.suffix in (".py", ".ipynb")
)
ADVICE = "if the change is wanted: python tests/rewrite/write_expected.py"


@pytest.fixture(scope="module")
def report() -> Report:
    """All legacy programs rewritten once."""
    return rewritten()


@pytest.fixture(scope="module")
def texts(report: Report) -> dict[str, str]:
    """The files of native programs as they will read."""
    return native_texts(report)


def code(path: Path) -> str:
    """A program's Python text; of a notebook its code cells."""
    text = path.read_text("utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
    lines = "\n".join("".join(c["source"]) for c in cells).splitlines()
    return "\n".join(line for line in lines if line.lstrip()[:1] not in ("%", "!"))


def test_each_program_is_native_or_says_why_not(report: Report) -> None:
    assert not report.failed
    assert len(report.programs) >= len([*LEGACY.iterdir()]) - 1  # one is README.md
    for path, program in report.programs:
        assert program.outcome is ProgramOutcome.NATIVE or program.reason, path


def test_the_page_about_them_is_below_a_megabyte(report: Report) -> None:
    assert len(render(report, "html", written=False).encode()) < 1_000_000


def test_programs_that_were_native_are_so_in_all_of_their_files(
    texts: dict[str, str],
) -> None:
    folders = {path.split("/")[0] for path in PROGRAMS}
    found = [path for path in texts if path.split("/")[0] in folders]
    assert sorted(found) == PROGRAMS, ADVICE


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewrite_is_as_expected(program: str, texts: dict[str, str]) -> None:
    assert texts[program] == (EXPECTED / program).read_text("utf-8"), ADVICE


def without_prose(text: str) -> str:
    """The code without comments and docstrings, which are the author's."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)
    return ast.unparse(tree)


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_legacy_or_ours_is_left(program: str) -> None:
    text = without_prose(code(EXPECTED / program))
    gone = ("import tfmigrate", "tf.estimator", "tf.contrib", "SessionRunHook")
    assert not [name for name in gone if name in text]


@pytest.mark.parametrize("program", PROGRAMS)
def test_lines_are_no_longer_than_they_were(program: str) -> None:
    source = code(LEGACY / program).splitlines()
    longest = max(88, *(len(line) for line in source))
    assert all(len(line) <= longest for line in code(EXPECTED / program).splitlines())


@pytest.mark.parametrize(
    # A notebook's cells define a name again and again.
    "program",
    [program for program in PROGRAMS if program.endswith(".py")],
)
def test_linters_find_nothing_new(program: str, tmp_path: Path) -> None:
    (tmp_path / "training.py").touch()  # so that linters know whose module it is

    def complaints(path: Path) -> list[str]:
        copy = tmp_path / f"{path.parent.parent.parent.name}.py"
        copy.write_text(code(path), "utf-8")
        command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet"]
        result = subprocess.run(
            [*command, "--ignore", "E402,I001", "--output-format", "json", str(copy)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        return [found["message"] for found in json.loads(result.stdout)]

    assert set(complaints(EXPECTED / program)) <= set(complaints(LEGACY / program))
