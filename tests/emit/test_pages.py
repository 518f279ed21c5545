"""The generated pages of docs are those of the present rewriter."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
ADVICE = "if the change is wanted: python tests/emit/write_expected.py"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Registered, because its dataclasses look their module up.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_examples_are_current() -> None:
    examples = script("write_examples")
    pages = examples.pages()
    assert len(pages) == 7
    found = {path.name: path.read_text("utf-8") for path in examples.EXAMPLES.iterdir()}
    assert found == pages, ADVICE


def test_tiers_are_current(tmp_path: Path) -> None:
    tiers = script("write_tiers")
    found = tiers.look_at_all(tmp_path, tiers.rewrite(tmp_path))
    # Every program that has a recording has a tier.
    recorded = {program.path.parent for program in tiers.recorder().PROGRAMS}
    folders = {path.relative_to(tiers.LEGACY).parts[0] for path in recorded}
    assert folders <= set(found)
    measured = json.loads(tiers.MEASURED.read_text())
    assert tiers.PAGE.read_text("utf-8") == tiers.page(found, measured), ADVICE


def test_figures_of_other_code_do_not_count() -> None:
    tiers = script("write_tiers")
    program = tiers.Rewritten("T1", "", "now", frozenset())
    figures = {"digest": "then", "compat": "1e-7 in 5", "one": "2e-7 in 5"}

    def row(tier: str) -> str:
        measured = {"a": {**figures, "tier": tier}}
        return tiers.page({"a": program}, {"tensorflow": "2", "programs": measured})

    assert "| `a` | T1 | 1e-7 in 5 | - | - |  |" in row("T3")
    assert "| `a` | T1 | 1e-7 in 5 | 2e-7 in 5° | - |  |" in row("T1")
