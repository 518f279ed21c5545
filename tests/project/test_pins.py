"""Requirements that install an old TensorFlow are pointed out, never changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tfmigrate.cli import cli
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.files import find_files
from tfmigrate.report.findings import Finding
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
