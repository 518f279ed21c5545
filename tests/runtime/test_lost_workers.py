"""A worker dies: the others say which and end; started again, all go on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ORACLE = Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "cluster"
RECORDED = json.loads((ORACLE / "together.json").read_text("utf-8"))
# A step takes a while, and so does writing a checkpoint.
SLOWER = {
    "import sys\n": "import os\nimport sys\nimport time\n",
    "max_steps=20": "max_steps=60",
    "float(values.results))": (
        "float(values.results))\n        time.sleep(0.05)\n"
        "        if RESULT.endswith(os.environ.get('STAYS_AWAY', 'nobody')):\n"
        "            if len(SEEN['losses']) == 20:\n"
        "                open(MODEL_DIR + '/away', 'w').close()\n"
        "                time.sleep(600)"
    ),
    "    first = tf.constant_init": (
        "    tf.get_variable('large', [8000000], trainable=False)\n"
        "    first = tf.constant_init"
    ),
}


def program(how: str, folder: Path) -> list[str]:
    """The command of a task of the slower program, rewritten or not."""
    text = (ORACLE / "together.py").read_text("utf-8")
    for old, new in SLOWER.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "together.py"
    path.write_text(text)
    if how == "unedited":
        return [sys.executable, "-m", "tfmigrate", "run", str(path)]
    rewrite = [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty"]
    subprocess.run([*rewrite, str(path)], check=True, capture_output=True)
    # What goes on is to be what was begun, batch by batch.
    text = path.read_text("utf-8")
    steps = "save_checkpoints_steps=10"
    assert steps in text
    path.write_text(text.replace(steps, f"{steps}, resume_data=True"))
    return [sys.executable, str(path)]


def is_being_written(model: Path) -> bool:
    return any("temp" in path.name for path in model.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "lost"),
    [
        ("rewritten", "worker1 in a step"),
        ("rewritten", "worker0 in a checkpoint"),
        ("unedited", "worker1 before a checkpoint"),
        ("unedited", "worker0 in a checkpoint"),
    ],
)
def test_the_lost_worker_is_named_and_all_go_on(
    how: str, lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ORACLE))
    from processes import Cluster

    start, model = program(how, tmp_path), tmp_path / "model"
    victim, _, when = lost.partition(" ")
    if when == "before a checkpoint":
        # The other saves what is a mean over both, and waits for it between steps.
        monkeypatch.setenv("STAYS_AWAY", f"{victim}.json")

    def command(task: str) -> list[str]:
        return [*start, str(model), str(tmp_path / f"{task}.json")]

    other = {"worker0": "worker1", "worker1": "worker0"}[victim]
    with Cluster(["worker0", "worker1"], command, str(tmp_path)) as cluster:
        cluster.wait_for((model / "model.ckpt-10.index").exists, 120)
        if when == "in a checkpoint":
            cluster.wait_for(lambda: is_being_written(model), 60)
        if when == "before a checkpoint":
            cluster.wait_for((model / "away").exists, 60)
            monkeypatch.delenv("STAYS_AWAY")
        cluster.kill(victim)
        # TensorFlow knows after some ten seconds; what it waits for then, thirty later.
        assert cluster.wait(90, [other])[other] == 1
        assert f"Lost worker {victim[-1]} (localhost:" in cluster.said(other)
        state = (model / "checkpoint").read_text("utf-8")
        (saved,) = re.findall(r'^model_checkpoint_path: "model.ckpt-(\d+)"', state)
        for task in ("worker0", "worker1"):
            cluster.start(task)
        assert set(cluster.wait(150).values()) == {0}, cluster.said(victim)[-2000:]
    state = (model / "checkpoint").read_text("utf-8")
    assert 'model_checkpoint_path: "model.ckpt-60"' in state
    seen: list[Any] = [
        json.loads((tmp_path / f"worker{index}.json").read_text("utf-8"))["losses"]
        for index in (0, 1)
    ]
    assert len(seen[0]) == 60 - int(saved)
    assert seen[0] == pytest.approx(seen[1], rel=1e-6)
    if how == "rewritten":
        # As if nothing had happened: TensorFlow 1.15.5's run, which nobody disturbed.
        # It has 20 steps, and so many may be saved when the worker is killed.
        undisturbed = RECORDED["two workers"]["worker0"]["losses"][int(saved) :]
        assert seen[0][: len(undisturbed)] == pytest.approx(undisturbed, rel=1e-5)
