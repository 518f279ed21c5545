"""Whatever goes wrong: one line on stderr, exit status 2, nothing lost, no one let in."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.files import find_files
from tfmigrate.project.writes import Moved, Target, replace_file
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


def fails(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Status 2, and one line that says why (with at most one that says what to do)."""
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line]
    assert sum(line.lower().startswith("error: ") for line in lines) == 1, done.stderr
    assert not [
        x
        for x in lines
        if not x.lower().startswith(("error: ", "hint: ", "usage: ", "try "))
    ]
    for word in words:
        assert word in done.stderr


def refused(*args: str | Path) -> str:
    """What a command says that ends with an error, asked in this process."""
    from click.testing import CliRunner
    from tfmigrate.cli import cli
    from tfmigrate.errors import UserError

    result = CliRunner().invoke(cli, [str(a) for a in args])
    assert isinstance(result.exception, UserError), result.exception
    return result.exception.message


def mortal(*args: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """The command as a user to whom the permissions of files apply, root or not."""

    def drop() -> None:
        libc = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            libc.prctl(24, capability)  # out of the bounding set, so gone after exec

    return subprocess.run(
        [sys.executable, "-m", "tfmigrate", *map(str, args)],
        capture_output=True,
        text=True,
        preexec_fn=drop,
        **options,  # type: ignore[call-overload]
    )


# -- what is read ------------------------------------------------------------------


def test_pipes_and_devices_are_refused(tmp_path: Path, tfmigrate: Runner) -> None:
    """Reading a pipe would wait for ever."""
    os.mkfifo(tmp_path / "pipe.py")
    fails(tfmigrate("scan", tmp_path / "pipe.py"), "is no regular file")
    fails(tfmigrate("rewrite", "/dev/null", "--diff"), "is no regular file")
    os.mkfifo(tmp_path / ".gitignore")
    assert tfmigrate("scan", tmp_path).returncode == 0


def test_an_unreadable_folder_is_told(project: Path) -> None:
    (project / "shut").mkdir()
    (project / "shut" / "b.py").write_text(OLD)
    (project / "shut").chmod(0)
    try:
        done = mortal("scan", project)
    finally:
        (project / "shut").chmod(0o755)
    assert done.returncode == 2
    assert f"{project}/shut: cannot process: cannot read: Permission" in done.stdout
    assert "TFM201" in done.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'[tool.tfmigrate]\nexclude = ["\xff"]\n', "cannot read"),
        (b"[tool.tfmigrate\n", "cannot read"),
        (b'[tool]\ntfmigrate = "x"\n', "must be a table"),
        (b'[tool.tfmigrate]\nselect = ["TFM999"]\n', "there is no rule 'TFM999'"),
        (b'[tool.tfmigrate]\nexclud = ["a"]\n', "Did you mean exclude?"),
        (b'[tool.tfmigrate]\nexclude = ["a/***/["]\n', ""),
    ],
)
def test_a_bad_pyproject_is_told(content: bytes, words: str, project: Path) -> None:
    (project / "pyproject.toml").write_bytes(content)
    if words:
        assert words in refused("scan", project)


def test_a_pyproject_for_others_is_no_matter(project: Path, tfmigrate: Runner) -> None:
    (project / "pyproject.toml").write_text("tool = 3\n")
    assert tfmigrate("scan", project).returncode == 1


def test_a_pattern_cannot_hang_the_tool(project: Path, tfmigrate: Runner) -> None:
    pattern = "*a" * 16 + "b"
    (project / ("a" * 200 + ".py")).write_text("")
    (project / "pyproject.toml").write_text(
        f'[tool.tfmigrate]\nexclude = ["{pattern}"]'
    )
    fails(tfmigrate("scan", project, "--timeout", "1"), "looking for files took too")


def test_unknown_rules_are_errors(project: Path, tfmigrate: Runner) -> None:
    near = "there is no rule 'droput-rate'. Did you mean dropout-rate?"
    fails(tfmigrate("scan", project, "--select", "droput-rate"), near)
    fails(tfmigrate("scan", project, "--ignore", "TFM2,X1"), "there is no rule 'X1'")
    fails(tfmigrate("explain", "droput-rate"), near)
    for known in ("TFM", "tfm2", "TFM201", "renamed-symbol"):
        assert "TFM201" in tfmigrate("scan", project, "--select", known).stdout


def test_unknown_commands_have_neighbours(tfmigrate: Runner) -> None:
    fails(tfmigrate("rewrit"), "No such command 'rewrit'. Did you mean rewrite?")


