"""Rewritten loops go on from checkpoints of real TF 1.15.5, or say how to."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from runner import Run, run, tfmigrate

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "traps"
FIGURES = json.loads((FOLDER / "continued" / "tf115.json").read_text("utf-8"))
NAMES = ("gradients_of_parts", "adam")


# The last line of a program, for the test to read.
FIGURES_PRINTED = """
import json
print("\\n", json.dumps({n: float(v) for n, v in FIGURES["result"].items()}), sep="")
"""


def started(program: Path) -> Run:
    """A run in the folder ``model`` beside the program."""
    model = {"MODEL_DIR": str(program.with_name("model"))}
    return run(program, on="native", watch=False, env=model)


@pytest.fixture(scope="module")
def continued(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The rewritten programs, each beside a copy of what TF 1.15.5 left."""
    folder = tmp_path_factory.mktemp("continued")
    sources = [str(FOLDER / "programs" / f"{name}.py") for name in NAMES]
    done = tfmigrate("rewrite", *sources, "--out", folder / "new")
    assert done.returncode in (0, 1), done.stderr
    for name in NAMES:
        shutil.copytree(FOLDER / "continued" / name, folder / name / "model")
    for path in (folder / "new").rglob("*.py"):
        for name in NAMES if path.stem not in NAMES else (path.stem,):
            shutil.copy(path, folder / name)
            if path.stem == name:
                with (folder / name / path.name).open("a", encoding="utf-8") as program:
                    program.write(FIGURES_PRINTED)
    return {name: folder / name / f"{name}.py" for name in NAMES}


@pytest.fixture(scope="module")
def ended(continued: dict[str, Path]) -> dict[str, Run]:
    return {name: started(path) for name, path in continued.items()}


def check(name: str, ended: Run) -> None:
    assert ended.returncode == 0, ended.stderr
    figures = json.loads(ended.stdout.splitlines()[-1])
    assert figures == pytest.approx(FIGURES[name], rel=2e-5)
    assert figures["global_step"] == 10


def test_a_kept_model_fn_goes_on(ended: dict[str, Run]) -> None:
    # Adam for some variables, momentum for others: slots, powers and step.
    check("gradients_of_parts", ended["gradients_of_parts"])


def test_layers_say_which_command_makes_it_theirs(
    ended: dict[str, Run], continued: dict[str, Path]
) -> None:
    done = ended["adam"]
    assert done.returncode == 1
    (sentence,) = (line for line in done.stderr.splitlines() if "tfmigrate" in line)
    assert "is a checkpoint of TensorFlow 1" in sentence
    # Nothing was trained, and the old checkpoint is still the latest.
    model_dir = continued["adam"].with_name("model")
    before = {path.name for path in (FOLDER / "continued" / "adam").iterdir()}
    assert before <= {path.name for path in model_dir.iterdir()}
    state = (model_dir / "checkpoint").read_text("utf-8")
    assert 'model_checkpoint_path: "model.ckpt-5"' in state
    # What the program writes by itself says how the converted one is to look.
    fresh = continued["adam"].parents[1] / "fresh" / "adam.py"
    shutil.copytree(continued["adam"].parent, fresh.parent)
    shutil.rmtree(fresh.with_name("model"))
    assert started(fresh).returncode == 0
    like = ["--like", fresh.with_name("model")]
    there = ["-o", model_dir / "converted-5"]
    converted = tfmigrate("checkpoint", "convert", model_dir, *like, *there)
    assert converted.returncode == 0, converted.stderr
    check("adam", started(continued["adam"]))
