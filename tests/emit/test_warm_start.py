"""Loops that start from a checkpoint which real TensorFlow 1.15 wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tfmigrate.plan.model_fn.kept_plan import KeptModelFnPlan
from tfmigrate.report.findings import Tier

from .one_module import run
from .recorded import rewrite

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted((HERE / "warm").glob("*.py"))
FINE_TUNING = HERE.parents[1] / "fixtures" / "legacy" / "fine_tuning"
LOADED = {
    "scopes": ["body/block1", "body/block2"],
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every program and its rewrite, trained in one process."""
    folder = tmp_path_factory.mktemp("warm")
    rewrite(HERE / "warm", folder, "--style", "inline")
    output = folder / "figures.json"
    result = subprocess.run(
        [
            *(sys.executable, str(HERE / "model_fn_runner.py")),
            *(str(HERE / "warm"), str(folder), str(output)),
        ],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PRETRAINED": str(FINE_TUNING / "pretrained/model.ckpt")},
    )
    assert output.exists(), result.stderr[-2000:]
    found: dict[str, dict[str, Any]] = json.loads(output.read_text("utf-8"))
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.stem for p in PROGRAMS])
def test_it_starts_where_the_checkpoint_is_and_trains_the_same(
    program: Path, trained: dict[str, dict[str, Any]]
) -> None:
    figures = trained[program.stem]
    assert "error" not in figures, figures["error"]
    # Equal before anything was put into its variables.
    names = [f"{place}/{part}:0" for place in LOADED[program.stem] for part in PARTS]
    assert figures["loaded"] == sorted(names)
    assert figures["rewritten"] == pytest.approx(figures["legacy"], rel=1e-5, abs=1e-6)
    assert len(figures["legacy"]) == 8
    assert figures["result"] == pytest.approx(figures["expected"], rel=2e-5, abs=1e-6)


PARTS = ("bias", "kernel")


SMALL = (HERE / "warm" / "scopes.py").read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("tf.train.init_from_checkpoint(", "tf.train.warm_start(", "warm_start"),
        ("    tf.train.init", "    tf.losses.add_loss(net)\n    tf.train.init", "add_"),
        ('{"encoder/": "body/"}', "pairs(net)", "depends on `net`"),
        ("optimizer = ", "head = head[:int(features)]\n    optimizer = ", "features"),
    ],
)
def test_what_would_be_lost_stays(old: str, new: str, reason: str) -> None:
    """The whole model_fn stays, or the Estimator does."""
    assert [f.tier for f in run(SMALL).findings if f.rule == "TFM102"] == [
        Tier.FORWARD_KEPT
    ]
    result = run(SMALL.replace(old, new))
    stays = [f.reason or "" for f in result.findings if f.tier is Tier.COMPAT]
    models = [plan.model for plan in result.plans]
    whole = [model.reason for model in models if isinstance(model, KeptModelFnPlan)]
    assert reason in " ".join([*stays, *whole]), result.module.code
    assert new in result.module.code
