"""The notebooks of the documentation run from top to bottom, and say what they should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .notebooks import NOTEBOOKS, executed

# What stands among the outputs of each.
SAID = {
    "export": "Parity: they train the same over 150 steps",
    "fashion_mnist": "Parity: they train the same over 10 steps",
    "two_workers": "[worker 1] loss 0.",
}


def printed(notebook: dict[str, Any]) -> str:
    """All that the cells of a notebook print."""
    return "".join(
        line
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        for line in output.get("text", ())
    )


def test_all_of_them_are_here() -> None:
    assert {one.stem for one in NOTEBOOKS.glob("*.ipynb")} == {*SAID}


@pytest.mark.tensorflow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", sorted(SAID))
def test_it_says_what_it_should(name: str, tmp_path: Path) -> None:
    made = executed(NOTEBOOKS / f"{name}.ipynb", tmp_path)
    assert SAID[name] in printed(made)
    assert "Traceback" not in printed(made)
