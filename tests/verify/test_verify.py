"""``tfmigrate verify`` as a user runs it: right programs pass, wrong ones fail."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from runner import Run, run_python, verify
from tfmigrate.verify.recording import load_recording
from tfmigrate.verify.runner import last_line
from tfmigrate.verify.sides import look_at

PROGRAMS = Path(__file__).parent / "programs"
LEGACY, LOOP = PROGRAMS / "legacy_line.py", PROGRAMS / "loop_line.py"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """The legacy program against the right loop, two replicas."""
    folder = tmp_path_factory.mktemp("verify")
    result = verify(
        *[LEGACY, LOOP, "--replicas", "2"],
        *["--keep", folder / "kept", "--report", folder / "report.html"],
        cwd=folder,
    )
    return folder, result


def test_parity_of_a_program_and_its_loop(
    compared: tuple[Path, Run],
) -> None:
    folder, result = compared
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Parity: they train the same over 12 steps" in result.stdout
    assert result.stderr.splitlines()[-1].startswith("next: --steps 0 compares all")
    first = load_recording(folder / "kept" / "run-0")
    second = load_recording(folder / "kept" / "run-1")
    assert first.replicas == second.replicas == 2
    assert len(first.losses) == len(second.losses) == 12
    assert first.losses[-1] < first.losses[0]
    assert first.accuracy == second.accuracy
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert {path.name for path in folder.iterdir()} == {"kept", "report.html"}


def test_what_goes_on_from_a_whole_training_may_fail_after_a_stop(
    tmp_path: Path,
) -> None:
    """A program lists its exports: a training that was stopped early made none."""
    early = tmp_path / "early.py"
    early.write_text(LEGACY.read_text() + "\nprint(sorted(())[-1])\n")
    result = verify(*[early, LOOP, "--steps", "4", "--replicas", "2"])
    assert result.returncode == 0, result.stdout + result.stderr
    result = verify(*[early, LOOP, "--steps", "0", "--replicas", "2"])
    assert result.returncode == 2
    assert "IndexError" in result.stderr


@pytest.mark.parametrize(("mistake", "latest"), [("l2", 1), ("epsilon", 5)])
def test_small_mistakes_are_found(
    mistake: str,
    latest: int,
    compared: tuple[Path, Run],
) -> None:
    """A weight decay of 1e-4 too many, or Keras' own epsilon for Adam."""
    recorded = compared[0] / "kept" / "run-0"
    result = verify(*[recorded, LOOP, "--format", "json"], env={"MISTAKE": mistake})
    assert result.returncode == 1, result.stdout + result.stderr
    document = json.loads(result.stdout)
    assert document["parity"] is False
    assert document["replicas"] == 2
    assert document["trajectory"]["same_start"]
    assert document["trajectory"]["first_failure"] <= latest


def test_the_epsilon_of_an_optimizer_that_is_gone_stands_in_its_graph(
    tmp_path: Path,
) -> None:
    """RMSProp keeps nothing that refers to it; Adam does."""
    path = tmp_path / "program.py"
    path.write_text("""
import tensorflow.compat.v1 as tf
from tfmigrate.verify.instruments.legacy_weights import optimizer_constants
with tf.Graph().as_default() as graph:
    loss = tf.square(tf.get_variable("w", []))
    tf.train.RMSPropOptimizer(0.1).minimize(loss)
print(optimizer_constants(tf, graph))
""")
    done = run_python(path)
    assert done.stdout == "{'epsilon': 1e-10}\n", done.stderr


def test_a_run_directory_is_a_side(compared: tuple[Path, Run]) -> None:
    """Event files and checkpoints of a training against its recording."""
    kept = compared[0] / "kept" / "run-0"
    (run,) = (kept / "files").iterdir()
    result = verify(run, kept, "--format", "json")
    assert result.returncode == 0, result.stdout + result.stderr
    document = json.loads(result.stdout)
    assert document["trajectory"]["steps"]
    assert document["trajectory"]["largest_relative_difference"] < 1e-6
    assert document["trajectory"]["largest_weight_difference"] == 0
    assert document["sides"][0]["accuracy"] == document["sides"][1]["accuracy"]


