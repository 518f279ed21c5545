"""Whole projects with several Estimators; what they export; real TensorFlow 1.x."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runner import verify
from tfmigrate.training import parts_for, training_module

PROGRAMS = Path(__file__).parent / "programs"


MISTAKEN = """\
class Small(Wide):
    def loss(self, features, labels, outputs):
        return 1.01 * super().loss(features, labels, outputs)

"""


def tree(folder: Path, program: str = "two_estimators.py") -> Path:
    """A package whose module is run as `python -m pkg.main`."""
    package = folder / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", "utf-8")
    shutil.copy(PROGRAMS / program, package / "main.py")
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The project, what somebody made of it, and the verdict over the two trees."""
    folder = tmp_path_factory.mktemp("project")
    tree(folder / "old")
    package = tree(folder / "new", "two_trainers.py") / "pkg"
    parts = parts_for(["Task", "Trainer", "Callback", "hooks"])
    (package / "training.py").write_text(training_module(parts), "utf-8")
    result = verify(
        *["old", "new", "--steps", "0", "--format", "json"],
        *["--keep", "kept", "--report", "report.html"],
        *["--", "MARK=set", "python", "-m", "pkg.main"],
        cwd=folder,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return folder, json.loads(result.stdout)


def test_every_training_of_a_project(project: tuple[Path, Any]) -> None:
    folder, document = project
    assert [each["name"] for each in document["trainings"]] == ["wide", "small"]
    assert document["verdict"].startswith("Parity: 2 trainings are the same")
    for training in document["trainings"]:
        assert len(training["trajectory"]["steps"]) == 24
        found = {check["what"]: check for check in training["checks"]}
        assert {check["outcome"] for check in found.values()} == {"same"}
        slots = {"wide": "4 (momentum)", "small": "4 (m, v)"}[training["name"]]
        assert found["optimizer slots"]["first"] == slots
        assert found["checkpoints"]["second"] == "of steps 0, 24"
        metric = {"wide": "mae", "small": "mse"}[training["name"]]
        assert float(found[f"evaluate: {metric}"]["first"]) > 0
    assert (folder / "report.html").read_text("utf-8").count("<svg") == 4


def test_exports_of_both_answer_alike(
    project: tuple[Path, Any], tmp_path: Path
) -> None:
    folder, _ = project
    models = [
        next((folder / "kept" / f"run-{side}").rglob("saved_model.pb")).parent
        for side in (0, 1)
    ]
    page = tmp_path / "models.html"
    result = verify(*models, "--format", "json", "--report", page)
    assert result.returncode == 0, result.stdout + result.stderr
    document = json.loads(result.stdout)
    found = {check["what"]: check for check in document["checks"]}
    # The signature takes serialized examples, which were made from what it parses.
    assert found["serving_default: inputs"]["first"] == "examples string [?]"
    assert found["answer serving_default/y"]["first"] == "float32 [4, 1]"
    # Weights of two trainings: 1.4e-6 on a processor with other vector instructions.
    assert found["answer serving_default/y"]["difference"] < 1e-5
    assert "Do both models answer the same?" in page.read_text("utf-8")


def test_a_mistake_in_the_second_training(
    project: tuple[Path, Any],
) -> None:
    folder, _ = project
    wrong = folder / "wrong"
    shutil.copytree(folder / "new", wrong, ignore=shutil.ignore_patterns("out"))
    program = wrong / "pkg" / "main.py"
    text = program.read_text("utf-8")
    program.write_text(text.replace("class Small(Wide):\n", MISTAKEN), "utf-8")
    recorded = folder / "kept" / "run-0"
    result = verify(
        *[recorded, wrong / "pkg" / "main.py", "--steps", "4"],
        *["--keep", folder / "mistaken"],
    )
    assert result.returncode == 1, result.stdout + result.stderr
    assert "No parity: in small, the losses part at step 1" in result.stdout
    # What it exported has other weights by then.
    models = [
        next((folder / run).rglob("saved_model.pb")).parent
        for run in ("kept/run-0", "mistaken")
    ]
    told = verify(*models)
    assert told.returncode == 1, told.stdout + told.stderr
    assert "No parity: answer serving_default/y differs by" in told.stdout


def test_a_training_without_a_partner(
    project: tuple[Path, Any], tmp_path: Path
) -> None:
    recorded = project[0] / "kept" / "run-0"
    less = tmp_path / "less"
    shutil.copytree(recorded, less, ignore=shutil.ignore_patterns("training-2"))
    told = verify(recorded, less)
    assert told.returncode == 1
    assert "training 2 (small) of the first side has no partner" in told.stdout
    # Where one was stopped in its first training, nobody knows of further ones.
    document = json.loads((less / "recording.json").read_text())
    document["ran_whole"] = False
    (less / "recording.json").write_text(json.dumps(document))
    told = verify(recorded, less)
    assert told.returncode == 0, told.stdout
    assert "Not compared: training 2 (small) of the first side" in told.stdout
    # Slots are part of the verdict: those of Adam, a hundredth off.
    wrong = tmp_path / "wrong"
    shutil.copytree(recorded, wrong)
    slots = wrong / "training-2" / "slots.npz"
    with np.load(slots) as stored:
        changed = {key: stored[key] * 1.01 for key in stored.files}
    np.savez(slots, **changed)
    told = verify(recorded, wrong)
    assert told.returncode == 1
    assert "in small, the losses of 24 steps agree, but optimizer slots" in told.stdout


def test_commands_and_trees_that_do_not_fit(tmp_path: Path) -> None:
    tree(tmp_path / "old")
    (tmp_path / "new").mkdir()
    for words, told in (
        (["bash", "run.sh"], "`python SCRIPT` or `python -m MODULE`"),
        (["python"], "`python SCRIPT` or `python -m MODULE`"),
        (["python", "-u", "train.py"], "there is no train.py"),
        (["python", "-m", "pkg.main"], "new: there is no module pkg.main"),
        (["python", "/abs/train.py"], "as it is called in both trees"),
    ):
        result = verify("old", "new", "--", *words, cwd=tmp_path)
        assert (result.returncode, told in result.stderr) == (2, True), result.stderr


@pytest.mark.oracle
def test_the_real_thing_beside_both(
    project: tuple[Path, Any],
) -> None:
    python = os.environ.get("TFMIGRATE_TF115_PYTHON")
    if not python:
        pytest.skip("needs TFMIGRATE_TF115_PYTHON")
    folder, _ = project
    result = verify(
        *["old", "new", "--legacy-python", python, "--format", "json"],
        *["--steps", "0", "--report", "real.html", "--", "python", "-m", "pkg.main"],
        cwd=folder,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    document = json.loads(result.stdout)
    assert "the same as real TensorFlow 1.15.5" in document["verdict"]
    for training in document["trainings"]:
        real = training["real"]
        assert real["producer"]["tensorflow"] == "1.15.5"
        for against in real["against"]:
            assert against["parity"]
            assert against["trajectory"]["same_start"]
            assert 0 < against["trajectory"]["largest_relative_difference"] < 1e-5
            assert {each["outcome"] for each in against["checks"]} == {"same"}
    page = (folder / "real.html").read_text("utf-8")
    assert "real TensorFlow 1.15.5" in page
    neither = verify(
        *["new", "new", "--legacy-python", python],
        *["--", "python", "-m", "pkg.main"],
        cwd=folder,
    )
    assert neither.returncode == 2
    assert "neither side is one" in neither.stderr
