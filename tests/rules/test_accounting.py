"""Every symbol that TF1 had and TF2 has not ends in a finding, whatever its door."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path

import libcst as cst
import pytest
from tfmigrate.names.resolver import Resolver
from tfmigrate.names.table import lookup
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.rewrite.pipeline import Job, process_source
from tfmigrate.rules.engine import run_rules

CHUNK = 150
# The other doors lead through the same resolver; a part of the names will do.
ALL_NAMES = ("attribute", "from import")
DOORS = {
    "attribute": "    return {name}(1)",
    "reference": "    return {name}",
    "from import": "    from {package} import {last} as own\n    return own",
    "module import": "    import {package} as own\n    return own.{last}",
    "alias": "    own = {parent}\n    return own.{last}",
    "getattr": "    return getattr({parent}, {last!r})",
}


@cache
def legacy_names() -> tuple[str, ...]:
    """Public names of TF 1.15 that TF 2.21 lacks or gives another meaning."""
    text = resources.files("tfmigrate.names").joinpath("data/symbols.json").read_text()
    data = json.loads(text)
    moved = [n for n in data["symbols"] if (move := lookup(n)) and move.to != n]
    homes = resources.files("tfmigrate.compat.contrib").joinpath("names.json")
    contrib = [
        f"tf.contrib.{module}.{name}"
        for module, names in json.loads(homes.read_text()).items()
        for name in names
        if name.isidentifier()
    ]
    return tuple(sorted({*moved, *data["none"], *contrib}))


def program(door: str, names: tuple[str, ...]) -> str:
    """One function for each name."""
    functions = []
    for number, name in enumerate(names):
        parent, _, last = name.rpartition(".")
        body = DOORS[door].format(
            name=name, parent=parent, last=last, package="tensorflow" + parent[2:]
        )
        if name == "tf.saved_model.load":
            # With one argument it is the function of the same name in TF 2.
            body = body.replace("(1)", "(session, tags, path)")
        if name == "tf.constant_initializer":
            body = body.replace("(1)", "([1])")  # of too few values one is repeated
        if name == "tf.where":
            # It chooses rows, as it may in TF 1 alone.
            body = body.replace("(1)", "(rows, one, other)")
        functions.append(f"def f{number}():\n{body}\n")
    return "import tensorflow as tf\n\n" + "\n".join(functions)


@pytest.mark.parametrize("door", DOORS)
def test_every_legacy_symbol_ends_in_a_finding(door: str) -> None:
    names = legacy_names()
    assert len(names) > 2500
    if door not in ALL_NAMES:
        names = names[::9]
    silent = []
    for start in range(0, len(names), CHUNK):
        chunk = names[start : start + CHUNK]
        text = program(door, chunk)
        # The symbol rules alone: a file with an Estimator moves as a whole.
        module = cst.parse_module(text)
        findings = run_rules(text, module, Resolver(module)).findings
        told = {text.count("\n", 0, finding.offset) + 1 for finding in findings}
        first = [
            number
            for number, line in enumerate(text.splitlines(), start=1)
            if line.startswith("def ")
        ]
        last = [*first[1:], text.count("\n") + 2]
        silent += [
            name
            for name, begin, end in zip(chunk, first, last, strict=True)
            if not told & set(range(begin, end))
        ]
    assert silent == []


def test_star_imports_of_dead_modules_end_in_a_finding() -> None:
    text = "from tensorflow.contrib.layers import *\n\nx = l2_regularizer(0.1)\n"
    result = process_source(Path("x.py"), text.encode(), Job(), ProjectFacts())
    assert "TFM205" in {finding.rule for finding in result.findings}
