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


@pytest.mark.timeout(900)
def test_a_rewritten_program_trains_where_tf_config_says(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    shutil.copy(PROGRAM, program)
    rewrite = ["rewrite", "--allow-dirty", str(tmp_path)]
    launch = ["launch", "--workers", "1", "--ps", "1", str(program), "model"]

    def tfmigrate(*words: str) -> str:
        command = [sys.executable, "-m", "tfmigrate", *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ, capture_output=True, text=True
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout

    assert "1 training program: 1 native" in tfmigrate(*rewrite)
    assert "Estimator" not in program.read_text("utf-8")
    (found,) = re.findall(r"FIGURES (\S+) (\d+) (\w+)", tfmigrate(*launch))
    assert float(found[0]) < 1e-6
    assert found[1:] == ("100", "chief")