@pytest.mark.parametrize(
    "cells",
    [
        "[1, null]",
        '[{"cell_type": "code", "source": {"a": 1}}]',
        '[{"cell_type": "code", "source": ["tf.log", 5]}]',
        '[{"cell_type": "code", "source": "tf.log(1)", "source": "tf.log(2)"}]',
        '[{"cell_type": "code", "source": "x = \'\\ud800\'"}]',
        '[{"cell_type": ["code"], "source": "tf"}]',
        '[{"cell_type": "code"}]',
    ],
)
def test_odd_cells_are_no_mistake_of_ours(cells: str) -> None:
    raw = f'{{"cells": {cells}, "x": "tensorflow"}}'.encode()
    result = process_source(Path("a.ipynb"), raw, Job(), ProjectFacts())
    assert "internal" not in (result.error or "")


# -- what is told --------------------------------------------------------------------


def test_names_that_are_not_text(tmp_path: Path, tfmigrate: Runner) -> None:
    """They go out as the bytes they are, and break no report."""
    (tmp_path / os.fsdecode(b"n\xff.py")).write_text(OLD)
    done = subprocess.run(
        [sys.executable, "-m", "tfmigrate", "scan", tmp_path], capture_output=True
    )
    assert done.returncode == 1, done.stderr
    assert b"n\xff.py:3:5 TFM201" in done.stdout
    for form in ("html", "sarif", "json"):
        out = tmp_path / f"report.{form}"
        assert tfmigrate("scan", tmp_path, "--format", form, "-o", out).returncode == 1
        text = out.read_bytes().decode("utf-8")
        assert ("n%FF.py" if form == "sarif" else "n\\udcff.py") in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_full_device_is_told(project: Path, tfmigrate: Runner) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tfmigrate", "scan", project],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    done.stdout = ""
    fails(done, "cannot write to standard output: No space left on device")
    fails(tfmigrate("scan", project, "-o", "/dev/full"), "cannot write /dev/full")


def test_a_report_that_has_no_place_is_told_before_the_work(
    project: Path, tfmigrate: Runner
) -> None:
    nowhere = project / "no" / "report.html"
    fails(
        tfmigrate("rewrite", "--allow-dirty", project, "-o", nowhere),
        "no such directory",
    )
    assert (project / "a.py").read_text() == OLD
    fails(
        tfmigrate("verify", project / "a.py", project / "a.py", "--report", nowhere),
        "no such directory",
    )
    fails(
        tfmigrate("verify", project / "a.py", project / "a.py", "--report", project),
        "is a directory",
    )


def test_paths_are_printed_from_here(project: Path, tfmigrate: Runner) -> None:
    """However a file was named, it is shown the same way, undo's lines included."""
    for named in (project, Path(), Path("./a.py"), project / "a.py"):
        done = tfmigrate("scan", named, cwd=project)
        assert done.stdout.startswith("a.py:3:5 TFM201"), done.stdout
    assert tfmigrate("rewrite", project, "--allow-dirty", cwd=project).returncode == 0
    assert tfmigrate("undo", project, cwd=project).stdout.startswith("a.py: restored")


# -- what is written -----------------------------------------------------------------


def test_a_root_that_cannot_hold_a_journal(project: Path) -> None:
    project.chmod(0o555)
    try:
        fails(mortal("rewrite", "--allow-dirty", project), "cannot make the journal")
        fails(mortal("undo", project), "no rewrite to undo")
    finally:
        project.chmod(0o755)
    assert (project / "a.py").read_text() == OLD


def test_no_room_for_the_journal(project: Path) -> None:
    """Nothing is changed, nothing is left behind, one line says so."""
    (project / "a.py").write_text(OLD + f"text = '{'x' * 50_000}'\n")
    before = (project / "a.py").read_bytes()
    limited = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "from tfmigrate.cli import main\n"
        "sys.argv = ['tfmigrate', *sys.argv[1:]]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, "rewrite", "--allow-dirty", project],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    fails(done, "cannot write the journal", "File too large", "no file was changed")
    assert (project / "a.py").read_bytes() == before
    assert not list((project / ".tfmigrate" / "journal").iterdir())


def test_a_link_that_is_swapped_in_is_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim.py"
    file = tmp_path / "src" / "a.py"
    file.parent.mkdir()
    for path in (victim, file):
        path.write_text(OLD)
    target = Target.of(file)
    file.unlink()
    file.symlink_to(victim)
    with pytest.raises(Moved):
        replace_file(target, OLD.encode(), NEW.encode())
    # A folder in the place of its own, with a file of the same text.
    file.unlink()
    file.parent.rename(tmp_path / "was")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.py").write_text(OLD)
    (tmp_path / "src").symlink_to(tmp_path / "other")
    with pytest.raises(Moved):
        replace_file(target, OLD.encode(), NEW.encode())
    assert victim.read_text() == (tmp_path / "other" / "a.py").read_text() == OLD


