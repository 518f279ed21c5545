"""Folders of migrate/ are layers, and compat/ imports nothing of the tool."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"migrate": ("tfmigrate",), "compat": ("tfmigrate", "compat")}


def names_imported(file: Path, top: str) -> Iterator[tuple[str, ...]]:
    """Dotted names below tfmigrate that a file imports from, wherever in it."""
    folder = file.relative_to(ROOT / top).parts[:-1]
    package = (*PACKAGES[top], *folder)
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module or "").split("."))
            below = tuple(part for part in module if part)
            yield from ((*below, alias.name) for alias in node.names)


def layers() -> dict[str, set[str]]:
    """Each folder of migrate/, and compat, with those that it needs."""
    found: dict[str, set[str]] = {}
    for top in PACKAGES:
        for file in (ROOT / top).rglob("*.py"):
            parts = file.relative_to(ROOT / top).parts
            folder = "compat" if top == "compat" else parts[0]
            names = {
                n[1] for n in names_imported(file, top) if n[0] == "tfmigrate" and n[1:]
            }
            folders = {
                n for n in names if n == "compat" or (ROOT / "migrate" / n).is_dir()
            }
            if not folder.endswith(".py"):
                found.setdefault(folder, set()).update(folders - {folder})
    return found


def test_folders_import_each_other_in_one_direction() -> None:
    found = layers()
    assert found["cli"] >= {"rewrite", "forms", "verify"}
    try:
        list(TopologicalSorter(found).static_order())
    except CycleError as error:
        raise AssertionError(f"folders import each other: {error.args[1]}") from None


def test_compat_imports_nothing_of_the_tool() -> None:
    assert not layers()["compat"]
    told = [
        f"{file.relative_to(ROOT)}: {'.'.join(name)}"
        for file in (ROOT / "compat").rglob("*.py")
        for name in names_imported(file, "compat")
        if name[:1] == ("migrate",)
        or (name[0] == "tfmigrate" and name[1:2] != ("compat",))
    ]
    assert not told
