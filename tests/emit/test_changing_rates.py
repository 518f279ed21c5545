"""Optimizers whose rate changes or that move tables, against TF 1.15.5."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .one_module import run

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "changing_rates"
ORACLE = HERE.parents[1] / "fixtures" / "oracle" / "changing_rates"
RECORDED = sorted(path.name for path in ORACLE.iterdir() if path.is_dir())
# Where the program gets a class, it has another text for Keras 3.
CLASSES = [
    n for n in RECORDED if n.startswith(("momentum", "nesterov")) or "table" in n
]
# Their rates are computed from the step: the loop module keeps the model_fn's code.
COMPUTED = ("adagrad_warm_up", "nesterov_table", "nesterov_warm_up", "rmsprop_centered")
ON_MODULE = [n for n in RECORDED if n.startswith(COMPUTED)]
RUNS = [("tf_keras", name) for name in RECORDED if name not in ON_MODULE]
RUNS += [("keras3", name) for name in CLASSES if name not in ON_MODULE]
RUNS += [("module", name) for name in ON_MODULE]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the rewritten programs did, from the weights TF 1.15.5 began with."""
    folder = tmp_path_factory.mktemp("changing_rates")
    moved = ["rewrite", str(PROGRAMS), "--out", str(folder / "rewritten")]
    subprocess.run(
        [sys.executable, "-m", "tfmigrate", *moved], check=False, capture_output=True
    )
    shutil.copy(folder / "rewritten" / "training_loop.py", folder)
    jobs = []
    for keras, recorded in RUNS:
        name, _, replicas = recorded.rpartition("-")
        program = folder / f"{keras}-{recorded}.py"
        if keras == "module":
            shutil.copy(folder / "rewritten" / f"{name}.py", program)
        else:
            code = (PROGRAMS / f"{name}.py").read_text("utf-8")
            program.write_text(run(code, keras=keras).module.code, "utf-8")
        start = ORACLE / recorded / "initial_weights.npz"
        options = ["--no-shuffle", "--replicas", replicas, "--steps", "24"]
        paths = ["--initial-weights", str(start), "--out", str(program.with_suffix(""))]
        kind = "module_program" if keras == "module" else "tf2_program"
        module = f"tfmigrate.verify.instruments.{kind}"
        log = str(program.with_suffix(".log"))
        jobs.append((log, module, [*options, *paths, str(program)]))
    listed = folder / "jobs.json"
    listed.write_text(json.dumps(jobs), "utf-8")
    files = str(folder / "files")
    subprocess.run(
        [sys.executable, str(HERE / "forked.py"), str(listed)],
        check=False,
        env={**os.environ, "MODEL_DIR": files},
    )
    return folder


@pytest.mark.parametrize(("keras", "name"), RUNS)
def test_the_steps_are_those_of_tf_1_15(
    recordings: Path, keras: str, name: str
) -> None:
    expected = json.loads((ORACLE / name / "recording.json").read_text("utf-8"))
    path = recordings / f"{keras}-{name}" / "recording.json"
    assert path.is_file(), (recordings / f"{keras}-{name}.log").read_text("utf-8")
    found = json.loads(path.read_text("utf-8"))
    assert len(found["losses"]) == len(expected["losses"]) == 24
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=5e-6)


def test_rows_that_a_batch_does_not_look_up_are_in_the_report_where_they_move() -> None:
    code = (PROGRAMS / "rmsprop_table.py").read_text("utf-8")
    known = run(code)
    assert not [f for f in known.findings if f.rule == "TFM117"]
    assert "class RMSPropOptimizer(" in known.module.code
    # It is not seen whether there is momentum.
    unknown = run(code.replace("momentum=0.5", 'momentum=params["rate"]'))
    assert [f for f in unknown.findings if f.rule == "TFM117"]


def momentum_classes(name: str, **changes: str) -> int:
    """How many classes for momentum the rewrite of a program has."""
    code = (PROGRAMS / f"{name}.py").read_text("utf-8")
    for old, new in changes.items():
        assert old in code
        code = code.replace(old, new)
    result = run(code)
    text = result.module.code
    compile(text, "program.py", "exec")
    assert not [f for f in result.findings if f.rule == "TFM117"]
    return text.count("class MomentumOptimizer(")


def test_one_rate_on_dense_layers_needs_no_class() -> None:
    assert momentum_classes("momentum_steps") == 1
    assert momentum_classes("momentum_table") == 1
    constant = "MomentumOptimizer(params['rate'], "
    assert (
        momentum_classes("momentum_steps", **{"MomentumOptimizer(rate, ": constant})
        == 0
    )
