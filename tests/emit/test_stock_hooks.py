"""TensorFlow's own hooks and event files, in loops that run.

The programs of ``hooks/`` are rewritten and run in one process; what their files
and their output say is held against what the hooks were asked for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted((HERE / "hooks").glob("*.py"))
# What event files hold, read by TensorFlow itself.
READ = """
import glob, json, os, sys
import tensorflow as tf
found = {}
for path in glob.glob(os.path.join(sys.argv[1], "**", "events*"), recursive=True):
    place = os.path.relpath(os.path.dirname(path), sys.argv[1])
    for event in tf.compat.v1.train.summary_iterator(path):
        for value in event.summary.value:
            found.setdefault(f"{place} {value.tag}", []).append(event.step)
print(json.dumps({"events": found}))
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each rewritten program prints; ``read`` tells of the event files."""
    folder = tmp_path_factory.mktemp("hooks")
    rewrite = ["rewrite", str(HERE / "hooks"), "--out", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "tfmigrate", *rewrite], check=False, capture_output=True
    )
    programs = [folder / path.name for path in PROGRAMS]
    for path in programs:
        text = path.read_text("utf-8")
        assert "import tfmigrate" not in text, text
        assert max(map(len, text.splitlines())) <= 88
    # The child gives programs no arguments: the folder stands in the code.
    code = READ.replace("sys.argv[1]", repr(str(folder / "model")))
    (folder / "read.py").write_text(code, "utf-8")
    watched = folder / "watched.py"
    made = f"HERE = {str(folder / 'model')!r}"
    text = watched.read_text("utf-8").replace("HERE = tempfile.mkdtemp()", made)
    watched.write_text(text, "utf-8")
    result = subprocess.run(
        [
            *(sys.executable, str(HERE / "lifecycle_child.py")),
            *(str(path) for path in [*programs, folder / "read.py"]),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
    )
    lines = [x for x in result.stdout.splitlines() if x.startswith("RESULTS")]
    assert lines, result.stdout + result.stderr
    found = json.loads(lines[0][len("RESULTS") :])
    return {name.removesuffix(".py"): text for name, text in found.items()}


def last(text: str) -> object:
    return json.loads(text.splitlines()[-1])


def test_event_files_say_what_the_estimator_said(printed: dict[str, str]) -> None:
    events = last(printed["read"])["events"]  # type: ignore[index]
    stopped = events["eval loss"][-1]
    steps = list(range(1, stopped + 1, 10))
    assert events[". loss"] == steps
    assert events[". global_step/sec"] == steps[1:]
    # A hook that saves takes the place of the Estimator's own.
    assert events["eval loss"] == list(range(20, stopped + 1, 20))


def test_a_figure_that_crosses_a_threshold_stops(printed: dict[str, str]) -> None:
    found = [
        (int(line.split(":")[0].split()[1]), float(line.split("'loss': ")[1][:6]))
        for line in printed["watched"].splitlines()
        if "'loss': " in line
    ]
    assert found[-1][1] < 0.5 <= found[-2][1] or found[-1][0] == 40
    assert 30 < found[-1][0] < 400
    assert all(loss >= 0.5 for step, loss in found[:-1] if step >= 30)


def test_every_so_many_steps_one_is_profiled(printed: dict[str, str]) -> None:
    events = last(printed["read"])["events"]  # type: ignore[index]
    profiles = last(printed["watched"])["profiles"]  # type: ignore[index]
    assert profiles == events["eval loss"][-1] // 45 > 0, printed["watched"]


def test_a_figure_that_stays_the_same_stops(printed: dict[str, str]) -> None:
    assert last(printed["early"]) == 20, printed["early"]


def test_a_loss_that_is_nan_stops_a_training(printed: dict[str, str]) -> None:
    lines = printed["not_a_number"].splitlines()
    assert "step 4: the loss is NaN, training stops" in lines, lines
    assert "4" in lines
    # The second training meets the same batch; its weights were never NaN.
    assert lines[-1] == "step 8: the loss is NaN, training stops"
