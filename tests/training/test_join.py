"""The file that the joiner writes: for every word it compiles, and ruff is content."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.training import parts_for, training_module
from tfmigrate.training.join import WORDS, source, statements_of, without_types

EVERYTHING = sorted(word for words in WORDS.values() for word in words)


def test_all_parts_are_in_the_table() -> None:
    folder = Path(__file__).parents[2] / "migrate" / "training"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "join"}
    assert files == set(WORDS)


def test_a_part_brings_those_that_it_extends() -> None:
    assert parts_for([]) == ("core",)
    assert parts_for(["hooks"]) == ("core", "callbacks")
    assert parts_for(["pandas_input_fn"]) == ("core", "inputs", "pandas_inputs")
    both = parts_for(["train_and_evaluate", "hooks", "nothing that we know"])
    assert both == ("core", "callbacks", "specs", "spec_hooks")
    assert parts_for(both) == both


def assembled() -> dict[str, str]:
    """The files of all words one by one, of all pairs of parts, and of everything."""
    asked = [(), EVERYTHING, *([word] for word in EVERYTHING)]
    asked += [(one, other) for one in WORDS for other in WORDS if one < other]
    texts = {parts_for(words): "" for words in asked}
    return {"-".join(parts): training_module(parts) for parts in texts}


def test_every_selection_compiles_and_is_formatted(tmp_path: Path) -> None:
    for name, text in assembled().items():
        (tmp_path / f"{abs(hash(name))}.py").write_text(text, "utf-8")
        compile(text, name, "exec")
        assert "migrate" not in text.replace("`tfmigrate checkpoint convert`", "")
        assert "compat.v1" not in text
        assert "Any" not in text
    rules = ["--select", "E,F,W,I,UP,C4,SIM,RUF,PIE,RET", "--ignore", "RET505,SIM108"]
    for command in (
        ["check", "--isolated", *rules],
        ["format", "--isolated", "--check"],
    ):
        done = subprocess.run(
            [ruff(), *command, "--target-version", "py310", tmp_path],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-3000:]


def ruff() -> str:
    """The program ruff."""
    from ruff.__main__ import find_ruff_bin

    return str(Path(find_ruff_bin()))


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
        ([], 240),
        (["predict"], 268),
        (["predict", "hooks", "train_and_evaluate"], 330),
    ],
)
def test_a_file_stays_short(words: list[str], most: int) -> None:
    assert len(training_module(parts_for(words)).splitlines()) <= most
