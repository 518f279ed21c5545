"""The file that the joiner writes: for every word it compiles, and ruff is content."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from ruff.__main__ import find_ruff_bin
from tfmigrate.training import parts_for, training_module
from tfmigrate.training.join import (
    LIBRARIES,
    WORDS,
    definitions,
    source,
    statements_of,
    without_types,
)

EVERYTHING = [*WORDS, *(name for part in LIBRARIES for name in definitions(part))]


def test_all_parts_are_in_the_table() -> None:
    folder = Path(__file__).parents[2] / "migrate" / "training"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "join"}
    assert files == {*WORDS, *LIBRARIES}


def test_a_part_brings_those_that_it_extends() -> None:
    assert parts_for([]) == ("core",)
    assert parts_for(["hooks"]) == ("core", "callbacks")
    both = parts_for(["train_and_evaluate", "hooks", "nothing that we know"])
    parts = ("core", "callbacks", "listeners", "specs", "spec_hooks", "one_process")
    assert both == parts
    assert parts_for(both) == both


def test_of_a_library_only_what_is_named_comes_and_what_it_refers_to() -> None:
    assert parts_for(["pandas_input_fn"]) == (
        *("core", "inputs.numpy_input_fn", "inputs.pandas_input_fn"),
    )
    text = training_module(parts_for(["Momentum"]))
    assert "class Momentum(" in text
    assert "def rows_of(" in text
    assert "class Ftrl(" not in text
    assert "class StepTimer" in training_module(parts_for(["StepCounter"]))
    assert "class StepTimer" not in training_module(parts_for(["StopAtStep"]))
    exporting = training_module(parts_for(["FinalExporter"]))
    assert "def export_saved_model(" in exporting
    assert "one.export(" in exporting


def test_what_nobody_calls_of_hyperparameters_and_heads_is_left_out() -> None:
    some = training_module(["HParams", "BinaryClassifier", ".set_hparam"])
    assert "def set_hparam(" in some
    assert "def parse(" not in some
    assert "def predictions(" not in some
    assert "def classes(" not in some
    more = training_module(["HParams", "BinaryClassifier", ".parse_json", "predict"])
    assert "def override_from_dict(" in more
    assert "def classes(" in more
    assert training_module(["HParams", "HParams.parse"]).count("def set_hparam(") == 1


def test_two_parts_define_the_same_only_to_extend_it() -> None:
    owners: dict[str, list[str]] = {}
    for part in WORDS:
        for name, statement in definitions(part).items():
            extends = (
                f"class {name}(" in statement.text and f".{name}" in statement.text
            )
            replaces = part.startswith("spec_") or part == "cluster_specs"
            if not extends and not replaces:
                owners.setdefault(name, []).append(part)
    assert not {name: parts for name, parts in owners.items() if len(parts) > 1}


def assembled() -> dict[str, str]:
    """The files of all words one by one, of parts that meet in a class, and of all."""
    words = [*EVERYTHING, *(word for words in WORDS.values() for word in words)]
    asked = [(), EVERYTHING, *([word] for word in words)]
    asked += [
        (one, other)
        for one in WORDS
        for other in WORDS
        if one < other and definitions(one).keys() & definitions(other).keys()
    ]
    named = {"-".join(parts_for(some)): some for some in asked}
    return {name: training_module(some) for name, some in named.items()}


def test_every_selection_compiles_and_is_formatted(tmp_path: Path) -> None:
    texts = assembled()
    assert len(texts) > 200
    for number, (name, text) in enumerate(texts.items()):
        (tmp_path / f"training_{number}.py").write_text(text, "utf-8")
        compile(text, name, "exec")
        assert "migrate" not in text.replace("`tfmigrate ", "")
        assert "Any" not in text
        trainer = text[text.index("class Task:") : text.index("\ndef split(")]
        assert "super()" not in trainer, name
    rules = ["--select", "E,F,W,I,UP,C4,SIM,PIE,RET", "--ignore", "RET505,SIM108"]
    for command in (
        ["check", "--isolated", *rules],
        ["format", "--isolated", "--check"],
    ):
        done = subprocess.run(
            [find_ruff_bin(), *command, "--target-version", "py310", tmp_path],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-3000:]


def test_types_are_dropped_and_fields_stay() -> None:
    text = without_types(source("core"))
    core = {statement.name: statement for statement in statements_of(text)}
    assert "    model_dir: str | None = None\n" in core["RunConfig"].text
    functions = [
        n for n in ast.walk(core["Trainer"].node) if isinstance(n, ast.FunctionDef)
    ]
    assert len(functions) > 10
    for function in functions:
        assert function.returns is None
        assert not any(
            a.annotation for a in ast.walk(function.args) if isinstance(a, ast.arg)
        )


def test_joining_needs_no_tensorflow() -> None:
    code = (
        "import sys; from tfmigrate.training import training_module;"
        "training_module(['specs']); assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ([], 230),
        (["predict"], 255),
        (["predict", "hooks", "train_and_evaluate"], 310),
        (["train_and_evaluate", "workers"], 430),
        (["train_and_evaluate", "parameter_servers"], 470),
    ],
)
def test_a_file_stays_short(words: list[str], most: int) -> None:
    assert len(training_module(parts_for(words)).splitlines()) <= most
