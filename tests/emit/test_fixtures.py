"""The legacy programs of fixtures/legacy and what users get for them."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
LEGACY = FIXTURES / "legacy"
EXPECTED = FIXTURES / "expected"
PROGRAMS = sorted(
    str(path.relative_to(EXPECTED))
    for path in EXPECTED.rglob("*")
    if path.suffix in (".py", ".ipynb")
)


def rewrite(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "tfmigrate",
            "rewrite",
            str(source),
            "--out",
            str(target),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All legacy programs rewritten once."""
    target = tmp_path_factory.mktemp("rewritten")
    rewrite(LEGACY, target)
    return target


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The expected programs rewritten once more."""
    target = tmp_path_factory.mktemp("again")
    rewrite(EXPECTED, target)
    return target


def code(path: Path) -> str:
    """A program's Python text; of a notebook its code cells."""
    text = path.read_text("utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
    lines = "\n".join("".join(c["source"]) for c in cells).splitlines()
    return "\n".join(line for line in lines if line.lstrip()[:1] not in ("%", "!"))


# Programs that become native loops; the rest keeps its Estimator and says so, or trains
# with the loop module.
MOVED = [
    p
    for p in PROGRAMS
    if (LEGACY / p).exists()
    if "stimator" in code(LEGACY / p)
    if "import tfmigrate" not in code(EXPECTED / p)
]
MODULE = [p for p in MOVED if "training_loop" in code(EXPECTED / p)]
# The module stands in a cell of a notebook that is a program by itself.
NATIVE = [
    p for p in MOVED if p not in MODULE and "class Estimator:" not in code(EXPECTED / p)
]


def test_all_programs_are_there() -> None:
    assert len(NATIVE) >= 11
    legacy = {
        str(p.relative_to(LEGACY))
        for p in LEGACY.rglob("*")
        if p.suffix in (".py", ".ipynb")
    }
    assert set(MOVED) <= legacy


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewrite_is_as_expected(program: str, rewritten: Path) -> None:
    assert (rewritten / program).read_text("utf-8") == (EXPECTED / program).read_text(
        "utf-8"
    ), "if the change is wanted: python tests/emit/write_expected.py"


@pytest.mark.parametrize("program", PROGRAMS)
def test_second_rewrite_changes_nothing(program: str, again: Path) -> None:
    mirrored = again / program
    if mirrored.exists():
        assert mirrored.read_bytes() == (EXPECTED / program).read_bytes()


def without_prose(text: str) -> str:
    """The code without comments and docstrings, which are the author's."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)
    return ast.unparse(tree)


@pytest.mark.parametrize("program", NATIVE)
def test_nothing_legacy_or_ours_is_left(program: str) -> None:
    text = code(EXPECTED / program)
    gone = ("import tfmigrate", "tf.estimator", "contrib", "SessionRunHook", "tf.keras")
    assert not [name for name in gone if name in without_prose(text)]
    if "strategy.run" in text:
        assert re.search(r"with [\w.]+\.scope\(\):", text)


@pytest.mark.parametrize("program", MODULE)
def test_nothing_legacy_or_ours_is_left_on_the_loop_module(program: str) -> None:
    text = code(EXPECTED / program)
    gone = ("import tfmigrate", "tf.estimator", "tf.contrib", "tf.keras", "tf.layers")
    assert not [name for name in gone if name in without_prose(text)]


@pytest.mark.parametrize("program", NATIVE)
def test_lines_are_no_longer_than_they_were(program: str) -> None:
    source = code(LEGACY / program).splitlines()
    longest = max(88, *(len(line) for line in source))
    assert all(len(line) <= longest for line in code(EXPECTED / program).splitlines())


@pytest.mark.parametrize("program", NATIVE)
def test_linters_find_nothing_new(program: str, tmp_path: Path) -> None:
    def complaints(path: Path) -> list[str]:
        copy = tmp_path / f"{path.parent.parent.parent.name}.py"
        copy.write_text(code(path), "utf-8")
        command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet"]
        result = subprocess.run(
            [*command, "--ignore", "E402", "--output-format", "json", str(copy)],
            capture_output=True,
            text=True,
            check=False,
        )
        return [found["message"] for found in json.loads(result.stdout)]

    assert set(complaints(EXPECTED / program)) <= set(complaints(LEGACY / program))


def verify(program: str, replicas: int, *more: str) -> subprocess.CompletedProcess[str]:
    """Hold the legacy program (under compat) against its rewrite."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "tfmigrate", "verify"),
            *(str(LEGACY / program), str(EXPECTED / program)),
            *("--replicas", str(replicas), "--format", "json", *more),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )


@pytest.mark.parametrize(
    ("program", "replicas"),
    [
        ("fashion_mnist_partial/train.py", 2),
        ("model_fn_dense/train.py", 2),
        pytest.param("fashion_mnist_partial/train.py", 1, marks=pytest.mark.slow),
        pytest.param("model_fn_dense/train.py", 1, marks=pytest.mark.slow),
        *(
            pytest.param(f"fashion_mnist_{name}", n, marks=pytest.mark.slow)
            for name in ("mirrored/train.py", "main/train.py", "imports/train.py")
            for n in (1, 2)
        ),
    ],
)
def test_rewrite_trains_the_same(program: str, replicas: int) -> None:
    # Convolutions drift apart by rounding after some ten steps; dense nets do not.
    result = verify(program, replicas, "--steps", "10")
    assert result.returncode == 0, result.stdout + result.stderr
