"""Lifted model functions go on where TensorFlow 1.15 stopped, and the other way.

The program of the recordings (fixtures/oracle/checkpoint/layers_program.py) becomes
Keras layers on the loop module: its variables, slots and figures have to be those of
real TensorFlow 1.15.5, with one replica and with two.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tfmigrate.rewriting.pipeline import Job
from tfmigrate.rewriting.run import run_job

CHILD = Path(__file__).with_name("child.py")
RECORDED = Path(__file__).parents[2] / "fixtures" / "oracle" / "checkpoint"
PROGRAM = RECORDED / "layers_program.py"
SEEN = json.loads((RECORDED / "layers" / "recorded.json").read_text("utf-8"))
# Two builds round differently, and Adam divides by the roots of small numbers.
TOLERANCE = {"rel": 2e-4, "abs": 1e-6}
REPLICAS = (1, 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the rewritten program began, and where it continued what TF 1.15 left."""
    folder = tmp_path_factory.mktemp("lifted")
    legacy = folder / "legacy"
    legacy.mkdir()
    shutil.copy(PROGRAM, legacy / PROGRAM.name)
    report = run_job([legacy / PROGRAM.name], Job())
    (tier,) = (r.program.tier.value for r in report.results if r.program)
    assert tier == "T1"
    # What its regularizers do with two replicas is otherwise, and said.
    assert "TFM140" in {finding.rule for finding in report.findings}
    plain = folder / "plain"
    plain.mkdir()
    for result in report.changed:
        assert result.new is not None
        (plain / result.path.name).write_bytes(result.new)
    text = (plain / PROGRAM.name).read_text("utf-8")
    for replicas in REPLICAS:
        model_dir = folder / f"continued_{replicas}"
        shutil.copytree(RECORDED / "layers" / f"replicas_{replicas}", model_dir)
        _write(plain, f"continued_{replicas}", text, model_dir, 12, replicas)
        model_dir = folder / f"begun_{replicas}"
        _write(plain, f"begun_{replicas}", text, model_dir, 6, replicas)
    return folder


def _write(
    plain: Path, name: str, text: str, model_dir: Path, steps: int, replicas: int
) -> None:
    """The program with its settings in it: several run in one process."""
    text = text.replace("os.environ['MODEL_DIR']", repr(str(model_dir)))
    text = text.replace("os.environ['STEPS']", str(steps))
    text = text.replace("os.environ.get('REPLICAS', '1')", str(replicas))
    (plain / f"{name}.py").write_text(text, "utf-8")


@pytest.fixture(scope="module")
def ran(folder: Path) -> dict[str, dict[str, Any]]:
    names = [path.stem for path in (folder / "plain").glob("*_[12].py")]
    output = folder / "figures.json"
    done = subprocess.run(
        [sys.executable, CHILD, "plain", folder / "plain", output, *sorted(names)],
        env={**os.environ, "TFMIGRATE_TEST_CPUS": "2"},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, Any]] = json.loads(output.read_text("utf-8"))
    return found


def _result(ran: dict[str, dict[str, Any]], name: str) -> dict[str, float]:
    assert "error" not in ran[name], ran[name]["error"]
    found: dict[str, float] = ran[name]["result"]
    return found


@pytest.mark.parametrize("replicas", REPLICAS)
def test_what_tf_1_15_left_goes_on(
    replicas: int, ran: dict[str, dict[str, Any]]
) -> None:
    after = _result(ran, f"continued_{replicas}")
    assert after == pytest.approx(SEEN[f"{replicas}, step 12"], **TOLERANCE)
    # What begins anew, or loses its slots, is somewhere else.
    assert after != pytest.approx(SEEN[f"{replicas}, step 6"], rel=1e-2)


@pytest.mark.parametrize("replicas", REPLICAS)
def test_it_begins_as_in_tf_1_15(replicas: int, ran: dict[str, dict[str, Any]]) -> None:
    begun = _result(ran, f"begun_{replicas}")
    assert begun == pytest.approx(SEEN[f"{replicas}, step 6"], **TOLERANCE)


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("replicas", REPLICAS)
def test_tf_1_15_goes_on(
    replicas: int, folder: Path, ran: dict[str, dict[str, Any]]
) -> None:
    _result(ran, f"begun_{replicas}")
    real = os.environ.get("TFMIGRATE_TF115_PYTHON")
    if not real:
        pytest.skip("TFMIGRATE_TF115_PYTHON names no interpreter with TF 1.15")
    settings = {"MODEL_DIR": str(folder / f"begun_{replicas}"), "STEPS": "12"}
    quiet = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [real, PROGRAM],
        env={**os.environ, **settings, **quiet, "REPLICAS": str(replicas)},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == pytest.approx(SEEN[f"{replicas}, step 12"], **TOLERANCE)
