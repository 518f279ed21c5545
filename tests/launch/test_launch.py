"""Clusters of real processes on this machine: started, watched, ended, none left."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Runner = Callable[..., "subprocess.CompletedProcess[str]"]

PROGRAM = """\
import json, os, subprocess, sys, time
config = json.loads(os.environ["TF_CONFIG"])
task = config["task"]
name = task["type"] + str(task["index"])
print(name, "argv", sys.argv[1:], "of", sorted(config["cluster"]))
if os.environ.get("CHILD"):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("wait 10%\\rwait 100%", file=sys.stderr)
mark = os.path.join(os.path.dirname(__file__), "failed-" + name)
if "fail=" + name in sys.argv:
    sys.exit(7)
if "once=" + name in sys.argv and not os.path.exists(mark):
    open(mark, "w").close()
    os.kill(os.getpid(), 9)
if task["type"] == "ps" or "hang" in sys.argv or name in sys.argv:
    time.sleep(600)
if task["type"] == "evaluator":
    time.sleep(1)
time.sleep(0.3)
print(name, "is done", end="")
"""


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Path]:
    """A program that says who it is; at the end none of its processes is alive."""
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    yield path
    assert alive(path) == []


def alive(script: Path) -> list[int]:
    """Processes that run the script, or were started by one that did."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        tagged = f"MARK={script}".encode() in environment
        if words and (tagged or os.fsencode(script) in words):
            found.append(int(entry.name))
    return found


def until(holds: Callable[[], bool]) -> None:
    """Wait for it, ten seconds at most."""
    deadline = time.monotonic() + 10
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert holds()


def test_every_task_has_its_tf_config_log_and_name(
    script: Path, tmp_path: Path, tfmigrate: Runner
) -> None:
    logs = tmp_path / "logs"
    done = tfmigrate(
        *["launch", "--workers", 2, "--ps", 1, "--evaluator", "--logs", logs],
        *[script, "--", "--lr", "0.1"],
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    names = ["chief0", "worker0", "worker1", "ps0", "evaluator0"]
    for name in names:
        role, index = name[:-1], name[-1]
        head = f"[{role} {index}] "
        roles = ["chief", "evaluator", "ps", "worker"]
        if role != "evaluator":  # which is in its own cluster only
            roles.remove("evaluator")
        assert f"{head}{name} argv ['--lr', '0.1'] of {roles}" in lines
        assert f"{head}wait 100%" in lines
        log = (logs / f"{role}-{index}.log").read_text()
        assert log.startswith(f"{name} argv ") or "wait 10%" in log
        # A line that has no end yet is not lost; servers are ended without one.
        assert (f"{head}{name} is done" in lines) is (role != "ps")
    # What was printed can be pasted.
    (pasted,) = re.findall(r"^tfmigrate: worker 1: (.*)$", done.stderr, re.MULTILINE)
    again = subprocess.run(["sh", "-c", pasted], capture_output=True, text=True)
    assert again.stdout.startswith("worker1 argv ['--lr', '0.1']")
    config = json.loads(shlex.split(pasted)[0].partition("=")[2])
    assert "evaluator" not in config["cluster"]
    everyone = [host for hosts in config["cluster"].values() for host in hosts]
    assert len(set(everyone)) == 4


def test_one_failure_ends_all(script: Path, tfmigrate: Runner) -> None:
    began = time.monotonic()
    done = tfmigrate("launch", "--workers", 3, script, "worker0", "fail=worker1")
    assert done.returncode == 1
    assert time.monotonic() - began < 30
    assert "error: worker 1 failed with status 7\n  worker1 argv" in done.stderr
    (log,) = re.findall(r"^hint: all of it is in (\S+)$", done.stderr, re.MULTILINE)
    assert "wait 100%" in Path(log).read_text()


def test_a_failed_task_is_started_again(script: Path, tfmigrate: Runner) -> None:
    command = ("launch", "--workers", 2, "--restart-failed", 1, script)
    done = tfmigrate(*command, "once=worker1")
    assert done.returncode == 0, done.stderr
    assert "worker 1 was ended by SIGKILL; restart 1" in done.stderr
    assert "[worker 1] worker1 is done" in done.stdout
    assert tfmigrate(*command, "fail=worker1").returncode == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_launcher_ends_its_tasks(
    number: signal.Signals, script: Path
) -> None:
    """Their children too, where the launcher itself may still do something."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tfmigrate", "launch", "--workers", "2", script, "hang"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            **({} if number == signal.SIGKILL else {"CHILD": "1"}),
            "MARK": str(script),
        },
        start_new_session=True,
    )
    assert process.stdout is not None
    told = 0
    while told < 2:
        told += b"wait 100%" in process.stdout.readline()
    expected = 2 if number == signal.SIGKILL else 4
    # Waited for: between fork and exec a process shows no command line yet.
    until(lambda: len(alive(script)) == expected + 1)  # and the launcher
    process.send_signal(number)
    status = process.wait(30)
    process.stdout.close()
    assert status == (-9 if number == signal.SIGKILL else 130)
    until(lambda: not alive(script))


def test_a_job_that_hangs_has_a_limit(script: Path, tfmigrate: Runner) -> None:
    done = tfmigrate("launch", "--workers", 2, "--time-limit", 3, script, "worker1")
    assert done.returncode == 1
    assert "not done after 3 s: worker 1 still running" in done.stderr


def test_an_evaluator_is_waited_for_so_long(script: Path, tfmigrate: Runner) -> None:
    command = ("launch", "--workers", 1, "--evaluator", "--evaluator-wait", 2, script)
    done = tfmigrate(*command, "evaluator0")
    assert done.returncode == 0, done.stderr
    assert "evaluator0 is done" not in done.stdout


def test_modules(script: Path, tfmigrate: Runner) -> None:
    done = tfmigrate("launch", "-m", "train", "--", "x", cwd=script.parent)
    assert "[worker 0] worker0 argv ['x'] of ['worker']" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["absent.py"], "no such file or directory: absent.py"),
        (["--workers", "0", "train.py"], "needs a worker or a chief"),
        (["--ps", "1", "--no-chief", "train.py"], "need a chief"),
        (["--logs", ".", "train.py"], "is there already"),
        (["--logs", "train.py/x", "train.py"], "cannot make"),
    ],
)
def test_wrong_usage(
    arguments: list[str], told: str, script: Path, tfmigrate: Runner
) -> None:
    (script.parent / "old.log").write_text("")
    done = tfmigrate("launch", *arguments, cwd=script.parent)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


LEGACY = """\
import sys
import numpy as np
import tensorflow as tf

def input_fn():
    x = np.arange(8, dtype=np.float32).reshape(4, 2) / 10
    return tf.data.Dataset.from_tensors((x, x.sum(1, keepdims=True))).repeat()

def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
    step = tf.train.get_global_step()
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=tf.train.AdamOptimizer(0.01).minimize(loss, step))

