"""Checkpoints cross between real TensorFlow 1.15.5 and compat, slots and all."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).resolve().parents[2] / "fixtures" / "oracle" / "checkpoint"
RECORDED: dict[str, Any] = json.loads((HERE / "continued.json").read_text())
# Between one checkpoint's two continuations on real TF there is no difference
# at all; across versions dense models stay within 3e-7.
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "checkpoint_record", HERE / "record.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_compat_continues_from_a_checkpoint_of_tf115(
    recorder: ModuleType, tmp_path: Path
) -> None:
    model = shutil.copytree(HERE / "tf115", tmp_path / "model")
    ours = recorder.train(sys.executable, model, 10, 20, "--compat")
    theirs = RECORDED["tf115 after its own checkpoint"]
    # Ten steps of Adam from restored slots and beta powers: lost state shows at
    # once, because the bias correction would begin anew.
    assert ours["losses"] == pytest.approx(theirs["losses"], rel=TOLERANCE)
    assert ours["evaluate"] == pytest.approx(theirs["evaluate"], rel=1e-4)
    assert ours["variables"] == theirs["variables"]


def test_a_model_without_the_slots_would_show(
    recorder: ModuleType, tmp_path: Path
) -> None:
    """The comparison above can fail: from scratch the losses are others."""
    ours = recorder.train(sys.executable, tmp_path / "model", 10, 20, "--compat")
    theirs = RECORDED["tf115 after its own checkpoint"]["losses"]
    assert ours["losses"][: len(theirs)] != pytest.approx(theirs, rel=1e-2)


def test_tf115_continued_from_compat_as_compat_itself() -> None:
    """What the real thing answered when it was recorded."""
    real = RECORDED["tf115 after a checkpoint of compat"]
    ours = RECORDED["compat after the same checkpoint"]
    assert real["evaluate"]["global_step"] == 20
    assert ours["losses"] == pytest.approx(real["losses"], rel=TOLERANCE)
    assert ours["variables"] == real["variables"]


@pytest.mark.oracle
def test_tf115_continues_from_a_checkpoint_of_compat(
    recorder: ModuleType, tmp_path: Path
) -> None:
    real = os.environ.get("TFMIGRATE_TF115_PYTHON")
    if not real:
        pytest.skip("TFMIGRATE_TF115_PYTHON is not set")
    model = tmp_path / "model"
    recorder.train(sys.executable, model, 0, 10, "--compat")
    copy = shutil.copytree(model, tmp_path / "copy")
    theirs = recorder.train(real, model, 10, 20)
    ours = recorder.train(sys.executable, copy, 10, 20, "--compat")
    assert theirs["losses"] == pytest.approx(ours["losses"], rel=TOLERANCE)
    assert theirs["evaluate"] == pytest.approx(ours["evaluate"], rel=1e-4)
