"""Facts across files: re-exports, definitions, cycles, importers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.files import find_files
from tfmigrate.report.findings import Finding, Outcome, Safety
from tfmigrate.report.model import FileStatus
from tfmigrate.rewrite.pipeline import Job, process_file


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package whose training code is spread over files."""
    files = {
        "pkg/__init__.py": "",
        "pkg/common.py": "import tensorflow as tf\nfrom .loop import name\nslim = tf.contrib.slim\n",
        "pkg/loop.py": "from .common import tf\nname = 1\n",
        "pkg/models.py": "from .common import tf as flow\n\n\ndef model_fn(features):\n    return flow.log(features)\n",
        "pkg/main.py": "from . import models\nfrom .models import model_fn as fn\nbuild = models.model_fn\n",
        "run.py": "from pkg.main import build\n",
        "other.py": "import json\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


def facts_of(tree: Path) -> ProjectFacts:
    return ProjectFacts(tuple(c.path for c in find_files([tree])))


def test_reexports_are_followed_even_in_cycles(tree: Path) -> None:
    facts = facts_of(tree)
    result = process_file(tree / "pkg/models.py", Job(), facts)
    assert [f.symbol for f in result.findings] == ["tf.log"]
    loop = facts.parsed(tree / "pkg/loop.py")
    assert loop is not None
    assert loop.resolver.exported("tf") == "tensorflow"


def test_definitions_are_found_across_files(tree: Path) -> None:
    facts = facts_of(tree)
    run = facts.parsed(tree / "run.py")
    assert run is not None
    found = facts.find("pkg.main.build", run.path)
    assert found is not None
    assert (found.name, found.module.path) == ("model_fn", tree / "pkg/models.py")
    main = facts.parsed(tree / "pkg/main.py")
    assert main is not None
    assert facts.find("pkg.main.fn", main.path) is not None
    assert facts.find("pkg.main.missing", main.path) is None


def test_a_module_is_parsed_once_for_each_content(tree: Path) -> None:
    facts = facts_of(tree)
    path = tree / "pkg/models.py"
    first = facts.parsed(path)
    assert first is not None
    assert facts.parsed(path) is first
    path.write_text("model_fn = None\n")
    second = facts.parsed(path)
    assert second is not None
    assert second.source.text == "model_fn = None\n"


def test_importers_are_known(tree: Path) -> None:
    facts = facts_of(tree)
    assert facts.importers(tree / "pkg/models.py") == (tree / "pkg/main.py",)
    assert facts.importers(tree / "pkg/main.py") == (tree / "run.py",)


def test_files_near_legacy_code_are_looked_at(tree: Path) -> None:
    facts = facts_of(tree)
    states = {
        name: process_file(tree / name, Job(), facts).status
        for name in ("pkg/main.py", "run.py", "other.py")
    }
    assert states["pkg/main.py"] is FileStatus.UNCHANGED
    assert states["other.py"] is FileStatus.SKIPPED


def test_the_walk_respects_ignores_and_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    top = tmp_path / "repo"
    for folder in (
        outside,
        top / ".git",
        top / "a",
        top / "build",
        top / "env",
        top / "node_modules",
    ):
        folder.mkdir(parents=True)
    for name in (
        "a/x.py",
        "a/y.pyi",
        "a/z.txt",
        "build/b.py",
        "env/e.py",
        "node_modules/n.py",
        "gen.py",
        "keep.py",
        "n.ipynb",
    ):
        (top / name).write_text("")
    (top / "env/pyvenv.cfg").write_text("")
    (outside / "o.py").write_text("")
    (top / ".gitignore").write_text("build/\n*.py\n!a/*.py\n!keep.py\n")
    (top / "a/.gitignore").write_text("skip.py\n")
    (top / "a/skip.py").write_text("")
    (top / "a/link.py").symlink_to(outside / "o.py")
    (top / "a/inner.py").symlink_to(top / "keep.py")
    (top / "linked").symlink_to(outside)

    def found(*paths: Path, exclude: tuple[str, ...] = ()) -> list[str]:
        return [
            str(c.path.relative_to(top)) for c in find_files(paths, exclude=exclude)
        ]

    assert found(top) == ["keep.py", "n.ipynb", "a/inner.py", "a/x.py"]
    assert found(top, exclude=("a/",)) == ["keep.py", "n.ipynb"]
    assert found(top / "gen.py") == ["gen.py"]  # named: always taken
    assert found(top / "build") == ["build/b.py"]  # a named directory as well
    assert found(top, top / "a" / "x.py") == found(top)


def test_findings_that_do_not_fit_the_file_fail_that_file_alone(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result's own checks are part of the work that may not stop a run."""
    path = tree / "odd.py"
    path.write_text("import tensorflow as tf\n\nx = tf.log(1.0)\n")
    told = Finding(path, 3, 5, "TFM201", "moved", Outcome.REWRITTEN, Safety.EXACT)
    monkeypatch.setattr(
        "tfmigrate.rewrite.pipeline._rewrite",
        lambda parsed, job, facts: (path.read_bytes(), (told,), ()),
    )
    result = process_file(path, Job(), ProjectFacts((path,)))
    assert result.status is FileStatus.FAILED
    assert "a rewritten finding in an unchanged file" in (result.error or "")
