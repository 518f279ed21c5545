"""The command line as a contract: speed, quiet imports, help, exit codes."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tfmigrate.cli import COMMANDS

Runner = Callable[..., "subprocess.CompletedProcess[str]"]

# Commands that must never pay for TensorFlow, whatever they are asked.
TOOL_COMMANDS = sorted({"scan", "rewrite", "undo", "rules", "explain"} & set(COMMANDS))


def cpu_seconds(arguments: list[str]) -> float:
    """Processor time of one run, which a busy machine does not inflate much."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def test_help_is_fast() -> None:
    own = [sys.executable, "-m", "tfmigrate", "--help"]
    assert min(cpu_seconds(own) for _ in range(7)) < 0.2


def test_help_lists_every_command(tfmigrate: Runner) -> None:
    result = tfmigrate("--help")
    assert result.returncode == 0
    for name in COMMANDS:
        assert re.search(rf"^  {name}\s", result.stdout, re.MULTILINE)
    assert "Examples:" in result.stdout


def modules_loaded(*arguments: str, cwd: Path | None = None) -> set[str]:
    """Top-level modules in ``sys.modules`` when the command has finished."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('MODULES', *{m.split('.')[0] for m in sys.modules}))\n"
        f"sys.argv = ['tfmigrate', *{list(arguments)!r}]\n"
        "from tfmigrate.cli import main\n"
        "main()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd
    )
    line = next(
        line for line in result.stdout.splitlines() if line.startswith("MODULES ")
    )
    return set(line.split()[1:])


def test_help_imports_next_to_nothing() -> None:
    heavy = {"tensorflow", "numpy", "libcst", "rich", "keras", "tf_keras", "nbformat"}
    assert not heavy & modules_loaded("--help")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_of_each_command(command: str, tfmigrate: Runner) -> None:
    result = tfmigrate(command, "--help")
    assert result.returncode == 0, result.stderr
    assert "Usage:" in result.stdout
    # An example that can be copied, not only a list of options.
    assert re.search(rf"^\s+tfmigrate {command}\b", result.stdout, re.MULTILINE)
    assert "tensorflow" not in modules_loaded(command, "--help")


LEGACY = """\
import tensorflow as tf

def model_fn(features, labels, mode):
    return tf.estimator.EstimatorSpec(mode, loss=tf.losses.mean_squared_error(labels, features))

tf.estimator.Estimator(model_fn)
"""


@pytest.mark.parametrize(
    "command", [c for c in TOOL_COMMANDS if c in ("scan", "rewrite")]
)
def test_source_tools_never_import_tensorflow(command: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LEGACY)
    arguments = [command, "train.py"] + (["--diff"] if command == "rewrite" else [])
    loaded = modules_loaded(*arguments, cwd=tmp_path)
    assert not {"tensorflow", "keras", "tf_keras"} & loaded
    assert (tmp_path / "train.py").read_text() == LEGACY


@pytest.mark.parametrize(
    "command", sorted(set(COMMANDS) & {"scan", "rewrite", "run", "verify"})
)
def test_missing_path_is_a_plain_message(
    command: str, tmp_path: Path, tfmigrate: Runner
) -> None:
    missing = str(tmp_path / "absent.py")
    arguments = [missing, missing] if command == "verify" else [missing]
    result = tfmigrate(command, *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert "absent.py" in result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    assert not list(tmp_path.iterdir())


def test_unknown_command_and_option(tfmigrate: Runner) -> None:
    for arguments in (["nonsense"], ["--nonsense"], ["verify", "--nonsense"]):
        result = tfmigrate(*arguments)
        assert result.returncode == 2
        assert "Traceback" not in result.stderr
        assert "nonsense" in result.stderr


@pytest.mark.text
def test_explain_fits_a_terminal(tfmigrate: Runner) -> None:
    for rule in ("TFM103", "TFM207"):
        text = tfmigrate("explain", rule).stdout
        assert max(map(len, text.splitlines())) <= 88
    assert "\nx = tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop" in text


def test_version(tfmigrate: Runner) -> None:
    from tfmigrate import __version__

    result = tfmigrate("--version")
    assert result.returncode == 0
    assert __version__ in result.stdout
    for library in ("python", "libcst", "click"):
        assert f"\n{library} " in result.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell: str) -> None:
    """The scripts of docs/ci.md exist, and answer with commands."""
    main = (
        "import sys; sys.argv[0] = 'tfmigrate'; from tfmigrate.cli import main; main()"
    )
    asked = {"COMP_WORDS": "tfmigrate re", "COMP_CWORD": "1"}
    if shell == "fish":
        asked["COMP_CWORD"] = "re"
    script, answer = (
        subprocess.run(
            [sys.executable, "-c", main],
            env={**os.environ, **asked, "_TFMIGRATE_COMPLETE": f"{shell}_{what}"},
            capture_output=True,
            text=True,
        ).stdout
        for what in ("source", "complete")
    )
    assert "_TFMIGRATE_COMPLETE" in script
    assert "rewrite" in answer
