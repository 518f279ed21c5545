"""The folders of migrate/ are layers: none imports what is built upon it."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "migrate"


def folders_imported(file: Path) -> set[str]:
    """The folders of migrate/ that a file imports from, wherever in it."""
    package = file.relative_to(ROOT).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            below = [*base, *(node.module or "").split(".")]
            targets = [below] if node.module else [[*base, a.name] for a in node.names]
            found |= {target[0] for target in targets if target}
    return {name for name in found if (ROOT / name).is_dir()}


def layers() -> dict[str, set[str]]:
    """Each folder with those that it needs."""
    found: dict[str, set[str]] = {}
    for file in ROOT.rglob("*.py"):
        folder = file.relative_to(ROOT).parts[0]
        if (ROOT / folder).is_dir():
            found.setdefault(folder, set()).update(folders_imported(file) - {folder})
    return found


def test_folders_import_each_other_in_one_direction() -> None:
    found = layers()
    assert found["cli"] >= {"rewriting", "forms", "verify"}
    try:
        list(TopologicalSorter(found).static_order())
    except CycleError as error:
        raise AssertionError(f"folders import each other: {error.args[1]}") from None
