"""The bundled programs, run and rewritten, against recordings of real TF 1.x.

Each recording was made by real TensorFlow 1.15.5 (one replica) or 1.12.3 (two)
from fixed initial weights; tolerances are ten times what real TensorFlow differs
from itself (fixtures/oracle/noise.json).
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tfmigrate.datasets import make_keras_home
from tfmigrate.verify.comparison import compare_trajectories
from tfmigrate.verify.recording import load_recording
from tfmigrate.verify.runner import Settings, run_program
from tfmigrate.verify.sides import Kind, look_at

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
ORACLE = FIXTURES / "oracle"


def recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recorder", ORACLE / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["recorder"] = module
    spec.loader.exec_module(module)
    return module


PROGRAMS = {program.name: program for program in recorder().PROGRAMS}
NOISE = json.loads((ORACLE / "noise.json").read_text())["programs"]
MAIN = "fashion_mnist_mirrored"
SLOW = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_keras_home(tmp_path_factory.mktemp("home"), sample=True, noise=True)


@pytest.mark.parametrize(
    ("side", "name", "label", "script"),
    [
        # One program on all four; of the variants, two replicas of the rewrite.
        ("legacy", MAIN, "tf115-r1", "train.py"),
        ("legacy", MAIN, "tf112-r2", "train.py"),
        ("expected", MAIN, "tf115-r1", "train.py"),
        ("expected", MAIN, "tf112-r2", "train.py"),
        ("expected", MAIN, "tf112-r2", "train.ipynb"),
        ("expected", "fashion_mnist_main", "tf112-r2", "train.py"),
        ("expected", "fashion_mnist_partial", "tf112-r2", "train.py"),
        ("expected", "fashion_mnist_imports", "tf112-r2", "train.py"),
        *(
            pytest.param(*case, marks=SLOW)
            for case in [
                ("legacy", MAIN, "tf112-r1", "train.py"),
                ("expected", MAIN, "tf112-r1", "train.py"),
                ("legacy", "fashion_mnist_main", "tf115-r1", "train.py"),
                ("legacy", "fashion_mnist_main", "tf112-r2", "train.py"),
                ("expected", "fashion_mnist_main", "tf115-r1", "train.py"),
                ("legacy", "fashion_mnist_partial", "tf115-r1", "train.py"),
                ("legacy", "fashion_mnist_partial", "tf112-r2", "train.py"),
                ("expected", "fashion_mnist_partial", "tf115-r1", "train.py"),
                ("legacy", "fashion_mnist_imports", "tf115-r1", "train.py"),
                ("legacy", "fashion_mnist_imports", "tf112-r2", "train.py"),
                ("expected", "fashion_mnist_imports", "tf115-r1", "train.py"),
            ]
        ),
    ],
)
def test_trains_like_real_tensorflow(
    side: str, name: str, label: str, script: str, home: dict[str, str], tmp_path: Path
) -> None:
    program = PROGRAMS[name]
    recorded = load_recording(ORACLE / name / label)
    path = look_at(FIXTURES / side / name / script)
    assert path.kind is (Kind.LEGACY if side == "legacy" else Kind.TF2)
    launch = run_program(
        path,
        tmp_path / "run",
        Settings(
            replicas=recorded.replicas,
            steps=program.steps,
            args=program.arguments,
            env={**home, **program.environment},
        ),
        weights=ORACLE / name / label / "initial_weights.npz",
    )
    tolerance = NOISE[name]["loss_tolerance"]
    compared = compare_trajectories(recorded, launch.recording, tolerance=tolerance)
    assert compared.same_start
    assert len(compared.steps) == program.steps == launch.recording.global_step
    assert compared.parity, compared.loss_differences
    assert compared.weight_difference is not None
    assert compared.weight_difference <= NOISE[name]["weight_tolerance"]
    if side == "legacy":
        # What a user's code reads from evaluate() keeps its names; "acc" became
        # "accuracy" with TF 1.15's Keras, and both are read today.
        assert set(launch.recording.evaluate) == set(recorded.evaluate)
