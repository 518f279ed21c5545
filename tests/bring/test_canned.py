"""Canned Estimators and heads on the project's own loop, against TF 1.15.5.

The classes come along from compat, on the Estimator of the project's training loop.
Everything runs in a process that cannot import tfmigrate.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tfmigrate.bring import bundle, contrib, installed_sources

HERE = Path(__file__).parent
RECORDINGS = HERE.parents[1] / "fixtures" / "oracle" / "canned"
# As for compat: see tests/compat/test_canned.py.
LOSS_TOLERANCE, VALUE_TOLERANCE = 5e-6, 1e-4

CASES = (
    "dnn_classifier_multi",
    "linear_classifier_binary",
    "combined_classifier",
    "baseline_classifier",
    "head_multi",
)
LOOP = (
    "ClassificationOutput Estimator EstimatorSpec EvalSpec ModeKeys PredictOutput "
    "RegressionOutput RunConfig ScopedModel one_part"
)


def symbols() -> list[str]:
    """What the cases use of tf.estimator and tf.contrib that can come along."""
    text = (RECORDINGS / "cases.py").read_text()
    found = set(re.findall(r"\btf\.(?:estimator|contrib)\.[\w.]*\w", text))
    return [
        symbol
        for symbol in sorted(found)
        if isinstance(home := contrib.place(symbol), contrib.Brought)
        and not home.is_namespace
    ]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    project = tmp_path_factory.mktemp("project")
    made = contrib.bring(symbols())
    (project / "tf_contrib.py").write_text(made.text)
    runtime = installed_sources("tfmigrate.runtime")
    loop = bundle(runtime, LOOP.split(), doc="The training loop.")
    (project / "training_loop.py").write_text(loop.text)
    (project / "tfmigrate.py").write_text("raise ImportError('not here')\n")
    shutil.copy(HERE / "canned_child.py", project)
    subprocess.run(
        [sys.executable, "canned_child.py", RECORDINGS, project, *CASES],
        cwd=project,
        check=True,
        timeout=580,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
    )
    return {
        name: json.loads((project / f"{name}.1.json").read_text()) for name in CASES
    }


@pytest.mark.parametrize("name", CASES)
def test_trains_and_evaluates_as_recorded(name: str, results: dict[str, Any]) -> None:
    ours = results[name]
    assert "error" not in ours, ours["error"]
    recorded = json.loads((RECORDINGS / "v1" / f"{name}.1.json").read_text())
    margin = LOSS_TOLERANCE * max(0.1, max(recorded["losses"]) / 10)
    assert ours["losses"] == pytest.approx(
        recorded["losses"], rel=LOSS_TOLERANCE, abs=margin
    )
    assert ours["evaluate"].keys() == recorded["evaluate"].keys()
    assert ours["evaluate"] == pytest.approx(
        recorded["evaluate"], rel=VALUE_TOLERANCE, abs=1e-6
    )
    assert ours["variables"] == recorded["variables"]
    assert ours["trainable"] == recorded["trainable"]


def test_what_tensorflow_calls_comes_along() -> None:
    """Columns keep their variables in an object whose methods nobody here names."""
    made = contrib.bring(["tf.compat.v2.estimator.DNNRegressor"], used=set())
    state = made.text[made.text.index("class ColumnState") :].partition("\nclass ")[0]
    for name in ("create_variable", "get_variable", "add_resource", "get_resource"):
        assert f"def {name}(" in state