def test_a_file_that_was_replaced_is_not_overwritten(tmp_path: Path) -> None:
    """Another file of the same name and text is not the one that was read."""
    file = tmp_path / "a.py"
    file.write_text(OLD)
    target = Target.of(file)
    (tmp_path / "b.py").write_text(OLD)
    (tmp_path / "b.py").replace(file)
    with pytest.raises(Moved):
        replace_file(target, OLD.encode(), NEW.encode())


def test_a_link_in_the_tree_stays_a_link(project: Path, tfmigrate: Runner) -> None:
    (project / "real").mkdir()
    (project / "a.py").rename(project / "real" / "a.py")
    (project / "a.py").symlink_to("real/a.py")
    assert tfmigrate("rewrite", "--allow-dirty", project / "a.py").returncode == 0
    assert (project / "a.py").is_symlink()
    assert (project / "real" / "a.py").read_text() == NEW


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_stays(project: Path, tfmigrate: Runner) -> None:
    os.chown(project / "a.py", 1234, 1235)
    (project / "a.py").chmod(0o640)
    for command in (("rewrite", "--allow-dirty"), ("undo",)):
        assert tfmigrate(*command, project).returncode == 0
        status = (project / "a.py").stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (
            1234,
            1235,
            0o640,
        )


def test_hard_links_are_told(project: Path, tfmigrate: Runner) -> None:
    os.link(project / "a.py", project / "other")
    done = tfmigrate("rewrite", "--allow-dirty", project)
    assert done.returncode == 0
    assert f"note: {project}/a.py: 1 other hard link to it kept" in done.stderr
    assert (project / "other").read_text() == OLD


# -- undo --------------------------------------------------------------------------


def journal_of(project: Path, entry: dict[str, object] | str) -> Path:
    run = project / ".tfmigrate" / "journal" / "20990101-000000-000"
    run.mkdir(parents=True)
    files = (
        entry if isinstance(entry, str) else json.dumps({"format": 2, "files": [entry]})
    )
    (run / "manifest.json").write_text(files)
    return run


def entry_for(path: str, old: bytes, now: bytes) -> dict[str, object]:
    from tfmigrate.project.journal import digest

    return {"path": path, "backup": "0.orig", "old": digest(old), "new": digest(now)}


@pytest.mark.parametrize(
    "place",
    ["../victim", "{top}/victim", "link/victim", ".git/hooks/x", "a/../../victim"],
)
def test_a_journal_cannot_lead_out_of_its_project(
    place: str, tmp_path: Path, project: Path
) -> None:
    """A repository that was cloned may carry any journal it likes."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (project / "link").symlink_to(tmp_path)
    (project / ".git" / "hooks").mkdir(parents=True)
    run = journal_of(
        project, entry_for(place.format(top=tmp_path), b"evil", b"precious")
    )
    (run / "0.orig").write_bytes(b"evil")
    assert "was not written by tfmigrate" in refused("undo", project, "--force")
    assert victim.read_text() == "precious"
    assert not list((project / ".git" / "hooks").iterdir())


def test_a_journal_reads_no_file_of_others(
    tmp_path: Path, project: Path, tfmigrate: Runner
) -> None:
    """A backup that is a link would copy a secret into the project."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    run = journal_of(project, entry_for("a.py", b"secret", OLD.encode()))
    (run / "0.orig").symlink_to(secret)
    done = tfmigrate("undo", project)
    assert done.returncode == 2
    assert "its copy in the journal is missing" in done.stdout
    assert (project / "a.py").read_text() == OLD


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "[]",
        "{",
        "3",
        '{"format": 9, "files": []}',
        '{"format": 2, "files": [3]}',
        '{"format": 2, "files": [{"path": "a.py"}]}',
        '{"format": 2, "files": [{"path": 1, "new": 2}]}',
        "[" * 100_000,
    ],
)
def test_a_broken_manifest_is_told(manifest: str, project: Path) -> None:
    run = journal_of(project, manifest)
    assert str(run) in refused("undo", project)


def test_a_manifest_that_is_a_pipe_is_not_waited_for(
    project: Path, tfmigrate: Runner
) -> None:
    run = journal_of(project, "x")
    (run / "manifest.json").unlink()
    os.mkfifo(run / "manifest.json")
    fails(tfmigrate("undo", project), "no regular file")


