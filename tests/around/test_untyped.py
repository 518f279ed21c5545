"""The loop module without its annotations, where it stands in a program's file."""

from __future__ import annotations

import libcst as cst
import pytest
from tfmigrate.around.untyped import on_one_line, untyped


@pytest.mark.parametrize(
    ("given", "head"),
    [
        ("def f(\n    self,\n    a,\n    b=None,\n)", "def f(self, a, b=None)"),
        ("def f(\n    a,\n    *,\n    b,\n)", "def f(a, *, b)"),
        ("def f(\n    *args,\n    b=1,\n    **rest,\n)", "def f(*args, b=1, **rest)"),
        ("def f()", "def f()"),
        # What has no room there, or says something, stays.
        (f"def f(\n    {'a' * 70},\n)", f"def f(\n    {'a' * 70},\n)"),
        ("def f(\n    a,  # first\n    b,\n)", "def f(\n    a,  # first\n    b,\n)"),
        ("def f(\n    # all\n    a,\n)", "def f(\n    # all\n    a,\n)"),
    ],
)
def test_parameters_stand_on_one_line_where_they_fit(given: str, head: str) -> None:
    (function,) = cst.parse_module(f"{given}:\n    pass\n").body
    assert isinstance(function, cst.FunctionDef)
    made = on_one_line(function, 70)
    assert cst.Module([made]).code == f"{head}:\n    pass\n"


def test_the_width_counts_from_the_margin() -> None:
    name = "n" * 70
    inner = f"        def {name}(\n            a,\n            b,\n        ):\n"
    text = f"class A:\n    def g(self):\n{inner}            return a\n"
    assert inner in untyped([], text)[1] + "\n"
    _, shorter = untyped([], text.replace(name, name[:-1]))
    assert f"        def {name[:-1]}(a, b):\n" in shorter
