"""The loop module without what a project does not ask for is a module that fits."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.around.asked import MATTERS, Words, asked_for
from tfmigrate.around.contents import contents
from tfmigrate.bring import bundle
from tfmigrate.bring.folding import decided_sources
from tfmigrate.project.guard import check_output

WANTED = ["Estimator", "EstimatorSpec", "ModeKeys", "RunConfig", "ScopedModel"]
CALLS = "estimator.train(f)\nestimator.evaluate(f)\nestimator.predict(f)\n"


def reduced(*asked: str, names: list[str] = WANTED) -> str:
    """The module for programs that ask for some matters."""
    if {"LISTENERS", "TASKS"} <= set(asked):
        names = [*names, "train_and_evaluate"]
    decided = {f"asked.{one.name}": one.name in asked for one in MATTERS}
    return bundle(
        decided_sources("tfmigrate.runtime", frozenset(decided.items())),
        names,
        doc="A loop.",
        used={"train", "evaluate", "predict"},
    ).text


def test_whatever_is_asked_for_every_call_fits(tmp_path: Path) -> None:
    """A type checker knows the parameters, members and names of each."""
    everything = [one.name for one in MATTERS]
    texts = {"nothing": reduced(), "everything": reduced(*everything)}
    for matter in MATTERS:
        asked = {
            one for one, wanted in asked_for(Words(), matter.parts).items() if wanted
        }
        asked |= {matter.name, *matter.includes}
        texts[f"only_{matter.name.lower()}"] = reduced(*asked)
        texts[f"without_{matter.name.lower()}"] = reduced(
            *(
                one.name
                for one in MATTERS
                if one.name != matter.name and matter.name not in one.includes
            )
        )
    for name, text in texts.items():
        check_output("", text)
        (tmp_path / f"{name}.py").write_text(text)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--follow-imports=skip"),
            *("--ignore-missing-imports", "--check-untyped-defs"),
            *("--disable-error-code", "name-defined"),
            *("--cache-dir", str(tmp_path / "cache"), "."),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_it_says_nothing_of_what_it_leaves_out() -> None:
    text = reduced(names=["Estimator", "EstimatorSpec", "ModeKeys", "RunConfig"])
    for word in ("hooks", "strategy", "workers", "scaffold", "listeners", "warm_start"):
        named = {
            one
            for node in ast.walk(ast.parse(text))
            for one in (getattr(node, "id", ""), getattr(node, "arg", ""))
        }
        assert word not in named, word
    assert text.count("\n") < 1500


@pytest.mark.parametrize(
    ("text", "matter"),
    [
        ("estimator.train(f, hooks=[h])", "HOOKS"),
        ("estimator.train(f, [h])", "HOOKS"),
        ("estimator.train(*arguments)", "HOOKS"),
        ("estimator.train(**settings)", "HOOKS"),
        ("spec = EstimatorSpec(mode, p, l, t, m, e, [h])", "HOOKS"),
        ("tf.distribute.MirroredStrategy()", "REPLICAS"),
        ("Estimator(f, d, c, p, 'there')", "WARM_STARTS"),
        ("settings = {'warm_start_from': d}", "WARM_STARTS"),
        ("def broken(:\n", "HOOKS"),
        ('{"cells": [{"cell_type": "code", "source": ["e.train(f, h)"]}]}', "HOOKS"),
    ],
)
def test_what_is_asked_for(text: str, matter: str) -> None:
    assert asked_for(Words.of([text]))[matter]
    assert not asked_for(Words.of([CALLS]))[matter]


def test_a_definition_asks_for_what_it_is_made_of() -> None:
    made = contents("loop", ["InMemoryEvaluatorHook"], words=Words.of([CALLS]))
    assert "class HookRunner" in made.text
    made = contents("loop", ["Estimator"], words=Words.of([CALLS]))
    assert "class HookRunner" not in made.text


def test_a_module_keeps_what_it_had() -> None:
    """What it was made for may be in files that are not given now."""
    first = contents("loop", ["Estimator"], words=Words.of([CALLS, "f(hooks=[h])"]))
    names = [
        node.name
        for node in ast.parse(first.text).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_"
    ]
    again = contents("loop", names, words=Words.of([CALLS]))
    assert "class HookRunner" in again.text
