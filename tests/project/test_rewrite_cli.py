"""scan, rewrite and undo as a user runs them: flags, exit codes, safety."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from tfmigrate.cli import cli
from tfmigrate.project.journal import lock

OLD = "import tensorflow as tf\n\nx = tf.log(1)\n"
NEW = "import tensorflow as tf\n\nx = tf.math.log(1)\n"
ADVICE = "import tensorflow as tf\n\nx = tf.contrib.slim.conv2d(y, 1, 1)\n"


def run(*args: str | Path) -> Result:
    """The command in this process; errors of the user become exit status 2."""
    from tfmigrate.errors import UserError

    result = CliRunner().invoke(cli, [str(a) for a in args])
    if isinstance(result.exception, UserError):
        result.exit_code = 2
    elif result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A committed project of one legacy file."""
    (tmp_path / "a.py").write_text(OLD)
    (tmp_path / "b.py").write_text("print('no legacy')\n")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(where: Path, *args: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", str(where), *identity, *args], check=True)


def commit(where: Path) -> None:
    git(where, "add", "-A")
    git(where, "commit", "-qm", "x")


def test_scan_tells_and_changes_nothing(project: Path) -> None:
    result = run("scan", project)
    assert result.exit_code == 1
    assert (
        f"{project}/a.py:3:5 TFM201 `tf.log` is called `tf.math.log`" in result.output
    )
    assert "1 finding: 1 can be rewritten, 0 advice, 0 left, 0 failed" in result.output
    assert (
        "2 files: 1 would change, 0 unchanged, 1 without legacy code, 0 failed"
        in result.output
    )
    assert (project / "a.py").read_text() == OLD
    # A report that a second scan tells again.
    assert {one.name for one in (project / ".tfmigrate").glob("*")} <= {
        "cache",
        ".gitignore",
    }


@pytest.mark.parametrize("made_before", [False, True])
def test_scan_tells_of_training_modules_what_a_rewrite_does(
    tmp_path: Path, made_before: bool
) -> None:
    legacy = Path(__file__).resolve().parents[2] / "fixtures" / "legacy"
    for name in ("custom_hooks", "digits_model_fn"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "train.py").write_bytes((legacy / name / "train.py").read_bytes())
        if made_before:
            out = folder / "out"
            run("rewrite", folder, "--out", out)
            (module,) = out.rglob("training.py")
            module.rename(folder / module.name)
            shutil.rmtree(out)
    told = {}
    for command in (["scan"], ["rewrite", "--check"]):
        result = run(*command, tmp_path, "--format", "json")
        told[command[0]] = json.loads(result.output)["files"]
    assert told["scan"] == told["rewrite"]
    status = {
        file["path"].removeprefix(f"{tmp_path}/"): file["status"]
        for file in told["scan"]
    }
    found = "unchanged" if made_before else "changed"
    assert status["custom_hooks/training.py"] == found
    assert status["digits_model_fn/training.py"] == found


def test_training_module_gets_what_a_native_program_has_come_to_ask_for(
    tmp_path: Path,
) -> None:
    legacy = Path(__file__).resolve().parents[2] / "fixtures" / "legacy"
    script, module = tmp_path / "train.py", tmp_path / "training.py"
    script.write_bytes((legacy / "digits_model_fn" / "train.py").read_bytes())
    assert run("rewrite", "--allow-dirty", tmp_path).exit_code == 0
    before = module.read_text()
    assert run("rewrite", "--allow-dirty", tmp_path).exit_code == 0
    assert module.read_text() == before
    text = script.read_text()
    assert "RunConfig(" in text
    assert "strategy" not in text
    assert "self.strategy" not in before
    on_all = "RunConfig(strategy=tf.distribute.MirroredStrategy(), "
    script.write_text(text.replace("RunConfig(", on_all, 1))
    assert run("rewrite", "--allow-dirty", tmp_path).exit_code == 0
    assert "self.strategy.scope()" in module.read_text()
    assert on_all in script.read_text()


def test_rewrite_then_undo(project: Path) -> None:
    (project / "a.py").chmod(0o755)
    git(project, "commit", "-qam", "mode")
    result = run("rewrite", project)
    assert result.exit_code == 0, result.output
    assert (project / "a.py").read_text() == NEW
    assert (project / "a.py").stat().st_mode & 0o777 == 0o755
    assert run("rewrite", "--allow-dirty", project).exit_code == 0  # nothing to do
    status = subprocess.run(
        ["git", "-C", project, "status", "--porcelain"], capture_output=True, text=True
    ).stdout
    assert status.split() == ["M", "a.py"]  # the journal does not show
    undone = run("undo", project).output
    assert "1 restored" in undone
    assert "next: `tfmigrate scan` tells" in undone
    assert (project / "a.py").read_text() == OLD
    assert run("undo", project).exit_code == 2  # nothing left to undo


def test_undo_does_not_overwrite_later_edits(project: Path) -> None:
    run("rewrite", project)
    (project / "a.py").write_text(NEW + "# mine\n")
    refused = run("undo", project)
    assert refused.exit_code == 2
    assert "edited after the rewrite" in refused.output
    assert "next: `tfmigrate undo --force` restores these too" in refused.output
    assert (project / "a.py").read_text().endswith("# mine\n")
    assert run("undo", "--force", project).exit_code == 0
    assert (project / "a.py").read_text() == OLD


def test_a_dirty_or_unversioned_tree_is_refused(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (project / "b.py").write_text("changed = 1\n")
    assert run("rewrite", project).exit_code == 2
    assert (project / "a.py").read_text() == OLD
    assert "git worktree" not in run("rewrite", "--allow-dirty", project).output
    loose = tmp_path_factory.mktemp("loose")
    (loose / "a.py").write_text(OLD)
    assert run("rewrite", loose).exit_code == 2
    assert run("rewrite", loose, "--allow-dirty").exit_code == 0


def test_check_and_diff_write_nothing(project: Path) -> None:
    check = run("rewrite", "--check", project)
    assert check.exit_code == 1
    diff = run("rewrite", "--diff", project)
    assert diff.exit_code == 1
    assert "-x = tf.log(1)\n+x = tf.math.log(1)\n" in diff.output
    assert (project / "a.py").read_text() == OLD
    run("rewrite", project)
    assert run("rewrite", "--check", project).exit_code == 0


def test_out_tells_of_files_that_it_does_not_copy(
    project: Path, tmp_path: Path
) -> None:
    plain = run("rewrite", project, "--out", tmp_path / "plain")
    assert "not copied" not in plain.output
    assert f"run your tests on {tmp_path / 'plain'}; the originals" in plain.output
    assert "undo" not in plain.output, "there is nothing to undo"
    (project / "data").mkdir()
    for name in ("data/words.csv", ".hidden", "labels.txt"):
        (project / name).write_text("1", "utf-8")
    out = project / "new"
    found = run("rewrite", project, "--out", out)
    told = "not copied: 2 (labels.txt, data/words.csv); copy what the programs read"
    assert told in found.output
    assert not (out / "labels.txt").exists()
    # What has been written there is no data of the project's.
    again = run("rewrite", project, "--out", out, "--force")
    assert "labels.txt, data/words.csv" in again.output


def test_out_mirrors_the_tree(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("out") / "new"
    assert run("rewrite", project, "--out", out).exit_code == 0
    assert (out / "a.py").read_text() == NEW
    assert (out / "b.py").read_text() == "print('no legacy')\n"
    assert (project / "a.py").read_text() == OLD


def test_what_is_left_gives_exit_one_until_it_is_resolved(project: Path) -> None:
    (project / "a.py").write_text(ADVICE)
    commit(project)
    assert run("rewrite", project).exit_code == 1
    text = (project / "a.py").read_text()
    assert "# TODO(tfmigrate): TFM302" in text
    assert run("rewrite", "--allow-dirty", project).exit_code == 1
    assert (project / "a.py").read_text() == text  # never twice
    (project / "a.py").write_text(
        "# TODO(tfmigrate): TFM302 still to do\nimport tensorflow\n"
    )
    assert run("rewrite", "--check", project).exit_code == 1
    (project / "a.py").write_text("import tensorflow\n")
    assert run("rewrite", "--check", project).exit_code == 0


def test_a_file_that_fails_does_not_stop_the_others(project: Path) -> None:
    (project / "broken.py").write_text("import tensorflow\nx = (\n")
    commit(project)
    result = run("rewrite", project)
    assert result.exit_code == 2
    assert "broken.py: cannot process: line" in result.output
    assert (project / "broken.py").read_text() == "import tensorflow\nx = (\n"
    assert (project / "a.py").read_text() == NEW


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write read-only files")
def test_a_read_only_file_is_reported(project: Path) -> None:
    (project / "a.py").chmod(0o444)
    result = run("rewrite", "--allow-dirty", project)
    assert result.exit_code == 2
    assert "the file is read-only" in result.output


def test_wrong_usage_is_told_without_a_traceback(
    tmp_path: Path, tfmigrate: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    result = tfmigrate("rewrite", tmp_path / "missing.py")
    assert result.returncode == 2
    assert result.stderr.startswith("error: no such file or directory")
    assert result.stdout == ""
    assert tfmigrate("explain", "TFM999").returncode == 2
    assert tfmigrate("rewrite").returncode == 2


def test_stdin_to_stdout(
    tfmigrate: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    result = tfmigrate("rewrite", "-", input=OLD)
    assert (result.returncode, result.stdout) == (0, NEW)
    assert "1 rewritten" in result.stderr


def test_pyproject_gives_defaults_and_the_command_line_wins(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.tfmigrate]\nignore = ["TFM2"]\n')
    assert run("scan", project).exit_code == 0
    assert run("scan", project, "--ignore", "TFM3").exit_code == 1
    (project / "pyproject.toml").write_text('[tool.tfmigrate]\nexclude = ["a.py"]\n')
    assert run("scan", project).exit_code == 0
    (project / "pyproject.toml").write_text("[tool.tfmigrate]\nno-such = 1\n")
    assert run("scan", project).exit_code == 2


def test_select_and_ignore_by_prefix(project: Path) -> None:
    (project / "a.py").write_text(OLD + "y = tf.Session()\n")
    only = run("scan", project, "--select", "TFM201")
    assert ("TFM201" in only.output, "TFM202" in only.output) == (True, False)
    rest = run("scan", project, "--ignore", "TFM20", "--select", "TFM202")
    assert ("TFM201" in rest.output, "TFM202" in rest.output) == (False, True)


def test_the_bytes_do_not_depend_on_the_number_of_processes(
    tmp_path: Path, tfmigrate: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    for number in range(24):
        (tmp_path / f"m{number:02}.py").write_text(
            OLD + ADVICE * (number % 3) + "(" * (number == 7)
        )
    outputs = {
        tfmigrate("scan", tmp_path, "-j", str(jobs), "--format", form).stdout
        for form in ("json",)
        for jobs in (1, 2, 8)
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())["summary"]["files"]["failed"] == 1


def test_two_runs_at_once_are_refused(
    project: Path, tfmigrate: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    with lock(project):
        second = tfmigrate("rewrite", "--allow-dirty", project)
    assert second.returncode == 2
    assert "another tfmigrate run" in second.stderr
    assert (project / "a.py").read_text() == OLD
    assert run("rewrite", "--allow-dirty", project).exit_code == 0


def test_code_under_migration_is_never_run(project: Path) -> None:
    mark = project / "ran"
    bomb = f"open({str(mark)!r}, 'w')\n{OLD}"
    for name in (
        "a.py",
        "conftest.py",
        "setup.py",
        "sitecustomize.py",
        "tensorflow.py",
    ):
        (project / name).write_text(bomb)
    run("rewrite", "--allow-dirty", project)
    assert not mark.exists()


def test_a_kill_at_any_moment_leaves_whole_files(tmp_path: Path) -> None:
    """SIGKILL between 0 and the end of a run: each file is old or new."""
    body = "".join(f"y{i} = tf.log({i})\n" for i in range(3))
    old, new = OLD + body, NEW + body.replace("tf.log", "tf.math.log")
    seen = {"old": 0, "new": 0}
    delay, step = 0.3, 0.15
    for attempt in range(8):
        top = tmp_path / str(attempt)
        top.mkdir()
        files = [top / f"m{i:02}.py" for i in range(12)]
        for file in files:
            file.write_text(old)
        process = subprocess.Popen(
            [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty", str(top)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + delay + attempt * step
        journal = top / ".tfmigrate" / "journal"
        if attempt % 2:
            # Aim into the writing phase: wait for the journal to appear.
            while process.poll() is None and not journal.exists():
                time.sleep(0.001)
            time.sleep(0.002 * attempt)
        else:
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        states = set()
        for file in files:
            text = file.read_text()
            assert text in (old, new)
            states.add(text == new)
            seen["new" if text == new else "old"] += 1
        # The tree is not locked for ever, and the journal brings all back.
        if any(states):
            assert run("undo", top).exit_code == 0
            assert {file.read_text() for file in files} == {old}
        assert run("rewrite", "--allow-dirty", top).exit_code == 0
        assert {file.read_text() for file in files} == {new}
    assert seen["old"] > 0


KILLED = """
import os, re, signal, sys
from pathlib import Path
from tfmigrate.cli import cli
from tfmigrate.cli.rewrite import rewrite  # imported before the processes part
import tfmigrate.cli.undo, tfmigrate.rewrite.native.program, tfmigrate.project.mirror
import tfmigrate.rewrite.run, tfmigrate.forms.render
old, new, top = Path(sys.argv[1]).read_text(), Path(sys.argv[2]).read_text(), Path(sys.argv[3])
what = sys.argv[4]
# What changes files, or decides what is changed.
EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod",
          "os.link", "os.replace", "shutil", "fcntl.flock", "os.truncate")
# Inside a folder that is open, files go by their names alone.
NAMES = re.compile(r"m\\d\\.py|\\.tfmigrate-.*|manifest.*|\\d+\\.orig")

def run(*arguments, point=None):
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    sys.stdout = sys.stderr = open(os.devnull, "w")
    seen, me = [0], os.getpid()
    def count(event, arguments):
        if counted(event, arguments):
            seen[0] += 1
            if point is not None and seen[0] > point:
                os.kill(me, signal.SIGKILL)
    def counted(event, arguments):
        if os.getpid() != me or not event.startswith(EVENTS):
            return 0
        name = os.fsdecode(arguments[0]) if isinstance(arguments[0], (str, bytes, os.PathLike)) else ""
        return str(folder) in name or NAMES.fullmatch(name) is not None
    sys.addaudithook(count)
    try:
        cli([str(a) for a in arguments], standalone_mode=False)
    except SystemExit:
        pass
    os._exit(0)

def texts(place):
    return [f.read_text() if f.exists() else None for f in (place / n for n in names)]

point, mixed, states = 0, 0, {"old": 0, "new": 0}
names = [f"m{i}.py" for i in range(3)]
while True:
    folder = top / f"{what}{point}"
    src, out = folder / "src", folder / "out"
    src.mkdir(parents=True)
    for name in names:
        (src / name).write_text(old)
    if what == "rewrite":
        status = run("rewrite", "--allow-dirty", src, point=point)
    elif what == "undo":
        run("rewrite", "--allow-dirty", src)
        assert texts(src) == [new] * 3
        status = run("undo", src, point=point)
    else:
        status = run("rewrite", src, "--out", out, point=point)
        assert texts(src) == [old] * 3
    now = texts(out if what == "out" else src)
    assert set(now) <= {old, new} or (what == "out" and set(now) <= {new, None}), (point, now)
    for text in now:
        states["new" if text == new else "old"] += 1
    mixed += len(set(now)) == 2
    if what == "out":
        run("rewrite", src, "--out", out, "--force")
        assert texts(out) == [new] * 3, point
    elif now != [old] * 3:
        # The journal brings all of them back.
        run("undo", src)
        assert texts(src) == [old] * 3, point
    else:
        run("rewrite", "--allow-dirty", src)
        assert texts(src) == [new] * 3, point
    # Nothing of the killed run lies about.
    left = [f for f in folder.rglob("*") if f.suffix in (".tmp", ".tfmigrate-tmp")]
    assert not left, (point, left)
    if not os.WIFSIGNALED(status):
        break
    point += 1
print(point, mixed, states["old"], states["new"])
"""


@pytest.mark.parametrize("what", ["rewrite", "undo", "out"])
def test_a_kill_at_every_step_leaves_whole_files(what: str, tmp_path: Path) -> None:
    """SIGKILL before each single thing that a run does to its files."""
    for name, text in (("old", OLD), ("new", NEW)):
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            KILLED,
            tmp_path / "old",
            tmp_path / "new",
            tmp_path,
            what,
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    points, mixed, old, new = map(int, done.stdout.split())
    assert points > 15
    assert mixed > 3  # killed between one file and the next
    assert old > 10
    assert new > 10


def test_the_pre_commit_hooks_do_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check fails and writes nothing; the fix rewrites, then the check passes.

    Each is given the project, for a program may be more than the files of a commit.
    """
    hooks = yaml.safe_load(
        (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text("utf-8")
    )
    assert not any(hook["pass_filenames"] for hook in hooks)
    check, fix = ([*hook["entry"].split()[1:], *hook["args"]] for hook in hooks)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.py"
    file.write_text(OLD)
    assert run(*check).exit_code == 1
    assert file.read_text() == OLD
    assert run(*fix).exit_code == 0
    assert file.read_text() == NEW
    assert run(*check).exit_code == 0


def test_the_workflow_of_the_docs_uploads_what_the_scan_wrote(
    project: Path, repository: Path
) -> None:
    """The step of docs/ci.md, as the runner's shell runs it: findings do not fail it."""
    page = (repository / "docs/ci.md").read_text("utf-8")
    (step,) = re.findall(r"- run: (tfmigrate scan .*)\n", page)
    (uploaded,) = re.findall(r"sarif_file: (\S+)\n", page)
    own = f'tfmigrate() {{ "{sys.executable}" -m tfmigrate "$@"; }}\n'
    for text, status in ((OLD, 0), ("import tensorflow\nx = (\n", 1)):
        (project / "a.py").write_text(text)
        done = subprocess.run(["bash", "-e", "-c", own + step], cwd=project)
        assert done.returncode == status
        log = json.loads((project / uploaded).read_text("utf-8"))
        run_ = log["runs"][0]
        assert run_["invocations"][0]["executionSuccessful"] is (status == 0)
        assert len(run_["results"]) == (1 if status == 0 else 0)
