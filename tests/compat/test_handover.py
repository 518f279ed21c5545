"""A run changes hands between real TF 1.15 and compat, by its checkpoints."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "fixtures" / "oracle" / "lifecycle"
HANDOVER = FOLDER / "handover"

# Adam divides by the roots of tiny second moments, so the last bits in which two
# builds differ grow: 1.6e-6 measured after these four steps. A slot that was not
# restored shows in the second digit (the learning rate is 0.05).
TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}


def scenario() -> Any:
    spec = importlib.util.spec_from_file_location("handover", FOLDER / "handover.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compat() -> Any:
    import tfmigrate.compat.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    return tf


def assert_same(want: dict[str, Any], got: dict[str, Any]) -> None:
    assert sorted(got) == sorted(want)
    for name, value in want.items():
        assert np.shape(got[name]) == np.shape(value), name
        np.testing.assert_allclose(got[name], value, err_msg=name, **TOLERANCE)


def test_compat_goes_on_from_a_checkpoint_of_tf_1_15(tmp_path: Path) -> None:
    model_dir = tmp_path / "model"
    model_dir.mkdir()
    for path in HANDOVER.glob("*"):
        if path.name != "step_9.json":
            shutil.copy(path, model_dir)
    got = scenario().finish(compat(), str(model_dir))
    assert_same(json.loads((HANDOVER / "step_9.json").read_text())["step_9"], got)
    # Slots, powers, statistics and averages went along, not the weights alone.
    for name in (
        "beta1_power",
        "first/kernel/Adam_1",
        "normal/moving_variance",
        "second/kernel/ExponentialMovingAverage",
    ):
        assert name in got


@pytest.mark.oracle
@pytest.mark.skipif(
    "TFMIGRATE_TF115_PYTHON" not in os.environ,
    reason="TFMIGRATE_TF115_PYTHON names no interpreter with TF 1.15",
)
def test_tf_1_15_goes_on_from_a_checkpoint_of_compat(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    module = scenario()
    module.start(compat(), str(ours))
    shutil.copytree(ours, theirs)
    run = subprocess.run(
        [
            os.environ["TFMIGRATE_TF115_PYTHON"],
            str(FOLDER / "handover.py"),
            "finish",
            str(theirs),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    want = json.loads(run.stdout.splitlines()[-1])
    assert want["global_step"] == 9
    assert_same(want, module.finish(compat(), str(ours)))
    recorded = json.loads((HANDOVER / "step_9.json").read_text())["step_9"]
    assert_same(recorded, want)
