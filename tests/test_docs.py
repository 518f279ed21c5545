"""README and docs: links lead somewhere, pages are found, code is real."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import click
import pytest
from tfmigrate.cli import COMMANDS, cli

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted(DOCS.rglob("*.md")),
]
# That of the commands is what they say of themselves.
BY_HAND = [page for page in PAGES if page.name != "commands.md"]
_BLOCK = re.compile(r"(?ms)^```(\w*)[^\n]*\n(.*?)^```")


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page that are in a language."""
    found = _BLOCK.findall(page.read_text("utf-8"))
    return [text for name, text in found if name == language]


def anchors(page: Path) -> set[str]:
    """What `page.md#...` may name: its headings, as Markdown makes ids of them."""
    heads = re.findall(
        r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```", "", page.read_text())
    )
    plain = (re.sub(r"[^\w\s-]", "", head).strip().lower() for head in heads)
    return {re.sub(r"[-\s]+", "-", head) for head in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.is_file(), target
        assert not anchor or anchor in anchors(there), target
        # The site holds what is below docs.
        assert page.parent == ROOT or DOCS in there.resolve().parents, target


def test_the_site_builds_and_all_its_links_lead_somewhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", tmp_path / "site"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "task" / "index.html").is_file()


def test_commands_are_told_as_they_are(tmp_path: Path) -> None:
    told = "write it with `python -m tests.command_page`"
    # In a process of its own: a command remembers how it was asked for help first.
    page = tmp_path / "commands.md"
    command = [sys.executable, "-m", "tests.command_page", page]
    subprocess.run(command, cwd=ROOT, check=True)
    assert (DOCS / "commands.md").read_text("utf-8") == page.read_text("utf-8"), told


def test_every_page_is_in_the_navigation() -> None:
    named = re.findall(r"(?m)^ +- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text())
    pages = {p.relative_to(DOCS).as_posix() for p in DOCS.glob("*.md")}
    assert sorted(named) == sorted({*pages, "rules/README.md"})


@pytest.mark.parametrize("page", BY_HAND, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_is_code(page: Path) -> None:
    """Python and TOML parse; commands and their options are there."""
    for text in blocks(page, "python"):
        ast.parse(text)
    for text in blocks(page, "toml"):
        tomllib.loads(text)
    indented = re.findall(r"(?m)^    (tfmigrate .*)$", page.read_text("utf-8"))
    for line in [*"\n".join(blocks(page, "sh")).splitlines(), *indented]:
        words = shlex.split(re.split(r" [|<>]", line)[0], comments=True)
        if words[:1] != ["tfmigrate"]:
            continue
        context = click.Context(cli)
        command = cli.get_command(context, words[1])
        assert command is not None, line
        rest = words[2:]
        while isinstance(command, click.Group):
            command = command.get_command(context, rest.pop(0))
        assert command is not None, line
        # Fails for an option that the command does not have.
        command.make_context(words[1], rest, resilient_parsing=True)


def test_pages_are_short() -> None:
    """All that is not written by a program."""
    texts = [page.read_text("utf-8") for page in PAGES if page.parent.name != "rules"]
    by_hand = [t for t in texts if not re.search("(Written|Generated) by `python", t)]
    assert len(by_hand) == len(texts) - 4
    assert sum(len(text.split()) for text in by_hand) < 18_000


def test_every_command_is_told() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)
    assert [name for name in COMMANDS if f"tfmigrate {name}" not in text] == []


@pytest.mark.parametrize("page", ["docs/task.md", "README.md"])
def test_pairs_are_real(page: str) -> None:
    """Each pair of blocks is cut from a fixture and from what a rewrite makes of it."""
    name, side = "fashion_mnist_mirrored", 0
    text = (ROOT / page).read_text("utf-8")
    seen = 0
    for found in re.finditer(r"Before \(`(\w+)`\)|(?ms:^```python\n(.*?)^```)", text):
        if found[1]:
            name, side = found[1], 0
            continue
        folder = ROOT / "fixtures" / ("legacy", "expected")[side]
        program = (folder / name / "train.py").read_text("utf-8")
        for part in found[2].split("\n\n\n"):
            forms = (textwrap.indent(part.strip("\n"), " " * n) for n in (0, 2, 4, 8))
            assert any(form in program for form in forms), f"{folder}/{name}:\n{part}"
        seen, side = seen + side, 1
    assert seen >= (10 if page != "README.md" else 1)