@pytest.mark.parametrize("part", [".tfmigrate", ".tfmigrate/journal"])
def test_a_journal_that_is_a_link_is_refused(
    part: str, tmp_path: Path, project: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / part).parent.mkdir(exist_ok=True)
    (project / part).symlink_to(elsewhere)
    assert "is a link" in refused("rewrite", "--allow-dirty", project)
    assert not list(elsewhere.iterdir())
    assert (project / "a.py").read_text() == OLD


def test_undo_brings_deleted_files_back(project: Path, tfmigrate: Runner) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "b.py").write_text(OLD)
    (project / "sub" / "b.py").chmod(0o750)
    tfmigrate("rewrite", "--allow-dirty", project)
    (project / "sub" / "b.py").unlink()
    (project / "sub").rmdir()
    done = tfmigrate("undo", project)
    assert done.returncode == 0, done.stdout
    assert (project / "sub" / "b.py").read_text() == OLD
    assert (project / "sub" / "b.py").stat().st_mode & 0o777 == 0o750


# -- new files -----------------------------------------------------------------------


def test_new_files_are_undone_too(tmp_path: Path) -> None:
    from tfmigrate.project.journal import Change, lock, undo, write_all

    old, new = tmp_path / "a.py", tmp_path / "loop.py"
    old.write_text(OLD)
    changes = {
        old: Change(Target.of(old), OLD.encode(), NEW.encode()),
        new: Change(Target.of(new), None, b"x = 1\n"),
    }
    with lock(tmp_path):
        assert not write_all(tmp_path, changes).failures
        assert new.read_text() == "x = 1\n"
        new.write_text("x = 2\n")
        assert new in undo(tmp_path).refused
        new.write_text("x = 1\n")
        assert not undo(tmp_path).refused
    assert not new.exists()
    assert old.read_text() == OLD


def test_what_needs_a_new_file_is_not_changed_without_it(tmp_path: Path) -> None:
    from tfmigrate.project.journal import Change, lock, write_all

    old, new = tmp_path / "a.py", tmp_path / "loop.py"
    old.write_text(OLD)
    new.write_text("mine\n")
    changes = {
        old: Change(Target.of(old), OLD.encode(), NEW.encode()),
        new: Change(Target(new), None, b"x = 1\n"),
    }
    with lock(tmp_path):
        failures = write_all(tmp_path, changes).failures
    assert set(failures) == {old, new}
    assert (old.read_text(), new.read_text()) == (OLD, "mine\n")


# -- --out ---------------------------------------------------------------------------


def test_out_does_not_overwrite(
    project: Path, tmp_path: Path, tfmigrate: Runner
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.py").write_text("mine\n")
    fails(tfmigrate("rewrite", project, "--out", out), "would be overwritten")
    assert (out / "a.py").read_text() == "mine\n"
    assert not (out / "setup.py").exists()
    assert tfmigrate("rewrite", project, "--out", out, "--force").returncode == 0
    assert (out / "a.py").read_text() == NEW


def test_out_is_not_where_the_files_are(project: Path, tfmigrate: Runner) -> None:
    for out in (".", project, project / "sub" / ".."):
        (project / "sub").mkdir(exist_ok=True)
        done = tfmigrate("rewrite", project, "--out", out, "--force", cwd=project)
        fails(done, "is where the files are")
    assert (project / "a.py").read_text() == OLD


@pytest.mark.parametrize("what", ["file", "folder"])
def test_out_stays_inside(
    what: str, project: Path, tmp_path: Path, tfmigrate: Runner
) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "b.py").write_text(OLD)
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    out.mkdir()
    if what == "folder":
        (out / "sub").symlink_to(elsewhere)
    else:
        (out / "sub").mkdir()
        (out / "sub" / "b.py").symlink_to(elsewhere / "b.py")
    tfmigrate("rewrite", project, "--out", out, "--force")
    assert not list(elsewhere.iterdir())


def test_out_takes_trees_behind_a_link(
    project: Path, tmp_path: Path, tfmigrate: Runner
) -> None:
    (tmp_path / "alias").symlink_to(project)
    out = tmp_path / "out"
    assert tfmigrate("rewrite", tmp_path / "alias", "--out", out).returncode == 0
    assert (out / "a.py").read_text() == NEW


def test_files_are_found_in_a_stable_order(project: Path) -> None:
    (project / "b.py").write_text("")
    assert [c.path.name for c in find_files([project])] == ["a.py", "b.py", "setup.py"]
