"""Each reason for which layers keep a program is told with what to change."""

from __future__ import annotations

from tfmigrate.rules.kept_programs import ADVICE, kept_reasons, kept_section


def test_each_reason_has_its_advice_and_each_advice_its_reason() -> None:
    assert sorted(ADVICE, key=str.lower) == kept_reasons()


def test_the_page_shows_them() -> None:
    rows = [line for line in kept_section() if line.startswith("| `...`")]
    assert "| `...` is made in one branch only | give it a value in every branch |" in (
        rows
    )
