"""Trees and terminals as one meets them: odd files, odd names, closed streams."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tfmigrate.forms.text import diff_text
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.printable import printable
from tfmigrate.rewrite.pipeline import Job, process_source

Runner = Callable[..., "subprocess.CompletedProcess[str]"]
OLD = "import tensorflow as tf\n\nx = tf.log(1)\n"
NEW = "import tensorflow as tf\n\nx = tf.math.log(1)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with one legacy file."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text(OLD)
    (folder / "setup.py").write_text("")
    return folder


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A line of a shell, in which `$TFM` is the command."""
    return subprocess.run(
        ["sh", "-c", command],
        cwd=cwd,
        env={**os.environ, "TFM": f"{sys.executable} -m tfmigrate", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_what_lies_beside_a_file_is_not_read_for_ever(
    project: Path, tfmigrate: Runner
) -> None:
    """Its neighbours may be imported, so they are looked at: once without an end."""
    os.mkfifo(project / "pipe.py")
    os.symlink("/dev/zero", project / "endless.py")
    os.symlink(".", project / "here")
    os.symlink("round.py", project / "round.py")
    with (project / "vast.py").open("wb") as stream:
        stream.truncate(3 * 1024**3)
    (project / "a.py").write_text(f"import vast, endless, pipe\n{OLD}")
    done = tfmigrate("rewrite", "--allow-dirty", project / "a.py", timeout=60)
    assert done.returncode == 0, done.stderr
    assert "tf.math.log" in (project / "a.py").read_text()
    vast = tfmigrate("scan", project / "vast.py", timeout=60)
    assert "cannot read: larger than any source file" in vast.stdout
    circle = tfmigrate("scan", project / "round.py")
    assert circle.returncode == 2
    assert circle.stderr.startswith("error: no such file"), circle.stderr


# -- names ---------------------------------------------------------------------------


def test_plain_names_are_shown_as_they_are() -> None:
    for name in ("a b/c-d.py", "é中.py", "\udcff.py", ""):
        assert printable(name) == name


def test_a_name_cannot_speak_to_the_terminal(project: Path, tfmigrate: Runner) -> None:
    """Neither a line of its own nor colours, titles and writing from right to left."""
    name = "a\nb\x1b[31m\x9b\u202e.py"
    (project / name).write_text(OLD)
    shown = r"a\nb\x1b[31m\x9b\u202e.py"
    done = tfmigrate("rewrite", "--allow-dirty", ".", cwd=project)
    assert f"{shown}:3:5 TFM201" in done.stdout
    undone = tfmigrate("undo", cwd=project)
    assert f"{shown}: restored" in undone.stdout
    missing = tfmigrate("scan", name + "x", cwd=project)
    for said in (done.stdout, undone.stdout, missing.stderr):
        assert all(line.isprintable() for line in said.splitlines())
        assert "\x9b" not in said


@pytest.mark.parametrize("name", ["a.py", "a b.py", 'a\n"\\\x1b\té\x07.py'])
def test_a_diff_can_be_applied_to_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(OLD)
    result = process_source(Path(name), OLD.encode(), Job(), ProjectFacts())
    text = diff_text(result)
    assert "\x1b" not in text
    subprocess.run(["git", "apply"], cwd=tmp_path, input=text, text=True, check=True)
    assert (tmp_path / name).read_text() == NEW


# -- how it is called ----------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [("scan", ""), ("rewrite", "--allow-dirty", ""), ("rewrite", ".", "--out", "")],
)
def test_an_empty_word_is_not_the_present_folder(
    words: tuple[str, ...], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``rewrite "$SOURCES"`` without such a variable rewrote all there was."""
    from click.testing import CliRunner
    from tfmigrate.cli import cli

    monkeypatch.chdir(project)
    with pytest.raises(Exception, match="an empty word is no path") as told:
        CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)
    assert type(told.value).__module__.startswith(("click", "tfmigrate"))
    assert (project / "a.py").read_text() == OLD


def test_closed_streams_are_no_matter(project: Path) -> None:
    """The next file that is opened must not take the place of stderr either."""
    done = shell("$TFM rewrite --allow-dirty . <&- >&- 2>&-", project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (project / "a.py").read_text() == NEW
    assert shell("$TFM rewrite - <&-", project).returncode == 0


def test_a_folder_that_is_gone_is_told(project: Path) -> None:
    done = shell("mkdir gone; cd gone; rmdir ../gone; $TFM scan ..", project)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the folder you are in does not exist")


def test_a_tree_runs_nothing_through_git(project: Path, tfmigrate: Runner) -> None:
    """An archive can carry settings of git that name programs."""

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=project, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all")
    (project / ".gitattributes").write_text("*.py filter=own\n")
    (project / ".git" / "ran.sh").write_text(f"#!/bin/sh\ntouch {project}/ran\ncat\n")
    (project / ".git" / "ran.sh").chmod(0o755)
    for name in ("core.fsmonitor", "filter.own.clean", "filter.own.process"):
        git("config", name, f"{project}/.git/ran.sh")
    git("config", "filter.own.required", "true")
    os.utime(project / "a.py", (0, 0))  # so that git compares what is in it
    assert tfmigrate("rewrite", ".", cwd=project).returncode == 0
    assert (project / "a.py").read_text() == NEW
    assert not (project / "ran").exists()
