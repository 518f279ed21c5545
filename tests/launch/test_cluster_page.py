"""The snippets of docs/clusters.md make TF_CONFIGs that nothing is wrong with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.launch.tf_config import Level, check_tf_config


def snippets(repository: Path, language: str) -> list[str]:
    page = (repository / "docs/clusters.md").read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def fine(text: str, role: str, index: int) -> None:
    (remark,) = check_tf_config(text, listen=False)
    assert remark.level is Level.FINE
    assert f'"type": "{role}", "index": {index}' in text


def test_ssh(repository: Path, tmp_path: Path) -> None:
    (loop,) = (s for s in snippets(repository, "sh") if "ssh" in s)
    ssh = 'ssh() { (eval "${2/#cd ~\\/job && /}"); }\n'
    python = 'python() { echo "$TF_CONFIG" > "$OUT/$index"; }\n'
    subprocess.run(
        ["bash", "-c", ssh + python + loop], env={**os.environ, "OUT": str(tmp_path)}
    )
    for index in (0, 1):
        fine((tmp_path / str(index)).read_text().strip(), "worker", index)


def test_kubernetes(repository: Path) -> None:
    (manifest,) = snippets(repository, "yaml")
    (command,) = re.findall(r"(export TF_CONFIG=.*)\n", manifest)
    done = subprocess.run(
        ["sh", "-c", command + '\necho "$TF_CONFIG"'],
        env={"JOB_COMPLETION_INDEX": "1"},
        capture_output=True,
        text=True,
    )
    fine(done.stdout.strip(), "worker", 1)


@pytest.mark.parametrize("process", [0, 1])
def test_slurm(process: int, repository: Path) -> None:
    """TensorFlow's resolver reads what srun sets for each task of a step."""
    (snippet,) = (s for s in snippets(repository, "python") if "Slurm" in s)
    step = {
        "SLURM_PROCID": str(process),
        "SLURM_NTASKS": "2",
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_STEP_NODELIST": "node[1-2]",
        "SLURM_STEP_TASKS_PER_NODE": "1(x2)",
        "SLURM_NODELIST": "node[1-2]",
        "SLURM_TASKS_PER_NODE": "1(x2)",
    }
    done = subprocess.run(
        [sys.executable, "-c", snippet + 'print("CONFIG", os.environ["TF_CONFIG"])'],
        env={**os.environ, **step},
        capture_output=True,
        text=True,
    )
    (text,) = re.findall(r"^CONFIG (.*)$", done.stdout, re.MULTILINE) or [done.stderr]
    fine(text, "worker", process)
    assert '"node1:8888", "node2:8888"' in text
