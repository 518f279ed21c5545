"""How much there is to review: rewritten programs beside their sources.

python tests/emit/test_size.py      prints each program's figure
"""

from __future__ import annotations

import re
import statistics
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
# Lines of the rewritten program for one of the source, where the loop stands in it.
MEAN, MEDIAN = 2.31, 2.36
# The same where the loop is a module beside it, without the lines around the layers of
# each class: its first ones, the call's, blank ones.
ON_THE_MODULE, AROUND = 1.3, 10
CLASS = re.compile(r"\(training_loop\.(?:Keras|Scoped)")


def ratios() -> tuple[dict[str, float], dict[str, float]]:
    """Of programs with a loop in place, and of those on the loop module."""
    inline, module = {}, {}
    for folder in sorted((FIXTURES / "legacy").iterdir()):
        new = FIXTURES / "expected" / folder.name
        if not new.is_dir():
            continue
        before = after = 0
        for path in folder.rglob("*.py"):
            changed = new / path.relative_to(folder)
            old, text = path.read_text("utf-8"), changed.read_text("utf-8")
            if old != text:
                before += old.count("\n")
                after += text.count("\n") - AROUND * len(CLASS.findall(text))
        if before:
            on_module = any(new.rglob("training_loop.py"))
            (module if on_module else inline)[folder.name] = after / before
    return inline, module


def test_loops_in_place_stay_as_short_as_they_are() -> None:
    inline, _ = ratios()
    assert len(inline) >= 11
    assert statistics.mean(inline.values()) <= MEAN
    assert statistics.median(inline.values()) <= MEDIAN


def test_programs_on_the_module_hardly_grow() -> None:
    _, module = ratios()
    assert len(module) >= 20
    assert max(module.values()) <= ON_THE_MODULE


if __name__ == "__main__":
    for found in ratios():
        for name, ratio in found.items():
            print(f"{name:30} {ratio:.2f}")
        mean, median = (
            statistics.mean(found.values()),
            statistics.median(found.values()),
        )
        print(f"{len(found)} programs: mean {mean:.2f}, median {median:.2f}\n")
