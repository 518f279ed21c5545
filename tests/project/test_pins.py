"""Requirements that install an old TensorFlow are pointed out, and edited if asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tfmigrate.cli import cli
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.files import find_files
from tfmigrate.report.findings import Finding, Outcome
from tfmigrate.report.model import FileStatus
from tfmigrate.rewrite.pipeline import Job, process_source


def pins(name: str, raw: bytes) -> tuple[Finding, ...]:
    result = process_source(Path(name), raw, Job(), ProjectFacts())
    assert result.error is None
    return tuple(f for f in result.findings if f.rule == "TFM503")


@pytest.mark.parametrize(
    "line",
    [
        "numpy==1.15",
        "tensorflow",
        "tensorflow>=1.12",
        "tensorflow==2.16.1",
        "tensorflow-hub==0.1",
        "my-tensorflow==1.0",
        "# tensorflow==1.15",
        "tensorflow==1.15  # tfmigrate: ignore[TFM503] the old service",
    ],
)
def test_other_requirements_are_left_alone(line: str) -> None:
    assert pins("requirements.txt", f"tensorflow-io\n{line}\n".encode()) == ()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("requirements.txt", "tensorflow==1.15.0"),
        ("requirements-dev.txt", "tensorflow-gpu"),
        ("requirements.txt", "tensorflow>=1.10,<2"),
        ("requirements.txt", "tensorflow[and-cuda]~=2.4"),
        ("requirements.txt", "tensorflow_estimator==1.15.1"),
        ("environment.yml", "  - tensorflow-gpu=1.15"),
        ("setup.py", "setup(install_requires=['tensorflow>=1.4,<2.0'])"),
    ],
)
def test_old_versions_are_pointed_out(name: str, line: str) -> None:
    found = pins(name, f"#\n{line}\n".encode())
    assert [f.line for f in found] == [2]


def test_requirement_files_are_found(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("tensorflow==1.15\n")
    (tmp_path / "notes.txt").write_text("tensorflow==1.15\n")
    assert [c.path.name for c in find_files([tmp_path])] == ["requirements.txt"]


def test_installs_in_notebooks() -> None:
    first = "!pip install -q tensorflow-gpu==1.12 \\\n   tensorflow==1.15.0\nx = 1\n"
    second = "%tensorflow_version 1.x\n!{sys.executable} -m pip install tensorflow~=2.4"
    third = "%%bash\npip install tensorflow==1.4\necho tensorflow==1.4\n"
    fine = "!pip install 'tensorflow>=2.16'\nprint('tensorflow==1.4')\n"
    cells = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
        for source in (first, second, third, fine)
    ]
    raw = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()
    result = process_source(Path("n.ipynb"), raw, Job(), ProjectFacts())
    assert result.status is FileStatus.UNCHANGED
    places = [(f.cell, f.line) for f in pins("n.ipynb", raw)]
    assert places == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)]


def test_a_pin_is_something_left(tmp_path: Path) -> None:
    """The rewrite of a project is not finished while it installs its old version."""
    (tmp_path / "requirements.txt").write_text("tensorflow==1.15\n")
    command = ["rewrite", "--check", str(tmp_path)]
    assert CliRunner().invoke(cli, command).exit_code == 1
    assert CliRunner().invoke(cli, [*command, "--ignore", "TFM503"]).exit_code == 0


EDITS = [
    (
        "requirements.txt",
        "tensorflow==1.15.0  # old",
        ["tensorflow>=2.16", "tf-keras>=2.16"],
    ),
    ("requirements.txt", "tf_keras\ntensorflow-gpu", ["tf_keras", "tensorflow>=2.16"]),
    ("constraints.txt", "tensorflow-estimator==1.15.1\nsix", ["six"]),
    (
        "requirements.in",
        "tensorflow<2; python_version<'3.8'",
        [
            "tensorflow>=2.16 ; python_version<'3.8'",
            "tf-keras>=2.16 ; python_version<'3.8'",
        ],
    ),
    (
        "setup.cfg",
        "install_requires =\n    tensorflow~=1.14",
        ["install_requires =", "    tensorflow>=2.16", "    tf-keras>=2.16"],
    ),
    (
        "environment.yml",
        "  - tensorflow-gpu=1.15=gpu_py36\n  - six",
        ["  - tensorflow>=2.16", "  - tf-keras>=2.16", "  - six"],
    ),
    (
        "setup.py",
        "setup(install_requires=['six', 'tensorflow>=1.4,<2.0', 'a'])",
        ["setup(install_requires=['six', 'tensorflow>=2.16', 'tf-keras>=2.16', 'a'])"],
    ),
    (
        "pyproject.toml",
        'dependencies = [\n  "tensorflow-estimator<2",\n  "tensorflow<2",\n]',
        ["dependencies = [", '  "tensorflow>=2.16", "tf-keras>=2.16",', "]"],
    ),
    (
        "pyproject.toml",
        '[tool.poetry.dependencies]\ntensorflow = "^1.15"',
        ["[tool.poetry.dependencies]", 'tensorflow = ">=2.16"', 'tf-keras = ">=2.16"'],
    ),
    (
        "Dockerfile",
        "FROM tensorflow/tensorflow:1.15.0-gpu-py3 AS base",
        [
            "FROM tensorflow/tensorflow:2.16.1-gpu AS base",
            "RUN pip install 'tf-keras~=2.16.0'",
        ],
    ),
    (
        "train.Dockerfile",
        'RUN pip install six "tensorflow==1.15" \\\n tensorflow-estimator==1.15 numpy',
        ["RUN pip install six 'tensorflow>=2.16' 'tf-keras>=2.16' \\", "  numpy"],
    ),
]


@pytest.mark.parametrize(("name", "text", "lines"), EDITS, ids=[e[1] for e in EDITS])
def test_requirements_are_edited(name: str, text: str, lines: list[str]) -> None:
    """The line that the report advises is the one that is written; then none is left."""
    raw = f"{text}\n".encode()
    told = pins(name, raw)
    assert {f.outcome for f in told} == {Outcome.ADVICE}
    job = Job(requirements=True)
    result = process_source(Path(name), raw, job, ProjectFacts())
    assert result.error is None
    assert result.new is not None
    assert result.new.decode().splitlines() == lines
    assert [f.message for f in result.findings] == [f.message for f in told]
    assert {f.outcome for f in result.findings} == {Outcome.REWRITTEN}
    assert pins(name, result.new) == ()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("setup.py", "TF = 'tensorflow==1.15'"),
        ("setup.py", "setup(extras_require={'tensorflow-gpu': ['six']})"),
        ("pyproject.toml", 'tensorflow = {version = "^1.15", optional = true}'),
        ("requirements.txt", "tensorflow==1.15 --hash=sha256:00"),
        ("setup.cfg", "install_requires = tensorflow==1.15"),
    ],
)
def test_what_is_not_a_plain_item_is_only_told(name: str, line: str) -> None:
    raw = f"{line}\n".encode()
    job = Job(requirements=True)
    result = process_source(Path(name), raw, job, ProjectFacts())
    assert result.new is None
    assert [f.outcome for f in result.findings] == [Outcome.ADVICE]
