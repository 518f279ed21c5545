"""A program that names its own cluster is rewritten, and trains in one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("cluster_program.py")


def tfmigrate(folder: Path, *words: str) -> str:
    """What the command prints, run in a folder."""
    command = [sys.executable, "-m", "tfmigrate", *words]
    done = subprocess.run(
        command, cwd=folder, env=os.environ, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.mark.timeout(900)
def test_a_rewritten_program_trains_where_tf_config_says(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    shutil.copy(PROGRAM, program)
    rewritten = tfmigrate(tmp_path, "rewrite", "--allow-dirty", ".")
    assert "1 training program: 1 native" in rewritten
    assert "Estimator" not in program.read_text("utf-8")
    launch = ["launch", "--workers", "1", "--ps", "1", "train.py", "model"]
    (found,) = re.findall(r"FIGURES (\S+) (\d+) (\w+)", tfmigrate(tmp_path, *launch))
    assert float(found[0]) < 1e-6
    assert found[1:] == ("100", "chief")


def test_who_only_reads_a_trial_is_alone_and_who_divides_data_is_kept(
    tmp_path: Path,
) -> None:
    text = PROGRAM.read_text("utf-8")
    start, end = text.index("# What the platform"), text.index("def input_fn")
    trial = 'print(json.loads(os.environ.get("TF_CONFIG", "{}")).get("task"))\n\n\n'
    alone = text[:start] + trial + text[end : text.index("if config.is_chief")]
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "train.py").write_text(alone, "utf-8")
    shards = text.replace("return data.", "return data.shard(2, config.task_id).")
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "train.py").write_text(shards, "utf-8")
    rewritten = tfmigrate(tmp_path, "rewrite", "--allow-dirty", "trial", "shards")
    assert "train.py divides its data by its task" in rewritten
    assert "2 training programs: 1 native, 1 kept" in rewritten
    training = (tmp_path / "trial" / "training.py").read_text("utf-8")
    assert "this program trains alone. " in training
    assert "class Learner" not in training