def test_what_programs_write_does_not_reach_the_user(tmp_path: Path) -> None:
    """But where they name an absolute path: those files are told."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere.csv"
    here.mkdir()
    (here / "scores.csv").write_text("mine")
    program = here / "train.py"
    program.write_text(
        ONE_REPLICA
        + f"""
import os, pathlib, shutil, tempfile
assert os.path.isdir("../" + os.path.basename(os.getcwd()))
exported = tempfile.mkdtemp() + "/1"
tf.saved_model.save(tf.Module(), exported)
shutil.move(exported, "exported")
pathlib.Path("scores.csv").write_text("theirs")
os.makedirs("runs/1")
pathlib.Path(__file__).with_name("beside.csv").write_text("theirs")
pathlib.Path({str(elsewhere)!r}).write_text("theirs")
"""
    )
    for words, cwd in (
        ([program, program], here),
        ([program, program], tmp_path),
        ([here, here, "--", "python", "train.py"], tmp_path),
    ):
        told = verify(*words, "--steps", "0", cwd=cwd)
        assert told.returncode == 0, told.stdout + told.stderr
        assert told.stderr.count("it wrote") == 2
        assert f"it wrote {elsewhere}, which is not kept apart" in told.stderr
    assert (here / "scores.csv").read_text() == "mine"
    assert {path.name for path in here.iterdir()} == {"scores.csv", "train.py"}
    assert {*tmp_path.iterdir()} == {here, elsewhere}


def test_a_program_may_write_beside_its_checkpoints(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    program = tmp_path / "train.py"
    program.write_text(
        LEGACY.read_text("utf-8")
        .replace("model_fn,\n", f"model_fn, model_dir={str(folder)!r},\n")
        .replace(
            "    print(", f"    open({str(folder / 'x')!r}, 'w').close()\n    print("
        )
    )
    told = verify(program, program, "--steps", "3")
    assert told.returncode == 0, told.stdout + told.stderr
    assert f"it wrote {folder / 'x'}" in told.stderr
    assert [path.name for path in folder.iterdir()] == ["x"]


@pytest.mark.oracle
def test_a_runner_of_experiments_on_the_real_thing(tmp_path: Path) -> None:
    """It asks whether the RunConfig is as it was; data sets of files shuffle."""
    python = os.environ.get("TFMIGRATE_TF115_PYTHON")
    if not python:
        pytest.skip("needs TFMIGRATE_TF115_PYTHON")
    shutil.copy(PROGRAMS / "legacy_experiment.py", tmp_path / "train.py")
    words = ["--legacy-python", python, "--steps", "0", "--", "python", "train.py"]
    told = verify(tmp_path, tmp_path, *words)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "the same as real TensorFlow 1.15.5" in told.stdout


def test_files_beside_a_program_that_runs_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "base.json").touch()
    program = tmp_path / "train.py"
    program.write_text("import tensorflow as tf\nopen('settings/base.json')\n")
    told = verify(program, program)
    assert told.returncode == 2
    assert "hint: settings/base.json is there from the program's folder" in told.stderr
    assert "`tfmigrate verify A/ B/ -- python train.py`" in told.stderr


def test_problems_are_plain_messages(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import tensorflow as tf\nraise ValueError('no data today')\n")
    endless = tmp_path / "endless.py"
    endless.write_text("import tensorflow as tf, time\ntime.sleep(600)\n")
    for arguments, told in (
        ([LOOP, tmp_path], "neither a recording nor a run directory"),
        ([LOOP, LOOP, "--seeds", "1"], "one seed"),
        ([LOOP, LOOP, "--env", "novalue"], "NAME=VALUE"),
        ([LOOP, LOOP, "--report", tmp_path / "no" / "r.html"], "no such directory"),
        ([broken, LOOP], "no data today"),
        ([endless, LOOP, "--time-limit", "2"], "endless.py: not done after 2 s"),
    ):
        result = verify(*arguments)
        assert result.returncode == 2
        assert told in result.stderr
        assert "cli/verify.py" not in result.stderr


def test_the_log_that_a_hint_names_is_there(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(
        "import tensorflow as tf\nprint('said before')\nraise ValueError\n"
    )
    result = verify(broken, LOOP)
    assert result.returncode == 2
    (log,) = re.findall(r"^hint: its whole output is in (\S+)$", result.stderr, re.M)
    assert "said before" in Path(log).read_text()
    # Nothing else of the attempt is left.
    scratch = next(
        p for p in Path(log).parents if p.name.startswith("tfmigrate-verify")
    )
    assert [p for p in scratch.rglob("*") if p.is_file()] == [Path(log)]
    shutil.rmtree(scratch)


def test_the_legacy_side_has_the_names_that_python_dropped() -> None:
    done = run_python(
        "-c",
        "import types, time\n"
        "from tfmigrate.verify.instruments.legacy_program import prepare_compat\n"
        "prepare_compat(types.SimpleNamespace(replicas=None))\n"
        "time.clock()\n",
    )
    assert done.returncode == 0, done.stderr


def test_what_a_program_died_of_stands_above_places_in_its_graph(
    tmp_path: Path,
) -> None:
    log = tmp_path / "program.log"
    log.write_text(
        "Traceback (most recent call last):\n  File 'a.py', line 1\n"
        "NotFoundError: Graph execution error:\n\nno.csv; No such file\n\t [[node]]\n"
    )
    assert (
        last_line(log) == "NotFoundError: Graph execution error: no.csv; No such file"
    )


def test_modules_of_packages(tmp_path: Path) -> None:
    """The same package in two folders, run as `python -m` would; then its files."""
    for name, program in (("old", LEGACY), ("new", LOOP)):
        package = tmp_path / name / "trainer"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "settings.py").write_text("EPOCHS = '1'\n")
        head = "import os\nfrom {} import settings\nos.environ['EPOCHS'] = settings.EPOCHS\n"
        module = head.format("trainer" if name == "new" else ".") + program.read_text()
        (package / "task.py").write_text(module)
    folders = tmp_path / "old", tmp_path / "new"
    files = [folder / "trainer" / "task.py" for folder in folders]
    both = ["--replicas", "2", "--steps", "4"]
    kept = ["--keep", tmp_path / "kept"]
    result = verify(*folders, "-m", "trainer.task", *both, *kept)
    assert result.returncode == 0, result.stdout + result.stderr
    # Where the module is run, as a command would be.
    assert look_at(folders[0], "trainer.task").folder == folders[0]
    # The file alone: its package is found, here by what it says of it.
    assert look_at(files[0]).module == "trainer.task"
    recording = tmp_path / "kept" / "run-0"
    result = verify(recording, files[1], *both)
    assert result.returncode == 0, result.stdout + result.stderr
    missing = verify(*folders, "-m", "trainer.tusk")
    assert (missing.returncode, "no module trainer.tusk" in missing.stderr) == (2, True)


def test_replicas_are_those_that_trained(tmp_path: Path) -> None:
    """Without a strategy a program trains on one, whatever was asked for."""
    alone = tmp_path / "alone.py"
    alone.write_text(ONE_REPLICA, "utf-8")
    told = verify(alone, alone, "--replicas", "2", "--steps", "3")
    assert told.returncode == 0, told.stdout + told.stderr
    assert "on 1 replica, not 2: they have no strategy" in told.stdout
    mirrored = tmp_path / "mirrored.py"
    mirrored.write_text(
        ONE_REPLICA.replace("get_strategy()", "MirroredStrategy()"), "utf-8"
    )
    told = verify(alone, mirrored, "--replicas", "2", "--steps", "3")
    assert told.returncode == 1, told.stdout + told.stderr
    assert "the first trained on 1 replica, the second on 2 replicas" in told.stdout


ONE_REPLICA = """\
import tensorflow as tf

strategy = tf.distribute.get_strategy()
with strategy.scope():
    weight = tf.Variable(tf.zeros((3, 1)))


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ weight - 1.0))
        loss /= strategy.num_replicas_in_sync
    (gradient,) = tape.gradient(loss, [weight])
    context = tf.distribute.get_replica_context()
    gradient = context.all_reduce(tf.distribute.ReduceOp.SUM, gradient)
    weight.assign_sub(0.1 * gradient)
    return loss


@tf.function
def train_step(x):
    return strategy.run(step, args=(x,))


for number in range(5):
    train_step(tf.constant([[1.0, 2.0, float(number)]]))
"""
