"""The loop module without what a project does not ask for is a module that fits."""

from __future__ import annotations

import ast
import math
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.around.asked import MATTERS, Words, asked_for
from tfmigrate.around.contents import contents
from tfmigrate.bring import bundle, contrib
from tfmigrate.bring.folding import decided_sources
from tfmigrate.project.guard import check_output

WANTED = ["Estimator", "EstimatorSpec", "ModeKeys", "RunConfig", "ScopedModel"]
CALLS = "estimator.train(f)\nestimator.evaluate(f)\nestimator.predict(f)\n"


def reduced(*asked: str, names: list[str] = WANTED) -> str:
    """The module for programs that ask for some matters."""
    if {"LISTENERS", "TASKS"} <= set(asked):
        names = [*names, "train_and_evaluate"]
    if "EXPORTS" in asked:
        names = [*names, "from_estimator", "BestExporter"]
    decided = {f"asked.{one.name}": one.name in asked for one in MATTERS}
    return bundle(
        decided_sources("tfmigrate.runtime", frozenset(decided.items())),
        names,
        doc="A loop.",
        used={"train", "evaluate", "predict"},
    ).text


def parameters(function: ast.FunctionDef, bound: int) -> tuple[set[str], float, bool]:
    """Names that a function takes, how many by position, and whether any other name."""
    given = function.args
    places = [one.arg for one in (*given.posonlyargs, *given.args)][bound:]
    most = math.inf if given.vararg else len(places)
    names = {*places, *(one.arg for one in given.kwonlyargs)}
    return names, most, given.kwarg is not None


def callables(tree: ast.Module) -> dict[str, list[tuple[set[str], float, bool]]]:
    """What names, and attributes (with a dot), may be called with."""
    found: dict[str, list[tuple[set[str], float, bool]]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef)):
            continue
        for one in ast.walk(node) if isinstance(node, ast.ClassDef) else node.body:
            if not isinstance(one, ast.FunctionDef):
                continue
            if isinstance(node, ast.Module):
                found.setdefault(one.name, []).append(parameters(one, 0))
            elif one.args.args and one.args.args[0].arg in ("self", "cls"):
                taken = parameters(one, 1)
                found.setdefault(f".{one.name}", []).append(taken)
                if one.name in ("__init__", "__new__"):
                    found.setdefault(node.name, []).append(taken)
    return found


def misfits(text: str) -> list[str]:
    """Calls of things of the module with arguments that these do not take."""
    tree = ast.parse(text)
    known = callables(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            known.pop(f".{node.attr}", None)  # It may be anything.
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            name = node.func.id
        elif isinstance(node.func, ast.Attribute) and (
            isinstance(node.func.value, ast.Name) and node.func.value.id == "self"
        ):
            name = f".{node.func.attr}"
        else:
            continue
        names = {one.arg for one in node.keywords if one.arg is not None}
        count = sum(1 for arg in node.args if not isinstance(arg, ast.Starred))
        if name in known and not any(
            count <= most and (takes_any or names <= taken)
            for taken, most, takes_any in known[name]
        ):
            found.append(ast.unparse(node))
    return found


def combinations() -> dict[str, str]:
    """The module for nothing, all, and each matter alone and left out."""
    everything = [one.name for one in MATTERS]
    texts = {"nothing": reduced(), "everything": reduced(*everything)}
    for matter in MATTERS:
        asked = {
            one for one, is_so in asked_for(Words(), matter.parts).items() if is_so
        }
        texts[f"only {matter.name}"] = reduced(*asked, matter.name, *matter.includes)
        without = [
            one.name
            for one in MATTERS
            if one.name != matter.name and matter.name not in one.includes
        ]
        texts[f"without {matter.name}"] = reduced(*without)
    return texts


def test_whatever_is_asked_for_every_name_and_call_fits(tmp_path: Path) -> None:
    for number, (what, text) in enumerate(combinations().items()):
        check_output("", text)
        assert not misfits(text), what
        if "class HookRunner" not in text:
            # What a specification has for hooks only, nothing asks it for.
            fields = ("scaffold", "training_hooks", "evaluation_hooks")
            read = {
                n.attr
                for n in ast.walk(ast.parse(text))
                if isinstance(n, ast.Attribute)
            }
            assert read.isdisjoint(fields), what
        (tmp_path / f"loop_{number}.py").write_text(text)
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache"]
    done = subprocess.run(
        [*command, "--select", "E9,F", "--line-length", "88", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_a_call_that_does_not_fit_is_seen() -> None:
    text = "class A:\n    def __init__(self, x): pass\n\nA(1)\n"
    assert not misfits(text)
    assert misfits(text + "A(1, y=2)\n") == ["A(1, y=2)"]
    assert misfits(text + "A(1, 2)\n") == ["A(1, 2)"]


def test_it_says_nothing_of_what_it_leaves_out() -> None:
    text = reduced(names=["Estimator", "EstimatorSpec", "ModeKeys", "RunConfig"])
    # That hooks are given nevertheless is refused, and nothing else said of them.
    hooks = ("checked_hooks", "training_hooks", "HookRunner")
    for word in (*hooks, "strategy", "workers", "scaffold", "listeners", "warm_start"):
        named = {
            one
            for node in ast.walk(ast.parse(text))
            for one in (getattr(node, "id", ""), getattr(node, "arg", ""))
        }
        assert word not in named, word
    assert text.count("\n") < 1510


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


@pytest.mark.parametrize("name", ["model_to_estimator", "train_and_evaluate"])
def test_a_field_that_is_only_mentioned_need_not_be_given(name: str) -> None:
    text = contents("loop", [name], words=Words.of([CALLS])).text
    classes = {
        node.name: node
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and node.name.endswith("Fields")
    }
    given = {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert "SpecFields" in classes
    for each in classes.values():
        for field in each.body:
            if isinstance(field, ast.AnnAssign) and field.value is None:
                assert isinstance(field.target, ast.Name)
                assert field.target.id in given, (each.name, field.target.id)


def test_hooks_that_no_word_tells_of_are_refused_by_name(tmp_path: Path) -> None:
    """A library may give them; where they are None nothing is asked for."""
    path = tmp_path / "training_loop.py"
    path.write_text(contents("loop", WANTED, words=Words.of([CALLS])).text)
    script = tmp_path / "library.py"
    script.write_text(
        """\
import tempfile

import training_loop

estimator = training_loop.Estimator(print, tempfile.mkdtemp())
for call in (estimator.train, estimator.evaluate, lambda *a, **k: next(
        estimator.predict(*a, **k))):
    try:
        call(print, hooks=[object()])
    except TypeError as error:
        print(error)
    try:
        call("no function", hooks=None)
    except Exception as error:
        print(type(error).__name__)
"""
    )
    result = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True
    )
    assert result.stdout.count("tfmigrate rewrite --whole-module") == 3


def test_the_whole_module_has_what_nobody_asks_for() -> None:
    made = contents("loop", WANTED, words=Words.of([CALLS]) | Words(whole=True)).text
    assert "checked_hooks(hooks)" in made
    assert "This loop was written for programs without hooks" not in made
    assert not misfits(made)


def test_a_tuple_that_is_made_keeps_the_fields_that_nobody_reads() -> None:
    text = contrib.bring(["tf.contrib.seq2seq.AttentionWrapper"], used={"clone"}).text
    (state,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and node.name == "AttentionWrapperState"
    )
    fields = [one for one in state.body if isinstance(one, ast.AnnAssign)]
    assert len(fields) == 6
