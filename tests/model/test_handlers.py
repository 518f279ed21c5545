"""Handlers of calls, and the page that shows how to add one."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest
from tfmigrate.model import api as handlers

from .evaluating import evaluate, reasons

PAGE = Path(__file__).parents[2] / "docs" / "interpretation.md"
PROGRAM = (
    "import house_operations\n\n\ndef model_fn(features, labels, mode):\n"
    "    return house_operations.norm(features{})\n"
)


def test_each_handler_has_its_test() -> None:
    folder = Path(__file__).with_name("api")
    families = {module.name for module in pkgutil.iter_modules(handlers.__path__)}
    tested = {path.stem.removeprefix("test_") for path in folder.glob("test_*.py")}
    assert families == tested


def test_the_nearest_name_wins() -> None:
    assert handlers.find("numpy.mean") is None
    assert handlers.find("tf.layers.dense") is not handlers.find("tf.layers.Input")
    assert handlers.find("tf.new.thing") is handlers.find("tf.other")


def test_the_example_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = reasons(evaluate(tmp_path, PROGRAM.format("")))
    why = "the package `house_operations` is not among the files"
    assert before == [f"`house_operations.norm` may make variables: {why}"]
    monkeypatch.setattr(handlers, "_folders", dict(handlers._folders))
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    exec(example, {})
    assert not reasons(evaluate(tmp_path, PROGRAM.format("")))
    left = reasons(evaluate(tmp_path, PROGRAM.format(", variables=1")))
    assert left == ["an operation of the house with variables"]
