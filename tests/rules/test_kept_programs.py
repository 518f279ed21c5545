"""Each reason for which layers keep a program is told with what to change."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tfmigrate.names.ast_nodes import walk as walk_ast
from tfmigrate.rules.kept_programs import (
    OF_LAYERS,
    OF_TASKS,
    WITH_ANOTHER,
    advice_for,
    kept_section,
)

TOOL = Path(__file__).parents[2] / "migrate"
# What only adds the place to another reason.
PLACED = "... (...:...)"


def texts(node: ast.expr | None) -> Iterator[str]:
    """The text of an argument, or of each of its alternatives."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = (p.value if isinstance(p, ast.Constant) else "..." for p in node.values)
        yield "".join(map(str, parts))
    elif isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)


def reasons(path: Path) -> Iterator[str]:
    """The reasons that a module of the evaluation or lifting gives."""
    for node in walk_ast(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("unknown", "stop", "stop_in", "_stop_at"):
                for one in node.args:
                    yield from texts(one)
        elif isinstance(node, ast.Assign):
            if any(ast.unparse(one) in ("why", "reason") for one in node.targets):
                yield from texts(node.value)
        elif isinstance(node, ast.Return) and path.stem == "unseen":
            yield from texts(node.value)


def test_each_reason_has_its_advice_and_each_advice_its_reason() -> None:
    folders = (TOOL / "model", TOOL / "rewrite" / "layers")
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    given = {one for path in paths for one in reasons(path)}
    assert {*OF_LAYERS, *WITH_ANOTHER, PLACED} == given


def test_the_page_shows_them() -> None:
    told = kept_section()
    assert "\n- `...` is kept from round to round\n  change: " in told


def test_reasons_of_tasks_are_given_somewhere() -> None:
    files = (TOOL / "rewrite").rglob("*.py")
    source = " ".join(path.read_text("utf-8") for path in files)
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