config = tf.estimator.RunConfig(
    model_dir=sys.argv[1], save_checkpoints_steps=20, experimental_max_worker_delay_secs=1)
estimator = tf.estimator.Estimator(model_fn, config=config)
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(input_fn, max_steps=60),
    tf.estimator.EvalSpec(lambda: input_fn().take(2), None, start_delay_secs=0, throttle_secs=0))
print("TASK", config.task_type, "ENDS", flush=True)
"""


def test_a_legacy_program_trains_on_a_cluster(
    tmp_path: Path, tfmigrate: Runner
) -> None:
    """Unedited, with a parameter server and an evaluator, under the compat layer."""
    (tmp_path / "train.py").write_text(LEGACY)
    done = tfmigrate(
        *["launch", "--run", "--workers", 1, "--ps", 1, "--evaluator"],
        *["--time-limit", 280, tmp_path / "train.py", tmp_path / "model"],
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for role in ("chief", "worker", "evaluator"):
        assert f"[{role} 0] TASK {role} ENDS" in done.stdout
    state = (tmp_path / "model" / "checkpoint").read_text().splitlines()[0]
    assert int(state.rstrip('"').rpartition("-")[2]) >= 60
    assert list((tmp_path / "model" / "eval").glob("events.*"))
    assert alive(tmp_path / "train.py") == []


EXPERIMENT = """\
config = tf.contrib.learn.RunConfig(model_dir=sys.argv[1])
tf.contrib.learn.learn_runner.run(
    lambda run_config, hparams: tf.contrib.learn.Experiment(
        tf.estimator.Estimator(model_fn, config=run_config),
        input_fn, lambda: input_fn().take(2), train_steps=60, eval_steps=None),
    run_config=config, hparams=tf.contrib.training.HParams())
print("TASK", config.task_type, "ENDS", flush=True)
"""


def test_an_experiment_starts_its_servers(tmp_path: Path, tfmigrate: Runner) -> None:
    """TensorFlow 1.15 does where TF_CONFIG says that it is in a cloud, else it waits."""
    program = tmp_path / "train.py"
    program.write_text(LEGACY.partition("config = ")[0] + EXPERIMENT)
    launch = ["launch", "--run", "--time-limit", 200]
    done = tfmigrate(*launch, "--workers", 0, "--ps", 1, program, tmp_path / "model")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "TASK chief ENDS" in done.stdout
    # Estimators that name no strategy want a chief, which a hint says how to get.
    done = tfmigrate(*launch, "--workers", 2, program, tmp_path / "model")
    assert done.returncode == 1
    assert '.log; --chief adds a "chief"' in done.stderr


def test_a_terminal_shows_how_far_each_task_has_come(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        "for step in 10, 20:\n    print(f'INFO:tensorflow:loss = 0.5, step = {step}')\n"
        "print('more')\n"
    )
    screen, terminal = os.openpty()
    command = [sys.executable, "-m", "tfmigrate", "launch", "--workers", "1", str(path)]
    with subprocess.Popen(command, stdout=terminal, stderr=terminal) as launched:
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # how the end of a terminal is told
            while part := os.read(screen, 65_536):
                shown += part
    os.close(screen)
    assert launched.returncode == 0
    lines = shown.decode().replace("\r", "").split("\n")
    assert any(re.search(r"K\[worker 0\] more", line) for line in lines)
    assert "worker 0: step 10, loss 0.5\n" in "\n".join(lines)
    assert "worker 0: step 20, loss 0.5, " in shown.decode()
    assert "[worker 0] INFO" not in shown.decode()
