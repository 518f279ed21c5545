"""Each reason for which layers keep a program is told with what to change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tfmigrate.rules.kept_programs import (
    ADVICE,
    OF_TASKS,
    advice_for,
    kept_reasons,
    kept_section,
)


def test_each_reason_has_its_advice_and_each_advice_its_reason() -> None:
    assert sorted(ADVICE, key=str.lower) == kept_reasons()


def test_the_page_shows_them() -> None:
    told = "\n".join(kept_section())
    assert "\n- `...` is made in one branch only\n  change: give it a value in" in told


def test_reasons_of_tasks_are_given_somewhere() -> None:
    folder = Path(__file__).parents[2] / "migrate" / "rewrite"
    source = " ".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    source = re.sub(r"\"\s+f?\"", "", source)
    # `check_present` puts it together.
    composed = {"which Python 3 does not have"}
    assert not [key for key in OF_TASKS if key not in source and key not in composed]


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("`tf.placeholder` (line 4) is one: pass the value", "pass the value"),
        ("`a` is of tf.contrib.learn: use tf.estimator (line 2)", "use tf.estimator"),
        ("the model looks at the labels (line 193)", OF_TASKS["looks at the labels"]),
        (
            "rewritten layers cannot be proved to be the same from `x()` of a.py on",
            OF_TASKS["cannot be proved to be the same"],
        ),
        (
            "`tf.add_to_collection` (line 3) adds to a collection of the graph: return "
            "what it adds",
            "return what it adds",
        ),
        ("`tf.f` (line 3) is not called in plain sight", OF_TASKS["in plain sight"]),
        ("`tf.f` without `y`", "give the argument"),
        ("`tf.f` with `y`", "leave the argument out"),
        ("something else", None),
    ],
)
def test_advice(reason: str, advice: str | None) -> None:
    assert advice_for(reason) == advice
